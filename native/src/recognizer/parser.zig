//! The LR parser, as masks need it: which terminals can be shifted on a stack, found for all of them
//! at once, and what the stack is then. Reductions are simulated until the shift, so that merged
//! lookaheads promise nothing that the stack does not keep.
//!
//! Stacks are shared: a stack is its top state and a reference to what is below, in a pool of nodes
//! with parent links. Nothing that a reference leads to ever changes.

const std = @import("std");
const Allocator = std.mem.Allocator;
const program_module = @import("program.zig");
const Program = program_module.Program;

/// A parser's stack. One word, so that it is read as it was written: a processor that is to read at once
/// what it wrote in two parts waits until both are in the cache.
pub const Stack = packed struct(u64) {
    /// The node below the top, or `bottom`.
    below: u32,
    top: u16,
    _: u16 = 0,

    pub const initial: Stack = .{ .below = bottom, .top = 0 };
};

pub const bottom = std.math.maxInt(u32);

pub const Node = extern struct {
    parent: u32,
    /// Of the node in its stack: 0 at the bottom.
    depth: u32,
    state: u32,
};

/// In place of a lexer state, before the first byte.
pub const nothing_pending = 0;

/// The nodes of all stacks of one output.
pub const Pool = struct {
    nodes: std.ArrayList(Node) = .empty,

    pub fn push(pool: *Pool, gpa: Allocator, stack: Stack) Allocator.Error!u32 {
        const n = pool.nodes.items.len;
        if (n == bottom) return error.OutOfMemory;
        const depth = if (stack.below == bottom) 0 else pool.nodes.items[stack.below].depth + 1;
        try pool.nodes.append(gpa, .{ .parent = stack.below, .depth = depth, .state = stack.top });
        return @intCast(n);
    }

    /// The depth of a stack's top.
    pub fn depthOf(pool: *const Pool, stack: Stack) u32 {
        return if (stack.below == bottom) 0 else pool.nodes.items[stack.below].depth + 1;
    }

    /// Keeps only the nodes that the given stacks lead to; the stacks are changed with them.
    /// `stacks` has `len` and `at(i) *Stack`. A node's parent always stands before it.
    pub fn compact(pool: *Pool, gpa: Allocator, stacks: anytype) Allocator.Error!void {
        const nodes = pool.nodes.items;
        const places = try gpa.alloc(u32, nodes.len);
        defer gpa.free(places);
        @memset(places, 0);
        for (0..stacks.len) |i| {
            const below = stacks.at(i).below;
            if (below != bottom) places[below] = 1;
        }
        var i = nodes.len;
        while (i > 0) {
            i -= 1;
            if (places[i] != 0 and nodes[i].parent != bottom) places[nodes[i].parent] = 1;
        }
        var kept: u32 = 0;
        for (0..nodes.len) |n| if (places[n] != 0) {
            var node = nodes[n];
            if (node.parent != bottom) node.parent = places[node.parent];
            nodes[kept] = node;
            places[n] = kept;
            kept += 1;
        };
        for (0..stacks.len) |n| {
            const stack = stacks.at(n);
            if (stack.below != bottom) stack.below = places[stack.below];
        }
        pool.nodes.shrinkRetainingCapacity(kept);
    }
};

/// `width`: words of a set of terminals.
pub fn Parser(comptime width: usize) type {
    return struct {
        gpa: Allocator,
        program: *const Program,
        pool: *Pool,
        /// What `viable` found, the last call's behind those of the calls that are still in use.
        levels: std.ArrayList(Level) = .empty,
        /// The least depth of which a state was looked at since `begin`.
        least_depth: u32 = 0,

        const P = @This();
        pub const Set = [width]u64;

        /// A stack that reductions lead to, and the terminals that are shifted there.
        pub const Level = struct {
            stack: Stack,
            /// The node that shifting pushes, once it was pushed.
            node: u32 = bottom,
            set: Set,
        };

        pub fn deinit(p: *P) void {
            p.levels.deinit(p.gpa);
        }

        /// From here on, what is looked at counts.
        pub fn begin(p: *P, stack: Stack) void {
            p.least_depth = p.pool.depthOf(stack);
        }

        /// Which of the wanted terminals can be shifted. Their levels are appended to `levels`.
        pub inline fn viable(p: *P, stack: Stack, wanted: Set) Allocator.Error!Set {
            const program = p.program;
            try p.levels.ensureUnusedCapacity(p.gpa, 1);
            // Most states that a terminal leads to only shift.
            if (program.reduction_offsets[stack.top] != program.reduction_offsets[stack.top + 1]) return p.viableReduced(stack, wanted);
            const all = meet(wanted, p.set(program.shift_sets, stack.top));
            p.levels.appendAssumeCapacity(.{ .stack = stack, .set = all });
            return all;
        }

        /// Level by level: what a state does not shift goes on to the states that it reduces to. There
        /// is room for one level more. Pointers are copied, since the compiler has to think that each
        /// level that is written may change them.
        fn viableReduced(p: *P, stack: Stack, wanted: Set) Allocator.Error!Set {
            const program = p.program;
            const shift_sets = program.shift_sets.ptr;
            const offsets = program.reduction_offsets.ptr;
            const reductions = program.reductions.ptr;
            const reduction_sets = program.reduction_sets.ptr;
            const gotos = program.gotos.ptr;
            const n_rules = program.n_rules;
            var nodes = p.pool.nodes.items.ptr;
            var levels = p.levels.items.ptr;
            var n = p.levels.items.len;
            var i = n;
            levels[n] = .{ .stack = stack, .set = wanted };
            n += 1;
            var all: Set = @splat(0);
            var least_depth = p.least_depth;
            while (i < n) : (i += 1) {
                const at = levels[i].stack;
                const left = levels[i].set;
                const here = meet(left, shift_sets[@as(usize, at.top) * width ..][0..width].*);
                levels[i].set = here;
                all = join(all, here);
                const from = offsets[at.top];
                const to = offsets[at.top + 1];
                if (n + (to - from) > p.levels.capacity) {
                    p.levels.items.len = n;
                    try p.levels.ensureUnusedCapacity(p.gpa, to - from);
                    levels = p.levels.items.ptr;
                }
                for (from..to) |r| {
                    const rest = meet(left, reduction_sets[r * width ..][0..width].*);
                    if (isEmpty(rest)) continue;
                    const reduction = reductions[r];
                    var below = at.below;
                    if (reduction.length == 0) {
                        below = try p.pool.push(p.gpa, at);
                        nodes = p.pool.nodes.items.ptr;
                    } else for (1..reduction.length) |_| {
                        below = nodes[below].parent;
                    }
                    least_depth = @min(least_depth, nodes[below].depth);
                    const top = gotos[nodes[below].state * n_rules + reduction.rule];
                    levels[n] = .{ .stack = .{ .below = below, .top = top }, .set = rest };
                    n += 1;
                }
            }
            p.levels.items.len = n;
            p.least_depth = least_depth;
            return all;
        }

        /// The stack after the pending lexeme, if one is pending; null if it cannot end here.
        pub fn endLexeme(p: *P, state: u16, stack: Stack) Allocator.Error!?Stack {
            if (state == nothing_pending) return stack;
            for (p.program.lexer.matchList(state)) |terminal| {
                if (program_module.has(p.program.skip, terminal)) return stack;
                if (try p.take(stack, terminal)) |after| return after;
            }
            return null;
        }

        /// Whether any of the wanted terminals can be shifted. Leaves no level.
        pub fn anyViable(p: *P, stack: Stack, wanted: Set) Allocator.Error!bool {
            const program = p.program;
            if (intersects(wanted, p.set(program.shift_sets, stack.top))) return true;
            for (program.reduction_offsets[stack.top]..program.reduction_offsets[stack.top + 1]) |r| {
                const candidates = meet(wanted, p.set(program.reduction_sets, r));
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

        /// The stack after a terminal that `viable` found, whose levels begin at `mark`.
        pub fn shift(p: *P, mark: usize, terminal: u16) Allocator.Error!Stack {
            const level = for (p.levels.items[mark..]) |*level| {
                if (program_module.has(&level.set, terminal)) break level;
            } else unreachable;
            if (level.node == bottom) level.node = try p.pool.push(p.gpa, level.stack);
            return .{ .below = level.node, .top = p.afterShift(level.stack.top, terminal) };
        }

        fn shifted(p: *P, stack: Stack, terminal: u16) Allocator.Error!Stack {
            return .{ .below = try p.pool.push(p.gpa, stack), .top = p.afterShift(stack.top, terminal) };
        }

        inline fn afterShift(p: *const P, state: u16, terminal: u16) u16 {
            return p.program.shifts[@as(usize, state) * (p.program.n_terminals + 1) + terminal];
        }

        /// Whether the text may end, after the pending lexeme.
        pub fn canEnd(p: *P, state: u16, stack: Stack) Allocator.Error!bool {
            const after = try p.endLexeme(state, stack) orelse return false;
            return try p.take(after, p.program.endOfInput()) != null;
        }

        /// The stack after one terminal; null if it cannot be shifted. Leaves no level.
        pub fn take(p: *P, stack: Stack, terminal: u16) Allocator.Error!?Stack {
            return try p.shifted(try p.shiftable(stack, terminal) orelse return null, terminal);
        }

        /// The stack after the reductions before a terminal; null if it cannot be shifted.
        fn shiftable(p: *P, stack: Stack, terminal: u16) Allocator.Error!?Stack {
            const program = p.program;
            var at = stack;
            next: while (true) {
                if (program_module.has(program.shift_sets[@as(usize, at.top) * width ..][0..width], terminal)) return at;
                for (program.reduction_offsets[at.top]..program.reduction_offsets[at.top + 1]) |r| {
                    if (!program_module.has(program.reduction_sets[r * width ..][0..width], terminal)) continue;
                    at = try p.reduce(at, program.reductions[r]);
                    continue :next;
                }
                return null;
            }
        }

        fn reduce(p: *P, stack: Stack, reduction: program_module.Reduction) Allocator.Error!Stack {
            var below = stack.below;
            if (reduction.length == 0) {
                below = try p.pool.push(p.gpa, stack);
            } else for (1..reduction.length) |_| {
                below = p.pool.nodes.items[below].parent;
            }
            const node = p.pool.nodes.items[below];
            p.least_depth = @min(p.least_depth, node.depth);
            return .{ .below = below, .top = p.program.gotos[node.state * p.program.n_rules + reduction.rule] };
        }

        fn set(_: *const P, sets: []const u64, i: usize) Set {
            return sets[i * width ..][0..width].*;
        }

        pub fn wide(words: []const u64) Set {
            return words[0..width].*;
        }

        pub inline fn meet(a: Set, b: Set) Set {
            return @as(Vector, a) & @as(Vector, b);
        }

        pub inline fn join(a: Set, b: Set) Set {
            return @as(Vector, a) | @as(Vector, b);
        }

        pub inline fn isEmpty(a: Set) bool {
            return @reduce(.Or, @as(Vector, a)) == 0;
        }

        pub inline fn intersects(a: Set, b: Set) bool {
            return !isEmpty(meet(a, b));
        }

        const Vector = @Vector(width, u64);
    };
}
