//! Chains of unit reductions. A reduction of one symbol changes only the top of a stack, and what the top
//! becomes depends on the state below. So for a top and the state below it, all that unit reductions lead to is
//! found once: which terminals are shifted on the way, and which other reductions leave the chain. In the
//! expressions of a programming language a chain has a dozen links. Others remove such reductions from the
//! tables (Pager, "Eliminating unit productions from LR parsers", 1977); here the tables stay small, and chains
//! are found when first needed.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const program_module = @import("program.zig");
const Program = program_module.Program;
const Reduction = program_module.Reduction;
const terminal_set = @import("terminal_set.zig");
const NumberMap = @import("../base/number_map.zig").NumberMap;
const span = @import("../contract/span.zig");
const Watch = @import("../base/watch.zig").Watch;

const Error = span.Error;

/// In place of the state below the bottom of a stack.
pub const nothing = std.math.maxInt(u16);

/// The chains that a parser has needed so far, with sets of terminals of `width` words. Belongs to one thread.
pub fn Chains(comptime width: usize) type {
    return struct {
        all: ArrayList(Chain) = .empty,
        links: ArrayList(Link) = .empty,
        exits: ArrayList(Exit) = .empty,
        /// From the state below and the top to the chain.
        index: NumberMap = .{},

        const C = @This();
        const sets = terminal_set.Sets(width);
        const Set = sets.Set;

        /// A run of links or exits.
        pub const Range = struct {
            from: u32,
            to: u32,

            /// Number of elements.
            pub fn len(r: Range) usize {
                return r.to - r.from;
            }
        };

        /// All that unit reductions lead to from a top and the state below it.
        pub const Chain = struct {
            /// Terminals that are shifted at one of the links.
            shifts: Set,
            /// Terminals before which the first link makes a unit reduction: the state below decides what it
            /// becomes. For all others the chain is that of its top alone, whatever is below, since the sets of
            /// the other links, and of their exits, are parts of this one.
            needs_below: Set,
            links: Range,
            exits: Range,
        };

        /// A top that unit reductions lead to, and the terminals that it shifts when they led there.
        const Link = struct { set: Set, top: u16 };

        /// A reduction that is not a unit reduction, and the terminals before which it is done.
        const Exit = struct { set: Set, top: u16, reduction: Reduction };

        /// The most links of one chain.
        const links_max = 1 << 16;

        /// Beyond this, `limit` forgets all chains.
        const bytes_max = 16 << 20;

        /// `gpa` is the one that `of` was given.
        pub fn deinit(c: *C, gpa: Allocator) void {
            c.all.deinit(gpa);
            c.links.deinit(gpa);
            c.exits.deinit(gpa);
            c.index.deinit(gpa);
        }

        /// Forgets all chains if they use too much memory. None may be in use.
        pub fn limit(c: *C, gpa: Allocator) void {
            if (c.bytes() <= bytes_max) return;
            c.deinit(gpa);
            c.* = .{};
        }

        fn bytes(c: *const C) usize {
            return std.mem.sliceAsBytes(c.all.items).len + std.mem.sliceAsBytes(c.links.items).len +
                std.mem.sliceAsBytes(c.exits.items).len + std.mem.sliceAsBytes(c.index.slots).len;
        }

        /// The chain of a top and the state below it, by its index; built if it is not known yet.
        pub inline fn of(c: *C, gpa: Allocator, program: *const Program, watch: *Watch, below: u32, top: u16) Error!u32 {
            return c.index.get(keyOf(below, top)) orelse c.learn(gpa, program, watch, below, top);
        }

        inline fn keyOf(below: u32, top: u16) u64 {
            return @as(u64, below) << 16 | top;
        }

        /// The top at which the chain shifts a terminal of its `shifts`.
        pub fn shiftingTop(c: *const C, chain: u32, terminal: u16) u16 {
            const links = c.all.items[chain].links;
            for (c.links.items[links.from..links.to]) |*link| {
                if (program_module.has(&link.set, terminal)) return link.top;
            } else unreachable;
        }

        noinline fn learn(c: *C, gpa: Allocator, program: *const Program, watch: *Watch, below: u32, top: u16) Error!u32 {
            const first_link = c.links.items.len;
            const first_exit = c.exits.items.len;
            errdefer {
                c.links.shrinkRetainingCapacity(first_link);
                c.exits.shrinkRetainingCapacity(first_exit);
            }
            const number: u32 = @intCast(c.all.items.len);
            const chain = try c.all.addOne(gpa);
            errdefer c.all.items.len = number;
            chain.shifts = @splat(0);
            chain.needs_below = @splat(0);
            try c.links.append(gpa, .{ .set = @splat(std.math.maxInt(u64)), .top = top });
            var i = first_link;
            while (i < c.links.items.len) : (i += 1) {
                try watch.steps(4);
                if (c.links.items.len > first_link + links_max) return error.TooLarge;
                try c.follow(gpa, program, chain, i, below);
                const link = &c.links.items[i];
                sets.meet(&link.set, &link.set, sets.at(program.shift_sets, link.top));
                sets.unite(&chain.shifts, &link.set);
            }
            chain.links = .{ .from = @intCast(first_link), .to = @intCast(c.links.items.len) };
            chain.exits = .{ .from = @intCast(first_exit), .to = @intCast(c.exits.items.len) };
            try c.index.put(gpa, keyOf(below, top), number);
            return number;
        }

        /// Follows the reductions of a link, whose set is still that of all terminals that led there.
        fn follow(c: *C, gpa: Allocator, program: *const Program, chain: *Chain, from: usize, below: u32) Error!void {
            const top = c.links.items[from].top;
            for (program.reduction_offsets[top]..program.reduction_offsets[top + 1]) |r| {
                const next = try c.links.addOne(gpa);
                sets.meet(&next.set, &c.links.items[from].set, sets.at(program.reduction_sets, r));
                const reduction = program.reductions[r];
                if (reduction.length == 1 and !sets.isEmpty(&next.set)) {
                    sets.unite(&chain.needs_below, &next.set);
                    next.top = program.transition(below, reduction.symbol);
                    continue;
                }
                if (!sets.isEmpty(&next.set)) try c.exits.append(gpa, .{ .set = next.set, .top = top, .reduction = reduction });
                c.links.items.len -= 1;
            }
        }
    };
}

test "the state below decides before every unit reduction of the top, and before nothing else" {
    const gpa = std.testing.allocator;
    const width = program_module.set_widths[0];
    // State 1 reduces one symbol before terminal 0 and before terminal 1, to symbols that lead to the states
    // 2 and 3, which shift them; three symbols before terminal 2. It shifts terminal 3 itself.
    var program: Program = undefined;
    program.reduction_offsets = &.{ 0, 0, 3, 3, 3 };
    program.reductions = &.{ .{ .symbol = 2, .length = 1 }, .{ .symbol = 3, .length = 1 }, .{ .symbol = 2, .length = 3 } };
    program.reduction_sets = &.{ 1, 0, 2, 0, 4, 0 };
    program.shift_sets = &.{ 0, 0, 8, 0, 1, 0, 2, 0 };
    program.displacements = &@as([4]u32, @splat(0));
    program.transitions = &.{ 0, 1, 2, 3 };
    var watch: Watch = .{};
    var chains: Chains(width) = .{};
    defer chains.deinit(gpa);
    const n = try chains.of(gpa, &program, &watch, 0, 1);
    const chain = chains.all.items[n];
    try std.testing.expectEqual([_]u64{ 0b0011, 0 }, chain.needs_below);
    try std.testing.expectEqual([_]u64{ 0b1011, 0 }, chain.shifts);
    for ([_]u16{ 0, 1, 3 }, [_]u16{ 2, 3, 1 }) |terminal, top| try std.testing.expectEqual(top, chains.shiftingTop(n, terminal));
    const exits = chains.exits.items[chain.exits.from..chain.exits.to];
    try std.testing.expectEqual(1, exits.len);
    try std.testing.expectEqual([_]u64{ 0b0100, 0 }, exits[0].set);
    try std.testing.expectEqual(1, exits[0].top);
}

test "few chains may stay if they are long" {
    const gpa = std.testing.allocator;
    const n_states = 1 << 9;
    const width = program_module.set_widths[0];
    const C = Chains(width);
    // Each state but 0 reduces one symbol to the rule, and so to the state, before it; all shift all.
    var offsets: [n_states + 1]u32 = undefined;
    var reductions: [n_states - 1]Reduction = undefined;
    for (&offsets, 0..) |*offset, state| offset.* = @intCast(@max(state, 1) - 1);
    for (&reductions, 0..) |*reduction, rule| reduction.* = .{ .symbol = @intCast(rule), .length = 1 };
    var transitions: [n_states]u16 = undefined;
    for (&transitions, 0..) |*transition, symbol| transition.* = @intCast(symbol);
    const displacements: [8]u32 = @splat(0);
    const all: [n_states * width]u64 = @splat(std.math.maxInt(u64));
    var program: Program = undefined;
    program.reduction_offsets = &offsets;
    program.reductions = &reductions;
    program.reduction_sets = &all;
    program.shift_sets = &all;
    program.displacements = &displacements;
    program.transitions = &transitions;

    var watch: Watch = .{};
    var chains: C = .{};
    defer chains.deinit(gpa);
    var bytes: usize = 0;
    for (0..8) |below| for (1..n_states) |top| {
        const chain = try chains.of(gpa, &program, &watch, @intCast(below), @intCast(top));
        try std.testing.expectEqual(chain, try chains.of(gpa, &program, &watch, @intCast(below), @intCast(top)));
        try std.testing.expectEqual(top + 1, chains.all.items[chain].links.len());
        chains.limit(gpa);
        bytes = @max(bytes, chains.bytes());
    };
    try std.testing.expect(bytes > C.bytes_max / 2 and bytes <= C.bytes_max);
}
