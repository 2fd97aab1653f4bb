//! Regular expressions as syntax trees. The parsers of regular expressions and of grammars make them in an arena; the NFA's
//! construction reads them.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Arena = @import("engine").arena.Arena;
const TransitionTable = @import("minimise.zig").TransitionTable;

/// A range of code points, both ends included.
pub const Range = struct { first: u21, last: u21 };

/// Immutable; nodes may be shared within a tree and between trees.
pub const Node = union(enum) {
    /// The empty text.
    empty,
    /// Exactly these bytes, which are valid UTF-8.
    bytes: []const u8,
    /// One character of the ranges, which ascend and do not touch. Without ranges nothing matches. Surrogates may be in them, and
    /// match nothing.
    class: []const Range,
    concat: []const *const Node,
    alternate: []const *const Node,
    repeat: Repeat,
    automaton: Automaton,
    /// No text: what is true of the text before or after this place. Only look_around.zig reads it, and leaves none.
    look: Look,
    /// Some of these texts that follow each other, none of them too. Each is valid UTF-8.
    substring: []const []const u8,

    /// `min` to `max` times `node`, one after the other.
    pub const Repeat = struct {
        node: *const Node,
        min: u32,
        /// null: no limit.
        max: ?u32,
        /// As few of them as possible come first, where the order of the ways to match counts.
        lazy: bool = false,
    };

    pub const Look = struct {
        /// A byte of the pattern.
        at: usize = 0,
        node: *const Node,
        /// The node's text ends here; else it begins here.
        behind: bool,
        negated: bool,
    };

    /// A text that leads from the table's start to a state that matches something.
    pub const Automaton = struct {
        table: *const TransitionTable,
        /// Bytes that the table reads and the text does not have.
        silent: []const u8 = &.{},
        /// Bytes that the text may have anywhere without the table reading them.
        ignored: []const u8 = &.{},
    };
};

/// The empty text.
pub const empty: *const Node = &.empty;

/// Any text of whole characters, the empty one included.
pub const anything: *const Node = &.{ .repeat = .{ .node = any_character, .min = 0, .max = null } };

pub const any_character: *const Node = &.{ .class = &.{.{ .first = 0, .last = 0x10ffff }} };

/// A copy of the node in the arena; what it points to is not copied.
pub fn create(arena: Allocator, node: Node) Allocator.Error!*const Node {
    const created = try arena.create(Node);
    created.* = node;
    return created;
}

/// One after the other; none is the empty text. Copies the list, not the nodes.
pub fn concat(arena: Allocator, nodes: []const *const Node) Allocator.Error!*const Node {
    return switch (nodes.len) {
        0 => empty,
        1 => nodes[0],
        else => create(arena, .{ .concat = try arena.dupe(*const Node, nodes) }),
    };
}

/// One of them; there must be at least one. Copies the list, not the nodes.
pub fn alternate(arena: Allocator, nodes: []const *const Node) Allocator.Error!*const Node {
    if (nodes.len == 1) return nodes[0];
    return create(arena, .{ .alternate = try arena.dupe(*const Node, nodes) });
}

/// `max` null: no limit. A repeat of a repeat becomes one repeat where that means the same, which saves the NFA from the product
/// of their counts.
pub fn repeat(arena: Allocator, node: *const Node, min: u32, max: ?u32) Allocator.Error!*const Node {
    if (node.* == .empty or max == 0) return empty;
    if (min == 1 and max == 1) return node;
    const outer: Node.Repeat = .{ .node = node, .min = min, .max = max };
    return create(arena, .{ .repeat = if (node.* == .repeat and !node.repeat.lazy) product(node.repeat, outer) orelse outer else outer });
}

/// The same, as few times as possible first.
pub fn lazyRepeat(arena: Allocator, node: *const Node, min: u32, max: ?u32) Allocator.Error!*const Node {
    const greedy = try repeat(arena, node, min, max);
    if (greedy.* != .repeat or min == max) return greedy;
    return create(arena, .{ .repeat = .{ .node = node, .min = min, .max = max, .lazy = true } });
}

/// The counts of (x{a,b}){c,d} are those from k*a to k*b, for each k from c to d. They are all of those
/// from c*a to d*b if the first two of these runs leave no gap.
fn product(inner: Node.Repeat, outer: Node.Repeat) ?Node.Repeat {
    const gapless = if (outer.max == outer.min) true else if (inner.max) |most|
        inner.min <= 1 or @as(u64, outer.min) * (most - inner.min) >= inner.min - 1
    else
        inner.min <= 1 or outer.min > 0;
    if (!gapless) return null;
    const bounded = inner.max != null and outer.max != null;
    return .{
        .node = inner.node,
        .min = std.math.mul(u32, inner.min, outer.min) catch return null,
        .max = if (bounded) std.math.mul(u32, inner.max.?, outer.max.?) catch return null else null,
    };
}

test "repeats of repeats are one repeat only where no count is lost or gained" {
    var arena: Arena = .init(std.testing.allocator);
    defer arena.deinit();
    const x = try create(arena.allocator(), .{ .bytes = "x" });
    const bounds = [_]?u32{ 0, 1, 2, 3, 4, 5, null };
    for (0..6) |a| for (bounds) |b| for (0..6) |c| for (bounds) |d| {
        if (b orelse 9 < a or d orelse 9 < c or b == 0 or d == 0) continue;
        const inner: Node.Repeat = .{ .node = x, .min = @intCast(a), .max = b };
        const merged = product(inner, .{ .node = x, .min = @intCast(c), .max = d }) orelse continue;
        // Counts up to 20; 25 stands for "without end".
        for (0..20) |count| {
            var expected = false;
            for (c..(d orelse 25) + 1) |k| expected = expected or (k * a <= count and count <= k * (b orelse 25));
            try std.testing.expectEqual(expected, merged.min <= count and count <= merged.max orelse 25);
        }
    };
}
