//! Compiles the JSON Schemas in a grammar, whose documents are terminals of it (engine/glr/parts.zig). What is written as
//! parameters becomes rules.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Arena = @import("engine").arena.Arena;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const Vocabulary = @import("engine").vocabulary.Vocabulary;
const ByteTrie = @import("engine").byte_trie.ByteTrie;
const Ambiguous = @import("engine").ambiguous.Ambiguous;
const ast = @import("regex/ast.zig");
const Language = @import("engine").language.Language;
const Parts = @import("engine").parts.Parts;
const Source = @import("engine").schema.Source;
const Options = @import("schema/compile.zig").Options;
const bnf = @import("bnf.zig");
const Part = bnf.Part;
const Context = @import("lr/context.zig").Context;
const Warnings = @import("lr/tables.zig").Warnings;
const TokenClasses = @import("cfg/token_classes.zig").TokenClasses;
const choose = @import("cfg/choose.zig").choose;
const documents = @import("document_grammar.zig");
const DocumentGrammar = documents.DocumentGrammar;
const parameters = @import("parameters/parameters.zig");
const source_text = @import("source_text.zig");
const json_schema = @import("json_schema.zig");

const Error = Allocator.Error || diagnostic.Error;

/// Compiles a grammar some of whose terminals are parts, by their numbers. Warnings and failures begin with the part's place.
pub fn compile(
    gpa: Allocator,
    ctx: *const Context,
    vocabulary: *const Vocabulary,
    trie: *const ByteTrie,
    grammar: *const bnf.Bnf,
    reading: bnf.Reading,
    parts: []const Part,
    tokens: *const TokenClasses,
    warnings: *Warnings,
) Error!Language {
    var how = reading;
    how.token_bytes_max = trie.longest;
    if (parts.len == 0) return choose(gpa, ctx, grammar, how, warnings);
    var made: DocumentGrammar = .{ .gpa = gpa, .ctx = ctx };
    errdefer made.deinit();
    try ctx.appendSlice(&made.rules, grammar.rules);
    // [terminal]: what it becomes.
    const become = try ctx.alloc(bnf.Symbol, grammar.terminals.len);
    for (become, grammar.terminals) |*to, terminal| {
        if (documents.numberOf(terminal.pattern)) |part| if (parts[part].options.style != null) continue;
        to.* = .{ .terminal = @intCast(made.terminals.items.len) };
        try ctx.append(&made.terminals, terminal);
    }
    for (parts, 0..) |part, number| {
        const n_warnings = warnings.items.len;
        const terminal = terminalOf(grammar, number);
        if (part.options.style != null) {
            const at = terminal orelse continue; // no rule that is reached uses it
            if (!isAnywhere(grammar, reading)) return ctx.diag.fail(
                .grammar,
                "{f}: a schema with a style needs %lexing any, and nothing that is ignored",
                .{part.place},
            );
            const rule = parameters.write(&made, vocabulary, part.text, &part.options, tokens, warnings);
            become[at] = .{ .rule = rule catch |e| return inPart(part, e, ctx.diag) };
        } else {
            const node = addDocuments(&made, vocabulary, part, warnings) catch |e| return inPart(part, e, ctx.diag);
            if (terminal) |at| made.terminals.items[become[at].terminal].pattern = node;
        }
        if (part.place.line > 0) for (warnings.items[n_warnings..]) |*warning| {
            warning.* = try std.fmt.allocPrint(ctx.arena, "{f}: {s}", .{ part.place, warning.* });
        };
    }
    how.n_parts = made.documents.items.len;
    for (made.terminals.items) |*terminal| if (documents.numberOf(terminal.pattern)) |number| {
        terminal.firsts = made.documents.items[number].firsts;
    };
    const whole = try wholeOf(&made, grammar, become);
    var language = try choose(gpa, ctx, &whole, how, warnings);
    errdefer language.deinit(gpa, .owned);
    if (how.n_parts > 0) try give(trie, &language.ambiguous, &made);
    return language;
}

/// The grammar, whose terminals have become other symbols.
fn wholeOf(made: *DocumentGrammar, grammar: *const bnf.Bnf, become: []const bnf.Symbol) Error!bnf.Bnf {
    const ctx = made.ctx;
    for (grammar.productions) |production| {
        const symbols = try ctx.alloc(bnf.Symbol, production.symbols.len);
        for (symbols, production.symbols) |*to, from| to.* = if (from == .terminal) become[from.terminal] else from;
        var own = production;
        own.symbols = symbols;
        try ctx.append(&made.productions, own);
    }
    const counted = try ctx.alloc(bnf.CountedRule, grammar.counted.len);
    for (counted, grammar.counted) |*to, from| {
        to.* = .{ .begin = become[from.begin].terminal, .end = become[from.end].terminal, .tokens_max = from.tokens_max };
    }
    var whole = made.whole(grammar.start);
    whole.counted = counted;
    return whole;
}

fn terminalOf(grammar: *const bnf.Bnf, part: usize) ?usize {
    for (grammar.terminals, 0..) |terminal, i| if (documents.numberOf(terminal.pattern)) |number| if (number == part) return i;
    return null;
}

/// Whether lexemes may end anywhere, with nothing skipped between them.
fn isAnywhere(grammar: *const bnf.Bnf, reading: bnf.Reading) bool {
    for (grammar.terminals) |terminal| if (terminal.skip or terminal.separates) return false;
    return reading.lexing == .any;
}

fn inPart(part: Part, e: Error, diag: *Diagnostic) Error {
    return if (e == error.Failed and part.place.line > 0) source_text.failAgain(part.place, diag) else e;
}

fn addDocuments(to: *DocumentGrammar, vocabulary: *const Vocabulary, part: Part, warnings: *Warnings) Error!*const ast.Node {
    const ctx = to.ctx;
    var schema = try json_schema.compile(to.gpa, vocabulary, part.text, &part.options, ctx.arena, warnings, ctx.budget, ctx.diag);
    errdefer schema.deinit(to.gpa, .owned);
    return to.document(schema);
}

/// Hands the schemas over.
fn give(trie: *const ByteTrie, to: *Ambiguous, from: *DocumentGrammar) Allocator.Error!void {
    to.parts = try Parts.create(from.gpa, trie, &to.program, from.documents.items);
    from.documents = .empty;
}

/// Adds to a grammar from a file its schemas, as they were saved: those of parameters each with the whole source.
/// `Damaged`: they cannot have been written like this.
pub fn open(
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    trie: *const ByteTrie,
    to: *Ambiguous,
    sources: []const Source,
    given: Budget,
    diag: *Diagnostic,
) (Error || error{Damaged})!void {
    var arena: Arena = .init(gpa);
    defer arena.deinit();
    var warnings: Warnings = .empty;
    var budget = given;
    const ctx: Context = .{ .arena = arena.allocator(), .budget = &budget, .diag = diag };
    var made: DocumentGrammar = .{ .gpa = gpa, .ctx = &ctx };
    errdefer made.deinit();
    const tokens: TokenClasses = .{};
    var n: usize = 0;
    while (n < sources.len) {
        const options = Options.of(&sources[n]) orelse return error.Damaged;
        if (options.style == null) {
            _ = try addDocuments(&made, vocabulary, .{ .text = sources[n].text, .options = options, .place = .{} }, &warnings);
        } else _ = try parameters.write(&made, vocabulary, sources[n].text, &options, &tokens, &warnings);
        if (made.documents.items.len == n) return error.Damaged;
        n = made.documents.items.len;
    }
    if (n > sources.len) return error.Damaged;
    return give(trie, to, &made);
}
