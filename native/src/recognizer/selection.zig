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
const Sink = @import("sink.zig").Sink;

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

pub fn Selector(comptime width: usize) type {
    return struct {
        parser: Parser,

        const S = @This();
        const Parser = parser_module.Parser(width);
        const Set = Parser.Set;

        pub fn deinit(s: *S) void {
            s.parser.deinit();
        }

        /// Adds the legal tokens to the sink; true if the text may stop. The pool has the nodes that it
        /// had.
        pub fn select(s: *S, tables: Tables, state: u16, stack: Stack, sink: *Sink) Allocator.Error!bool {
            const p = &s.parser;
            p.levels.clearRetainingCapacity();
            p.begin(stack);
            defer p.pool.nodes.shrinkRetainingCapacity(p.own_from);
            const all: [4]u64 = @splat(std.math.maxInt(u64));
            const continuation = tables.continuation orelse return s.restart(tables.restarts, &all, stack, sink);
            if (tables.base) |base| {
                try s.visit(base, 0, stack, 1, sink);
                sink.remove(continuation.except);
            }
            try s.visit(continuation, 0, stack, 1, sink);
            const after = try s.finish(state, stack) orelse return false;
            return s.restart(tables.restarts, p.program.endersOf(state), after, sink);
        }

        /// The stack after the pending lexeme has ended; null if it cannot end here.
        pub fn finish(s: *S, state: u16, stack: Stack) Allocator.Error!?Stack {
            if (state == nothing_pending) return stack;
            return s.parser.endLexeme(state, stack);
        }

        fn restart(s: *S, tables: []const *const Table, firsts: []const u64, stack: Stack, sink: *Sink) Allocator.Error!bool {
            for (tables, firsts[0..tables.len]) |table, wanted| {
                if (wanted != 0) try s.visit(table, 0, stack, wanted, sink);
            }
            return try s.parser.take(stack, s.parser.program.endOfInput()) != null;
        }

        fn visit(s: *S, table: *const Table, n: u32, stack: Stack, firsts: u64, sink: *Sink) Allocator.Error!void {
            const p = &s.parser;
            const node = &table.nodes[n];
            const mark = p.levels.items.len;
            defer p.levels.items.len = mark;
            const viable = try p.viable(stack, Parser.wide(table.interests[n * width ..]));
            const takeable = Parser.join(viable, Parser.wide(p.program.skip));
            for (table.groups[node.groups..table.nodes[n + 1].groups]) |*group| {
                if (group.first & firsts == 0) continue;
                if (Parser.intersects(takeable, Parser.wide(p.program.reachSet(group.reach)))) add(table, group, sink);
            }
            var child = n + 1;
            while (child < node.end) {
                const next = &table.nodes[child];
                defer child = next.end;
                if (next.firsts & firsts == 0) continue;
                const after = if (next.terminal != signature.several)
                    (if (program_module.has(&viable, next.terminal)) try p.shift(mark, next.terminal) else continue)
                else
                    try s.endWithSeveral(next.list, mark, viable, stack) orelse continue;
                try s.visit(table, child, after, firsts, sink);
            }
        }

        /// The stack after a lexeme that matches several terminals, given what is viable.
        fn endWithSeveral(s: *S, list: u16, mark: usize, viable: Set, stack: Stack) Allocator.Error!?Stack {
            const program = s.parser.program;
            for (program.list(list)) |terminal| {
                if (program_module.has(&viable, terminal)) return try s.parser.shift(mark, terminal);
                if (program_module.has(program.skip, terminal)) return stack;
            }
            return null;
        }

        inline fn add(table: *const Table, group: *const signature.Group, sink: *Sink) void {
            if (group.is_bitmap) {
                const words = table.words[group.start * sink.words.len ..][0..sink.words.len];
                sink.addBitmap(@alignCast(@constCast(words)), group.n_tokens);
            } else sink.addList(table.ids[group.start..][0..group.n_tokens]);
        }
    };
}
