//! Which of some patterns can match one key together: the sets of them that some text matches, and no other of them.
//! The automata run side by side over all texts; those that no text can match any more are left out, so that patterns
//! with different beginnings cost little.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Interner = @import("../base/interner.zig").Interner;
const Watch = @import("../base/watch.zig").Watch;
const Schema = @import("schema.zig").Schema;
const dfa_module = @import("../language/dfa.zig");

pub const Error = error{ OutOfMemory, TooLarge };

/// States of the patterns of one object side by side, and sets of them that match.
pub const states_max = 1 << 14;
pub const classes_max = 1 << 10;
/// So many patterns are told apart in each way where they have more states.
const few_max = 8;

/// Keys told apart by the patterns that match them.
pub const Class = struct {
    /// Of `Schema.dfas`.
    matched: []const u32,
    /// Those that must be asked not to match; the others do not, where these match.
    unmatched: []const u32,
};

/// Perhaps also some of which there is no key. Of the arena.
pub fn find(arena: Allocator, schema: *const Schema, patterns: []const u32, watch: ?*Watch) Error![]const Class {
    if (patterns.len < 3) return all(arena, patterns);
    return found(arena, schema, patterns, watch) catch |e| {
        const is_in_time = watch == null or watch.?.stopped == .not;
        return if (e == error.TooLarge and is_in_time and patterns.len <= few_max) all(arena, patterns) else e;
    };
}

fn all(arena: Allocator, patterns: []const u32) Allocator.Error![]const Class {
    const classes = try arena.alloc(Class, @as(usize, 1) << @intCast(patterns.len));
    for (classes, 0..) |*class, set| {
        var matched: ArrayList(u32) = .empty;
        var unmatched: ArrayList(u32) = .empty;
        for (patterns, 0..) |pattern, i| try (if (set >> @intCast(i) & 1 != 0) &matched else &unmatched).append(arena, pattern);
        class.* = .{ .matched = matched.items, .unmatched = unmatched.items };
    }
    return classes;
}

fn found(arena: Allocator, schema: *const Schema, patterns: []const u32, watch: ?*Watch) Error![]const Class {
    var search: Search = .{ .arena = arena, .schema = schema, .patterns = patterns, .watch = watch };
    _ = try search.sets.put(arena, &.{});
    try search.run();
    const classes = try arena.alloc(Class, search.sets.count());
    for (classes, 0..) |*class, i| class.* = try search.classOf(@intCast(i));
    return classes;
}

const Search = struct {
    arena: Allocator,
    schema: *const Schema,
    patterns: []const u32,
    watch: ?*Watch,
    /// Of each the places of patterns and their states, in turn.
    states: Interner = .{},
    /// Of `patterns`, ascending: those that match.
    sets: Interner = .{},

    fn run(s: *Search) Error!void {
        var words: ArrayList(u32) = .empty;
        for (0..s.patterns.len) |i| try words.appendSlice(s.arena, &.{ @intCast(i), dfa_module.start });
        try s.add(words.items);
        var i: u32 = 0;
        while (i < s.states.count()) : (i += 1) {
            const from = try s.arena.dupe(u32, s.states.get(i));
            for (0..256) |byte| {
                if (byte > 0 and s.isLike(from, @intCast(byte))) continue;
                if (s.watch) |watch| try watch.steps(@intCast(1 + from.len / 8));
                words.clearRetainingCapacity();
                for (0..from.len / 2) |k| {
                    const state = s.dfaOf(from[2 * k]).next(@intCast(from[2 * k + 1]), @intCast(byte));
                    if (state != dfa_module.dead) try words.appendSlice(s.arena, &.{ from[2 * k], state });
                }
                try s.add(words.items);
            }
        }
    }

    fn dfaOf(s: *const Search, pattern: u32) *const dfa_module.Dfa {
        return &s.schema.dfas[s.patterns[pattern]].dfa;
    }

    /// Whether the byte before leads where this one does.
    fn isLike(s: *const Search, words: []const u32, byte: u8) bool {
        for (0..words.len / 2) |k| {
            const columns = &s.dfaOf(words[2 * k]).columns;
            if (columns[byte] != columns[byte - 1]) return false;
        }
        return true;
    }

    fn add(s: *Search, words: []const u32) Error!void {
        var set: ArrayList(u32) = .empty;
        for (0..words.len / 2) |k| {
            // Where one is left, it can still match, and no other.
            const is_alone = words.len == 2;
            if (is_alone or s.dfaOf(words[2 * k]).matches[words[2 * k + 1]] != 0) try set.append(s.arena, words[2 * k]);
        }
        _ = try s.sets.put(s.arena, set.items);
        if (s.sets.count() > classes_max) return error.TooLarge;
        if (words.len <= 2) return;
        _ = try s.states.put(s.arena, words);
        if (s.states.count() > states_max) return error.TooLarge;
    }

    fn classOf(s: *Search, number: u32) Error!Class {
        const set = s.sets.get(number);
        const is_asked = try s.arena.alloc(bool, s.patterns.len);
        @memset(is_asked, set.len == 0);
        if (set.len > 0) for (0..s.sets.count()) |i| {
            if (s.watch) |watch| try watch.steps(1);
            const other = s.sets.get(@intCast(i));
            if (other.len > set.len and isWithin(set, other)) for (other) |pattern| {
                is_asked[pattern] = true;
            };
        };
        var matched: ArrayList(u32) = .empty;
        var unmatched: ArrayList(u32) = .empty;
        for (set) |pattern| {
            is_asked[pattern] = false;
            try matched.append(s.arena, s.patterns[pattern]);
        }
        for (is_asked, s.patterns) |is, pattern| if (is) try unmatched.append(s.arena, pattern);
        return .{ .matched = matched.items, .unmatched = unmatched.items };
    }

    /// Of ascending numbers.
    fn isWithin(set: []const u32, other: []const u32) bool {
        var i: usize = 0;
        for (other) |one| if (i < set.len and set[i] == one) {
            i += 1;
        };
        return i == set.len;
    }
};
