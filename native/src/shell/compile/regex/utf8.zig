//! Character classes as small automata over the bytes of their UTF-8. Equal continuations are shared, as in a minimal acyclic
//! automaton ("Incremental Construction of Minimal Acyclic Finite-State Automata", J. Daciuk and others, 2000), so that a class of
//! a hundred thousand characters is a few hundred nodes. Only valid UTF-8: no surrogate, nothing overlong, nothing after U+10FFFF.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Arena = @import("engine").arena.Arena;
const Range = @import("ast.zig").Range;
const interner = @import("interner.zig");

/// Bytes from `low` to `high` lead on to `to`.
pub const Transition = struct { low: u8, high: u8, to: u32 };

/// The target of a transition that completes the character.
pub const complete = std.math.maxInt(u32);

/// The automaton of one class. Its transitions are the builder's.
pub const Class = struct {
    /// Transitions lead to earlier nodes; a character begins at the last node.
    nodes: []const Node,

    /// `len` of the builder's transitions from `first` on: ascending, none overlapping.
    pub const Node = struct { first: u32, len: u32 };
};

/// Builds classes, and keeps the transitions of all of them.
pub const Builder = struct {
    arena: Allocator,
    transitions: ArrayList(Transition) = .empty,
    nodes: ArrayList(Class.Node) = .empty,
    interned: interner.Interner = .{},

    /// The sequences of each length: the code points that they may encode, and their first lead byte.
    const Length = struct { first: u21, last: u21, lead: u8, child_bits: u5 };
    const lengths = [_]Length{
        .{ .first = 0, .last = 0x7f, .lead = 0, .child_bits = 0 },
        .{ .first = 0x80, .last = 0x7ff, .lead = 0xc0, .child_bits = 6 },
        .{ .first = 0x800, .last = 0xd7ff, .lead = 0xe0, .child_bits = 12 },
        .{ .first = 0xe000, .last = 0xffff, .lead = 0xe0, .child_bits = 12 },
        .{ .first = 0x10000, .last = 0x10ffff, .lead = 0xf0, .child_bits = 18 },
    };

    /// The automaton of ranges as `ast.Node.class` has them, in the builder's arena.
    pub fn class(b: *Builder, ranges: []const Range) Allocator.Error!Class {
        b.nodes.clearRetainingCapacity();
        b.interned.clear();
        var list: List = undefined; // whole, it would be copied from a constant
        list.n = 0;
        var rest = ranges;
        for (lengths) |length| {
            while (rest.len > 0 and rest[0].last < length.first) rest = rest[1..];
            try b.appendChildren(&list, rest, length.first, length.last, 0, length.lead, length.child_bits);
        }
        // Even if there is an equal node: the last node is the root.
        try b.nodes.append(b.arena, try b.keep(&list));
        return .{ .nodes = try b.arena.dupe(Class.Node, b.nodes.items) };
    }

    /// Appends transitions over the bytes `offset` + c, where child c is the 2^child_bits code points from base + c * 2^child_bits
    /// on; only of what the ranges have from `first` to `last`.
    fn appendChildren(
        b: *Builder,
        list: *List,
        ranges: []const Range,
        first: u32,
        last: u32,
        base: u32,
        offset: u8,
        child_bits: u5,
    ) Allocator.Error!void {
        const child_size = @as(u32, 1) << child_bits;
        var at = first;
        var rest = ranges;
        while (rest.len > 0 and at <= last and rest[0].first <= last) {
            const low = @max(at, rest[0].first);
            const end = @min(last, rest[0].last) + 1;
            const child = (low - base) >> child_bits;
            const child_first = base + (child << child_bits);
            const byte: u8 = @intCast(offset + child);
            if (low == child_first and end >= child_first + child_size) {
                const n = (end - child_first) >> child_bits;
                list.add(byte, @intCast(byte + n - 1), try b.full(child_bits));
                at = child_first + n * child_size;
            } else {
                const child_last = @min(last, child_first + child_size - 1);
                list.add(byte, byte, try b.part(rest, low, child_last, child_first, child_bits - 6));
                at = child_last + 1;
            }
            while (rest.len > 0 and rest[0].last < at) rest = rest[1..];
        }
    }

    /// Calls itself through `appendChildren`, at most three deep.
    fn part(b: *Builder, ranges: []const Range, first: u32, last: u32, base: u32, child_bits: u5) Allocator.Error!u32 {
        var list: List = undefined;
        list.n = 0;
        try b.appendChildren(&list, ranges, first, last, base, 0x80, child_bits);
        return b.intern(&list);
    }

    /// Any continuation of `bits` bits.
    fn full(b: *Builder, bits: u5) Allocator.Error!u32 {
        if (bits == 0) return complete;
        var list: List = undefined;
        list.n = 0;
        list.add(0x80, 0xbf, try b.full(bits - 6));
        return b.intern(&list);
    }

    const List = struct {
        items: [256]Transition,
        n: usize,

        fn add(list: *List, low: u8, high: u8, to: u32) void {
            if (list.n > 0) {
                const before = &list.items[list.n - 1];
                if (before.to == to and before.high + 1 == low) {
                    before.high = high;
                    return;
                }
            }
            list.items[list.n] = .{ .low = low, .high = high, .to = to };
            list.n += 1;
        }

        fn slice(list: *const List) []const Transition {
            return list.items[0..list.n];
        }
    };

    fn intern(b: *Builder, list: *const List) Allocator.Error!u32 {
        var hash: u32 = 0;
        for (list.slice()) |transition| {
            hash = interner.combine(hash, transition.to ^ @as(u32, transition.low) << 8 ^ @as(u32, transition.high) << 16);
        }
        if (b.interned.find(hash, Equal{ .builder = b, .list = list })) |node| return node;
        const node: u32 = @intCast(b.nodes.items.len);
        try b.nodes.append(b.arena, try b.keep(list));
        try b.interned.insert(b.arena, hash, node);
        return node;
    }

    fn keep(b: *Builder, list: *const List) Allocator.Error!Class.Node {
        const first: u32 = @intCast(b.transitions.items.len);
        try b.transitions.appendSlice(b.arena, list.slice());
        return .{ .first = first, .len = @intCast(list.n) };
    }

    const Equal = struct {
        builder: *const Builder,
        list: *const List,

        pub fn equals(e: Equal, number: u32) bool {
            const node = e.builder.nodes.items[number];
            if (node.len != e.list.n) return false;
            for (e.builder.transitions.items[node.first..][0..node.len], e.list.slice()) |a, b| {
                if (a.low != b.low or a.high != b.high or a.to != b.to) return false;
            }
            return true;
        }
    };
};

const testing = std.testing;

/// The naive reading: decode, then look the character up.
fn expectSame(b: *const Builder, class: Class, ranges: []const Range, bytes: []const u8) !void {
    var expected = false;
    if (std.unicode.utf8ValidateSlice(bytes) and (std.unicode.utf8CountCodepoints(bytes) catch 0) == 1) {
        const character = try std.unicode.utf8Decode(bytes);
        for (ranges) |range| expected = expected or (range.first <= character and character <= range.last);
    }
    var at: u32 = @intCast(class.nodes.len - 1);
    const found = for (bytes) |byte| {
        if (at == complete) break false;
        const node = class.nodes[at];
        at = for (b.transitions.items[node.first..][0..node.len]) |transition| {
            if (transition.low <= byte and byte <= transition.high) break transition.to;
        } else break false;
    } else at == complete;
    if (found != expected) {
        std.debug.print("{x}: {} but {} expected\n", .{ bytes, found, expected });
        return error.TestUnexpectedResult;
    }
}

test "classes take the UTF-8 of their characters and nothing else" {
    const cases = [_][]const Range{
        &.{.{ .first = 0, .last = 0x10ffff }},
        &.{.{ .first = 0xd7fe, .last = 0xe001 }},
        &.{.{ .first = 0xd800, .last = 0xdfff }},
        &.{},
        &.{
            .{ .first = 'a', .last = 'z' },
            .{ .first = 0x7f, .last = 0x80 },
            .{ .first = 0x7ff, .last = 0x800 },
            .{ .first = 0xfff, .last = 0x1000 },
            .{ .first = 0xffff, .last = 0x10000 },
            .{ .first = 0x3fffe, .last = 0x40001 },
            .{ .first = 0x10ffff, .last = 0x10ffff },
        },
        &.{
            .{ .first = 0x3bf, .last = 0x3c0 },
            .{ .first = 0x3ff, .last = 0x4ff },
            .{ .first = 0x20ac, .last = 0x20ac },
            .{ .first = 0x3001, .last = 0x9fff },
            .{ .first = 0x12345, .last = 0x54321 },
        },
    };
    for (cases) |ranges| {
        var arena: Arena = .init(testing.allocator);
        defer arena.deinit();
        var builder: Builder = .{ .arena = arena.allocator() };
        _ = try builder.class(&.{.{ .first = 5, .last = 0x999 }}); // a class before must not matter
        const class = try builder.class(ranges);
        var buffer: [4]u8 = undefined;
        for (ranges) |range| for ([_]u21{ range.first, range.last }) |end| for (0..5) |i| {
            if (end + i < 2 or end + i > 0x110001) continue;
            const length = std.unicode.utf8Encode(@intCast(end + i - 2), &buffer) catch continue;
            try expectSame(&builder, class, ranges, buffer[0..length]);
        };
        // Bytes about the borders of UTF-8, valid or not: overlong forms, surrogates, too large, cut.
        const bytes = [_]u8{
            0x00, 0x61, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2,
            0xdf, 0xe0, 0xe1, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff,
        };
        for (bytes) |a| {
            try expectSame(&builder, class, ranges, &.{a});
            for (bytes) |b| {
                try expectSame(&builder, class, ranges, &.{ a, b });
                for (bytes) |c| {
                    try expectSame(&builder, class, ranges, &.{ a, b, c });
                    for (bytes) |d| try expectSame(&builder, class, ranges, &.{ a, b, c, d });
                }
            }
        }
    }
}
