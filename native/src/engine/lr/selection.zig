//! Selects the groups of a table that the parser allows: walks the table's trie of signatures with the stack,
//! and at each node asks for all terminals of interest at once.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const program_module = @import("program.zig");
const parser_module = @import("parser.zig");
const Stack = @import("../language/position.zig").Stack;
const Sets = @import("terminal_set.zig").Sets;
const signature = @import("signature.zig");
const Table = signature.Table;
const MaskBuilder = @import("../mask/builder.zig").MaskBuilder;
const NumberMap = @import("../base/number_map.zig").NumberMap;

const Error = parser_module.Error;

/// The tables that a mask is made of.
pub const Tables = struct {
    /// That of the pending lexeme's state. Null: no lexeme is pending.
    continuation: ?*const Table,
    /// That of its base. Null: it has none.
    base: ?*const Table,
    /// By shard.
    restarts: []const *const Table,
};

/// Belongs to one thread, and serves one grammar: what it learns makes later masks cheaper.
pub fn Selector(comptime width: usize) type {
    return struct {
        parser: Parser,
        /// By table, node and the state after the shift that leads to it: what the node's subtree allows
        /// if it does not depend on what is below that state, as an index into `statics`; or `depends`. XGrammar
        /// divides tokens in the same way, by grammar position (Dong et al., 2024).
        ///
        /// A static is right wherever its key is: to learn it is a run that reads, of its stack, the top alone,
        /// and the argument of recognizer/key.zig holds for this run as it does for all of a mask's. Table, node
        /// and top are all that it begins with, and they are the key; groups of first classes that a mask does
        /// not want are left out when it reuses them. To reuse a static reads nothing, so `least_depth` stays: the
        /// state that was shifted to is decided by what had been read. What `depends` is visited each time, and
        /// all that it reads counts. So it makes no difference to a mask's key what was known before.
        known: NumberMap = .{},
        statics: ArrayList(Static) = .empty,
        /// The groups of all statics.
        groups: ArrayList(u32) = .empty,

        const S = @This();
        const Parser = parser_module.Parser(width);
        const sets = Sets(width);
        const Static = struct { from: u32, to: u32 };
        const depends = std.math.maxInt(u32);
        /// Grammars with more terminals are rare, and not worth a second copy of the code.
        const keeps_statics = width == program_module.set_widths[0];
        /// With so many statics, or groups in them, further ones are found again each time.
        const known_max = 1 << 16;
        const groups_max = 1 << 20;

        /// Frees the parser too.
        pub fn deinit(s: *S) void {
            const gpa = s.parser.gpa;
            s.parser.deinit();
            s.known.deinit(gpa);
            s.statics.deinit(gpa);
            s.groups.deinit(gpa);
        }

        /// Adds the legal tokens to the builder. Returns whether the text may stop. Leaves the pool as it was;
        /// `parser.least_depth` says how much of the stack was looked at.
        pub fn select(s: *S, tables: Tables, state: u16, stack: Stack, builder: *MaskBuilder) Error!bool {
            const p = &s.parser;
            const n_nodes = p.pool.nodes.items.len;
            defer p.pool.nodes.shrinkRetainingCapacity(n_nodes);
            p.begin(stack);
            defer std.debug.assert(p.levels.items.len == 0 and p.least_depth <= p.pool.depthOf(stack));
            const all: [4]u64 = @splat(std.math.maxInt(u64));
            const continuation = tables.continuation orelse return s.restart(tables.restarts, &all, stack, builder);
            if (tables.base) |base| {
                std.debug.assert(base.base == signature.no_base and base.except.len == 0);
                try s.visit(base, 0, stack, ToMask{ .builder = builder, .firsts = 1 });
                builder.remove(continuation.except);
            }
            try s.visit(continuation, 0, stack, ToMask{ .builder = builder, .firsts = 1 });
            const after = try p.endLexeme(state, stack) orelse return false;
            return s.restart(tables.restarts, p.program.endersOf(state), after, builder);
        }

        fn restart(s: *S, tables: []const *const Table, firsts: []const u64, stack: Stack, builder: *MaskBuilder) Error!bool {
            for (tables, firsts[0..tables.len]) |table, wanted| {
                if (wanted != 0) try s.visit(table, 0, stack, ToMask{ .builder = builder, .firsts = wanted });
            }
            return try s.parser.take(stack, s.parser.program.endOfInput()) != null;
        }

        /// `to` is a ToMask or a ToList.
        fn visit(s: *S, table: *const Table, n: u32, stack: Stack, to: anytype) Error!void {
            const p = &s.parser;
            const node = &table.nodes[n];
            const mark = p.levels.items.len;
            defer p.levels.items.len = mark;
            const viable = try p.viable(stack, sets.at(table.interests, n));
            if (@TypeOf(to) == ToList and p.least_depth < to.depth) return;
            var takeable = viable;
            sets.unite(&takeable, sets.at(p.program.skip, 0));
            // Groups with the same reach set are neighbours.
            var reach: ?u16 = null;
            var can_reach = false;
            for (node.groups..table.nodes[n + 1].groups) |g| {
                const group = &table.groups[g];
                if (group.first & to.firsts == 0) continue;
                if (group.reach != reach) {
                    reach = group.reach;
                    can_reach = sets.intersects(&takeable, sets.at(p.program.lexer.reach_sets, group.reach));
                }
                if (can_reach) try to.add(table, @intCast(g));
            }
            var child = n + 1;
            while (child < node.end) {
                const next = &table.nodes[child];
                defer child = next.end;
                if (next.firsts & to.firsts == 0) continue;
                const terminal = if (next.terminal != signature.several) next.terminal else s.winner(next.list, &viable) orelse continue;
                if (program_module.has(&viable, terminal)) {
                    try s.visitShifted(table, child, mark, terminal, to);
                } else if (next.terminal == signature.several) {
                    try s.visit(table, child, stack, to); // a skipped terminal: the stack stays
                }
            }
        }

        fn visitShifted(s: *S, table: *const Table, n: u32, mark: usize, terminal: u16, to: anytype) Error!void {
            const p = &s.parser;
            const stack = p.shifting(mark, terminal);
            if (keeps_statics and @TypeOf(to) == ToMask) {
                std.debug.assert(n <= std.math.maxInt(u16));
                const key = @as(u64, table.id) << 32 | @as(u64, n) << 16 | p.topAfter(stack, terminal);
                const found = s.known.get(key) orelse try s.learn(key, table, n, try p.shifted(stack, terminal));
                if (found != depends) {
                    const static = s.statics.items[found];
                    for (s.groups.items[static.from..static.to]) |group| {
                        if (table.groups[group].first & to.firsts != 0) try to.add(table, group);
                    }
                    return;
                }
            }
            try s.visit(table, n, try p.shifted(stack, terminal), to);
        }

        /// Visits a subtree to see whether anything below the top of the stack is looked at.
        noinline fn learn(s: *S, key: u64, table: *const Table, n: u32, stack: Stack) Error!u32 {
            const p = &s.parser;
            if (s.known.n == known_max or s.groups.items.len >= groups_max) return depends;
            const from = s.groups.items.len;
            errdefer s.groups.shrinkRetainingCapacity(from);
            const depth = p.pool.depthOf(stack);
            const outside = p.least_depth;
            defer p.least_depth = outside; // if it `depends`, it is visited once more
            p.least_depth = std.math.maxInt(u32);
            try s.visit(table, n, stack, ToList{ .gpa = p.gpa, .groups = &s.groups, .depth = depth });
            if (p.least_depth < depth) {
                s.groups.shrinkRetainingCapacity(from);
                try s.known.put(p.gpa, key, depends);
                return depends;
            }
            const static: u32 = @intCast(s.statics.items.len);
            try s.statics.append(p.gpa, .{ .from = @intCast(from), .to = @intCast(s.groups.items.len) });
            errdefer _ = s.statics.pop();
            try s.known.put(p.gpa, key, static);
            return static;
        }

        /// Which of its several terminals a lexeme is, given what is viable; null if none is.
        fn winner(s: *const S, list: u16, viable: *const sets.Set) ?u16 {
            const program = s.parser.program;
            for (program.lexer.list(list)) |terminal| {
                if (program_module.has(viable, terminal) or program_module.has(program.skip, terminal)) return terminal;
            }
            return null;
        }
    };
}

/// Adds groups to a builder, if they have one of the first classes.
const ToMask = struct {
    builder: *MaskBuilder,
    firsts: u64,

    inline fn add(to: ToMask, table: *const Table, g: u32) Error!void {
        const group = &table.groups[g];
        if (group.is_bitmap) {
            const words = table.words[group.start * to.builder.words.len ..][0..to.builder.words.len];
            to.builder.addBitmap(@alignCast(@constCast(words)), group.n_tokens);
        } else to.builder.addList(table.ids[group.start..][0..group.n_tokens]);
    }
};

/// Lists groups, whatever their first class, as long as nothing below a depth was looked at.
const ToList = struct {
    gpa: Allocator,
    groups: *ArrayList(u32),
    depth: u32,

    firsts: u64 = std.math.maxInt(u64),

    fn add(to: ToList, _: *const Table, g: u32) Error!void {
        try to.groups.append(to.gpa, g);
    }
};
