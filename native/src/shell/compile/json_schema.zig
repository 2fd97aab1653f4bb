//! Compiles a JSON Schema to the language of the documents that are valid against it.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const Vocabulary = @import("engine").vocabulary.Vocabulary;
const JsonSchema = @import("engine").json_schema.JsonSchema;
const Watch = @import("engine").watch.Watch;
const compiler = @import("schema/compile.zig");

const Error = Allocator.Error || diagnostic.Error;

/// The notes, and what is needed only here, go to `arena`. ELIZA_ERR_GRAMMAR: the schema is wrong, or nothing satisfies it.
pub fn compile(
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    text: []const u8,
    options: *const compiler.Options,
    arena: Allocator,
    notes: *ArrayList([]const u8),
    budget: *Budget,
    diag: *Diagnostic,
) Error!JsonSchema {
    const index = try vocabulary.stringIndex(diag);
    const schema = try compiler.compile(gpa, arena, text, options, &index.automata, notes, budget, diag);
    var language = JsonSchema.init(gpa, schema, options.form, index) catch |e| {
        schema.deinit(gpa);
        return tooLarge(e, diag);
    };
    errdefer language.deinit(gpa, .owned);
    const interrupt = budget.interrupt();
    var watch: Watch = .{ .interrupt = &interrupt };
    const is_satisfiable = language.isSatisfiable(&watch, std.math.lossyCast(usize, budget.bytes_max -| budget.bytes)) catch |e| {
        return if (watch.stopped == .interrupted) budget.stopped("the schema", diag) else tooLarge(e, diag);
    };
    if (is_satisfiable) return language;
    return diag.fail(.grammar, "no document is valid against the schema", .{});
}

/// ELIZA_ERR_LIMIT.
pub fn tooLarge(e: error{ OutOfMemory, TooLarge }, diag: *Diagnostic) Error {
    return switch (e) {
        error.OutOfMemory => error.OutOfMemory,
        error.TooLarge => diag.fail(.limit, "the schema has more alternatives than are followed at once", .{}),
    };
}
