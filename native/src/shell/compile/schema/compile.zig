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
const Source = engine.Source;
const Form = @import("engine").json_form.Form;
const Order = @import("engine").json_form.Order;
const Space = @import("engine").json_space.Policy;
const json = @import("json.zig");
const references_module = @import("references.zig");
const Draft = @import("keywords.zig").Draft;
const Documents = @import("documents.zig").Documents;
const Formula = @import("formula.zig").Formula;
const Dfas = @import("dfas.zig").Dfas;
const Automata = @import("engine").shared_dfa.Automata;
const apart = @import("apart.zig");
const fold = @import("fold.zig").fold;
const Compiler = @import("compiler.zig").Compiler;
const spelled = @import("spelled.zig");
const always = @import("formula.zig").always;
const Style = @import("../parameters/style.zig").Style;

pub const Error = Allocator.Error || diagnostic.Error;

/// Members that a schema does not name.
pub const Additional = enum(u1) {
    /// As the schema says.
    allow,
    /// None, where closed.zig says so.
    forbid,
};

pub const Options = struct {
    /// Of schemas that do not say theirs.
    draft: Draft = .draft2020_12,
    /// What cannot be supported is left out with a warning.
    lenient: bool = false,
    /// Of the documents.
    form: Form = .{},
    additional: Additional = .allow,
    /// What references to other documents lead to.
    documents: Documents = .{},
    /// By their numbers in `escape_letters`: strings and keys have no character that is spelled so.
    refused_escapes: u8 = 0,
    /// Nor any of the texts that the schema lists as `excludes` of its `x-guidance`.
    excludes: bool = false,
    /// An object, as parameters (compile/parameters). Null: it is JSON.
    style: ?Style = null,

    /// In files: new members take bits that were 0.
    const Packed = packed struct(u32) {
        draft: u3,
        space: u2,
        numbers: u1,
        has_space_max: bool,
        space_max: u8,
        refused_escapes: u8,
        excludes: bool,
        lenient: bool,
        integer_fraction: bool,
        order: u1,
        additional: u1,
        /// From 1.
        style: u4,
    };

    fn pack(o: *const Options) u32 {
        return @bitCast(Packed{
            .draft = @backingInt(o.draft),
            .space = @intCast(@backingInt(o.form.space)),
            .has_space_max = o.form.space_max != null,
            .space_max = o.form.space_max orelse 0,
            .excludes = o.excludes,
            .lenient = o.lenient,
            .integer_fraction = o.form.integer_fraction,
            .numbers = @backingInt(o.form.numbers),
            .order = @intCast(@backingInt(o.form.order)),
            .additional = @backingInt(o.additional),
            .refused_escapes = o.refused_escapes,
            .style = if (o.style) |style| @as(u4, @backingInt(style)) + 1 else 0,
        });
    }

    /// Those of a schema from a file, which must outlive them. Null: it cannot have been written like this.
    pub fn of(source: *const Source) ?Options {
        const from: Packed = @bitCast(source.options);
        return .{
            .draft = std.enums.fromInt(Draft, from.draft) orelse return null,
            .form = .{
                .space = @fromBackingInt(from.space),
                .space_max = if (from.has_space_max) from.space_max else null,
                .numbers = @fromBackingInt(from.numbers),
                .order = @fromBackingInt(from.order),
                .integer_fraction = from.integer_fraction,
            },
            .lenient = from.lenient,
            .additional = @fromBackingInt(from.additional),
            .documents = Documents.of(source) orelse return null,
            .refused_escapes = from.refused_escapes,
            .excludes = from.excludes,
            .style = if (from.style == 0) null else std.enums.fromInt(Style, from.style - 1) orelse return null,
        };
    }
};

/// The warnings, and what is needed only here, go to `arena`. `automata` are those that schemas share, if any.
pub fn compile(
    gpa: Allocator,
    arena: Allocator,
    text: []const u8,
    options: *const Options,
    automata: ?*Automata,
    warnings: *ArrayList([]const u8),
    budget: *Budget,
    diag: *Diagnostic,
) Error!*Schema {
    var read: Read = undefined;
    try read.init(gpa, arena, text, options, automata, warnings, budget, diag);
    defer read.deinit();
    return read.schema(gpa, read.root);
}

/// A schema that was read: its formula, which may be asked about and added to.
pub const Read = struct {
    text: []const u8,
    options: *const Options,
    references: references_module.References,
    dfas: Dfas,
    compiler: Compiler,
    root: engine.NodeId,
    excluded: []const []const u8,
    /// What the options ask of all strings in a document, and of one that stands as it is.
    in_documents: engine.NodeId,
    as_it_is: engine.NodeId,

    /// In place, since the parts know each other. Arguments are as for `compile`, and must outlive it.
    pub fn init(
        r: *Read,
        gpa: Allocator,
        arena: Allocator,
        text: []const u8,
        options: *const Options,
        automata: ?*Automata,
        warnings: *ArrayList([]const u8),
        budget: *Budget,
        diag: *Diagnostic,
    ) Error!void {
        r.text = text;
        r.options = options;
        r.references = .{
            .gpa = gpa,
            .arena = arena,
            .default_draft = options.draft,
            .caller = options.documents,
            .budget = budget,
            .diag = diag,
            .warnings = warnings,
        };
        r.dfas = .{ .gpa = gpa, .arena = arena, .automata = automata, .budget = budget, .diag = diag };
        errdefer r.dfas.deinit();
        r.compiler = .{
            .gpa = gpa,
            .arena = arena,
            .references = &r.references,
            .dfas = &r.dfas,
            .formula = try .init(arena),
            .is_lenient = options.lenient,
            .closing = if (options.additional == .forbid) .whole else .open,
            .budget = budget,
            .diag = diag,
        };
        const c = &r.compiler;
        const root = try c.run(text);
        try r.restrict();
        const whole = if (options.style == null and r.in_documents != always) try c.formula.all(&.{ root, r.in_documents }) else root;
        r.root = switch (try fold(&c.formula, whole)) {
            .root => |folded| folded,
            .cycle => |nodes| return c.failCycle(nodes),
        };
        try apart.replace(&c.formula);
    }

    fn restrict(r: *Read) Error!void {
        const c = &r.compiler;
        r.excluded = if (r.options.excludes) try r.excludedTexts() else &.{};
        const refused = r.options.refused_escapes;
        r.in_documents = if (r.excluded.len == 0 and refused == 0)
            always
        else
            try c.everywhere(try spelled.inDocuments(c.arena, r.excluded, refused));
        r.as_it_is = if (r.excluded.len == 0)
            always
        else
            try c.formula.add(.{ .string_matches = try c.dfas.ofPattern(try spelled.asTheyAre(c.arena, r.excluded)) });
    }

    /// lark/guidance.zig has looked at them; a file may have others.
    fn excludedTexts(r: *const Read) Allocator.Error![]const []const u8 {
        const root = r.references.documents.items[0].root;
        const guidance = (if (root.* == .object) root.object.get("x-guidance") else null) orelse return &.{};
        const given = (if (guidance.* == .object) guidance.object.get("excludes") else null) orelse return &.{};
        var texts: ArrayList([]const u8) = .empty;
        if (given.* == .array) for (given.array) |value| if (value == .string) try texts.append(r.compiler.arena, value.string);
        return texts.items;
    }

    pub fn deinit(r: *Read) void {
        r.dfas.deinit();
    }

    /// To draft 4 `1.0` is no integer.
    fn form(r: *const Read) Form {
        var form_of_root = r.options.form;
        if (r.references.resources.items[0].draft == .draft4) form_of_root.integer_fraction = false;
        return form_of_root;
    }

    /// What a node asks of a document.
    pub fn schema(r: *const Read, gpa: Allocator, root: engine.NodeId) Error!*Schema {
        const arena = r.compiler.arena;
        const given = r.references.given.items;
        const source: Source = .{
            .text = r.text,
            .options = r.options.pack(),
            .documents = try std.mem.concat(arena, u8, given),
            .ends = try endsOf(arena, given),
        };
        return finish(gpa, &source, r.form(), &r.compiler.formula, &r.dfas, root);
    }
};

fn endsOf(arena: Allocator, texts: []const []const u8) Allocator.Error![]const u64 {
    const ends = try arena.alloc(u64, texts.len);
    var at: u64 = 0;
    for (ends, texts) |*end, text| {
        at += text.len;
        end.* = at;
    }
    return ends;
}

fn finish(
    gpa: Allocator,
    source: *const Source,
    form: Form,
    formula: *const Formula,
    dfas: *const Dfas,
    root: engine.NodeId,
) Allocator.Error!*Schema {
    const schema = try gpa.create(Schema);
    errdefer gpa.destroy(schema);
    schema.* = .{
        .arena = .init(gpa),
        .source = undefined,
        .form = form,
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
    const to = schema.arena.allocator();
    schema.source = .{
        .text = try to.dupe(u8, source.text),
        .options = source.options,
        .documents = try to.dupe(u8, source.documents),
        .ends = try to.dupe(u64, source.ends),
    };
    schema.dfas = try dfas.copy(to);
    return schema;
}
