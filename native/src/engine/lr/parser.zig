//! The LR parser, as masks need it: which terminals can be shifted on a stack, found for all of them
//! at once, and what the stack is then. Reductions are simulated until the shift, so that merged
//! lookaheads promise nothing that the stack does not keep: LR parsing (Knuth, 1965) with the tables of
//! shell/compile/lr, and with stacks that share what is below, as those of Tomita (1985) do.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const position = @import("../language/position.zig");
const Stack = position.Stack;
const Pool = position.Pool;
const bottom = position.bottom;
const program_module = @import("program.zig");
const Program = program_module.Program;
const chains_module = @import("chains.zig");
const terminal_set = @import("terminal_set.zig");
const span = @import("../contract/span.zig");

/// In place of a lexer state: no lexeme is pending. So it is before the first byte.
pub const nothing_pending = 0;

/// `TooLarge`: the watch of the stacks' pool has stopped the operation, or too many stacks are followed at once.
pub const Error = span.Error;

/// The most levels at once.
const levels_max = 1 << 20;

/// An LR parser with sets of terminals of `width` words. Belongs to one thread. Whatever it pushes, it adds to
/// the pool.
pub fn Parser(comptime width: usize) type {
    return struct {
        gpa: Allocator,
        program: *const Program,
        pool: *Pool,
        /// What `viable` found: the last call's levels come after those of the calls that are still in use.
        levels: ArrayList(Level) = .empty,
        /// The least depth of which a state was looked at since `begin`; the top's counts as looked at.
        ///
        /// All that the parser finds is decided by the states from there to the top (recognizer/key.zig). A
        /// state below a top is read in three places, and each lowers this: `reduce` and the exits in
        /// `viableReduced` read the state that a reduction uncovers, and `viableReduced` reads the one below the
        /// top if its chain `needs_below` for a wanted terminal. What `popped` passes on its way to an uncovered
        /// state lies above it. What the parser has pushed lies above what it had uncovered before.
        least_depth: u32 = 0,
        chains: Chains = .{},

        const P = @This();
        const sets = terminal_set.Sets(width);
        const Chains = chains_module.Chains(width);
        pub const Set = sets.Set;

        /// A stack that reductions lead to, and the terminals that are shifted there, or after unit reductions
        /// from there.
        pub const Level = struct {
            stack: Stack,
            /// The chain of the stack's top. Null if the top has no reductions.
            chain: ?u32 = null,
            set: Set,
        };

        /// Frees levels and chains. The pool is the caller's.
        pub fn deinit(p: *P) void {
            p.levels.deinit(p.gpa);
            p.chains.deinit(p.gpa);
        }

        /// Starts a run: `least_depth` is that of the stack. Invalidates what `viable` found.
        pub fn begin(p: *P, stack: Stack) void {
            p.levels.clearRetainingCapacity();
            p.chains.limit(p.gpa);
            p.least_depth = p.pool.depthOf(stack);
        }

        /// The wanted terminals that can be shifted. Appends their levels to `levels`, for `shifting`.
        pub inline fn viable(p: *P, stack: Stack, wanted: *const Set) Error!Set {
            const program = p.program;
            try p.levels.ensureUnusedCapacity(p.gpa, 1);
            // Most states that a terminal leads to only shift.
            if (program.hasReductions(@intCast(stack.top))) return p.viableReduced(stack, wanted);
            const level = p.levels.addOneAssumeCapacity();
            level.* = .{ .stack = stack, .set = undefined };
            sets.meet(&level.set, wanted, sets.at(program.shift_sets, stack.top));
            return level.set;
        }

        /// Works level by level: what a chain does not shift continues to the stacks that it reduces to. The last waiting
        /// level replaces one that shifts nothing, so that few wait, however deep the stack is. `levels` has room for
        /// one more.
        fn viableReduced(p: *P, stack: Stack, wanted: *const Set) Error!Set {
            var i = p.levels.items.len;
            p.levels.appendAssumeCapacity(.{ .stack = stack, .set = wanted.* });
            var all: Set = @splat(0);
            while (i < p.levels.items.len) {
                const at = p.levels.items[i].stack;
                const number = try p.chains.of(p.gpa, p.program, &p.pool.watch, p.stateBelow(at), @intCast(at.top));
                const chain = &p.chains.all.items[number];
                if (chain.exits.len() > 0) {
                    try p.pool.watch.steps(@intCast(chain.exits.len()));
                    if (p.levels.items.len > levels_max) return error.TooLarge;
                }
                try p.levels.ensureUnusedCapacity(p.gpa, chain.exits.len());
                const level = &p.levels.items[i];
                for (p.chains.exits.items[chain.exits.from..chain.exits.to]) |*exit| {
                    const next = p.levels.addOneAssumeCapacity();
                    sets.meet(&next.set, &level.set, &exit.set);
                    if (sets.isEmpty(&next.set)) {
                        p.levels.items.len -= 1;
                        continue;
                    }
                    const below = try p.popped(.{ .below = at.below, .top = exit.top }, exit.reduction.length);
                    const node = &p.pool.nodes.items[below];
                    p.least_depth = @min(p.least_depth, node.depth);
                    next.stack = .{ .below = below, .top = p.topOver(node.state, exit.reduction.symbol) };
                }
                if (sets.intersects(&level.set, &chain.needs_below)) {
                    p.least_depth = @min(p.least_depth, p.pool.nodes.items[at.below].depth);
                }
                level.chain = number;
                sets.meet(&level.set, &level.set, &chain.shifts);
                if (sets.isEmpty(&level.set)) {
                    _ = p.levels.swapRemove(i);
                    continue;
                }
                sets.unite(&all, &level.set);
                i += 1;
            }
            return all;
        }

        /// Chooses the chain. This alone does not count as looking at it: see `Chain.needs_below`.
        fn stateBelow(p: *const P, stack: Stack) u32 {
            return if (stack.below == bottom) chains_module.nothing else p.pool.nodes.items[stack.below].state;
        }

        /// The node that a reduction of this length leaves on top; what it reduces to comes on it.
        inline fn popped(p: *P, stack: Stack, length: u16) Error!u32 {
            if (length == 0) return p.pool.push(p.gpa, stack);
            var below = stack.below;
            for (1..length) |_| below = p.pool.nodes.items[below].parent;
            std.debug.assert(below != bottom); // the initial state is in no reduction
            return below;
        }

        /// The stack after the pending lexeme, if there is one; null if it cannot end here.
        pub fn endLexeme(p: *P, state: u16, stack: Stack) Error!?Stack {
            if (state == nothing_pending) return stack;
            for (p.program.lexer.matchList(state)) |terminal| {
                if (program_module.has(p.program.skip, terminal)) return stack;
                if (try p.take(stack, terminal)) |after| return after;
            }
            return null;
        }

        /// Whether any of the wanted terminals can be shifted. Adds no level.
        pub fn anyViable(p: *P, stack: Stack, wanted: *const Set) Error!bool {
            const program = p.program;
            if (sets.intersects(wanted, sets.at(program.shift_sets, stack.top))) return true;
            for (program.reduction_offsets[stack.top]..program.reduction_offsets[stack.top + 1]) |r| {
                var candidates: Set = undefined;
                sets.meet(&candidates, wanted, sets.at(program.reduction_sets, r));
                for (candidates, 0..) |word, i| {
                    var rest = word;
                    while (rest != 0) : (rest &= rest - 1) {
                        const terminal: u16 = @intCast(64 * i + @ctz(rest));
                        if (try p.shiftable(stack, terminal) != null) return true;
                    }
                }
            }
            return false;
        }

        /// The stack that shifts a terminal which `viable` found. `mark` is the number of levels before that
        /// call.
        pub inline fn shifting(p: *const P, mark: usize, terminal: u16) Stack {
            const level = for (p.levels.items[mark..]) |*level| {
                if (program_module.has(&level.set, terminal)) break level;
            } else unreachable;
            const chain = level.chain orelse return level.stack;
            return .{ .below = level.stack.below, .top = p.chains.shiftingTop(chain, terminal) };
        }

        /// The stack after a terminal that `stack` shifts.
        pub inline fn shifted(p: *P, stack: Stack, terminal: u16) Error!Stack {
            return .{ .below = try p.pool.push(p.gpa, stack), .top = p.topAfter(stack, terminal) };
        }

        /// The top of that stack.
        pub inline fn topAfter(p: *const P, stack: Stack, terminal: u16) u16 {
            std.debug.assert(program_module.has(sets.at(p.program.shift_sets, stack.top), terminal));
            return p.topOver(stack.top, terminal);
        }

        /// Whether the text may end here, after the pending lexeme.
        pub fn canEnd(p: *P, state: u16, stack: Stack) Error!bool {
            const after = try p.endLexeme(state, stack) orelse return false;
            return try p.take(after, p.program.endOfInput()) != null;
        }

        /// The stack after a terminal; null if it cannot be shifted. Adds no level.
        pub fn take(p: *P, stack: Stack, terminal: u16) Error!?Stack {
            return try p.shifted(try p.shiftable(stack, terminal) orelse return null, terminal);
        }

        /// The stack after the reductions before a terminal; null if it cannot be shifted.
        fn shiftable(p: *P, stack: Stack, terminal: u16) Error!?Stack {
            const program = p.program;
            var at = stack;
            next: while (true) {
                if (program_module.has(program.shift_sets[@as(usize, at.top) * width ..][0..width], terminal)) return at;
                for (program.reduction_offsets[at.top]..program.reduction_offsets[at.top + 1]) |r| {
                    if (!program_module.has(program.reduction_sets[r * width ..][0..width], terminal)) continue;
                    try p.pool.watch.steps(1);
                    at = try p.reduce(at, program.reductions[r]);
                    continue :next;
                }
                return null;
            }
        }

        fn reduce(p: *P, stack: Stack, reduction: program_module.Reduction) Error!Stack {
            const below = try p.popped(stack, reduction.length);
            const node = p.pool.nodes.items[below];
            p.least_depth = @min(p.least_depth, node.depth);
            return .{ .below = below, .top = p.topOver(node.state, reduction.symbol) };
        }

        inline fn topOver(p: *const P, state: usize, symbol: u32) u16 {
            const top = p.program.transition(state, symbol);
            std.debug.assert(top != Stack.initial.top);
            return top;
        }
    };
}
