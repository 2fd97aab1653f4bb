//! From the text of a JSON Schema to the formula that the engine walks. Each schema object becomes one node:
//! the conjunction of what its keywords assert. Places that are referred to are compiled once; nothing here
//! recurses through schemas, so that no document can exhaust the caller's stack.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const engine = @import("engine").schema;
const Schema = engine.Schema;
const json = @import("json.zig");
const references = @import("references.zig");
const Draft = @import("keywords.zig").Draft;
const Formula = @import("formula.zig").Formula;
const Dfas = @import("dfas.zig").Dfas;
const fold = @import("fold.zig").fold;
const Compiler = @import("compiler.zig").Compiler;

pub const Error = Allocator.Error || diagnostic.Error;

pub const Options = struct {
    /// Of schemas that do not say theirs.
    draft: Draft = .draft2020_12,
    /// What cannot be served is left out with a note.
    lenient: bool = false,
    /// Finds documents that references lead to.
    resolver: ?references.Resolver = null,
};

/// The notes, and what is needed only here, go to `arena`.
pub fn compile(
    gpa: Allocator,
    arena: Allocator,
    text: []const u8,
    options: Options,
    notes: *ArrayList([]const u8),
    budget: *Budget,
    diag: *Diagnostic,
) Error!*Schema {
    var refs: references.References = .{
        .gpa = gpa,
        .arena = arena,
        .default_draft = options.draft,
        .resolver = options.resolver,
        .budget = budget,
        .diag = diag,
        .notes = notes,
    };
    var dfas: Dfas = .{ .gpa = gpa, .arena = arena, .budget = budget, .diag = diag };
    defer dfas.deinit();
    var compiler: Compiler = .{
        .gpa = gpa,
        .arena = arena,
        .references = &refs,
        .dfas = &dfas,
        .formula = try .init(arena),
        .is_lenient = options.lenient,
        .budget = budget,
        .diag = diag,
    };
    const unfolded = try compiler.run(text);
    const root = switch (try fold(&compiler.formula, unfolded)) {
        .root => |root| root,
        .cycle => |nodes| return compiler.failCycle(nodes),
    };
    return finish(gpa, &compiler.formula, &dfas, root);
}

fn finish(gpa: Allocator, formula: *const Formula, dfas: *const Dfas, root: engine.NodeId) Allocator.Error!*Schema {
    const schema = try gpa.create(Schema);
    errdefer gpa.destroy(schema);
    schema.* = .{
        .arena = .init(gpa),
        .root = root,
        .nodes = &.{},
        .children = &.{},
        .members = &.{},
        .matching = &.{},
        .limits = &.{},
        .decimals = &.{},
        .keys = &.{},
        .values = &.{},
        .dfas = &.{},
    };
    errdefer schema.arena.deinit();
    try formula.copyTo(schema);
    schema.dfas = try dfas.copy(schema.arena.allocator());
    return schema;
}
