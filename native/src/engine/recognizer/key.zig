//! What a mask is found again by: the position's state and, for languages with a stack, the states of the
//! stack from its top down to the lowest that was looked at when the mask was found.

const std = @import("std");
const position = @import("../language/position.zig");
const Position = position.Position;
const Stack = position.Stack;
const Pool = position.Pool;

/// Of a language without stacks.
pub const StateKey = struct {
    state: u32,

    pub inline fn next(key: *StateKey) u32 {
        return key.state;
    }
};

/// The states of a position from the first on, as many as are asked for.
pub const StackKey = struct {
    pool: *const Pool,
    stack: Stack,
    state: u32,
    taken: Taken = .nothing,

    const Taken = enum { nothing, state, top };
    const below_bottom = std.math.maxInt(u31);

    pub inline fn of(pool: *const Pool, at: Position) StackKey {
        return .{ .pool = pool, .stack = at.stack, .state = at.state };
    }

    pub inline fn next(key: *StackKey) u32 {
        switch (key.taken) {
            .nothing => {
                key.taken = .state;
                return key.state;
            },
            .state => {
                key.taken = .top;
                return key.stack.top;
            },
            .top => {
                if (key.stack.below == position.bottom) return below_bottom;
                const node = &key.pool.nodes.items[key.stack.below];
                key.stack.below = node.parent;
                return node.state;
            },
        }
    }
};

/// Writes the key of a mask for which no state below `least_depth` was looked at, and returns its length;
/// null if there is no room.
pub fn write(pool: *const Pool, at: Position, least_depth: u32, key: []u32) ?usize {
    const depth = pool.depthOf(at.stack);
    std.debug.assert(least_depth <= depth);
    const length = depth - least_depth + 2;
    if (length > key.len) return null;
    var states: StackKey = .of(pool, at);
    for (key[0..length]) |*state| state.* = states.next();
    return length;
}
