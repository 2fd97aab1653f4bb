//! Whether a program and tables out of a file are sound: whatever wrote them, the parser never takes more from a stack than
//! is on it, never follows a transition that is not there, and no operation reads beyond an array. Whether parsing ends is
//! not decided here: it counts its steps (parser.zig).

const std = @import("std");
const Allocator = std.mem.Allocator;
const dfa = @import("../language/dfa.zig");
const bitmap = @import("../base/bitmap.zig");
const program_module = @import("program.zig");
const Program = program_module.Program;
const signature = @import("signature.zig");
const Table = signature.Table;

/// First classes come in at most that many shards of 64: there are 256 bytes.
pub const shards_max = 4;

/// Steps back from states to those before them. More are tables that no grammar has: some tenths of a second.
const steps_max = 1 << 26;

pub fn isSound(gpa: Allocator, p: *const Program) Allocator.Error!bool {
    if (!hasSoundArrays(p)) return false;
    var automaton = try Automaton.init(gpa, p) orelse return false;
    defer automaton.deinit();
    return automaton.shiftsAreThere() and automaton.reductionsAreThere();
}

/// Whether a state but the first replaces no symbols by one.
pub fn hasEmptyReductions(p: *const Program) bool {
    if (p.reduction_offsets.len < 2 or p.reduction_offsets[1] > p.reductions.len) return true;
    for (p.reductions[p.reduction_offsets[1]..]) |reduction| if (reduction.length == 0) return true;
    return false;
}

fn hasSoundArrays(p: *const Program) bool {
    const width: usize = p.width;
    if (std.mem.findScalar(usize, &program_module.set_widths, width) == null) return false;
    if (p.n_terminals > program_module.terminals_max or p.n_terminals >= 64 * width) return false;
    if (p.lexer.words != width or !p.lexer.isSound(p.n_terminals)) return false;
    const n_states = p.reduction_offsets.len -| 1;
    const n_lists: usize = p.lexer.nLists();
    const n_reach: usize = p.lexer.nReach();
    const lengths_fit = n_states > 0 and n_states < Program.none and
        dfa.areRanges(p.reduction_offsets, p.reductions.len) and
        p.shift_sets.len == n_states * width and p.displacements.len == n_states and
        p.reduction_sets.len == p.reductions.len * width and
        p.transitions.len == p.owners.len and
        p.skip.len == width and p.first_skip.len == width and p.lazy.len == width and p.separators.len == width and
        (p.parted.len == 0 or p.parted.len == width * program_module.count(p.separators)) and
        p.reaches_skip.len == n_reach and p.is_skip.len == n_lists and
        p.follows.len == n_lists * width and p.follows_reach.len == n_lists * n_reach and
        p.n_shards > 0 and p.n_shards <= shards_max and p.enders.len == p.lexer.matches.len * p.n_shards;
    if (!lengths_fit or !areBooleans(p.reaches_skip) or !areBooleans(p.is_skip) or !areBooleans(p.follows_reach)) return false;
    for (p.first_classes) |class| if (class != Program.none and class >= 64 * p.n_shards) return false;
    return true;
}

/// Of a file every byte could be any.
fn areBooleans(values: []const bool) bool {
    var all: u8 = 0;
    for (std.mem.sliceAsBytes(values)) |byte| all |= byte;
    return all <= 1;
}

/// The parser's states and the transitions between them. Every stack is a way through it, from state 0.
const Automaton = struct {
    gpa: Allocator,
    program: *const Program,
    n_states: usize,
    /// [state]: symbols on the shortest stack with that top; `unreachable_depth` if there is none.
    depths: []u32,
    /// The states with a transition to state s are before[before_offsets[s]..before_offsets[s + 1]].
    before_offsets: []u32,
    before: []u16,
    /// Of which the next two are halves.
    lists: []u16,
    /// States some symbols down from one state, each once.
    frontier: []u16,
    next: []u16,
    stamps: []u32,
    /// Taken so far.
    steps: usize = 0,

    const unreachable_depth = std.math.maxInt(u32);

    /// Null: a transition leads nowhere, or to the initial state.
    fn init(gpa: Allocator, p: *const Program) Allocator.Error!?Automaton {
        const n_states: usize = p.nParserStates();
        for (p.transitions, p.owners) |target, owner| {
            if (owner == Program.none) continue;
            if (owner >= n_states or target >= n_states or target == 0) return null;
        }
        const depths = try gpa.alloc(u32, n_states);
        errdefer gpa.free(depths);
        const before_offsets = try gpa.alloc(u32, n_states + 1);
        errdefer gpa.free(before_offsets);
        const before = try gpa.alloc(u16, p.transitions.len);
        errdefer gpa.free(before);
        const lists = try gpa.alloc(u16, 2 * n_states);
        errdefer gpa.free(lists);
        const stamps = try gpa.alloc(u32, n_states);
        errdefer gpa.free(stamps);
        var a: Automaton = .{
            .gpa = gpa,
            .program = p,
            .n_states = n_states,
            .depths = depths,
            .before_offsets = before_offsets,
            .before = before,
            .lists = lists,
            .frontier = lists[0..n_states],
            .next = lists[n_states..],
            .stamps = stamps,
        };
        group(p.owners, p.owners, p.transitions, before_offsets, before);
        try a.findDepths();
        @memset(stamps, 0);
        return a;
    }

    fn deinit(a: *Automaton) void {
        a.gpa.free(a.depths);
        a.gpa.free(a.before_offsets);
        a.gpa.free(a.before);
        a.gpa.free(a.lists);
        a.gpa.free(a.stamps);
    }

    /// Sorts the values of all transitions by their keys: `offsets` says where those of each key are.
    fn group(owners: []const u16, values: []const u16, keys: []const u16, offsets: []u32, sorted: []u16) void {
        @memset(offsets, 0);
        for (owners, keys) |owner, key| if (owner != Program.none) {
            offsets[key] += 1;
        };
        var sum: u32 = 0;
        for (offsets) |*offset| {
            sum += offset.*;
            offset.* = sum;
        }
        for (owners, values, keys) |owner, value, key| if (owner != Program.none) {
            offsets[key] -= 1;
            sorted[offsets[key]] = value;
        };
    }

    /// Breadth first.
    fn findDepths(a: *Automaton) Allocator.Error!void {
        const p = a.program;
        const after_offsets = try a.gpa.alloc(u32, a.n_states + 1);
        defer a.gpa.free(after_offsets);
        const after = try a.gpa.alloc(u16, p.transitions.len);
        defer a.gpa.free(after);
        group(p.owners, p.transitions, p.owners, after_offsets, after);
        @memset(a.depths, unreachable_depth);
        a.depths[0] = 0;
        a.frontier[0] = 0;
        var n_found: usize = 1;
        var i: usize = 0;
        while (i < n_found) : (i += 1) {
            const state = a.frontier[i];
            for (after[after_offsets[state]..after_offsets[state + 1]]) |next| {
                if (a.depths[next] != unreachable_depth) continue;
                a.depths[next] = a.depths[state] + 1;
                a.frontier[n_found] = next;
                n_found += 1;
            }
        }
    }

    fn hasTransition(a: *const Automaton, state: u16, symbol: u32) bool {
        const at = a.program.displacements[state] +% symbol;
        return at < a.program.owners.len and a.program.owners[at] == state;
    }

    fn shiftsAreThere(a: *const Automaton) bool {
        const width = a.program.width;
        for (0..a.n_states) |state| for (a.program.shift_sets[state * width ..][0..width], 0..) |word, w| {
            var rest = word;
            while (rest != 0) : (rest &= rest - 1) {
                if (!a.hasTransition(@intCast(state), @intCast(64 * w + @ctz(rest)))) return false;
            }
        };
        return true;
    }

    /// Whether each reduction finds its symbols on every stack, and a transition on its rule's symbol below them.
    fn reductionsAreThere(a: *Automaton) bool {
        for (0..a.n_states) |state| {
            if (a.depths[state] == unreachable_depth) continue;
            const reductions = a.program.reductions[a.program.reduction_offsets[state]..a.program.reduction_offsets[state + 1]];
            var longest: u32 = 0;
            for (reductions) |reduction| longest = @max(longest, reduction.length);
            if (longest > a.depths[state]) return false;
            a.frontier[0] = @intCast(state);
            var n: usize = 1;
            for (0..longest + 1) |length| {
                if (length > 0) n = a.stepBack(n);
                a.steps += reductions.len;
                for (reductions) |reduction| if (reduction.length == length) {
                    a.steps += n;
                    for (a.frontier[0..n]) |below| if (!a.hasTransition(below, reduction.symbol)) return false;
                };
                if (a.steps > steps_max) return false;
            }
        }
        return true;
    }

    /// Replaces the frontier by the states that lead to it. Returns how many they are.
    fn stepBack(a: *Automaton, n: usize) usize {
        var n_next: usize = 0;
        a.steps += n;
        const stamp: u32 = @truncate(a.steps);
        for (a.frontier[0..n]) |state| {
            for (a.before[a.before_offsets[state]..a.before_offsets[state + 1]]) |one| {
                a.steps += 1;
                if (a.stamps[one] == stamp or a.depths[one] == unreachable_depth) continue;
                a.stamps[one] = stamp;
                a.next[n_next] = one;
                n_next += 1;
            }
        }
        std.mem.swap([]u16, &a.frontier, &a.next);
        return n_next;
    }
};

/// Checks tables of a sound program, one after another.
pub const Tables = struct {
    source: signature.Source,
    /// The tokens of a table so far.
    seen: bitmap.Words,

    pub fn init(source: signature.Source) Allocator.Error!Tables {
        return .{ .source = source, .seen = try bitmap.alloc(source.context.gpa, bitmap.wordsFor(source.context.trie.n_tokens)) };
    }

    pub fn deinit(t: *Tables) void {
        t.source.context.gpa.free(t.seen);
    }

    /// Whether a table can be that of a lexer state.
    pub fn isContinuation(t: *const Tables, table: *const Table, state: u16) bool {
        const base = signature.baseOf(t.source, state);
        return table.id == state and state != dfa.dead and table.base == base and t.isSound(table);
    }

    /// Whether a table can be the restart table of a shard.
    pub fn isRestart(t: *const Tables, table: *const Table, shard: u32) bool {
        return table.id == std.math.maxInt(u16) + 1 + shard and table.base == signature.no_base and t.isSound(table);
    }

    fn isSound(t: *const Tables, table: *const Table) bool {
        const n_tokens = t.source.context.trie.n_tokens;
        if (table.base == signature.no_base and table.except.len > 0) return false;
        for (table.except, 0..) |token, i| {
            if (token < 0 or token >= n_tokens or (i > 0 and table.except[i - 1] >= token)) return false;
        }
        return t.hasSoundNodes(table) and t.hasSoundGroups(table);
    }

    /// Each node's subtree lies in its parent's, none deeper than selection may recurse.
    fn hasSoundNodes(t: *const Tables, table: *const Table) bool {
        const p = t.source.program;
        const n_nodes = table.nodes.len -| 1;
        if (n_nodes == 0 or n_nodes > std.math.maxInt(u16) + 1 or table.interests.len != n_nodes * p.width) return false;
        if (table.nodes[0].groups != 0 or table.nodes[n_nodes].groups > table.groups.len or table.nodes[0].end != n_nodes) return false;
        var ends: [signature.lexemes_most + 1]u32 = undefined;
        var depth: usize = 0;
        for (table.nodes[0..n_nodes], table.nodes[1..], 0..) |node, after, n| {
            if (node.groups > after.groups or node.list >= p.lexer.nLists()) return false;
            if (node.terminal != signature.several and node.terminal >= p.n_terminals) return false;
            while (depth > 0 and ends[depth - 1] == n) depth -= 1;
            if (node.end <= n or (depth > 0 and node.end > ends[depth - 1]) or (depth == 0 and n > 0)) return false;
            if (depth > signature.lexemesMax(p.width)) return false;
            ends[depth] = node.end;
            depth += 1;
        }
        return true;
    }

    /// Each token is in one group.
    fn hasSoundGroups(t: *const Tables, table: *const Table) bool {
        const n_reach = t.source.program.lexer.nReach();
        const n_tokens = t.source.context.trie.n_tokens;
        const n_words = t.seen.len;
        bitmap.clear(t.seen);
        for (table.groups) |*group| {
            if (std.mem.asBytes(&group.is_bitmap)[0] > 1 or group.reach >= n_reach) return false;
            if (group.is_bitmap) {
                if (group.start >= table.words.len / n_words) return false;
                const words = table.words[group.start * n_words ..][0..n_words];
                if (!t.addWords(words, n_tokens) or bitmap.count(@alignCast(@constCast(words))) != group.n_tokens) return false;
                continue;
            }
            if (group.start > table.ids.len or group.n_tokens > table.ids.len - group.start) return false;
            for (table.ids[group.start..][0..group.n_tokens]) |token| {
                if (token < 0 or token >= n_tokens or bitmap.has(t.seen, @intCast(token))) return false;
                bitmap.set(t.seen, @intCast(token));
            }
        }
        return true;
    }

    fn addWords(t: *const Tables, words: []const u32, n_tokens: u32) bool {
        var common: u32 = 0;
        for (t.seen, words) |*seen, word| {
            common |= seen.* & word;
            seen.* |= word;
        }
        for (words[n_tokens / 32 + 1 ..]) |word| common |= word;
        return common == 0 and words[n_tokens / 32] >> @truncate(n_tokens) == 0;
    }
};

test "a program is sound, and is not if a transition that a reduction needs is another state's" {
    const gpa = std.testing.allocator;
    const brackets = @import("brackets_test.zig").program;
    try std.testing.expect(try isSound(gpa, &brackets));
    var n_needed: usize = 0;
    for (brackets.owners, 0..) |owner, i| {
        var changed = brackets;
        const owners = try gpa.dupe(u16, brackets.owners);
        defer gpa.free(owners);
        owners[i] = if (owner == Program.none) 0 else Program.none;
        changed.owners = owners;
        // A gap leads to state 0, where no transition may lead.
        try std.testing.expect(!try isSound(gpa, &changed) or owner != Program.none);
        n_needed += @intFromBool(owner != Program.none and !try isSound(gpa, &changed));
    }
    try std.testing.expect(n_needed > brackets.nParserStates());
    for (brackets.transitions, brackets.owners, 0..) |target, owner, i| {
        var changed = brackets;
        const transitions = try gpa.dupe(u16, brackets.transitions);
        defer gpa.free(transitions);
        changed.transitions = transitions;
        transitions[i] = @intCast(brackets.nParserStates());
        try std.testing.expectEqual(owner == Program.none, try isSound(gpa, &changed));
        transitions[i] = target;
    }
    var changed = brackets;
    changed.reductions = &.{ brackets.reductions[0], brackets.reductions[1], .{ .symbol = brackets.reductions[2].symbol, .length = 4 } };
    try std.testing.expect(!try isSound(gpa, &changed));
}

test "a table is not sound if one of its tokens is in no vocabulary, or in two places" {
    const gpa = std.testing.allocator;
    const brackets = @import("brackets_test.zig");
    const f: *brackets.Fixture = try .create(brackets.vocabulary);
    defer f.destroy();
    var table = try signature.buildRestart(gpa, f.source(), 0);
    defer table.deinit(gpa);
    var tables: Tables = try .init(f.source());
    defer tables.deinit();
    try std.testing.expect(tables.isRestart(&table, 0));
    const ids = try gpa.dupe(i32, table.ids);
    defer gpa.free(ids);
    var changed = table;
    changed.ids = ids;
    for (ids, 0..) |*id, i| {
        for ([_]i32{ -1, @intCast(f.source().context.trie.n_tokens), ids[(i + 1) % ids.len] }) |other| {
            id.* = other;
            try std.testing.expect(!tables.isRestart(&changed, 0));
        }
        id.* = table.ids[i];
    }
    var groups = [_]signature.Group{table.groups[0]};
    groups[0].is_bitmap = true;
    groups[0].start = 0;
    changed.groups = &groups; // and no bitmap is there
    try std.testing.expect(!tables.hasSoundGroups(&changed));
}
