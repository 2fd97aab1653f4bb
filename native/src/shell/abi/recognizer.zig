//! Header, section 5: constraints that are recognizers.

const std = @import("std");
const boundary = @import("boundary.zig");
const gpa = boundary.gpa;
const Vocabulary = @import("engine").vocabulary.Vocabulary;
const Constraint = @import("engine").constraint.Constraint;
const canonical_choices = @import("../compile/canonical_choices.zig");
const compiler = @import("../compile/compile.zig");
const Source = compiler.Source;
const budget_module = @import("engine").budget;
const Budget = budget_module.Budget;
const choices_module = @import("engine").choices;
const clock = @import("engine").clock;
const Order = @import("engine").json_form.Order;
const Space = @import("engine").json_space.Policy;
const Draft = @import("../compile/schema/keywords.zig").Draft;
const DocumentCallback = @import("../compile/schema/documents.zig").Callback;

const invalid_arg = boundary.Status.invalid_arg.code();

/// eliza_compile_config_t.
pub const CompileConfig = extern struct {
    struct_size: u32,
    states_max: u32,
    bytes_max: u64,
    ms_max: u64,
    mask_bytes_max: u64,
    cancel: ?*const budget_module.Cancel,
    user_data: ?*anyopaque,
    mask_ms_max: u64,

    pub const first_size = if (@sizeOf(usize) == 8) 48 else 40;

    pub fn settings(config: ?*const CompileConfig, diag: *boundary.Diagnostic) boundary.Error!compiler.Settings {
        const c = try boundary.read(CompileConfig, "config", config orelse return .{}, diag);
        if (c.states_max > budget_module.states_most) {
            return diag.fail(.invalid_arg, "config.states_max: {d} is more than {d}", .{ c.states_max, budget_module.states_most });
        }
        var budget: Budget = .{ .cancel = c.cancel, .user_data = c.user_data };
        if (c.states_max > 0) budget.states_max = c.states_max;
        if (c.bytes_max > 0) budget.bytes_max = c.bytes_max;
        if (c.ms_max > 0) budget.deadline_ns = clock.nowNs() +| c.ms_max *| std.time.ns_per_ms;
        return .{
            .budget = budget,
            .mask_bytes_max = if (c.mask_bytes_max > 0) c.mask_bytes_max else budget_module.mask_bytes_default,
            .text_bytes_max = if (c.mask_bytes_max > 0)
                @max(c.mask_bytes_max, budget_module.text_bytes_least)
            else
                budget_module.text_bytes_default,
            .mask_ms_max = std.math.lossyCast(u32, c.mask_ms_max),
        };
    }
};

pub const Out = ?*?*const Constraint;
pub const OutError = ?*boundary.Message;

const choices_canonical = 1;
const regex_ignore_case = 1;
const regex_search = 2;

export fn eliza_inference_constraint_create_choices(
    vocab: ?*const Vocabulary,
    bytes: ?[*]const u8,
    offsets: ?[*]const u64,
    n_choices: usize,
    flags: u32,
    config: ?*const CompileConfig,
    out_constraint: Out,
    out_error: OutError,
) c_int {
    var diag: boundary.Diagnostic = .init();
    return finish(createChoices(vocab, bytes, offsets, n_choices, flags, config, out_constraint, &diag), out_constraint, out_error, &diag);
}

fn createChoices(
    vocab: ?*const Vocabulary,
    bytes: ?[*]const u8,
    offsets: ?[*]const u64,
    n_choices: usize,
    flags: u32,
    config: ?*const CompileConfig,
    out: Out,
    diag: *boundary.Diagnostic,
) boundary.Error!*Constraint {
    const v = (try check(vocab, out, diag)).retain(); // a callback may free the caller's reference
    defer v.release();
    const ends = offsets orelse return diag.fail(.invalid_arg, "offsets is NULL", .{});
    if (flags & ~@as(u32, choices_canonical) != 0) return diag.fail(.invalid_arg, "flags has unknown bits", .{});
    if (n_choices > choices_module.choices_max) {
        return diag.fail(.limit, "{d} choices are more than {d}", .{ n_choices, choices_module.choices_max });
    }
    try choices_module.check(ends[0 .. n_choices + 1], diag);
    const length = ends[n_choices];
    const text = boundary.slice(u8, bytes, @intCast(length)) orelse return diag.fail(.invalid_arg, "bytes is NULL", .{});
    const settings = try CompileConfig.settings(config, diag);
    const all = ends[0 .. n_choices + 1];
    if (flags & choices_canonical != 0) return canonical_choices.createChoices(gpa, v, text, all, settings.budget, diag);
    return compiler.createConstraint(gpa, v, .{ .choices = .{ .text = text, .offsets = all } }, settings, diag);
}

export fn eliza_inference_constraint_create_regex(
    vocab: ?*const Vocabulary,
    pattern: ?[*]const u8,
    pattern_len: usize,
    flags: u32,
    config: ?*const CompileConfig,
    out_constraint: Out,
    out_error: OutError,
) c_int {
    var diag: boundary.Diagnostic = .init();
    return create(vocab, regexSource(pattern, pattern_len, flags, &diag), config, out_constraint, out_error, &diag);
}

fn regexSource(pattern: ?[*]const u8, pattern_len: usize, flags: u32, diag: *boundary.Diagnostic) boundary.Error!Source {
    const text = boundary.slice(u8, pattern, pattern_len) orelse return diag.fail(.invalid_arg, "pattern is NULL", .{});
    const known: u32 = regex_ignore_case | regex_search;
    if (flags & ~known != 0) return diag.fail(.invalid_arg, "flags has unknown bits", .{});
    return .{ .regex = .{
        .pattern = text,
        .ignore_case = flags & regex_ignore_case != 0,
        .search = flags & regex_search != 0,
    } };
}

export fn eliza_inference_constraint_create_lark(
    vocab: ?*const Vocabulary,
    grammar: ?[*]const u8,
    grammar_len: usize,
    config: ?*const CompileConfig,
    out_constraint: Out,
    out_error: OutError,
) c_int {
    return eliza_inference_constraint_create_lark_with(vocab, grammar, grammar_len, null, config, out_constraint, out_error);
}

/// eliza_lark_options_t.
pub const LarkOptions = extern struct {
    struct_size: u32,
    flags: u32,
    start: ?[*]const u8,
    start_len: usize,
    grammar: ?*const DocumentCallback,
    user_data: ?*anyopaque,

    pub const first_size = if (@sizeOf(usize) == 8) 40 else 24;
};

export fn eliza_inference_constraint_create_lark_with(
    vocab: ?*const Vocabulary,
    grammar: ?[*]const u8,
    grammar_len: usize,
    options: ?*const LarkOptions,
    config: ?*const CompileConfig,
    out_constraint: Out,
    out_error: OutError,
) c_int {
    var diag: boundary.Diagnostic = .init();
    return create(vocab, larkSource(grammar, grammar_len, options, &diag), config, out_constraint, out_error, &diag);
}

fn larkSource(
    grammar: ?[*]const u8,
    grammar_len: usize,
    options: ?*const LarkOptions,
    diag: *boundary.Diagnostic,
) boundary.Error!Source {
    const text = boundary.slice(u8, grammar, grammar_len) orelse return diag.fail(.invalid_arg, "grammar is NULL", .{});
    const o: LarkOptions = if (options) |given|
        try boundary.read(LarkOptions, "options", given, diag)
    else
        std.mem.zeroes(LarkOptions);
    if (o.flags != 0) return diag.fail(.invalid_arg, "options.flags has unknown bits", .{});
    var source: @FieldType(Source, "lark") = .{
        .text = text,
        .options = .{ .grammars = .{ .callback = o.grammar, .user_data = o.user_data } },
    };
    if (o.start) |start| source.options.start = start[0..o.start_len];
    return .{ .lark = source };
}

const gbnf_ebnf = 1;

export fn eliza_inference_constraint_create_gbnf(
    vocab: ?*const Vocabulary,
    grammar: ?[*]const u8,
    grammar_len: usize,
    root: ?[*]const u8,
    root_len: usize,
    flags: u32,
    config: ?*const CompileConfig,
    out_constraint: Out,
    out_error: OutError,
) c_int {
    var diag: boundary.Diagnostic = .init();
    const source = gbnfSource(grammar, grammar_len, root, root_len, flags, &diag);
    return create(vocab, source, config, out_constraint, out_error, &diag);
}

fn gbnfSource(
    grammar: ?[*]const u8,
    grammar_len: usize,
    root: ?[*]const u8,
    root_len: usize,
    flags: u32,
    diag: *boundary.Diagnostic,
) boundary.Error!Source {
    const text = boundary.slice(u8, grammar, grammar_len) orelse return diag.fail(.invalid_arg, "grammar is NULL", .{});
    const root_given = boundary.slice(u8, root, root_len) orelse return diag.fail(.invalid_arg, "root is NULL", .{});
    if (flags & ~@as(u32, gbnf_ebnf) != 0) return diag.fail(.invalid_arg, "flags has unknown bits", .{});
    var options: @FieldType(@FieldType(Source, "gbnf"), "options") = .{};
    if (flags & gbnf_ebnf != 0) options.dialect = .ebnf;
    if (root != null) options.root = root_given;
    return .{ .gbnf = .{ .text = text, .options = options } };
}

/// eliza_json_schema_options_t.
pub const JsonSchemaOptions = extern struct {
    struct_size: u32,
    flags: u32,
    space: i32,
    draft: i32,
    document: ?*const DocumentCallback,
    user_data: ?*anyopaque,
    order: i32,

    pub const first_size = 12;
};

const json_lenient = 1;
const json_integer_fraction = 2;
const json_numbers_double = 4;
const json_additional_forbid = 8;

export fn eliza_inference_constraint_create_json_schema(
    vocab: ?*const Vocabulary,
    schema: ?[*]const u8,
    schema_len: usize,
    options: ?*const JsonSchemaOptions,
    config: ?*const CompileConfig,
    out_constraint: Out,
    out_error: OutError,
) c_int {
    var diag: boundary.Diagnostic = .init();
    return create(vocab, jsonSchemaSource(schema, schema_len, options, &diag), config, out_constraint, out_error, &diag);
}

fn jsonSchemaSource(
    schema: ?[*]const u8,
    schema_len: usize,
    options: ?*const JsonSchemaOptions,
    diag: *boundary.Diagnostic,
) boundary.Error!Source {
    const text = boundary.slice(u8, schema, schema_len) orelse return diag.fail(.invalid_arg, "schema is NULL", .{});
    const o: JsonSchemaOptions = if (options) |given|
        try boundary.read(JsonSchemaOptions, "options", given, diag)
    else
        std.mem.zeroes(JsonSchemaOptions);
    const known_flags: u32 = json_lenient | json_integer_fraction | json_numbers_double | json_additional_forbid;
    if (o.flags & ~known_flags != 0) return diag.fail(.invalid_arg, "options.flags has unknown bits", .{});
    const space = std.enums.fromInt(Space, o.space) orelse
        return diag.fail(.invalid_arg, "options.space: {d} is no ELIZA_JSON_SPACE_*", .{o.space});
    const order = std.enums.fromInt(Order, o.order) orelse
        return diag.fail(.invalid_arg, "options.order: {d} is no ELIZA_JSON_ORDER_*", .{o.order});
    const draft = draftOf(o.draft) orelse
        return diag.fail(.invalid_arg, "options.draft: {d} is no ELIZA_JSON_DRAFT_*", .{o.draft});
    return .{ .json_schema = .{
        .text = text,
        .options = .{
            .lenient = o.flags & json_lenient != 0,
            .form = .{
                .space = space,
                .order = order,
                .numbers = if (o.flags & json_numbers_double != 0) .double else .any,
                .integer_fraction = o.flags & json_integer_fraction != 0,
            },
            .additional = if (o.flags & json_additional_forbid != 0) .forbid else .allow,
            .draft = draft,
            .documents = .{ .callback = o.document, .user_data = o.user_data },
        },
    } };
}

export fn eliza_inference_constraint_create_tags(
    vocab: ?*const Vocabulary,
    descriptor: ?[*]const u8,
    descriptor_len: usize,
    config: ?*const CompileConfig,
    out_constraint: Out,
    out_error: OutError,
) c_int {
    var diag: boundary.Diagnostic = .init();
    return create(vocab, tagsSource(descriptor, descriptor_len, &diag), config, out_constraint, out_error, &diag);
}

fn tagsSource(descriptor: ?[*]const u8, descriptor_len: usize, diag: *boundary.Diagnostic) boundary.Error!Source {
    const text = boundary.slice(u8, descriptor, descriptor_len) orelse return diag.fail(.invalid_arg, "descriptor is NULL", .{});
    return .{ .tags = text };
}

/// 0 is the newest.
fn draftOf(number: i32) ?Draft {
    const drafts = [_]Draft{ .draft2020_12, .draft2019_09, .draft7, .draft6, .draft4 };
    return if (number >= 0 and number < drafts.len) drafts[@intCast(number)] else null;
}

fn create(
    vocab: ?*const Vocabulary,
    source: boundary.Error!Source,
    config: ?*const CompileConfig,
    out: Out,
    out_error: OutError,
    diag: *boundary.Diagnostic,
) c_int {
    return finish(createFrom(vocab, source, config, out, diag), out, out_error, diag);
}

fn createFrom(
    vocab: ?*const Vocabulary,
    source: boundary.Error!Source,
    config: ?*const CompileConfig,
    out: Out,
    diag: *boundary.Diagnostic,
) boundary.Error!*Constraint {
    const v = (try check(vocab, out, diag)).retain(); // a callback may free the caller's reference
    defer v.release();
    const given = try source;
    return compiler.createConstraint(gpa, v, given, try CompileConfig.settings(config, diag), diag);
}

pub fn check(vocab: ?*const Vocabulary, out: Out, diag: *boundary.Diagnostic) boundary.Error!*const Vocabulary {
    if (out == null) return diag.fail(.invalid_arg, "out_constraint is NULL", .{});
    return vocab orelse diag.fail(.invalid_arg, "vocab is NULL", .{});
}

/// Hands out the constraint, or why there is none.
pub fn finish(made: boundary.Error!*Constraint, out: Out, out_error: OutError, diag: *const boundary.Diagnostic) c_int {
    boundary.begin(out_error);
    if (out) |o| o.* = null;
    const constraint = made catch return boundary.fail(out_error, diag);
    out.?.* = constraint; // `check` refused null
    return 0;
}

export fn eliza_inference_constraint_warnings(constraint: ?*const Constraint) [*:0]const u8 {
    const c = constraint orelse return "";
    return c.compiled.warnings();
}

export fn eliza_inference_constraint_prepare(constraint: ?*const Constraint, config: ?*const CompileConfig, out_error: OutError) c_int {
    boundary.begin(out_error);
    const c = constraint orelse return boundary.reject(out_error, "constraint is NULL");
    var diag: boundary.Diagnostic = .init();
    const settings = CompileConfig.settings(config, &diag) catch return boundary.fail(out_error, &diag);
    _ = c.retain(); // a callback may free the caller's reference
    defer c.release();
    c.compiled.prepare(&settings.budget, &diag) catch return boundary.fail(out_error, &diag);
    return 0;
}

/// eliza_recognizer_info_t.
pub const Info = extern struct {
    struct_size: u32 = @sizeOf(Info),
    kind: i32 = 0,
    n_states: u32 = 0,
    n_parser_states: u32 = 0,
    n_terminals: u32 = 0,
    n_productions: u32 = 0,
    n_tables: u32 = 0,
    n_masks: u32 = 0,
    automaton_bytes: u64 = 0,
    table_bytes: u64 = 0,

    pub const first_size = 48;
};

export fn eliza_inference_constraint_recognizer_info(constraint: ?*const Constraint, out_info: ?*Info) c_int {
    const c = constraint orelse return invalid_arg;
    const sizes = c.compiled.describe();
    const info: Info = .{
        .kind = @intCast(@backingInt(sizes.kind)),
        .n_states = sizes.n_states,
        .n_parser_states = sizes.n_parser_states,
        .n_terminals = sizes.n_terminals,
        .n_productions = sizes.n_productions,
        .n_tables = sizes.n_tables,
        .n_masks = sizes.n_masks,
        .automaton_bytes = sizes.automaton_bytes,
        .table_bytes = sizes.table_bytes,
    };
    return if (boundary.fill(Info, out_info, info)) 0 else invalid_arg;
}
