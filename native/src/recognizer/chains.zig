//! Chains of unit reductions. A reduction of one symbol changes the top of a stack and nothing else, and
//! what it becomes depends on the state below. So for a top and the state below it, all that unit
//! reductions lead to is found once: which terminals are shifted on the way, and which other reductions
//! leave the chain. In the expressions of a programming language a chain has a dozen links.

const std = @import("std");
const Allocator = std.mem.Allocator;
const program_module = @import("program.zig");
const Program = program_module.Program;
const Reduction = program_module.Reduction;
const terminal_set = @import("terminal_set.zig");
const NumberMap = @import("number_map.zig").NumberMap;

/// In place of the state below the bottom of a stack.
pub const nothing = std.math.maxInt(u16);

pub fn Chains(comptime width: usize) type {
    return struct {
        all: std.ArrayList(Chain) = .empty,
        links: std.ArrayList(Link) = .empty,
        exits: std.ArrayList(Exit) = .empty,
        /// By the state below and the top.
        index: NumberMap = .{},

        const C = @This();
        const sets = terminal_set.Sets(width);
        const Set = sets.Set;

        pub const Range = struct {
            from: u32,
            to: u32,

            pub fn len(r: Range) usize {
                return r.to - r.from;
            }
        };

        pub const Chain = struct {
            /// Terminals that are shifted at one of the links.
            shifts: Set,
            /// Terminals for which the state below decides.
            looks: Set,
            links: Range,
            exits: Range,
        };

        /// A top that unit reductions lead to, and the terminals that it shifts when they led there.
        const Link = struct { set: Set, top: u16 };

        /// A reduction that is not a unit reduction, and the terminals before which it is done.
        const Exit = struct { set: Set, top: u16, reduction: Reduction };

        /// Beyond these, all are forgotten.
        const chains_max = 1 << 14;

        pub fn deinit(c: *C, gpa: Allocator) void {
            c.all.deinit(gpa);
            c.links.deinit(gpa);
            c.exits.deinit(gpa);
            c.index.deinit(gpa);
        }

        /// Bounds the memory; afterwards no chain may be in use.
        pub fn limit(c: *C, gpa: Allocator) void {
            if (c.all.items.len <= chains_max) return;
            c.deinit(gpa);
            c.* = .{};
        }

        pub inline fn of(c: *C, gpa: Allocator, program: *const Program, below: u32, top: u16) Allocator.Error!u32 {
            const key = @as(u64, below) << 16 | top;
            return c.index.get(key) orelse c.learn(gpa, program, below, top);
        }

        /// The top that shifts a terminal of the chain.
        pub fn shiftingTop(c: *const C, chain: u32, terminal: u16) u16 {
            const links = c.all.items[chain].links;
            for (c.links.items[links.from..links.to]) |*link| {
                if (program_module.has(&link.set, terminal)) return link.top;
            } else unreachable;
        }

        noinline fn learn(c: *C, gpa: Allocator, program: *const Program, below: u32, top: u16) Allocator.Error!u32 {
            const first_link = c.links.items.len;
            const first_exit = c.exits.items.len;
            errdefer {
                c.links.shrinkRetainingCapacity(first_link);
                c.exits.shrinkRetainingCapacity(first_exit);
            }
            var shifts: Set = @splat(0);
            var looks: Set = @splat(0);
            try c.links.append(gpa, .{ .set = @splat(std.math.maxInt(u64)), .top = top });
            var i = first_link;
            while (i < c.links.items.len) : (i += 1) {
                const from = c.links.items[i];
                for (program.reduction_offsets[from.top]..program.reduction_offsets[from.top + 1]) |r| {
                    const set = sets.meet(&from.set, sets.at(program.reduction_sets, r));
                    if (sets.isEmpty(&set)) continue;
                    const reduction = program.reductions[r];
                    if (reduction.length == 1) {
                        sets.unite(&looks, &set);
                        try c.links.append(gpa, .{ .set = set, .top = program.gotos[below * program.n_rules + reduction.rule] });
                    } else try c.exits.append(gpa, .{ .set = set, .top = from.top, .reduction = reduction });
                }
                const here = sets.meet(&from.set, sets.at(program.shift_sets, from.top));
                c.links.items[i].set = here;
                sets.unite(&shifts, &here);
            }
            const number: u32 = @intCast(c.all.items.len);
            try c.all.append(gpa, .{
                .shifts = shifts,
                .looks = looks,
                .links = .{ .from = @intCast(first_link), .to = @intCast(c.links.items.len) },
                .exits = .{ .from = @intCast(first_exit), .to = @intCast(c.exits.items.len) },
            });
            errdefer _ = c.all.pop();
            try c.index.put(gpa, @as(u64, below) << 16 | top, number);
            return number;
        }
    };
}
