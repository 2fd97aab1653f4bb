//! Where Zig source files can be mutated: `sites FILE...` prints a JSON object for each place, one a line.
//!
//! `start` and `end` are the bytes that are replaced by `text`. `how` says what may stand there: "expression" has a value
//! when the program runs and can be chosen between at run time, "check" is a statement without a value, and "constant" is
//! known to the compiler, so that each needs a build of its own. Tests, assertions and what is known to be computed by the
//! compiler are left out.

const std = @import("std");
const Ast = std.zig.Ast;
const Node = Ast.Node.Index;

pub fn main(init: std.process.Init) !void {
    const arena = init.arena.allocator();
    const arguments = try init.minimal.args.toSlice(arena);
    var buffer: [4096]u8 = undefined;
    var out = std.Io.File.stdout().writer(init.io, &buffer);
    for (arguments[1..]) |path| {
        const text = try std.Io.Dir.cwd().readFileAllocOptions(init.io, path, arena, .limited(1 << 24), .of(u8), 0);
        var finder: Finder = .{ .tree = try .parse(arena, text, .{}), .arena = arena, .path = path, .out = &out.interface };
        try finder.findAll();
    }
    try out.interface.flush();
}

const How = enum { expression, check, constant };

const Finder = struct {
    tree: Ast,
    arena: std.mem.Allocator,
    path: []const u8,
    out: *std.Io.Writer,
    /// Ranges of tokens, both ends included.
    skipped: std.ArrayList([2]u32) = .empty,
    functions: std.ArrayList([2]u32) = .empty,

    fn findAll(f: *Finder) !void {
        for (0..f.tree.nodes.len) |i| try f.note(@fromBackingInt(@as(u32, @intCast(i))));
        for (0..f.tree.nodes.len) |i| try f.find(@fromBackingInt(@as(u32, @intCast(i))));
    }

    /// What is left out, and where the program runs.
    fn note(f: *Finder, node: Node) !void {
        const tree = &f.tree;
        switch (tree.nodeTag(node)) {
            .test_decl, .@"comptime" => try f.skipped.append(f.arena, f.tokens(node)),
            .fn_decl => try f.functions.append(f.arena, f.tokens(tree.nodeData(node).node_and_node[1])),
            .call_one, .call_one_comma, .call, .call_comma => {
                var one: [1]Node = undefined;
                const call = tree.fullCall(&one, node).?;
                const name = f.source(call.ast.fn_expr);
                for ([_][]const u8{ "assert", "std.debug.assert", "log.", "std.log.", "std.debug." }) |start| {
                    if (std.mem.startsWith(u8, name, start)) try f.skipped.append(f.arena, f.tokens(node));
                }
            },
            .array_type, .array_type_sentinel, .switch_range, .asm_simple, .@"asm" => try f.skipped.append(f.arena, f.tokens(node)),
            else => {},
        }
    }

    fn find(f: *Finder, node: Node) !void {
        const tree = &f.tree;
        switch (tree.nodeTag(node)) {
            .less_than => try f.operator(node, "<="),
            .less_or_equal => try f.operator(node, "<"),
            .greater_than => try f.operator(node, ">="),
            .greater_or_equal => try f.operator(node, ">"),
            .equal_equal => try f.operator(node, "!="),
            .bang_equal => try f.operator(node, "=="),
            .bool_and => try f.operator(node, "or"),
            .bool_or => try f.operator(node, "and"),
            .add, .sub => try f.operands(node),
            .if_simple, .@"if" => {
                const full = tree.fullIf(node).?;
                if (full.payload_token != null) return;
                const condition = full.ast.cond_expr;
                switch (tree.nodeTag(condition)) {
                    .equal_equal, .bang_equal => return, // the same as another operator
                    else => {},
                }
                try f.emit("negated if", condition, try f.print("!({s})", .{f.source(condition)}), .expression);
            },
            .block, .block_semicolon, .block_two, .block_two_semicolon => {
                var two: [2]Node = undefined;
                for (tree.blockStatements(&two, node).?) |statement| {
                    if (tree.nodeTag(statement) == .@"try") try f.emit("dropped check", statement, "{}", .check);
                }
            },
            .slice_open, .slice, .slice_sentinel => {
                const slice = tree.fullSlice(node).?;
                try f.bound(slice.ast.start, "+ 1");
                if (slice.ast.end.unwrap()) |end| try f.bound(end, "- 1");
            },
            .call_one, .call_one_comma, .call, .call_comma => {
                var one: [1]Node = undefined;
                for (tree.fullCall(&one, node).?.ast.params) |argument| try f.literal(argument);
            },
            .struct_init_one,
            .struct_init_one_comma,
            .struct_init_dot_two,
            .struct_init_dot_two_comma,
            .struct_init_dot,
            .struct_init_dot_comma,
            .struct_init,
            .struct_init_comma,
            => {
                var two: [2]Node = undefined;
                for (tree.fullStructInit(&two, node).?.ast.fields) |field| try f.literal(field);
            },
            .@"return" => if (tree.nodeData(node).opt_node.unwrap()) |value| try f.literal(value),
            .assign => try f.literal(tree.nodeData(node).node_and_node[1]),
            .assign_add, .assign_sub => try f.literal(tree.nodeData(node).node_and_node[1]),
            .global_var_decl, .local_var_decl, .simple_var_decl, .aligned_var_decl => {
                const declaration = tree.fullVarDecl(node).?;
                if (declaration.ast.init_node.unwrap()) |value| try f.literal(value);
            },
            else => {},
        }
    }

    /// Another operator, and another number on either side of it.
    fn operator(f: *Finder, node: Node, other: []const u8) !void {
        const left, const right = f.tree.nodeData(node).node_and_node;
        const text = try f.print("{s} {s} {s}", .{ f.source(left), other, f.source(right) });
        try f.emit(try f.print("{s} to {s}", .{ f.tree.tokenSlice(f.tree.nodeMainToken(node)), other }), node, text, .expression);
        try f.operands(node);
    }

    fn operands(f: *Finder, node: Node) !void {
        const left, const right = f.tree.nodeData(node).node_and_node;
        const name = f.tree.tokenSlice(f.tree.nodeMainToken(node));
        if (try f.another(right)) |changed| {
            try f.emit("number", node, try f.print("{s} {s} {s}", .{ f.source(left), name, changed }), .expression);
        } else if (try f.another(left)) |changed| {
            try f.emit("number", node, try f.print("{s} {s} {s}", .{ changed, name, f.source(right) }), .expression);
        }
    }

    fn bound(f: *Finder, node: Node, more: []const u8) !void {
        const text = try f.another(node) orelse try f.print("({s}) {s}", .{ f.source(node), more });
        try f.emit("bound", node, text, .expression);
    }

    fn literal(f: *Finder, node: Node) !void {
        if (try f.another(node)) |changed| try f.emit("constant", node, changed, .expression);
    }

    /// Another constant in place of a literal: one more or one less, the other truth value.
    fn another(f: *Finder, node: Node) !?[]const u8 {
        const text = f.source(node);
        switch (f.tree.nodeTag(node)) {
            .identifier => {
                if (std.mem.eql(u8, text, "true")) return "false";
                if (std.mem.eql(u8, text, "false")) return "true";
                return null;
            },
            .number_literal => {
                const value = std.fmt.parseInt(u64, text, 0) catch return null;
                const is_less = value > 1 and f.tree.tokenStart(f.tree.firstToken(node)) % 2 == 0;
                return try f.print("{d}", .{if (is_less) value - 1 else value +| 1});
            },
            else => return null,
        }
    }

    fn emit(f: *Finder, what: []const u8, node: Node, text: []const u8, how: How) !void {
        const range = f.tokens(node);
        if (within(f.skipped.items, range)) return;
        const start = f.tree.tokenStart(range[0]);
        const end = f.tree.tokenStart(range[1]) + f.tree.tokenSlice(range[1]).len;
        const line = 1 + std.mem.countScalar(u8, f.tree.source[0..start], '\n');
        const really: How = if (within(f.functions.items, range)) how else .constant;
        try f.out.print("{f}\n", .{std.json.fmt(.{
            .file = f.path,
            .line = line,
            .start = start,
            .end = end,
            .what = what,
            .text = text,
            .how = really,
        }, .{})});
    }

    fn within(ranges: []const [2]u32, range: [2]u32) bool {
        for (ranges) |each| {
            if (each[0] <= range[0] and range[1] <= each[1]) return true;
        }
        return false;
    }

    fn tokens(f: *Finder, node: Node) [2]u32 {
        return .{ f.tree.firstToken(node), f.tree.lastToken(node) };
    }

    fn source(f: *Finder, node: Node) []const u8 {
        return f.tree.getNodeSource(node);
    }

    fn print(f: *Finder, comptime format: []const u8, arguments: anytype) ![]const u8 {
        return std.fmt.allocPrint(f.arena, format, arguments);
    }
};
