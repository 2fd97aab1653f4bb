//! Which groups of a table the parser allows: the table's trie of signatures is walked with the stack,
//! and at each node all terminals of interest are asked for at once.

const std = @import("std");
const Allocator = std.mem.Allocator;
const program_module = @import("program.zig");
const Program = program_module.Program;
const parser_module = @import("parser.zig");
const Stack = parser_module.Stack;
const signature = @import("signature.zig");
const Table = signature.Table;
const bitmap = @import("bitmap.zig");

/// In place of a lexer state, before the first byte.
pub const nothing_pending = 0;

/// The tables that a mask is made of.
pub const Tables = struct {
    /// Of the pending lexeme's state; null if no lexeme is pending.
    continuation: ?*const Table,
    /// Of its base, if it has one.
    base: ?*const Table,
    /// By shard.
    restarts: []const *const Table,
};

/// Tokens of one group.
pub const Part = struct {
    ids: []const i32,
    /// In place of `ids`.
    words: ?bitmap.Words,
    n_tokens: u32,
};

/// What was selected: the tokens of `parts[0..n_base]` but for `except`, and those of the other parts.
pub const Selected = struct {
    parts: []const Part,
    n_base: usize,
    except: []const i32,
    can_stop: bool,
};

pub fn Selector(comptime width: usize) type {
    return struct {
        parser: Parser,
        parts: std.ArrayList(Part) = .empty,
        n_words: usize,

        const S = @This();
        const Parser = parser_module.Parser(width);
        const Set = Parser.Set;

        pub fn deinit(s: *S) void {
            s.parser.deinit();
            s.parts.deinit(s.parser.gpa);
        }

        /// The result is lent until the next call. The pool has the nodes that it had.
        pub fn select(s: *S, tables: Tables, state: u16, stack: Stack) Allocator.Error!Selected {
            const p = &s.parser;
            s.parts.clearRetainingCapacity();
            p.levels.clearRetainingCapacity();
            p.begin(stack);
            defer p.pool.nodes.shrinkRetainingCapacity(p.own_from);
            var selected: Selected = .{ .parts = &.{}, .n_base = 0, .except = &.{}, .can_stop = false };
            const continuation = tables.continuation orelse {
                try s.restart(tables.restarts, &@as([8]u64, @splat(std.math.maxInt(u64))), stack, &selected);
                return selected;
            };
            if (tables.base) |base| {
                try s.visit(base, 0, stack, 1);
                selected.n_base = s.parts.items.len;
                selected.except = continuation.except;
            }
            try s.visit(continuation, 0, stack, 1);
            if (try s.finish(state, stack)) |after| {
                try s.restart(tables.restarts, p.program.endersOf(state), after, &selected);
            }
            selected.parts = s.parts.items;
            return selected;
        }

        /// The stack after the pending lexeme has ended; null if it cannot end here.
        pub fn finish(s: *S, state: u16, stack: Stack) Allocator.Error!?Stack {
            const p = &s.parser;
            if (state == nothing_pending) return stack;
            for (p.program.lexer.matchList(state)) |terminal| {
                if (program_module.has(p.program.skip, terminal)) return stack;
                if (try p.take(stack, terminal)) |after| return after;
            }
            return null;
        }

        fn restart(s: *S, tables: []const *const Table, firsts: []const u64, stack: Stack, selected: *Selected) Allocator.Error!void {
            for (tables, firsts[0..tables.len]) |table, wanted| {
                if (wanted != 0) try s.visit(table, 0, stack, wanted);
            }
            selected.parts = s.parts.items;
            selected.can_stop = try s.parser.take(stack, s.parser.program.endOfInput()) != null;
        }

        fn visit(s: *S, table: *const Table, n: u32, stack: Stack, firsts: u64) Allocator.Error!void {
            const p = &s.parser;
            const node = &table.nodes[n];
            const mark = p.levels.items.len;
            defer p.levels.shrinkRetainingCapacity(mark);
            const viable = try p.viable(stack, Parser.wide(table.interests[n * width ..]));
            for (table.groups[node.groups..table.nodes[n + 1].groups]) |*group| {
                if (group.first & firsts == 0) continue;
                const program = p.program;
                const reaches = Parser.intersects(viable, Parser.wide(program.reachSet(group.reach)));
                if (reaches or program.reaches_skip[group.reach]) try s.add(table, group);
            }
            var child = n + 1;
            while (child < node.end) : (child = table.nodes[child].end) {
                if (table.nodes[child].firsts & firsts == 0) continue;
                const after = try s.end(table.nodes[child].list, mark, viable, stack) orelse continue;
                try s.visit(table, child, after, firsts);
            }
        }

        /// The stack after a lexeme that ends with a match list, given what is viable.
        inline fn end(s: *S, list: u16, mark: usize, viable: Set, stack: Stack) Allocator.Error!?Stack {
            const program = s.parser.program;
            for (program.list(list)) |terminal| {
                if (program_module.has(&viable, terminal)) return try s.parser.shift(mark, terminal);
                if (program_module.has(program.skip, terminal)) return stack;
            }
            return null;
        }

        inline fn add(s: *S, table: *const Table, group: *const signature.Group) Allocator.Error!void {
            try s.parts.append(s.parser.gpa, if (group.is_bitmap) .{
                .ids = &.{},
                .words = @alignCast(@constCast(table.words[group.start * s.n_words ..][0..s.n_words])),
                .n_tokens = group.n_tokens,
            } else .{
                .ids = table.ids[group.start..][0..group.n_tokens],
                .words = null,
                .n_tokens = group.n_tokens,
            });
        }
    };
}
