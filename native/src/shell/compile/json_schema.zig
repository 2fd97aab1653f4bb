//! Compiles a JSON Schema to the language of the documents that are valid against it.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const clock = @import("engine").clock;
const Vocabulary = @import("engine").vocabulary.Vocabulary;
const JsonSchema = @import("engine").json_schema.JsonSchema;
const Schema = @import("engine").schema.Schema;
const NodeId = @import("engine").schema.NodeId;
const Watch = @import("engine").watch.Watch;
const parts = @import("engine").parts;
const StringIndex = @import("engine").string_index.StringIndex;
const compiler = @import("schema/compile.zig");

const Error = Allocator.Error || diagnostic.Error;

/// The warnings, and what is needed only here, go to `arena`. ELIZA_ERR_GRAMMAR: the schema is wrong, or nothing satisfies it.
pub fn compile(
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    text: []const u8,
    options: *const compiler.Options,
    arena: Allocator,
    warnings: *ArrayList([]const u8),
    budget: *Budget,
    diag: *Diagnostic,
) Error!JsonSchema {
    const since = clock.nowNs();
    const index = try vocabulary.stringIndex(diag);
    budget.leaveOut(since);
    var read: compiler.Read = undefined;
    try read.init(gpa, arena, text, options, &index.automata, warnings, budget, diag);
    defer read.deinit();
    var language = try of(gpa, try read.schema(gpa, read.root), index, diag);
    errdefer language.deinit(gpa, .owned);
    if (try isSatisfiable(&language, budget, diag)) return language;
    var buffer: [500]u8 = undefined;
    const place = read.compiler.lastPlace(&buffer, &Search{ .language = &language, .budget = budget }, Search.isEmpty) orelse
        return diag.fail(.grammar, "no document is valid against the schema", .{});
    return diag.fail(.grammar, "no document is valid against the schema: nothing is valid at {s}", .{place});
}

/// For what is empty in a schema that is.
const Search = struct {
    language: *JsonSchema,
    budget: *const Budget,

    /// False also where it takes too long to find out.
    fn isEmpty(s: *const Search, node: NodeId) bool {
        const interrupt = s.budget.interrupt();
        var watch: Watch = .{ .interrupt = &interrupt };
        return !(s.language.isNodeSatisfiable(node, &watch) catch true);
    }
};

/// Takes the schema over.
pub fn of(gpa: Allocator, schema: *Schema, index: *StringIndex, diag: *Diagnostic) Error!JsonSchema {
    return JsonSchema.init(gpa, schema, index) catch |e| {
        schema.deinit(gpa);
        return tooLarge(e, diag);
    };
}

/// Whether some document is valid.
pub fn isSatisfiable(language: *JsonSchema, budget: *Budget, diag: *Diagnostic) Error!bool {
    const interrupt = budget.interrupt();
    var watch: Watch = .{ .interrupt = &interrupt };
    const bytes_max = std.math.lossyCast(usize, budget.bytes_max -| budget.bytes);
    return language.isSatisfiable(&watch, bytes_max) catch |e| stopped(e, &watch, budget, diag);
}

/// The bytes that a document can begin with.
pub fn firstsOf(gpa: Allocator, language: *const JsonSchema, budget: *const Budget, diag: *Diagnostic) Error!parts.Bytes {
    const interrupt = budget.interrupt();
    var watch: Watch = .{ .interrupt = &interrupt };
    return parts.Parts.firstsOf(gpa, language, &watch) catch |e| stopped(e, &watch, budget, diag);
}

fn stopped(e: error{ OutOfMemory, TooLarge }, watch: *const Watch, budget: *const Budget, diag: *Diagnostic) Error {
    return if (watch.stopped == .interrupted) budget.stopped("the schema", diag) else tooLarge(e, diag);
}

/// ELIZA_ERR_LIMIT.
fn tooLarge(e: error{ OutOfMemory, TooLarge }, diag: *Diagnostic) Error {
    return switch (e) {
        error.OutOfMemory => error.OutOfMemory,
        error.TooLarge => diag.fail(.limit, "the schema has more alternatives than are followed at once", .{}),
    };
}
