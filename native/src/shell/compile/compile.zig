//! Compiles choices, a regular expression or a grammar to a recognizer for a vocabulary.

const std = @import("std");
const message = @import("message");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Arena = @import("engine").arena.Arena;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Vocabulary = @import("engine").vocabulary.Vocabulary;
const Constraint = @import("engine").constraint.Constraint;
const ByteTrie = @import("engine").byte_trie.ByteTrie;
const Budget = @import("engine").budget.Budget;
const clock = @import("engine").clock;
const budget_module = @import("engine").budget;
const dfa = @import("regex/dfa.zig");
const regex = @import("regex/parse.zig");
const bounded = @import("cfg/bounded.zig");
const Regex = @import("engine").regex.Regex;
const look_around = @import("regex/look_around.zig");
const cfg = @import("cfg/compile.zig");
const gbnf = @import("gbnf/gbnf.zig");
const lark = @import("lark/lark.zig");
const tables = @import("lr/tables.zig");
const Context = @import("lr/context.zig").Context;
const contexts = @import("cfg/contexts.zig");
const counted_rules = @import("cfg/counted_rules.zig");
const program_module = @import("engine").program;
const language_module = @import("engine").language;
const Language = language_module.Language;
const Recognizer = @import("engine").recognizer.Recognizer;
const Limits = @import("engine").recognizer.Limits;
const json_schema = @import("json_schema.zig");
const grammar_parts = @import("parts.zig");
const bnf = @import("bnf.zig");
const documentNode = @import("document_grammar.zig").documentNode;
const TokenClasses = @import("cfg/token_classes.zig").TokenClasses;
const TokenSet = @import("token_set.zig").TokenSet;
const tags = @import("tags/descriptor.zig");
const free_text = @import("tags/automaton.zig");
const Alike = @import("tags/alike.zig").Alike;
const TokenTree = @import("engine").token_tree.TokenTree;
const EndText = @import("engine").end_text.EndText;
const end_bytes_max = @import("engine").end_text.end_bytes_max;
const Symbol = @import("engine").tag_symbols.Symbol;
pub const SchemaOptions = @import("schema/compile.zig").Options;
const RecognizerState = @import("engine").recognizer_state.RecognizerState;
const Selector = @import("engine").selection.Selector;

const has_grammars = language_module.has_grammars;
const has_schemas = language_module.has_schemas;

/// ELIZA_REGEX_BYTES_MAX of the header.
pub const regex_bytes_max = 1 << 20;

/// What to compile. It need not outlive the call.
pub const Source = union(enum) {
    /// Choice i is text[offsets[i]..offsets[i + 1]].
    choices: struct { text: []const u8, offsets: []const u64 },
    /// `search`: anywhere in the text, but where the pattern has anchors.
    regex: struct { pattern: []const u8, ignore_case: bool = false, search: bool = false },
    /// A grammar in Lark's notation (docs/reference/grammars.md).
    lark: struct { text: []const u8, options: lark.Options = .{} },
    /// A grammar in GBNF, or XGrammar's EBNF (docs/reference/gbnf.md).
    gbnf: struct { text: []const u8, options: gbnf.Options },
    json_schema: struct { text: []const u8, options: SchemaOptions },
    /// Free text with parts in it: a descriptor in JSON or MessagePack (docs/reference/tags.md).
    tags: []const u8,
    /// A part of that: a payload in JSON or MessagePack.
    token_tree: []const u8,
};

/// The header's compile options.
pub const Settings = struct {
    budget: Budget = .{},
    /// Memory that the recognizer's masks may take.
    mask_bytes_max: u64 = budget_module.mask_bytes_default,
    text_bytes_max: u64 = budget_module.text_bytes_default,
    /// For each operation on a text, in milliseconds. 0: no limit.
    mask_ms_max: u32 = 0,

    pub fn limits(settings: *const Settings) Limits {
        return .{
            .mask_bytes_max = settings.mask_bytes_max,
            .text_bytes_max = settings.text_bytes_max,
            .mask_ms_max = settings.mask_ms_max,
        };
    }
};

const Error = Allocator.Error || diagnostic.Error;

/// Compiles a constraint, of which the caller owns one reference. ELIZA_ERR_GRAMMAR: the pattern or grammar is wrong, or matches
/// no text; ELIZA_ERR_LIMIT: the source is too large or the budget exceeded; ELIZA_ERR_CANCELLED; ELIZA_ERR_INVALID_ARG: the
/// vocabulary's token bytes are not known.
pub fn createConstraint(
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    source: Source,
    settings: Settings,
    diag: *Diagnostic,
) diagnostic.Error!*Constraint {
    const compiled = try compile(gpa, vocabulary, source, settings, diag);
    errdefer compiled.release();
    return Constraint.create(gpa, vocabulary, .{ .recognizer = compiled }, diag);
}

/// The caller owns one reference to the result, which holds one to `vocabulary`. Fails as `createConstraint` does.
pub fn compile(
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    source: Source,
    settings: Settings,
    diag: *Diagnostic,
) diagnostic.Error!*Recognizer {
    var budget = settings.budget;
    return compileWithin(gpa, vocabulary, source, settings.limits(), &budget, diag) catch |e| switch (e) {
        error.OutOfMemory => diag.outOfMemory(),
        error.Failed => error.Failed,
    };
}

/// The same as one of several, which share a budget.
pub fn compileWithin(
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    source: Source,
    limits: Limits,
    budget: *Budget,
    diag: *Diagnostic,
) Error!*Recognizer {
    const since = clock.nowNs();
    const trie = try vocabulary.byteTrie(diag);
    budget.leaveOut(since);
    var arena_state: Arena = .init(gpa);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    var warnings: tables.Warnings = .empty;
    // Where it was made: a copy is some thousand bytes.
    var made = languageOf(gpa, arena, vocabulary, trie, source, &warnings, budget, diag);
    const language = if (made) |*language| language else |e| return e;
    const text = joined(arena, trie, &warnings) catch |e| {
        language.deinit(gpa, .owned);
        return e;
    };
    return Recognizer.create(gpa, vocabulary, trie, language.*, .owned, text, limits);
}

fn languageOf(
    gpa: Allocator,
    arena: Allocator,
    vocabulary: *const Vocabulary,
    trie: *const ByteTrie,
    source: Source,
    warnings: *tables.Warnings,
    budget: *Budget,
    diag: *Diagnostic,
) Error!Language {
    return switch (source) {
        .choices => |choices| .{ .choices = try .build(gpa, choices.text, choices.offsets, budget, diag) },
        .regex => |r| .{ .regex = try compileRegex(
            gpa,
            &.{ .arena = arena, .budget = budget, .diag = diag },
            trie,
            r.pattern,
            .{ .ignore_case = r.ignore_case, .search = r.search, .looks = true },
        ) },
        .lark => |l| if (has_grammars)
            try compileLark(gpa, arena, vocabulary, trie, l.text, l.options, warnings, budget, diag)
        else
            notBuilt("grammars", diag),
        .gbnf => |g| if (has_grammars)
            try compileGbnf(gpa, vocabulary, g.text, g.options, arena, warnings, budget, diag)
        else
            notBuilt("grammars", diag),
        .json_schema => |s| if (s.options.style != null)
            if (has_grammars)
                try compileParameters(gpa, arena, vocabulary, trie, s.text, s.options, warnings, budget, diag)
            else
                notBuilt("grammars, which parameters in a style need", diag)
        else if (has_schemas)
            .{ .json_schema = try json_schema.compile(gpa, vocabulary, s.text, &s.options, arena, warnings, budget, diag) }
        else
            notBuilt("JSON Schemas", diag),
        .tags => |descriptor| .{ .tags = try compileTags(gpa, arena, vocabulary, trie, descriptor, warnings, budget, diag) },
        .token_tree => |payload| .{ .token_tree = try compileTokenTree(gpa, vocabulary, payload, diag) },
    };
}

fn notBuilt(what: []const u8, diag: *Diagnostic) diagnostic.Error {
    return diag.fail(.unsupported, "this build of the library has no {s}", .{what});
}

const Parts = @FieldType(Language, "tags");

fn compileTags(
    gpa: Allocator,
    arena: Allocator,
    vocabulary: *const Vocabulary,
    trie: *const ByteTrie,
    text: []const u8,
    warnings: *tables.Warnings,
    budget: *Budget,
    diag: *Diagnostic,
) Error!Parts {
    var descriptor = try tags.parse(arena, &vocabulary.tokens, text, diag);
    var ends: ArrayList(EndText) = .empty;
    var languages: ArrayList(Parts.Shared) = .empty;
    errdefer {
        for (ends.items) |*end| end.deinit(gpa);
        ends.deinit(gpa);
        for (languages.items) |*shared| shared.deinit(gpa);
        languages.deinit(gpa);
    }
    var parts: ArrayList(Parts.Part) = .empty;
    errdefer parts.deinit(gpa);
    var alike: Alike = .{ .arena = arena };
    var kept: ArrayList(tags.Tag) = .empty;
    var left_out: ?[]const u8 = null;
    for (descriptor.tags) |*tag| {
        const end = try endOf(gpa, &ends, tag, diag);
        const known = alike.find(tag);
        const number: u32 = if (known) |one| one.language else @intCast(languages.items.len);
        var own: tables.Warnings = .empty;
        if (known == null) {
            try languages.ensureUnusedCapacity(gpa, 1);
            const language = compilePart(gpa, arena, vocabulary, trie, tag, &own, budget, diag) catch |e| {
                const failed = failAt(tag.place, e, diag);
                if (failed != error.Failed or !descriptor.skips_bad_tags or !isOfTag(budget, diag)) return failed;
                const warning = try std.fmt.allocPrint(arena, "left out: {s}", .{diag.message()});
                try addWarning(arena, warnings, warning);
                left_out = left_out orelse warning;
                diag.clear();
                continue;
            };
            languages.appendAssumeCapacity(.init(gpa, trie, language));
            try alike.put(.{ .tag = tag, .language = number, .warnings = own.items });
        }
        for (if (known) |one| one.warnings else own.items) |warning| {
            try addWarning(arena, warnings, try std.fmt.allocPrint(arena, "{s}: {s}", .{ tag.place, warning }));
        }
        try kept.append(arena, tag.*);
        try parts.append(gpa, .{ .language = number, .end = end, .behind = undefined });
    }
    if (left_out) |why| try descriptor.keep(arena, kept.items, why, diag);
    var parts_name_tokens = false;
    for (languages.items) |*shared| parts_name_tokens = parts_name_tokens or shared.language.namesTokens();
    const automaton = try free_text.build(gpa, arena, &descriptor, budget, diag);
    var free = automaton.free;
    errdefer free.deinit(gpa);
    for (parts.items, automaton.behind) |*part, behind| part.behind = behind;
    var named = try descriptor.markers.named(gpa);
    errdefer named.deinit(gpa);
    const source = try gpa.dupe(u8, text);
    errdefer gpa.free(source);
    const owned_parts = try parts.toOwnedSlice(gpa);
    errdefer gpa.free(owned_parts);
    const owned_ends = try ends.toOwnedSlice(gpa);
    errdefer {
        for (owned_ends) |*end| end.deinit(gpa);
        gpa.free(owned_ends);
    }
    return .{
        .free = free,
        .parts = owned_parts,
        .languages = try languages.toOwnedSlice(gpa),
        .ends = owned_ends,
        .named = named,
        .parts_name_tokens = parts_name_tokens,
        .gpa = gpa,
        .count = descriptor.count,
        .source = source,
    };
}

/// Whether a failure is that of one tag, and not of all that is compiled.
fn isOfTag(budget: *Budget, diag: *const Diagnostic) bool {
    var other: Diagnostic = .{};
    budget.check("tags", &other) catch return false;
    return diag.status == .grammar or diag.status == .limit or diag.status == .unsupported;
}

/// The language of one tag. A failure has no place.
fn compilePart(
    gpa: Allocator,
    arena: Allocator,
    vocabulary: *const Vocabulary,
    trie: *const ByteTrie,
    tag: *const tags.Tag,
    warnings: *tables.Warnings,
    budget: *Budget,
    diag: *Diagnostic,
) Error!Language {
    const source = try sourceOf(arena, tag) orelse {
        return diag.fail(.grammar, "no part is given: json_schema, regex, lark, gbnf, ebnf or choices", .{});
    };
    var language = try languageOf(gpa, arena, vocabulary, trie, source, warnings, budget, diag);
    if (language == .ambiguous and !language.ambiguous.limits.isEmpty()) {
        // The rules are still those between which terminals stand that no text has.
        language.ambiguous.limits.dropTerminals(gpa);
        errdefer language.deinit(gpa, .owned);
        try warnings.append(arena, "max_tokens is not enforced: a part is read by its bytes");
    }
    return language;
}

/// Tags that are alike, as the ways to call one tool are, tell a warning once.
fn addWarning(arena: Allocator, warnings: *tables.Warnings, warning: []const u8) Allocator.Error!void {
    for (warnings.items) |other| if (std.mem.eql(u8, other, warning)) return;
    try warnings.append(arena, warning);
}

fn compileTokenTree(gpa: Allocator, vocabulary: *const Vocabulary, payload: []const u8, diag: *Diagnostic) Error!TokenTree {
    const constraint = try Constraint.createTokenTrie(gpa, vocabulary, payload, diag);
    defer constraint.release();
    const trie = constraint.tokenTrie().?;
    if (trie.parts.len > 0) return diag.fail(.payload, "descriptors[0]: has no leaves; a language is a key of the tag", .{});
    const n = trie.descriptors.len;
    if (n > 1) return diag.fail(.payload, "descriptors: expected one, found {d}", .{n});
    if (!trie.isInOrder()) return diag.fail(.payload, "descriptors[0].trigger: the tag's begin text opens the part", .{});
    return .{ .trie = trie.retain() };
}

/// The number of an end text; equal ones are one.
fn endOf(gpa: Allocator, ends: *ArrayList(EndText), tag: *const tags.Tag, diag: *Diagnostic) Error!u32 {
    const text = tag.end.symbols;
    if (text.len > end_bytes_max) {
        return diag.fail(.limit, "{s}.end: {d} bytes are more than {d}", .{ tag.place, text.len, end_bytes_max });
    }
    for (ends.items, 0..) |*end, i| if (std.mem.eql(Symbol, end.text, text)) return @intCast(i);
    try ends.ensureUnusedCapacity(gpa, 1);
    ends.appendAssumeCapacity(try .init(gpa, text));
    return @intCast(ends.items.len - 1);
}

/// What a part is compiled from; null if nothing is given.
pub fn sourceOf(arena: Allocator, tag: *const tags.Tag) Error!?Source {
    return switch (tag.content) {
        .nothing => null,
        .row => unreachable,
        .json_schema => |text| json_schema: {
            var options = tag.schema_options orelse SchemaOptions{};
            options.style = tag.style;
            break :json_schema .{ .json_schema = .{ .text = text, .options = options } };
        },
        .regex => |pattern| .{ .regex = .{ .pattern = pattern, .ignore_case = false } },
        .token_tree => |payload| .{ .token_tree = payload },
        .any_text => .{ .regex = .{ .pattern = "(?s:.*)", .ignore_case = false } },
        .lark => |text| .{ .lark = .{ .text = text } },
        .gbnf => |text| .{ .gbnf = .{ .text = text, .options = .{} } },
        .ebnf => |text| .{ .gbnf = .{ .text = text, .options = .{ .dialect = .ebnf } } },
        .choices => |texts| {
            const offsets = try arena.alloc(u64, texts.len + 1);
            offsets[0] = 0;
            for (texts, 1..) |text, i| offsets[i] = offsets[i - 1] + text.len;
            return .{ .choices = .{ .text = try std.mem.concat(arena, u8, texts), .offsets = offsets } };
        },
    };
}

/// The failure of a part, with its place.
pub fn failAt(place: []const u8, e: Error, diag: *Diagnostic) Error {
    if (e != error.Failed) return e;
    var buffer: [Diagnostic.message_bytes_max]u8 = undefined;
    const text = buffer[0..diag.message().len];
    @memcpy(text, diag.message());
    const is_wrong = diag.status == .invalid_arg or diag.status == .payload;
    return diag.fail(if (is_wrong) .grammar else diag.status, "{s}: {s}", .{ place, text });
}

fn compileRegex(
    gpa: Allocator,
    ctx: *const Context,
    trie: *const ByteTrie,
    pattern: []const u8,
    flags: regex.Flags,
) Error!Regex {
    const budget = ctx.budget;
    if (pattern.len > regex_bytes_max) {
        return ctx.diag.fail(.limit, "{d} bytes of regular expression are more than {d}", .{ pattern.len, regex_bytes_max });
    }
    var node = try regex.parse(ctx.arena, pattern, flags, null, budget, ctx.diag);
    if (flags.looks and look_around.isIn(node)) node = try look_around.whole(ctx, node, "the regular expression");
    const what = "the regular expression's automaton";
    if (try bounded.split(ctx.arena, node)) |split| switch (try bounded.textOf(ctx, split.node, split.min, split.max, what)) {
        .text => |text| return .{ .texts = try bounded.build(gpa, ctx, &.{text}, trie.longest) },
        .no_text, .uncounted => {},
    };
    var automaton = try dfa.build(gpa, &.{.{ .node = node }}, 1, budget, what, ctx.diag);
    if (automaton.nReach() > 1) return .{ .dfa = automaton };
    automaton.deinit(gpa);
    return ctx.diag.fail(.grammar, "no text matches the regular expression", .{});
}

fn compileLark(
    gpa: Allocator,
    arena: Allocator,
    vocabulary: *const Vocabulary,
    trie: *const ByteTrie,
    text: []const u8,
    given: lark.Options,
    warnings: *tables.Warnings,
    budget: *Budget,
    diag: *Diagnostic,
) Error!Language {
    var options = given;
    options.tokens = &vocabulary.tokens;
    const parsed = try lark.parse(arena, text, options, budget, diag);
    try warnings.appendSlice(arena, parsed.warnings);
    const ctx: Context = .{ .arena = arena, .budget = budget, .diag = diag };
    var reading = parsed.reading;
    const resolved = try contexts.resolve(&ctx, &parsed.grammar, &reading);
    const grammar = try counted_rules.mark(&ctx, &resolved, parsed.limits, reading, warnings);
    return grammar_parts.compile(gpa, &ctx, vocabulary, trie, &grammar, reading, parsed.parts, parsed.tokens, warnings);
}

/// An object as parameters: a grammar of this part alone.
fn compileParameters(
    gpa: Allocator,
    arena: Allocator,
    vocabulary: *const Vocabulary,
    trie: *const ByteTrie,
    text: []const u8,
    options: SchemaOptions,
    warnings: *tables.Warnings,
    budget: *Budget,
    diag: *Diagnostic,
) Error!Language {
    const ctx: Context = .{ .arena = arena, .budget = budget, .diag = diag };
    const ids = try options.style.?.tokens(arena, &vocabulary.tokens);
    const sets = try arena.alloc(TokenSet, ids.len);
    for (sets, ids) |*set, id| set.* = try .one(arena, id);
    const tokens: TokenClasses = try .init(&ctx, &vocabulary.tokens, sets);
    const grammar: bnf.Bnf = .{
        .terminals = &.{.{ .name = "parameters", .pattern = try documentNode(arena, 0) }},
        .rules = &.{.{ .name = "start" }},
        .productions = &.{.{ .rule = 0, .symbols = &.{.{ .terminal = 0 }} }},
        .start = 0,
    };
    const reading: bnf.Reading = .{ .lexing = .any, .tokens = &tokens.named };
    const parts = [_]bnf.Part{.{ .text = text, .options = options, .place = .{} }};
    return grammar_parts.compile(gpa, &ctx, vocabulary, trie, &grammar, reading, &parts, &tokens, warnings);
}

fn compileGbnf(
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    text: []const u8,
    options: gbnf.Options,
    arena: Allocator,
    warnings: *tables.Warnings,
    budget: *Budget,
    diag: *Diagnostic,
) Error!Language {
    const parsed = try gbnf.parse(arena, vocabulary, text, options, budget, diag);
    try warnings.appendSlice(arena, parsed.warnings);
    return cfg.compile(gpa, arena, &vocabulary.tokens, &parsed.grammar, warnings, budget, diag);
}

fn joined(arena: Allocator, trie: *const ByteTrie, warnings: *tables.Warnings) Allocator.Error![]const u8 {
    if (trie.missing_bytes > 0) try warnings.append(arena, try missingBytes(arena, trie));
    return std.mem.join(arena, "\n", warnings.items);
}

fn missingBytes(arena: Allocator, trie: *const ByteTrie) Allocator.Error![]const u8 {
    var buffer: [160]u8 = undefined;
    const text = "the vocabulary has no token for {d} of the 256 bytes: where one of them must follow, no token may be legal";
    return arena.dupe(u8, message.print(&buffer, text, .{trie.missing_bytes}));
}

test "where many rules may have ended at any depth, the memory for a mask does not grow with the depth" {
    const gpa = std.testing.allocator;
    var diag: Diagnostic = .{};
    const n_rules = 20;
    var offsets: [n_rules + 2]u64 = undefined;
    for (&offsets, 0..) |*offset, i| offset.* = i;
    const vocabulary = try Vocabulary.create(gpa, .{ .n = n_rules + 1, .bytes = "abcdefghijklmnopqrstu", .offsets = &offsets }, "", &diag);
    defer vocabulary.release();
    var text: std.ArrayList(u8) = .empty;
    defer text.deinit(gpa);
    for (0..n_rules) |i| try text.print(gpa, "{s}x{d} \"{c}\"", .{ if (i == 0) "start: " else " | ", i, @as(u8, @intCast('b' + i)) });
    for (0..n_rules) |i| try text.print(gpa, "\nx{d}: \"a\" x{d} |", .{ i, i });
    const compiled = try compile(gpa, vocabulary, .{ .lark = .{ .text = text.items } }, .{}, &diag);
    defer compiled.release();
    var state: RecognizerState = .init(gpa, compiled, .{});
    defer state.deinit();
    for (0..1000) |_| _ = try state.accept(0, 0, .refuse);
    _ = try state.allowed();
    const scratch = try compiled.scratches.take();
    defer compiled.scratches.giveBack(scratch);
    try std.testing.expect(scratch.attachmentOf(Selector(program_module.set_widths[0])).?.parser.levels.capacity < 20 * n_rules);
}
