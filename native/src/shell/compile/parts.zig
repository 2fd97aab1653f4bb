//! Compiles the JSON Schemas in a grammar, whose documents are terminals of it (engine/glr/parts.zig).

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Arena = @import("engine").arena.Arena;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const Vocabulary = @import("engine").vocabulary.Vocabulary;
const ByteTrie = @import("engine").byte_trie.ByteTrie;
const Ambiguous = @import("engine").ambiguous.Ambiguous;
const Parts = @import("engine").parts.Parts;
const JsonSchema = @import("engine").json_schema.JsonSchema;
const Source = @import("engine").schema.Source;
const Options = @import("schema/compile.zig").Options;
const Part = @import("bnf.zig").Part;
const source_text = @import("source_text.zig");
const json_schema = @import("json_schema.zig");

const Error = Allocator.Error || diagnostic.Error;

/// Adds to a grammar its schemas, in the order of their numbers. Notes and failures begin with the schema's place.
pub fn add(
    gpa: Allocator,
    arena: Allocator,
    vocabulary: *const Vocabulary,
    trie: *const ByteTrie,
    to: *Ambiguous,
    parts: []const Part,
    notes: *ArrayList([]const u8),
    budget: *Budget,
    diag: *Diagnostic,
) Error!void {
    const schemas = try arena.alloc(JsonSchema, parts.len);
    var n: usize = 0;
    errdefer for (schemas[0..n]) |*schema| schema.deinit(gpa, .owned);
    for (schemas, parts) |*schema, part| {
        const n_notes = notes.items.len;
        schema.* = json_schema.compile(gpa, vocabulary, part.text, &part.options, arena, notes, budget, diag) catch |e|
            return if (e == error.Failed) source_text.failAgain(part.place, diag) else e;
        n += 1;
        for (notes.items[n_notes..]) |*note| {
            note.* = try std.fmt.allocPrint(arena, "{f}: {s}", .{ part.place, note.* });
        }
    }
    to.parts = Parts.create(gpa, trie, &to.program, schemas) catch |e| return json_schema.tooLarge(e, diag);
}

/// Adds to a grammar from a file its schemas, as they were saved. `Damaged`: they cannot have been written like this.
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
    const parts = try arena.allocator().alloc(Part, sources.len);
    for (parts, sources) |*part, *source| part.* = .{
        .text = source.text,
        .options = Options.of(source) orelse return error.Damaged,
        .place = .{},
    };
    var notes: ArrayList([]const u8) = .empty;
    var budget = given;
    return add(gpa, arena.allocator(), vocabulary, trie, to, parts, &notes, &budget, diag);
}
