//! A grammar that is being made, in which JSON documents are terminals (engine/glr/parts.zig).

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Parts = @import("engine").parts.Parts;
const Seen = @import("engine").any_order.Seen;
const BoundedTexts = @import("engine").bounded_texts.BoundedTexts;
const Documents = @import("engine").parts.Documents;
const JsonSchema = @import("engine").json_schema.JsonSchema;
const program = @import("engine").program;
const ast = @import("regex/ast.zig");
const bnf = @import("bnf.zig");
const context = @import("lr/context.zig");
const Context = context.Context;
const bounded = @import("cfg/bounded.zig");
const json_schema = @import("json_schema.zig");
const Error = context.Error;

pub const DocumentGrammar = struct {
    gpa: Allocator,
    ctx: *const Context,
    terminals: ArrayList(bnf.Terminal) = .empty,
    rules: ArrayList(bnf.Rule) = .empty,
    productions: ArrayList(bnf.Production) = .empty,
    texts: ArrayList(bnf.BoundedText) = .empty,
    needed: ArrayList(Seen) = .empty,
    /// By number. Owned, but for the list.
    documents: ArrayList(Documents) = .empty,

    pub fn deinit(g: *DocumentGrammar) void {
        for (g.documents.items) |*one| one.schema.deinit(g.gpa, .owned);
    }

    pub fn whole(g: *const DocumentGrammar, start: u16) bnf.Bnf {
        return .{
            .terminals = g.terminals.items,
            .rules = g.rules.items,
            .productions = g.productions.items,
            .start = start,
            .texts = g.texts.items,
            .needed = g.needed.items,
        };
    }

    pub fn terminal(g: *DocumentGrammar, name: []const u8, node: *const ast.Node) Error!u16 {
        if (g.terminals.items.len == program.terminals_max) {
            return g.ctx.diag.fail(.limit, "the grammar has more than {d} terminals", .{program.terminals_max});
        }
        try g.ctx.append(&g.terminals, .{ .name = name, .pattern = try ast.create(g.ctx.arena, node.*) });
        return @intCast(g.terminals.items.len - 1);
    }

    /// For a text of cfg/bounded.zig.
    pub fn boundedTerminal(g: *DocumentGrammar, name: []const u8, text: bnf.BoundedText) Error!u16 {
        if (g.texts.items.len == BoundedTexts.texts_max) {
            return g.ctx.diag.fail(.limit, "the grammar has more than {d} strings of bounded length", .{BoundedTexts.texts_max});
        }
        const made = try g.terminal(name, try bounded.nodeOf(g.ctx.arena, g.texts.items.len));
        try g.ctx.append(&g.texts, text);
        g.texts.items[g.texts.items.len - 1].terminal = made;
        return made;
    }

    pub fn rule(g: *DocumentGrammar, name: []const u8) Error!u16 {
        if (g.rules.items.len == rules_max) return g.ctx.diag.fail(.limit, "the grammar has more than {d} rules", .{rules_max});
        try g.ctx.append(&g.rules, .{ .name = name });
        return @intCast(g.rules.items.len - 1);
    }

    pub fn produce(g: *DocumentGrammar, of: u16, symbols: []const bnf.Symbol) Error!void {
        if (g.productions.items.len == rules_max) {
            return g.ctx.diag.fail(.limit, "the grammar has more than {d} productions", .{rules_max});
        }
        const own = try g.ctx.alloc(bnf.Symbol, symbols.len);
        @memcpy(own, symbols);
        try g.ctx.append(&g.productions, .{ .rule = of, .symbols = own });
    }

    /// Ends a list in any order (engine/glr/any_order.zig) with a member, if it has had those that it needs.
    pub fn produceLast(g: *DocumentGrammar, list: u16, member: u16, needed: Seen) Error!void {
        try g.produce(list, &.{.{ .rule = member }});
        if (needed.count() == 0) return;
        const n = g.needed.items.len;
        if (n == 0 or !g.needed.items[n - 1].eql(needed)) try g.ctx.append(&g.needed, needed);
        g.productions.items[g.productions.items.len - 1].needs = @intCast(g.needed.items.len);
    }

    /// What the documents of a schema are to the lexer. Takes the schema over, unless it fails.
    pub fn document(g: *DocumentGrammar, schema: JsonSchema) Error!*const ast.Node {
        if (g.documents.items.len == Parts.parts_max) {
            return g.ctx.diag.fail(.limit, "the grammar has more than {d} schemas", .{Parts.parts_max});
        }
        const node = try documentNode(g.ctx.arena, g.documents.items.len);
        const firsts = try json_schema.firstsOf(g.gpa, &schema, g.ctx.budget, g.ctx.diag);
        try g.ctx.append(&g.documents, .{ .schema = schema, .firsts = firsts });
        return node;
    }

    const rules_max = std.math.maxInt(u16);
};

/// The text of the terminal of a document, by its number.
pub fn documentNode(arena: Allocator, number: usize) Allocator.Error!*const ast.Node {
    return ast.create(arena, .{ .bytes = try arena.dupe(u8, &.{ Parts.lead, @intCast(number) }) });
}

/// Of the document that a terminal is; null if it is none.
pub fn numberOf(node: *const ast.Node) ?u8 {
    return if (node.* == .bytes and node.bytes.len == 2 and node.bytes[0] == Parts.lead) node.bytes[1] else null;
}
