//! What a mask is found again by: the position's state and, for languages with a stack, the states of the
//! stack from its top down to the lowest that was looked at when the mask was computed.
//!
//! Why that is enough. To compute a mask is a run: steps of a deterministic program that reads the position's
//! state and states of the stack. Let S[0..D] be the stack, from bottom to top, and d the least depth of
//! which the run read a state; the top always counts as read. The key is: state, S[D], S[D-1], .., S[d].
//!
//!   What is read is in the key. Whatever reads a state below the top lowers `least_depth`: the parser
//!   (lr/parser.zig) does, where chains that depend on such a state say so (lr/chains.zig), and what
//!   selection reuses without reading depends on none (lr/selection.zig). All else that a run uses, it has
//!   from the grammar and the vocabulary, which are those of the recognizer.
//!
//!   What is not read cannot matter. An LR parser decides by the state on top, and by the one that a
//!   reduction uncovers (Knuth, "On the translation of languages from left to right", 1965). Take another
//!   stack T[0..E] with the same key, and let e = d + E - D. By induction over the steps, both runs do the
//!   same, and where one has the stack S[0..d-1] X, the other has T[0..e-1] X with the same X, not empty. So
//!   it is at the start, by the key. A step reads states of X alone, or d would be less; so a reduction, which
//!   reads what it uncovers, leaves some of X. Hence the next step is the same in both runs: it pops from X,
//!   and pushes what the states that it read decide. In the end both have computed the same mask. How deep the
//!   stacks are decides nothing, and is not in the key.
//!
//!   Keys of different lengths do not contradict each other. If the states of a position begin with the key
//!   of another, both runs read the same, as was just shown, so both have that key. Hence no key is the
//!   beginning of another: in the trie of keys (mask/cache.zig) they lead to the leaves, and on a position's
//!   way down lies at most one leaf, with its mask. One kind of key is longer than it must be: a walk
//!   counts the whole stack as read (lr/grammar.zig). Where threads run out of room at once, a state may
//!   have masks from both; of two keys that lie on one way, the cache then keeps the first.
//!
//!   Stacks that end are not taken for longer ones. No transition leads to the initial state, so it stands
//!   at the bottom and nowhere else: a key that goes down to it ends with it. A look-up that continues below
//!   the bottom is given `below_bottom`, which is no state and in no key.
//!
//! Keys are no longer than `key_max` of the cache. A longer one is not cut, since others would begin with it:
//! its mask is computed again each time.
//!
//! shell/compile/masks_test.zig tests all of this with random grammars.

const std = @import("std");
const position = @import("../language/position.zig");
const Position = position.Position;
const Stack = position.Stack;
const Pool = position.Pool;

/// The key of a language without stacks.
pub const StateKey = struct {
    state: u32,

    /// The one state. The cache asks no further.
    pub inline fn next(key: *StateKey) u32 {
        return key.state;
    }
};

/// The states of a position, from its own state and the top of its stack down, as many as are asked for.
pub const StackKey = struct {
    pool: *const Pool,
    stack: Stack,
    state: u32,
    taken: Taken = .nothing,

    const Taken = enum { nothing, state, top };
    /// States of parsers are below it, and the cache has room for so many bits.
    const below_bottom = std.math.maxInt(u31);

    /// At the position's own state.
    pub inline fn of(pool: *const Pool, at: Position) StackKey {
        return .{ .pool = pool, .stack = at.stack, .state = at.state };
    }

    /// The next state: first the position's, then those of the stack from its top down.
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

/// A state before another key.
pub fn Behind(comptime Rest: type) type {
    return struct {
        state: u32,
        rest: Rest,
        is_taken: bool = false,

        pub fn next(key: *@This()) u32 {
            if (key.is_taken) return key.rest.next();
            key.is_taken = true;
            return key.state;
        }
    };
}

/// Writes the key of a mask for which no state below `least_depth` was looked at. Returns its length; null if
/// `key` is too short.
pub fn write(pool: *const Pool, at: Position, least_depth: u32, key: []u32) ?usize {
    const depth = pool.depthOf(at.stack);
    std.debug.assert(least_depth <= depth);
    const length = depth - least_depth + 2;
    if (length > key.len) return null;
    var states: StackKey = .of(pool, at);
    for (key[0..length]) |*state| state.* = states.next();
    // The initial state is at the bottom, and at the bottom is the initial state.
    if (std.debug.runtime_safety) {
        for (key[1 .. length - 1]) |state| std.debug.assert(state != Stack.initial.top);
        std.debug.assert((least_depth == 0) == (key[length - 1] == Stack.initial.top));
    }
    return length;
}
