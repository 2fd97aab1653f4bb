//! Stacks as a graph: what is below a state may be several stacks ("Efficient parsing for natural language", M. Tomita,
//! 1985). They lie in the pool of a text, whose cells are written once and only lead to older ones:
//!
//!   link           one of the nodes below a node: `depth` is that node, `state` the parser's state above it, the
//!                  same in all links of a node, and `parent` the next link. A node is its first link. Where a rule has
//!                  begun that may have so many tokens (limits.zig), `state` is also when these are over.
//!   configuration  one way to read the text: `state` is the lexer's, `depth` the node before the pending lexeme,
//!                  and `parent` the next configuration of the position.
//!
//! The node of the initial state has no link; it is `root`.

const std = @import("std");
const Allocator = std.mem.Allocator;
const position = @import("../language/position.zig");
const Position = position.Position;
const Pool = position.Pool;
const bounded_texts = @import("../language/bounded_texts.zig");
const Time = @import("limits.zig").Time;

/// The node with the parser's initial state, below all others.
pub const root = position.bottom;
/// In place of the next link or configuration.
pub const last = position.bottom;

/// States of the lexer are below it.
pub const first_place = 1 << 16;
/// From here on a state is one in a text of bounded length (language/bounded_texts.zig).
pub const first_text = bounded_texts.first_state;
/// From here on a state is one of the lexer and the count of the lexeme's tokens (limits.zig).
const first_counted = bounded_texts.states_end;

pub fn isPlace(state: u32) bool {
    return state >= first_place and state < first_text;
}

pub fn isText(state: u32) bool {
    return state >= first_text and state < first_counted;
}

pub fn isCounted(state: u32) bool {
    return state >= first_counted;
}

/// One way to read the text so far.
pub const Configuration = struct {
    /// The lexer's state within the pending lexeme; `nothing_pending` before the first byte. From `first_place` on, a
    /// place in a part (parts.zig), in a text, or counted.
    state: u32,
    node: u32,

    pub fn isBefore(_: void, a: Configuration, b: Configuration) bool {
        return if (a.state != b.state) a.state < b.state else a.node < b.node;
    }
};

/// The parser's state of a node.
pub inline fn stateOf(pool: *const Pool, node: u32) u16 {
    return @truncate(cellStateOf(pool, node));
}

/// What its cells have as `state`.
pub inline fn cellStateOf(pool: *const Pool, node: u32) u32 {
    return if (node == root) 0 else pool.nodes.items[node].state;
}

/// Of a cell on which a rule has begun whose tokens are over at a time.
const is_timed = 1 << 31;

pub fn timed(state: u16, over: Time) u32 {
    return is_timed | @as(u32, over) << 16 | state;
}

pub fn timeOf(cell_state: u32) ?Time {
    return if (cell_state & is_timed != 0) @truncate(cell_state >> 16) else null;
}

/// Adds a link before others of the same node, or `last`. Returns the node that they are together.
pub fn addLink(pool: *Pool, gpa: Allocator, state: u32, below: u32, next: u32) Allocator.Error!u32 {
    return add(pool, gpa, .{ .parent = next, .depth = below, .state = state });
}

fn add(pool: *Pool, gpa: Allocator, cell: position.Node) Allocator.Error!u32 {
    const n = pool.nodes.items.len;
    if (n == position.bottom) return error.OutOfMemory;
    try pool.nodes.append(gpa, cell);
    return @intCast(n);
}

/// In `Stack.top` of a position, beside the time: `below` is its only node, and the position's state the lexer's.
const single = 0;
/// `below` is the first configuration.
const several = 1;

fn topOf(form: u32, time: Time) u32 {
    return @as(u32, time) << 1 | form;
}

fn isSingle(at: Position) bool {
    return at.stack.top & 1 == single;
}

/// How many tokens came, as far as that matters.
pub fn timeAt(at: Position) Time {
    return @truncate(at.stack.top >> 1);
}

/// The position of at least one configuration, ascending.
pub fn positionOf(pool: *Pool, gpa: Allocator, configurations: []const Configuration, time: Time) Allocator.Error!Position {
    const first = configurations[0];
    if (configurations.len == 1) return .{ .state = first.state, .stack = .{ .below = first.node, .top = topOf(single, time) } };
    var next: u32 = last;
    var i = configurations.len;
    while (i > 0) {
        i -= 1;
        next = try add(pool, gpa, .{ .parent = next, .depth = configurations[i].node, .state = configurations[i].state });
    }
    return .{ .state = 0, .stack = .{ .below = next, .top = topOf(several, time) } };
}

/// The number of the place, if the position has one configuration and that is in a part.
pub fn placeOf(at: Position) ?u32 {
    return if (isSingle(at) and isPlace(at.state)) at.state - first_place else null;
}

/// The configurations of a position, one by one.
pub const Configurations = struct {
    pool: *const Pool,
    single: ?Configuration,
    next_cell: u32,

    pub fn of(pool: *const Pool, at: Position) Configurations {
        const is_single = isSingle(at);
        return .{
            .pool = pool,
            .single = if (is_single) .{ .state = at.state, .node = at.stack.below } else null,
            .next_cell = if (is_single) last else at.stack.below,
        };
    }

    pub fn next(c: *Configurations) ?Configuration {
        if (c.single) |one| {
            c.single = null;
            return one;
        }
        if (c.next_cell == last) return null;
        const cell = c.pool.nodes.items[c.next_cell];
        c.next_cell = cell.parent;
        return .{ .state = cell.state, .node = cell.depth };
    }
};
