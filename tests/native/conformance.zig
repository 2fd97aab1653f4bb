//! The conformance cases through the engines, without the C boundary, under an allocator that finds
//! leaks. What is in a case says tests/conformance/case.schema.json; the build gives the directory.

const std = @import("std");
const eliza = @import("eliza");
const directory = @import("conformance_options").conformance_dir;
const Value = std.json.Value;
const Diagnostic = eliza.diagnostic.Diagnostic;
const Vocabulary = eliza.vocabulary.Vocabulary;
const Constraint = eliza.constraint.Constraint;
const Matcher = eliza.matcher.Matcher;

const gpa = std.testing.allocator;
const grammars = "native/grammars"; // from the folder of the build
const file_bytes_max = 16 << 20;

test "conformance cases" {
    defer eliza.trie_cache.shared.setLimit(eliza.trie_cache.bytes_max_default);
    defer eliza.trie_cache.shared.setLimit(0); // so that the allocator sees an empty cache
    var scratch = std.testing.tmpDir(.{});
    defer scratch.cleanup();
    const folder = try std.fmt.allocPrint(gpa, ".zig-cache/tmp/{s}/", .{scratch.sub_path});
    defer gpa.free(folder);
    var report: Report = .{ .folder = folder };
    try runFolders(&report);
    try std.testing.expect(report.runs >= 1200);
    try std.testing.expectEqual(0, report.failures);
}

/// The folders beside the schema hold the case files. Those of streams need a libllama, which is loaded in none of these tests.
fn runFolders(report: *Report) !void {
    const io = std.testing.io;
    var top = try std.Io.Dir.cwd().openDir(io, directory, .{ .iterate = true });
    defer top.close(io);
    var folders = top.iterate();
    while (try folders.next(io)) |child| {
        if (child.kind != .directory or std.mem.eql(u8, child.name, "streams")) continue;
        var folder = try top.openDir(io, child.name, .{ .iterate = true });
        defer folder.close(io);
        var files = folder.iterate();
        while (try files.next(io)) |entry| {
            const text = try folder.readFileAlloc(io, entry.name, gpa, .limited(file_bytes_max));
            defer gpa.free(text);
            try runFile(report, entry.name, text);
        }
    }
}

fn runFile(report: *Report, file: []const u8, text: []const u8) !void {
    const parsed = try std.json.parseFromSlice(Value, gpa, text, .{});
    defer parsed.deinit();
    for (parsed.value.object.get("cases").?.array.items) |case| {
        const name = get(case, "name").?.string;
        if (get(get(case, "constraint").?, "token_trie")) |payloads| {
            for (payloads.array.items, 1..) |payload, i| {
                var form: [32]u8 = undefined;
                report.begin(file, name, try std.fmt.bufPrint(&form, "payload {d}", .{i}));
                try runCase(report, .{ .case = case, .payload = payload });
            }
        } else for (std.enums.values(Way)) |way| {
            if (way != .compiled and (get(case, "error") != null or get(case, "open") != null)) continue;
            report.begin(file, name, @tagName(way));
            try runCase(report, .{ .case = case, .way = way });
        }
    }
}

/// Where the run is, and how much went wrong.
const Report = struct {
    /// For files; ends with a slash.
    folder: []const u8,
    file: []const u8 = "",
    name: []const u8 = "",
    form: []const u8 = "",
    /// 0: before the first.
    step: usize = 0,
    failures: usize = 0,
    runs: usize = 0,

    fn begin(r: *Report, file: []const u8, name: []const u8, form: []const u8) void {
        r.file = file;
        r.name = name;
        r.form = form;
        r.step = 0;
        r.runs += 1;
    }

    fn fail(r: *Report, comptime format: []const u8, arguments: anytype) void {
        r.failures += 1;
        std.debug.print("{s}: {s} ({s}): step {d}: " ++ format ++ "\n", .{ r.file, r.name, r.form, r.step } ++ arguments);
    }

    fn expectNumber(r: *Report, what: []const u8, expected: i64, actual: i64) void {
        if (expected != actual) r.fail("{s} is {d}, expected {d}", .{ what, actual, expected });
    }

    fn expectText(r: *Report, what: []const u8, expected: []const u8, actual: []const u8) void {
        if (!std.mem.eql(u8, expected, actual)) r.fail("{s}\n    is       {s}\n    expected {s}", .{ what, actual, expected });
    }

    fn expectIds(r: *Report, what: []const u8, expected: []const Value, actual: []const i32) void {
        const same = expected.len == actual.len and for (expected, actual) |e, a| {
            if (e.integer != a) break false;
        } else true;
        if (!same) r.fail("{s} is {any}", .{ what, actual });
    }

    fn expectFailure(r: *Report, expected: Value, diag: *const Diagnostic) void {
        r.expectText("status", get(expected, "status").?.string, eliza.Status.nameOf(diag.status.code()));
        const message = get(expected, "message") orelse return;
        var shown: [Diagnostic.message_bytes_max]u8 = undefined; // the paths of files are relative in the cases
        const cut = r.folder.len * std.mem.replace(u8, diag.message(), r.folder, "", &shown);
        r.expectText("message", message.string, shown[0 .. diag.message().len - cut]);
    }

    fn path(r: *const Report, arena: std.mem.Allocator, name: []const u8) ![]const u8 {
        return std.mem.concat(arena, u8, &.{ r.folder, name });
    }
};

fn get(object: Value, key: []const u8) ?Value {
    return object.object.get(key);
}

// ---- One case

const Run = struct {
    case: Value,
    /// Of a token trie.
    payload: Value = .null,
    way: Way = .compiled,
};

/// How a constraint is come by: what is expected is the same each time.
const Way = enum {
    compiled,
    /// With room for next to no mask.
    unkept,
    /// Prepared, saved, and opened, as its vocabulary is.
    opened,
};

fn runCase(r: *Report, run: Run) !void {
    const case = run.case;
    var diag: Diagnostic = .{};
    const matcher = start(r, run, &diag) catch |e| {
        if (e != error.Failed) return e;
        if (get(case, "error")) |expected| r.expectFailure(expected, &diag) else r.fail("failed: {s}", .{diag.message()});
        return;
    };
    if (get(case, "error") != null) r.fail("did not fail", .{});
    defer matcher.destroy();
    if (get(case, "expect")) |expected| try expectState(r, matcher, expected);
    if (get(case, "steps")) |steps| try runSteps(r, matcher, steps.array.items, 0);
}

fn start(r: *Report, run: Run, diag: *Diagnostic) !*Matcher {
    var arena_state: std.heap.ArenaAllocator = .init(gpa);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    const vocabulary = try makeVocabulary(arena, get(run.case, "vocabulary").?, diag);
    defer vocabulary.release();
    const constraint = try makeConstraint(r, arena, vocabulary, run, diag);
    defer constraint.release();
    if (get(run.case, "info")) |info| try expectInfo(r, arena, constraint, info);
    const end: ?[]i32 = if (get(run.case, "end")) |list| end: {
        const ids = try arena.alloc(i32, list.array.items.len);
        for (ids, list.array.items) |*id, value| id.* = @intCast(value.integer);
        break :end ids;
    } else null;
    const timeout: u32 = @intCast(integer(run.case, "span_timeout"));
    const prefill = if (get(run.case, "prefill")) |text| try octets(arena, text) else "";
    return Matcher.create(gpa, constraint, .{ .timeout = timeout, .end = end, .prefill = prefill }, diag);
}

fn integer(object: Value, key: []const u8) i64 {
    return if (get(object, key)) |value| value.integer else 0;
}

fn makeVocabulary(arena: std.mem.Allocator, data: Value, diag: *Diagnostic) !*Vocabulary {
    const model_id = if (get(data, "model_id")) |id| id.string else "";
    const tokens = get(data, "tokens") orelse
        return Vocabulary.create(gpa, .{ .n = @intCast(get(data, "size").?.integer) }, model_id, diag);
    var bytes: std.ArrayList(u8) = .empty;
    var offsets: std.ArrayList(u64) = .empty;
    var flags: std.ArrayList(eliza.vocabulary.Flags) = .empty;
    try offsets.append(arena, 0);
    if (get(data, "single_bytes") != null) for (0..256) |byte| {
        try bytes.append(arena, @intCast(byte));
        try offsets.append(arena, bytes.items.len);
        try flags.append(arena, .{});
    };
    for (tokens.array.items) |token| {
        try appendOctets(arena, &bytes, token);
        try offsets.append(arena, bytes.items.len);
        try flags.append(arena, flagsOf(token));
    }
    const vocabulary = try Vocabulary.create(gpa, .{
        .n = @intCast(flags.items.len),
        .bytes = bytes.items,
        .offsets = offsets.items,
        .flags = flags.items,
    }, model_id, diag);
    setTokenizer(vocabulary, data);
    return vocabulary;
}

fn setTokenizer(vocabulary: *Vocabulary, data: Value) void {
    if (get(data, "tokenizer") != null) vocabulary.tokenizer = .{ .callback = Meanwhile.tokenize, .user_data = vocabulary };
}

fn flagsOf(token: Value) eliza.vocabulary.Flags {
    var flags: eliza.vocabulary.Flags = .{};
    if (token != .object) return flags;
    const names = get(token, "flags") orelse return flags;
    for (names.array.items) |name| {
        inline for (.{ "special", "end_of_generation", "unused" }) |one| {
            if (std.mem.eql(u8, name.string, one)) @field(flags, one) = true;
        }
    }
    return flags;
}

/// Of a text, a piece, or a list of these.
fn octets(arena: std.mem.Allocator, value: Value) ![]const u8 {
    var bytes: std.ArrayList(u8) = .empty;
    try appendOctets(arena, &bytes, value);
    return bytes.items;
}

fn appendOctets(arena: std.mem.Allocator, bytes: *std.ArrayList(u8), value: Value) !void {
    switch (value) {
        .string => |text| try bytes.appendSlice(arena, text),
        .array => |pieces| for (pieces.items) |piece| try appendOctets(arena, bytes, piece),
        else => {
            const piece = if (get(value, "hex")) |hex|
                try std.fmt.hexToBytes(try arena.alloc(u8, hex.string.len / 2), hex.string)
            else
                get(value, "text").?.string;
            const count: usize = if (get(value, "count")) |n| @intCast(n.integer) else 1;
            try bytes.ensureUnusedCapacity(arena, piece.len * count);
            for (0..count) |_| bytes.appendSliceAssumeCapacity(piece);
        },
    }
}

fn makeConstraint(r: *Report, arena: std.mem.Allocator, vocabulary: *Vocabulary, run: Run, diag: *Diagnostic) !*Constraint {
    const settings = settingsOf(run);
    const compiled = try compile(.{ .arena = arena, .vocabulary = vocabulary, .run = run, .settings = settings, .diag = diag });
    const open = get(run.case, "open");
    if (open == null and (run.way != .opened or compiled.recognizer() == null)) return compiled;
    defer compiled.release();
    if (open != null and get(run.case, "error") != null) return openChanged(r, arena, compiled, open.?, diag);
    try compiled.compiled.prepare(&.{}, diag);
    try save(r, arena, compiled, diag);
    const paths = .{ try r.path(arena, "vocabulary"), try r.path(arena, "constraint") };
    const opened = try eliza.files.openVocabulary(gpa, paths[0], howOf(open), diag);
    defer opened.release();
    setTokenizer(opened, get(run.case, "vocabulary").?);
    const constraint = try openConstraint(opened, paths[1], howOf(open), settings, diag);
    errdefer constraint.release();
    if (open != null and get(open.?, "emptied") != null) inline for (paths) |path| {
        try std.Io.Dir.cwd().writeFile(std.testing.io, .{ .sub_path = path, .data = "" });
    };
    return constraint;
}

fn howOf(open: ?Value) eliza.files.How {
    const how = get(open orelse return .{}, "how") orelse return .{};
    return if (std.mem.eql(u8, how.string, "copy")) .{ .copy = true } else .{ .trusted = true };
}

fn settingsOf(run: Run) eliza.compile.Settings {
    var settings: eliza.compile.Settings = .{};
    if (get(run.case, "budget")) |budget| {
        if (get(budget, "states_max")) |n| settings.budget.states_max = @intCast(n.integer);
        if (get(budget, "bytes_max")) |n| settings.budget.bytes_max = @intCast(n.integer);
        // The C boundary adds it to the clock: what is 1 here is long over.
        if (get(budget, "ms_max")) |n| settings.budget.deadline_ns = if (n.integer == 1) 1 else std.math.maxInt(u64);
        if (get(budget, "mask_bytes_max")) |n| settings.mask_bytes_max = @intCast(n.integer);
        if (get(budget, "mask_ms_max")) |n| settings.mask_ms_max = @intCast(n.integer);
        if (get(budget, "cancel")) |says| settings.budget.cancel = if (says.bool) &Answer.yes else &Answer.no;
    }
    if (run.way == .unkept) settings.mask_bytes_max = 1;
    return settings;
}

const Answer = struct {
    fn yes(_: ?*anyopaque) callconv(.c) c_int {
        return 1;
    }

    fn no(_: ?*anyopaque) callconv(.c) c_int {
        return 0;
    }
};

/// What compiling takes; `source` is the value of the key that says the kind.
const Input = struct {
    arena: std.mem.Allocator,
    vocabulary: *Vocabulary,
    run: Run,
    settings: eliza.compile.Settings,
    diag: *Diagnostic,
    source: Value = .null,

    fn has(in: Input, name: []const u8) bool {
        return in.option(name) != null;
    }

    fn option(in: Input, name: []const u8) ?Value {
        return get(get(in.run.case, "constraint").?, name);
    }
};

const kinds: []const struct { []const u8, *const fn (Input) anyerror!*Constraint } = &.{
    .{ "token_trie", compileTokenTrie },
    .{ "choices", compileChoices },
    .{ "regex", compileRegex },
    .{ "grammar", compileGrammar },
    .{ "gbnf", compileGbnf },
    .{ "shipped", compileShipped },
    .{ "json_schema", compileJsonSchema },
    .{ "tags", compileTags },
};

fn compile(in: Input) !*Constraint {
    for (kinds) |kind| {
        const key, const compileKind = kind;
        var chosen = in;
        chosen.source = get(get(in.run.case, "constraint").?, key) orelse continue;
        return compileKind(chosen);
    }
    return error.UnknownConstraint;
}

fn compileTokenTrie(in: Input) !*Constraint {
    return eliza.payload.createConstraint(gpa, in.vocabulary, try octets(in.arena, in.run.payload), in.diag);
}

fn compileChoices(in: Input) !*Constraint {
    var text: std.ArrayList(u8) = .empty;
    var offsets: std.ArrayList(u64) = .empty;
    try offsets.append(in.arena, 0);
    for (in.source.array.items) |choice| {
        try appendOctets(in.arena, &text, choice);
        try offsets.append(in.arena, text.items.len);
    }
    if (in.has("canonical")) return eliza.canonical_choices.createChoices(gpa, in.vocabulary, text.items, offsets.items, .{}, in.diag);
    const choices: eliza.compile.Source = .{ .choices = .{ .text = text.items, .offsets = offsets.items } };
    return eliza.compile.createConstraint(gpa, in.vocabulary, choices, in.settings, in.diag);
}

fn compileRegex(in: Input) !*Constraint {
    const pattern = try octets(in.arena, in.source);
    const regex: eliza.compile.Source = .{ .regex = .{
        .pattern = pattern,
        .ignore_case = in.has("ignore_case"),
        .search = in.has("search"),
    } };
    return eliza.compile.createConstraint(gpa, in.vocabulary, regex, in.settings, in.diag);
}

fn compileGrammar(in: Input) !*Constraint {
    var imports: Documents = .{ .arena = in.arena, .by_uri = in.option("imports") };
    var source: @FieldType(eliza.compile.Source, "lark") = .{
        .text = try octets(in.arena, in.source),
        .options = .{ .grammars = .{ .callback = Documents.give, .user_data = &imports } },
    };
    if (in.option("start")) |name| source.options.start = name.string;
    return eliza.compile.createConstraint(gpa, in.vocabulary, .{ .lark = source }, in.settings, in.diag);
}

fn compileGbnf(in: Input) !*Constraint {
    var options: @FieldType(@FieldType(eliza.compile.Source, "gbnf"), "options") = .{};
    if (in.has("ebnf")) options.dialect = .ebnf;
    if (in.option("root")) |root| options.root = root.string;
    const text = try octets(in.arena, in.source);
    return eliza.compile.createConstraint(gpa, in.vocabulary, .{ .gbnf = .{ .text = text, .options = options } }, in.settings, in.diag);
}

fn compileShipped(in: Input) !*Constraint {
    const path = try std.fmt.allocPrint(in.arena, grammars ++ "/{s}.lark", .{in.source.string});
    const text = try std.Io.Dir.cwd().readFileAlloc(std.testing.io, path, in.arena, .limited(file_bytes_max));
    return eliza.compile.createConstraint(gpa, in.vocabulary, .{ .lark = .{ .text = text } }, in.settings, in.diag);
}

fn compileJsonSchema(in: Input) !*Constraint {
    var documents: Documents = .{ .arena = in.arena, .by_uri = in.option("documents") };
    var options: eliza.compile.SchemaOptions = .{
        .lenient = in.has("lenient"),
        .documents = .{ .callback = Documents.give, .user_data = &documents },
    };
    const form = &options.form;
    if (in.option("space")) |name| form.space = std.meta.stringToEnum(@TypeOf(form.space), name.string).?;
    if (in.has("order")) form.order = .any;
    if (in.has("numbers")) form.numbers = .double;
    if (in.has("additional")) options.additional = .forbid;
    form.integer_fraction = in.has("integer_fraction");
    if (in.option("draft")) |name| options.draft = inline for (.{ "4", "6", "7", "2019-09" }, 0..) |draft, i| {
        if (std.mem.eql(u8, name.string, draft)) break @fromBackingInt(i);
    } else unreachable;
    const schema: eliza.compile.Source = .{ .json_schema = .{ .text = try schemaText(in.arena, in.source), .options = options } };
    return eliza.compile.createConstraint(gpa, in.vocabulary, schema, in.settings, in.diag);
}

fn compileTags(in: Input) !*Constraint {
    return eliza.compile.createConstraint(gpa, in.vocabulary, .{ .tags = try octets(in.arena, in.source) }, in.settings, in.diag);
}

fn schemaText(arena: std.mem.Allocator, schema: std.json.Value) ![]const u8 {
    return if (schema == .string) schema.string else std.json.Stringify.valueAlloc(arena, schema, .{});
}

const Documents = struct {
    arena: std.mem.Allocator,
    by_uri: ?std.json.Value,

    fn give(uri: [*]const u8, uri_len: usize, out_text: *?[*]const u8, out_len: *usize, user_data: ?*anyopaque) callconv(.c) c_int {
        const d: *const Documents = @ptrCast(@alignCast(user_data));
        const schema = (d.by_uri orelse return 0).object.get(uri[0..uri_len]) orelse return 0;
        const text = schemaText(d.arena, schema) catch return 1;
        out_text.* = text.ptr;
        out_len.* = text.len;
        return 0;
    }
};

/// Of the folder: `vocabulary` and `constraint`.
fn save(r: *const Report, arena: std.mem.Allocator, constraint: *const Constraint, diag: *Diagnostic) !void {
    // What is no recognizer is the C boundary's to refuse.
    const compiled = constraint.recognizer() orelse return diag.fail(
        .invalid_arg,
        "a token trie is not saved: its payload is what it is made of",
        .{},
    );
    try eliza.files.saveVocabulary(gpa, constraint.vocabulary, try r.path(arena, "vocabulary"), diag);
    try eliza.files.saveRecognizer(gpa, compiled, try r.path(arena, "constraint"), diag);
}

fn openConstraint(
    vocabulary: *const Vocabulary,
    path: []const u8,
    how: eliza.files.How,
    settings: eliza.compile.Settings,
    diag: *Diagnostic,
) !*Constraint {
    const opened = try eliza.files.openRecognizer(gpa, vocabulary, path, how, settings, diag);
    errdefer opened.release();
    return Constraint.create(gpa, vocabulary, .{ .recognizer = opened }, diag);
}

/// Saves both, changes a file, and opens it.
fn openChanged(r: *Report, arena: std.mem.Allocator, compiled: *const Constraint, open: Value, diag: *Diagnostic) !*Constraint {
    try save(r, arena, compiled, diag);
    const as = get(open, "as").?.string;
    const path = try r.path(arena, if (get(open, "path")) |other| other.string else as);
    try change(arena, path, open);
    if (std.mem.eql(u8, as, "vocabulary")) {
        (try eliza.files.openVocabulary(gpa, path, howOf(open), diag)).release();
        return diag.fail(.ok, "the vocabulary was opened", .{});
    }
    const other = if (get(open, "for")) |tokens| try makeVocabulary(arena, tokens, diag) else null;
    defer if (other) |vocabulary| vocabulary.release();
    return openConstraint(other orelse compiled.vocabulary, path, howOf(open), .{}, diag);
}

/// Offsets and lengths below 0 are from the end.
fn change(arena: std.mem.Allocator, path: []const u8, open: Value) !void {
    const folder = std.Io.Dir.cwd();
    const length, const flip = .{ get(open, "length"), get(open, "flip") };
    if (length == null and flip == null) return;
    const bytes = try folder.readFileAlloc(std.testing.io, path, arena, .limited(file_bytes_max));
    if (flip) |at| bytes[@intCast(@mod(at.integer, @as(i64, @intCast(bytes.len))))] ^= 0xff;
    const kept = if (length) |n| (if (n.integer < 0) bytes.len - @abs(n.integer) else @abs(n.integer)) else bytes.len;
    try folder.writeFile(std.testing.io, .{ .sub_path = path, .data = bytes[0..kept] });
}

fn expectInfo(r: *Report, arena: std.mem.Allocator, constraint: *const Constraint, expected: Value) !void {
    var keys = expected.object.iterator();
    while (keys.next()) |one| {
        const key, const value = .{ one.key_ptr.*, one.value_ptr.* };
        if (std.mem.eql(u8, key, "kind")) {
            r.expectText("kind", value.string, @tagName(constraint.compiled.describe().kind));
        } else if (std.mem.eql(u8, key, "warnings")) {
            const warnings = try arena.alloc([]const u8, value.array.items.len);
            for (warnings, value.array.items) |*to, warning| to.* = warning.string;
            r.expectText("warnings", try std.mem.join(arena, "\n", warnings), constraint.compiled.warnings());
        } else try expectSize(r, key, value.integer, constraint.tokenTrie().?);
    }
}

fn expectSize(r: *Report, key: []const u8, expected: i64, trie: anytype) !void {
    const actual = .{
        .n_descriptors = trie.descriptors.len,
        .n_leaves = trie.n_leaves,
        .n_nodes = trie.tokens.len,
        .longest_leaf_tokens = trie.longest.tokens,
        .widest_node = trie.widest,
    };
    inline for (@typeInfo(@TypeOf(actual)).@"struct".field_names) |name| {
        if (std.mem.eql(u8, key, name)) return r.expectNumber(name, expected, @intCast(@field(actual, name)));
    }
    return error.UnknownInfo;
}

/// A clone continues with the steps; its original must stay as it is.
fn runSteps(r: *Report, matcher: *Matcher, steps: []const Value, first: usize) !void {
    for (steps[first..], first..) |step, i| {
        r.step = i + 1;
        const before: Look = try .of(matcher);
        if (std.mem.eql(u8, get(step, "do").?.string, "clone")) {
            const copy = try matcher.clone();
            defer copy.destroy();
            if (get(step, "expect")) |expected| try expectState(r, copy, expected);
            try runSteps(r, copy, steps, i + 1);
            if (!std.meta.eql(before, try Look.of(matcher))) r.fail("the clone changed its original", .{});
            return;
        }
        if (runStep(r, matcher, step)) {
            if (get(step, "error") != null) r.fail("did not fail", .{});
        } else |e| {
            if (e != error.Failed) return e;
            if (get(step, "error")) |expected| {
                r.expectFailure(expected, &matcher.diag);
            } else r.fail("failed: {s}", .{matcher.diag.message()});
            if (!std.meta.eql(before, try Look.of(matcher))) r.fail("a failure changed the state", .{});
        }
        if (get(step, "expect")) |expected| try expectState(r, matcher, expected);
    }
}

/// All but `clone`, which runSteps does.
const verbs: std.StaticStringMap(*const fn (*Report, *Matcher, Value) anyerror!void) = .initComptime(.{
    .{ "accept", accept },
    .{ "text", acceptText },
    .{ "rollback", rollback },
    .{ "activate", activate },
    .{ "deactivate", deactivate },
    .{ "reset", reset },
    .{ "set_span_timeout", setSpanTimeout },
    .{ "set_seed", setSeed },
    .{ "mask", mask },
    .{ "sample", sample },
    .{ "fill_bitmaps", fillBitmaps },
    .{ "reenter", reenter },
});

fn runStep(r: *Report, matcher: *Matcher, step: Value) !void {
    const verb = verbs.get(get(step, "do").?.string) orelse return error.UnknownVerb;
    try verb(r, matcher, step);
}

fn accept(r: *Report, matcher: *Matcher, step: Value) !void {
    expectResult(r, step, try matcher.accept(@intCast(get(step, "token").?.integer)));
}

fn rollback(_: *Report, matcher: *Matcher, step: Value) !void {
    try matcher.rollback(@intCast(get(step, "n").?.integer));
}

fn activate(_: *Report, matcher: *Matcher, step: Value) !void {
    try matcher.activate(get(step, "path").?.string);
}

fn deactivate(_: *Report, matcher: *Matcher, _: Value) !void {
    matcher.deactivate();
}

fn reset(_: *Report, matcher: *Matcher, _: Value) !void {
    matcher.reset();
}

fn setSpanTimeout(_: *Report, matcher: *Matcher, step: Value) !void {
    try matcher.setTimeout(@intCast(get(step, "n").?.integer));
}

fn setSeed(_: *Report, matcher: *Matcher, step: Value) !void {
    matcher.sampler.rng = .{ .state = @intCast(get(step, "seed").?.integer) };
}

/// Of each byte the first token that is just this byte.
fn tokensOfBytes(vocabulary: *const Vocabulary) [256]i32 {
    var tokens: [256]i32 = @splat(-1);
    for (0..vocabulary.tokens.n) |i| {
        const token: u32 = @intCast(vocabulary.tokens.n - 1 - i);
        const bytes = vocabulary.tokens.bytesOf(token);
        if (bytes.len == 1 and std.meta.eql(vocabulary.tokens.flagsOf(token), .{})) tokens[bytes[0]] = @intCast(token);
    }
    return tokens;
}

/// Byte by byte.
fn acceptText(r: *Report, matcher: *Matcher, step: Value) !void {
    const tokens = tokensOfBytes(matcher.constraint.vocabulary);
    var arena: std.heap.ArenaAllocator = .init(gpa);
    defer arena.deinit();
    for (try octets(arena.allocator(), step)) |byte| {
        const result = try matcher.accept(tokens[byte]);
        if (!std.meta.eql(result, .{ .in_span = true })) return r.fail("byte {d} is not taken", .{byte});
    }
}

fn expectResult(r: *Report, step: Value, actual: anytype) void {
    const names = if (get(step, "result")) |result| result.array.items else return;
    inline for (.{ "in_span", "span_ended", "span_started", "timed_out", "refused" }) |name| {
        const expected = for (names) |one| {
            if (std.mem.eql(u8, one.string, name)) break true;
        } else false;
        if (@field(actual, name) != expected) r.fail("result: {s} is {}", .{ name, !expected });
    }
}

fn mask(r: *Report, matcher: *Matcher, step: Value) !void {
    const before = try makeLogits(matcher, step);
    defer gpa.free(before);
    const after = try gpa.dupe(f32, before);
    defer gpa.free(after);
    try matcher.maskLogits(after);
    const kept = get(step, "kept") orelse return;
    for (before, after, 0..) |old, new, id| {
        const keeps = kept == .string or for (kept.array.items) |one| {
            if (one.integer == id) break true;
        } else false;
        const same = @as(u32, @bitCast(old)) == @as(u32, @bitCast(new));
        if (if (keeps) !same else new != -std.math.inf(f32)) r.fail("logit {d} after the mask is {d}", .{ id, new });
    }
}

fn sample(r: *Report, matcher: *Matcher, step: Value) !void {
    const logits = try makeLogits(matcher, step);
    defer gpa.free(logits);
    // The engine takes the mode as an enum: a wrong number is the C boundary's to refuse.
    const mode = std.enums.fromInt(eliza.sampling.Mode, get(step, "mode").?.integer) orelse
        return matcher.diag.fail(.invalid_arg, "sampling.mode {d} is neither 0 (greedy) nor 1 (sampled)", .{get(step, "mode").?.integer});
    const how: Matcher.Sampling = .{
        .mode = mode,
        .temperature = if (get(step, "temperature")) |value| number(value) else 1,
        .top_p = if (get(step, "top_p")) |value| number(value) else 1,
    };
    const expected = get(step, "tokens") orelse {
        _ = try matcher.sample(logits, how);
        return;
    };
    for (expected.array.items) |token| r.expectNumber("sampled token", token.integer, try matcher.sample(logits, how));
}

/// Of clones, each taken back to its place: all at once as one by one.
fn fillBitmaps(r: *Report, matcher: *Matcher, step: Value) !void {
    const rows = get(step, "rows").?.array.items;
    var arena_state: std.heap.ArenaAllocator = .init(gpa);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    var clones: std.ArrayList(*Matcher) = .empty;
    defer for (clones.items) |clone| clone.destroy();
    for (rows) |row| {
        try clones.append(arena, try matcher.clone());
        try clones.getLast().rollback(@intCast(integer(row, "rollback")));
    }
    const n_words: usize = if (get(step, "n_words")) |n| @intCast(n.integer) else (matcher.constraint.vocabulary.tokens.n + 31) / 32;
    const words = try arena.alloc(u32, rows.len * n_words);
    const status = eliza.batch.fillBitmaps(clones.items, words.ptr, n_words, @intCast(integer(step, "n_threads")));
    if (status != .ok) return matcher.diag.fail(status, "the bitmaps are not filled", .{});
    for (rows, clones.items, 0..) |row, clone, i| {
        const filled = words[i * n_words ..][0..n_words];
        expectBits(r, get(row, "allowed").?, clone, filled);
        const alone = try arena.alloc(u32, n_words);
        _ = try clone.fillBitmap(alone);
        if (!std.mem.eql(u32, alone, filled)) r.fail("row {d} is not the bitmap of its matcher", .{i});
    }
}

/// What the tokenizer of a case does first when it is asked.
const Meanwhile = struct {
    var report: *Report = undefined;
    var matcher: ?*Matcher = null;
    var calls: []const Value = &.{};
    var n_asked: usize = 0;

    /// The matcher is in use as by a call of the C boundary, which refuses whatever is called now.
    fn tokenize(text: [*]const u8, text_len: usize, out: [*]i32, cap: usize, user_data: ?*anyopaque) callconv(.c) i32 {
        const vocabulary: *const Vocabulary = @ptrCast(@alignCast(user_data));
        if (matcher) |m| {
            if (m.begin() != error.InCallback) report.fail("the matcher may be called", .{});
            for (calls) |call| report.expectFailure(get(call, "error").?, &m.diag);
        }
        n_asked += 1;
        const tokens = tokensOfBytes(vocabulary);
        for (0..@min(text_len, cap)) |i| out[i] = tokens[text[i]];
        return @intCast(text_len);
    }
};

fn reenter(r: *Report, matcher: *Matcher, step: Value) !void {
    const asked = try matcher.clone();
    defer asked.destroy();
    Meanwhile.report = r;
    Meanwhile.matcher = asked;
    defer Meanwhile.matcher = null;
    Meanwhile.calls = get(step, "calls").?.array.items;
    Meanwhile.n_asked = 0;
    try asked.begin();
    defer asked.end();
    try expectForced(r, get(step, "forced").?, asked);
    if (Meanwhile.n_asked == 0) r.fail("the tokenizer was not asked", .{});
}

fn makeLogits(matcher: *const Matcher, step: Value) ![]f32 {
    const n: usize = if (get(step, "n")) |n| @intCast(n.integer) else matcher.constraint.vocabulary.tokens.n;
    const logits = try gpa.alloc(f32, n);
    @memset(logits, number(get(step, "fill").?));
    var given = get(step, "logits").?.object.iterator();
    while (given.next()) |one| logits[try std.fmt.parseInt(usize, one.key_ptr.*, 10)] = number(one.value_ptr.*);
    return logits;
}

fn number(value: Value) f32 {
    return switch (value) {
        .integer => |whole| @floatFromInt(whole),
        .float => |float| @floatCast(float),
        .string => |name| std.fmt.parseFloat(f32, name) catch unreachable, // nan, inf, -inf
        else => unreachable,
    };
}

// ---- The state

/// What a matcher shows of itself, but for what is forced.
const Look = struct {
    active: bool,
    can_stop: bool,
    descriptor: i64,
    span_tokens: u64,
    spans_started: u64,
    spans_ended: u64,
    timeouts: u64,
    illegal: u64,
    /// Hash of the allowed set.
    allowed: u64,

    fn of(matcher: *Matcher) !Look {
        const words = try bitmapOf(matcher);
        defer gpa.free(words);
        const report = try matcher.report();
        return .{
            .active = report.descriptor != null,
            .can_stop = try matcher.canStop(),
            .descriptor = if (report.descriptor) |descriptor| descriptor else -1,
            .span_tokens = report.tokens,
            .spans_started = report.started,
            .spans_ended = report.ended,
            .timeouts = report.timeouts,
            .illegal = report.illegal,
            .allowed = std.hash.Wyhash.hash(0, std.mem.sliceAsBytes(words)),
        };
    }
};

fn bitmapOf(matcher: *Matcher) ![]u32 {
    const words = try gpa.alloc(u32, (matcher.constraint.vocabulary.tokens.n + 31) / 32);
    errdefer gpa.free(words);
    _ = try matcher.fillBitmap(words);
    return words;
}

fn expectState(r: *Report, matcher: *Matcher, expected: Value) !void {
    const look: Look = try .of(matcher);
    var keys = expected.object.iterator();
    while (keys.next()) |one| {
        const value = one.value_ptr.*;
        switch (std.meta.stringToEnum(Key, one.key_ptr.*) orelse return r.fail("unknown key {s}", .{one.key_ptr.*})) {
            inline .active, .can_stop => |key| r.expectNumber(
                @tagName(key),
                @intFromBool(value.bool),
                @intFromBool(@field(look, @tagName(key))),
            ),
            inline .descriptor, .span_tokens, .spans_started, .spans_ended, .timeouts, .illegal => |key| {
                r.expectNumber(@tagName(key), value.integer, @intCast(@field(look, @tagName(key))));
            },
            .constrained => r.expectNumber("constrained", @intFromBool(value.bool), @intFromBool(try matcher.allowed() != .all)),
            .allowed => try expectAllowed(r, value, matcher),
            .forced => try expectForced(r, value, matcher),
            .forced_bytes => try expectForcedBytes(r, value, matcher),
            .leaf => expectLeaf(r, value, matcher),
        }
    }
}

const Key = enum {
    active,
    can_stop,
    constrained,
    descriptor,
    allowed,
    forced,
    forced_bytes,
    leaf,
    span_tokens,
    spans_started,
    spans_ended,
    timeouts,
    illegal,
};

/// As a list, where that is its form, and as a bitmap.
fn expectAllowed(r: *Report, expected: Value, matcher: *Matcher) !void {
    const words = try bitmapOf(matcher);
    defer gpa.free(words);
    const all = expected == .string;
    switch (try matcher.allowed()) {
        .all => if (!all) return r.fail("allowed is all", .{}),
        .list => |ids| {
            if (all) return r.fail("allowed is {any}, expected all", .{ids});
            r.expectIds("allowed", expected.array.items, ids);
        },
        .bitmap => if (all) return r.fail("allowed is a bitmap, expected all", .{}),
    }
    expectBits(r, expected, matcher, words);
}

fn expectBits(r: *Report, expected: Value, matcher: *const Matcher, words: []const u32) void {
    for (0..32 * words.len) |token| {
        const is_set = words[token / 32] >> @truncate(token) & 1 == 1;
        const wanted = if (expected == .string) token < matcher.constraint.vocabulary.tokens.n else for (expected.array.items) |id| {
            if (id.integer == token) break true;
        } else false;
        if (is_set != wanted) r.fail("token {d} in the bitmap: {}", .{ token, is_set });
    }
}

fn expectForced(r: *Report, expected: Value, matcher: *Matcher) !void {
    var run: [512]i32 = undefined;
    if (failureOf(expected)) |failure| return expectAskingFails(r, failure, matcher, matcher.forced(&run));
    r.expectIds("forced", expected.array.items, run[0..@min(try matcher.forced(&run), run.len)]);
}

fn expectForcedBytes(r: *Report, expected: Value, matcher: *Matcher) !void {
    var arena: std.heap.ArenaAllocator = .init(gpa);
    defer arena.deinit();
    var run: [4096]u8 = undefined;
    if (failureOf(expected)) |failure| return expectAskingFails(r, failure, matcher, matcher.forcedBytes(&run));
    r.expectText("forced_bytes", try octets(arena.allocator(), expected), run[0..@min(try matcher.forcedBytes(&run), run.len)]);
}

fn failureOf(expected: Value) ?Value {
    return if (expected == .object) get(expected, "error") else null;
}

fn expectAskingFails(r: *Report, expected: Value, matcher: *const Matcher, answer: error{Failed}!usize) void {
    _ = answer catch return r.expectFailure(expected, &matcher.diag);
    r.fail("asking did not fail", .{});
}

fn expectLeaf(r: *Report, expected: Value, matcher: *const Matcher) void {
    const name = matcher.state.leafName() orelse {
        if (expected != .null) r.fail("leaf is none, expected {s}", .{expected.string});
        return;
    };
    if (expected == .null) r.fail("leaf is {s}, expected none", .{name}) else r.expectText("leaf", expected.string, name);
}
