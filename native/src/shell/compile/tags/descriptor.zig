//! What a descriptor of tags says, in JSON or MessagePack: its own keys, and those of XGrammar's structural tags as far
//! as they mean the same (docs/reference/tags.md). A descriptor of a payload gives a language by the same keys.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const message = @import("message");
const reader_module = @import("engine").payload_reader;
const Reader = reader_module.Reader;
const Kind = @import("engine").payload_input.Kind;
const Container = @import("engine").payload_input.Container;
const Count = @import("engine").tags.Count;
const Tokens = @import("engine").vocabulary.Tokens;
const named_max = @import("engine").tag_symbols.named_max;
const Symbol = @import("engine").tag_symbols.Symbol;
const markers_module = @import("markers.zig");
const Marker = markers_module.Marker;
const Markers = markers_module.Markers;
const SchemaOptions = @import("../schema/compile.zig").Options;
const GivenDocuments = @import("documents.zig").GivenDocuments;
const Draft = @import("../schema/keywords.zig").Draft;
const Style = @import("../parameters/style.zig").Style;
const edit_distance = @import("../edit_distance.zig");

/// ELIZA_TAGS_* of the header.
pub const descriptor_bytes_max = 16 << 20;
pub const tags_max = 4096;
pub const count_max = 1024;
/// Levels of arrays and objects, of a schema within too. A deeper schema is given as a text.
const depth_max = 256;

/// Lends its texts from the descriptor or from the arena.
pub const Descriptor = struct {
    /// Those with a language. Tags in a tag are a row, and stand in place of that tag.
    tags: []const Tag = &.{},
    rows: []const Row = &.{},
    /// Empty: the begin texts.
    triggers: []const Marker = &.{},
    excludes: []const Marker = &.{},
    /// Before it, nothing is a trigger. Empty: from the start.
    after: Marker = .{},
    /// Tags whose language cannot be compiled are left out, with a warning for each.
    skips_bad_tags: bool = false,
    count: Count = .{},
    markers: Markers,

    /// Leaves out all tags but these, and lets no trigger come that none of them has. `why` tells of the first that is left out.
    pub fn keep(
        d: *Descriptor,
        arena: Allocator,
        kept: []const Tag,
        why: []const u8,
        diag: *Diagnostic,
    ) (Allocator.Error || diagnostic.Error)!void {
        if (kept.len == 0 and (d.count.least > 0 or d.triggers.len == 0)) return diag.fail(.grammar, "tags: none is left; {s}", .{why});
        d.tags = kept;
        var triggers: ArrayList(Marker) = .empty;
        var excludes: ArrayList(Marker) = .empty;
        try excludes.appendSlice(arena, d.excludes);
        for (d.triggers) |trigger| try (if (try d.isUsed(arena, trigger)) &triggers else &excludes).append(arena, trigger);
        d.triggers = triggers.items;
        d.excludes = excludes.items;
    }

    fn isUsed(d: *const Descriptor, arena: Allocator, trigger: Marker) Allocator.Error!bool {
        for (d.tags) |*tag| {
            if (std.mem.startsWith(Symbol, (try d.beginOf(arena, tag)).symbols, trigger.symbols)) return true;
        }
        return false;
    }

    /// With that of its row.
    pub fn beginOf(d: *const Descriptor, arena: Allocator, tag: *const Tag) Allocator.Error!Marker {
        return if (tag.row) |row| .joined(arena, &.{ d.rows[row].begin, tag.begin }) else tag.begin;
    }
};

pub const Tag = struct {
    /// For messages, such as `tags[2]`, or the name that the descriptor gives it.
    place: []const u8 = "",
    begin: Marker = .{},
    end: Marker = .{},
    content: Content = .nothing,
    schema_options: ?SchemaOptions = null,
    /// As they stand in the descriptor.
    options_text: []const u8 = "",
    /// Of an object of `json_schema`, as parameters. Null: it is JSON.
    style: ?Style = null,
    /// Of `rows`.
    row: ?u32 = null,
};

/// A begin text, tags one after the other with a text in between, and an end text.
pub const Row = struct {
    place: []const u8,
    begin: Marker,
    separator: Marker,
    end: Marker,
};

/// What a part is.
pub const Content = union(enum) {
    nothing,
    json_schema: []const u8,
    regex: []const u8,
    lark: []const u8,
    gbnf: []const u8,
    ebnf: []const u8,
    choices: []const []const u8,
    /// A payload, as it stands in the descriptor.
    token_tree: []const u8,
    any_text,
    row: []const Tag,
};

const Error = Allocator.Error || diagnostic.Error || error{ Malformed, TooDeep };

/// Fails with ELIZA_ERR_GRAMMAR, and a message that begins with the place, or ELIZA_ERR_LIMIT.
pub fn parse(
    arena: Allocator,
    tokens: *const Tokens,
    bytes: []const u8,
    diag: *Diagnostic,
) (Allocator.Error || diagnostic.Error)!Descriptor {
    if (bytes.len > descriptor_bytes_max) {
        return diag.fail(.limit, "{d} bytes of descriptor are more than {d}", .{ bytes.len, descriptor_bytes_max });
    }
    var p: Parser = .init(arena, tokens, bytes, diag);
    p.document() catch |e| return p.failure(e);
    return p.out;
}

/// A descriptor of a payload that has a language, and its end tokens.
pub const Part = struct { tag: Tag, end: []const i32 };

/// Reads what the engine has decoded, which checked all that has nothing to do with the language. `place` is the
/// descriptor's. Fails with ELIZA_ERR_PAYLOAD or ELIZA_ERR_LIMIT.
pub fn parsePart(
    arena: Allocator,
    tokens: *const Tokens,
    bytes: []const u8,
    place: []const u8,
    diag: *Diagnostic,
) (Allocator.Error || diagnostic.Error)!Part {
    var p: Parser = .init(arena, tokens, bytes, diag);
    p.tag.place = place;
    p.part() catch |e| {
        const failed = p.failure(e);
        if (failed == error.Failed and diag.status == .grammar) diag.status = .payload;
        return failed;
    };
    return .{ .tag = p.tag, .end = p.end.items };
}

const Parser = struct {
    reader: Reader,
    arena: Allocator,
    diag: *Diagnostic,
    out: Descriptor,
    /// The tag that is being read. In none, its place is empty.
    tag: Tag = .{},
    separator: Marker = .{},
    is_in_row: bool = false,
    /// Of which the tokens are named: a bit for each.
    styles: u32 = 0,
    rows: ArrayList(Row) = .empty,
    n_tags: usize = 0,
    token: ?u32 = null,
    /// Of a descriptor of a payload.
    end: ArrayList(i32) = .empty,
    key: []const u8 = "",
    /// What a `type` says that the content is.
    type: ?std.meta.Tag(Content) = null,

    fn init(arena: Allocator, tokens: *const Tokens, bytes: []const u8, diag: *Diagnostic) Parser {
        const is_map = bytes.len > 0 and switch (bytes[0]) {
            0x80...0x8f, 0xde, 0xdf => true,
            else => false,
        };
        return .{
            .reader = .init(if (is_map) .msgpack else .json, bytes, depth_max),
            .arena = arena,
            .diag = diag,
            .out = .{ .markers = .{ .arena = arena, .tokens = tokens } },
        };
    }

    fn failure(p: *Parser, e: Error) (Allocator.Error || diagnostic.Error) {
        return switch (e) {
            error.OutOfMemory => error.OutOfMemory,
            error.Failed => error.Failed,
            error.TooDeep => p.fail(.limit, "nested deeper than {d} levels", .{depth_max}),
            error.Malformed => p.diag.fail(
                .grammar,
                "byte {d} of the descriptor: {s}",
                .{ p.reader.in.problem.at, p.reader.in.problem.what },
            ),
        };
    }

    fn part(p: *Parser) Error!void {
        try p.object(of_part);
        return p.checkOptions();
    }

    fn document(p: *Parser) Error!void {
        try p.object(top);
        try p.reader.end();
    }

    const Member = struct { []const u8, *const fn (p: *Parser) Error!void };

    const top: []const Member = &.{
        .{ "tags", readTags },
        .{ "triggers", readTriggers },
        .{ "excludes", readExcludes },
        .{ "after", readAfter },
        .{ "at_least", readLeast },
        .{ "at_most", readMost },
        .{ "stop_after_first", readStop },
        .{ "special_tokens", readSpecialTokens },
        .{ "skip_bad_tags", readSkip },
        // XGrammar's
        .{ "type", readType },
        .{ "format", readFormat },
        .{ "structures", readTags },
        .{ "at_least_one", readLeastOne },
    };

    const of_language: []const Member = &.{
        .{ "json_schema", readSchema },
        .{ "schema_options", readSchemaOptions },
        .{ "regex", readRegex },
        .{ "lark", readLark },
        .{ "gbnf", readGbnf },
        .{ "ebnf", readEbnf },
        .{ "choices", readChoices },
    };

    /// Of a descriptor of a payload.
    const of_part: []const Member = of_language ++ .{
        .{ "path", readNothing },
        .{ "trigger", readNothing },
        .{ "end", readEndTokens },
    };

    const of_tag: []const Member = of_language ++ .{
        .{ "name", readName },
        .{ "begin", readBegin },
        .{ "end", readEnd },
        .{ "token_tree", readTokenTree },
        .{ "style", readStyle },
        .{ "tags", readRow },
        .{ "separator", readSeparator },
        // XGrammar's
        .{ "type", readType },
        .{ "schema", readSchema },
        .{ "content", readContent },
    };

    const of_schema_options: []const Member = &.{
        .{ "space", readSpace },
        .{ "order", readOrder },
        .{ "numbers", readNumbers },
        .{ "additional", readAdditional },
        .{ "draft", readDraft },
        .{ "integer_fraction", readIntegerFraction },
        .{ "lenient", readLenient },
        .{ "documents", readDocuments },
    };

    const of_token: []const Member = &.{
        .{ "token", readToken },
        .{ "type", readTokenType },
    };

    /// XGrammar's.
    const of_content: []const Member = &.{
        .{ "type", readType },
        .{ "json_schema", readSchema },
        .{ "style", readStyle },
        .{ "pattern", readRegex },
        .{ "grammar", readEbnf },
        .{ "value", readConstant },
    };

    fn object(p: *Parser, members: []const Member) Error!void {
        try p.expect(.map);
        var map: Container = undefined;
        try p.reader.open(&map, .map);
        var seen: u32 = 0;
        while (try p.reader.more(&map)) {
            var list: ArrayList(u8) = .empty;
            p.key = try p.reader.key(&list, p.arena);
            for (members, 0..) |member, i| {
                const name, const read = member;
                if (!std.mem.eql(u8, name, p.key)) continue;
                const bit = @as(u32, 1) << @intCast(i);
                if (seen & bit != 0) return p.fail(.grammar, "stands there twice", .{});
                seen |= bit;
                try read(p);
                break;
            } else return p.unknownKey(members);
        }
    }

    fn unknownKey(p: *Parser, members: []const Member) diagnostic.Error {
        var nearest: []const u8 = "";
        var least: usize = @min(2, p.key.len / 2) + 1;
        for (members) |member| {
            const distance = edit_distance.between(p.key, member[0]);
            if (distance >= least) continue;
            least = distance;
            nearest = member[0];
        }
        if (nearest.len == 0) return p.fail(.grammar, "the key {f} is not known", .{quoted(p.key)});
        return p.fail(.grammar, "the key {f} is not known; did you mean {f}?", .{ quoted(p.key), quoted(nearest) });
    }

    fn readTags(p: *Parser) Error!void {
        var tags: ArrayList(Tag) = .empty;
        var array: Container = undefined;
        try p.expect(.array);
        try p.reader.open(&array, .array);
        var i: usize = 0;
        while (try p.reader.more(&array)) : (i += 1) {
            const tag = try p.readTag("", i);
            if (tag.content == .row) try p.addRow(&tag, &tags) else try tags.append(p.arena, tag);
        }
        p.tag = .{};
        p.out.tags = tags.items;
        p.out.rows = p.rows.items;
    }

    fn readTag(p: *Parser, within: []const u8, i: usize) Error!Tag {
        if (p.n_tags == tags_max) return p.fail(.limit, "more than {d} tags", .{tags_max});
        p.n_tags += 1;
        var place: [100]u8 = undefined;
        const dot: []const u8 = if (within.len > 0) "." else "";
        p.tag = .{ .place = try p.arena.dupe(u8, message.print(&place, "{s}{s}tags[{d}]", .{ within, dot, i })) };
        p.separator = .{};
        try p.object(of_tag);
        try p.checkOptions();
        if (p.tag.style) |style| if (p.styles & @as(u32, 1) << @intCast(@backingInt(style)) == 0) {
            p.styles |= @as(u32, 1) << @intCast(@backingInt(style));
            for (style.texts().all()) |one| _ = p.out.markers.ofText(one) catch |e| return p.markerError(e);
        };
        return p.tag;
    }

    fn checkOptions(p: *Parser) Error!void {
        if (p.tag.content == .json_schema or p.tag.schema_options == null and p.tag.style == null) return;
        p.key = if (p.tag.style == null) "schema_options" else "style";
        return p.fail(.grammar, "only a json_schema has some", .{});
    }

    /// Tags within a tag.
    fn readRow(p: *Parser) Error!void {
        const outer = p.tag;
        const separator = p.separator;
        if (p.is_in_row) return p.fail(.grammar, "tags in tags in tags", .{});
        p.is_in_row = true;
        defer p.is_in_row = false;
        var tags: ArrayList(Tag) = .empty;
        var array: Container = undefined;
        try p.expect(.array);
        try p.reader.open(&array, .array);
        while (try p.reader.more(&array)) try tags.append(p.arena, try p.readTag(outer.place, tags.items.len));
        p.tag = outer;
        p.separator = separator;
        p.key = "tags";
        if (tags.items.len == 0) return p.fail(.grammar, "there is none", .{});
        return p.give(.{ .row = tags.items });
    }

    fn addRow(p: *Parser, tag: *const Tag, tags: *ArrayList(Tag)) Error!void {
        for ([_]struct { []const u8, usize }{ .{ "begin", tag.begin.text.len }, .{ "end", tag.end.text.len } }) |one| {
            p.key = one[0];
            if (one[1] == 0) return p.fail(.grammar, "empty, or not given, for a tag of tags", .{});
        }
        const row: u32 = @intCast(p.rows.items.len);
        try p.rows.append(p.arena, .{ .place = tag.place, .begin = tag.begin, .separator = p.separator, .end = tag.end });
        for (tag.content.row) |inner| {
            var one = inner;
            one.row = row;
            try tags.append(p.arena, one);
        }
    }

    fn readSeparator(p: *Parser) Error!void {
        p.separator = try p.marker();
    }

    fn readTriggers(p: *Parser) Error!void {
        p.out.triggers = try p.listed();
    }

    fn readExcludes(p: *Parser) Error!void {
        p.out.excludes = try p.listed();
    }

    fn readAfter(p: *Parser) Error!void {
        p.out.after = try p.marker();
    }

    /// A text that is no token here may stand in free text as it is.
    fn readSpecialTokens(p: *Parser) Error!void {
        try p.expect(.array);
        var array: Container = undefined;
        try p.reader.open(&array, .array);
        while (try p.reader.more(&array)) _ = if (p.reader.kind() == .integer) try p.named(try p.tokenById()) else try p.marker();
    }

    fn readLeast(p: *Parser) Error!void {
        p.out.count.least = try p.number();
    }

    fn readMost(p: *Parser) Error!void {
        p.out.count.most = try p.number();
    }

    fn readStop(p: *Parser) Error!void {
        p.out.count.stop_after_first = try p.boolean();
    }

    fn readSkip(p: *Parser) Error!void {
        p.out.skips_bad_tags = try p.boolean();
    }

    fn readName(p: *Parser) Error!void {
        const name = try p.text();
        if (name.len == 0) return p.fail(.grammar, "empty", .{});
        p.tag.place = name;
    }

    fn readLeastOne(p: *Parser) Error!void {
        if (try p.boolean()) p.out.count.least = @max(p.out.count.least, 1);
    }

    fn readFormat(p: *Parser) Error!void {
        return p.object(top);
    }

    fn readBegin(p: *Parser) Error!void {
        p.tag.begin = try p.marker();
    }

    /// XGrammar writes a list too.
    fn readEnd(p: *Parser) Error!void {
        if (p.reader.kind() != .array) {
            p.tag.end = try p.marker();
            return;
        }
        const ends = try p.listed();
        if (ends.len != 1) return p.fail(.grammar, "a list of {d} end texts is not supported", .{ends.len});
        p.tag.end = ends[0];
    }

    fn readEndTokens(p: *Parser) Error!void {
        var array: Container = undefined;
        try p.expect(.array);
        try p.reader.open(&array, .array);
        while (try p.reader.more(&array)) try p.end.append(p.arena, @intCast((try p.reader.integer()).value));
    }

    /// What the engine has read.
    fn readNothing(p: *Parser) Error!void {
        _ = try p.value();
    }

    fn readSchema(p: *Parser) Error!void {
        return p.give(.{ .json_schema = try p.schemaText() });
    }

    fn schemaText(p: *Parser) Error![]const u8 {
        const kind = p.reader.kind();
        if (kind == .string) return p.text();
        if (kind != .nothing and p.reader.format == .msgpack) {
            return p.fail(.grammar, "expected the schema's text, found {s}", .{kind.phrase()});
        }
        return p.value();
    }

    fn readSchemaOptions(p: *Parser) Error!void {
        const first = p.reader.in.at;
        p.tag.schema_options = .{};
        try p.object(of_schema_options);
        p.tag.options_text = p.reader.in.bytes[first..p.reader.in.at];
    }

    /// As XGrammar has it.
    fn readStyle(p: *Parser) Error!void {
        const name = try p.text();
        if (std.mem.eql(u8, name, "json")) return;
        p.tag.style = std.meta.stringToEnum(Style, name) orelse return p.fail(.grammar, "{f} is not known", .{quoted(name)});
    }

    fn readSpace(p: *Parser) Error!void {
        p.tag.schema_options.?.form.space = try p.oneOf(@TypeOf(p.tag.schema_options.?.form.space));
    }

    fn readOrder(p: *Parser) Error!void {
        p.tag.schema_options.?.form.order = try p.oneOf(@TypeOf(p.tag.schema_options.?.form.order));
    }

    fn readNumbers(p: *Parser) Error!void {
        p.tag.schema_options.?.form.numbers = try p.oneOf(@TypeOf(p.tag.schema_options.?.form.numbers));
    }

    fn readAdditional(p: *Parser) Error!void {
        p.tag.schema_options.?.additional = try p.oneOf(@TypeOf(p.tag.schema_options.?.additional));
    }

    fn readDraft(p: *Parser) Error!void {
        const found = try p.text();
        const names: []const struct { []const u8, Draft } = &.{
            .{ "2020-12", .draft2020_12 },
            .{ "2019-09", .draft2019_09 },
            .{ "7", .draft7 },
            .{ "6", .draft6 },
            .{ "4", .draft4 },
        };
        for (names) |name| if (std.mem.eql(u8, name[0], found)) {
            p.tag.schema_options.?.draft = name[1];
            return;
        };
        return p.fail(.grammar, "{f} is no draft", .{quoted(found)});
    }

    fn readIntegerFraction(p: *Parser) Error!void {
        p.tag.schema_options.?.form.integer_fraction = try p.boolean();
    }

    fn readLenient(p: *Parser) Error!void {
        p.tag.schema_options.?.lenient = try p.boolean();
    }

    /// By URI.
    fn readDocuments(p: *Parser) Error!void {
        const given = try p.arena.create(GivenDocuments);
        given.* = .{};
        try p.expect(.map);
        var map: Container = undefined;
        try p.reader.open(&map, .map);
        while (try p.reader.more(&map)) {
            var list: ArrayList(u8) = .empty;
            const uri = try p.arena.dupe(u8, try p.reader.key(&list, p.arena));
            try given.list.append(p.arena, .{ .uri = uri, .text = try p.schemaText() });
        }
        p.tag.schema_options.?.documents = given.documents();
    }

    /// The name of a value of an enumeration.
    fn oneOf(p: *Parser, comptime T: type) Error!T {
        const found = try p.text();
        return std.meta.stringToEnum(T, found) orelse p.fail(.grammar, "{f} is not known", .{quoted(found)});
    }

    fn readRegex(p: *Parser) Error!void {
        return p.give(.{ .regex = try p.text() });
    }

    fn readLark(p: *Parser) Error!void {
        return p.give(.{ .lark = try p.text() });
    }

    fn readGbnf(p: *Parser) Error!void {
        return p.give(.{ .gbnf = try p.text() });
    }

    fn readEbnf(p: *Parser) Error!void {
        return p.give(.{ .ebnf = try p.text() });
    }

    fn readChoices(p: *Parser) Error!void {
        return p.give(.{ .choices = try p.texts() });
    }

    fn readTokenTree(p: *Parser) Error!void {
        try p.expect(.map);
        return p.give(.{ .token_tree = try p.value() });
    }

    fn readConstant(p: *Parser) Error!void {
        const one = try p.arena.alloc([]const u8, 1);
        one[0] = try p.text();
        return p.give(.{ .choices = one });
    }

    fn readContent(p: *Parser) Error!void {
        p.type = null;
        try p.object(of_content);
        const wanted = p.type orelse return;
        if (p.tag.content == wanted or p.tag.content == .nothing) return;
        p.key = "content";
        return p.fail(.grammar, "has another type than {t}", .{wanted});
    }

    /// Of XGrammar: types that say what the other keys say too.
    fn readType(p: *Parser) Error!void {
        const name = try p.text();
        if (p.tag.place.len > 0) {
            for (content_types) |one| if (std.mem.eql(u8, one[0], name)) {
                p.type = one[1];
                if (p.type == .any_text) return p.give(.any_text);
                if (std.mem.eql(u8, name, "qwen_xml_parameter")) p.tag.style = .qwen_xml;
                return;
            };
            if (std.mem.eql(u8, name, "tag")) return;
        } else for ([_][]const u8{ "structural_tag", "triggered_tags" }) |one| if (std.mem.eql(u8, one, name)) return;
        return p.fail(.grammar, "the type {f} is not supported", .{quoted(name)});
    }

    const content_types: []const struct { []const u8, std.meta.Tag(Content) } = &.{
        .{ "json_schema", .json_schema },
        .{ "qwen_xml_parameter", .json_schema },
        .{ "regex", .regex },
        .{ "grammar", .ebnf },
        .{ "const_string", .choices },
        .{ "any_text", .any_text },
    };

    fn give(p: *Parser, content: Content) Error!void {
        if (p.tag.content != .nothing) return p.fail(.grammar, "the part is already given", .{});
        p.tag.content = content;
    }

    // ---- Values

    fn expect(p: *Parser, wanted: Kind) Error!void {
        const found = p.reader.kind();
        if (found == wanted) return;
        if (found == .nothing) return error.Malformed;
        return p.fail(.grammar, "expected {s}, found {s}", .{ wanted.phrase(), found.phrase() });
    }

    fn text(p: *Parser) Error![]const u8 {
        try p.expect(.string);
        var list: ArrayList(u8) = .empty;
        var found: []const u8 = undefined;
        try p.reader.text(&list, p.arena, &found);
        return found;
    }

    /// Any value, as it stands there.
    fn value(p: *Parser) Error![]const u8 {
        const first = p.reader.in.at;
        var scratch: ArrayList(u8) = .empty;
        try p.reader.skip(&scratch, p.arena);
        return p.reader.in.bytes[first..p.reader.in.at];
    }

    /// A text or a token.
    fn marker(p: *Parser) Error!Marker {
        if (p.reader.kind() == .map) return p.tokenMarker();
        return p.out.markers.ofText(try p.text()) catch |e| p.markerError(e);
    }

    fn listed(p: *Parser) Error![]const Marker {
        const key = p.key;
        try p.expect(.array);
        var list: ArrayList(Marker) = .empty;
        var array: Container = undefined;
        try p.reader.open(&array, .array);
        while (try p.reader.more(&array)) {
            const one = try p.marker();
            p.key = key;
            if (one.symbols.len == 0) return p.fail(.grammar, "element {d} of {s} is empty", .{ list.items.len, key });
            try list.append(p.arena, one);
        }
        return list.items;
    }

    fn tokenMarker(p: *Parser) Error!Marker {
        const key = p.key;
        p.token = null;
        try p.object(of_token);
        p.key = key;
        return p.named(p.token orelse return p.fail(.grammar, "no token is given", .{}));
    }

    fn named(p: *Parser, token: u32) Error!Marker {
        return p.out.markers.ofToken(token) catch |e| p.markerError(e);
    }

    fn markerError(p: *Parser, e: Markers.Error) Error {
        return switch (e) {
            error.OutOfMemory => error.OutOfMemory,
            error.TooMany => p.fail(.limit, "more than {d} tokens are named", .{named_max}),
        };
    }

    fn readToken(p: *Parser) Error!void {
        if (p.reader.kind() == .integer) {
            p.token = try p.tokenById();
            return;
        }
        const found = try p.text();
        p.token = p.out.markers.find(found) orelse
            return p.fail(.grammar, "no token of the vocabulary is {f}", .{quoted(found)});
    }

    fn tokenById(p: *Parser) Error!u32 {
        const n = p.out.markers.tokens.n;
        const found = try p.reader.integer();
        if (found.value < 0 or found.value >= n) {
            return p.fail(.grammar, "there is no token {d}: the vocabulary has {d}", .{ found.value, n });
        }
        return @intCast(found.value);
    }

    /// XGrammar's.
    fn readTokenType(p: *Parser) Error!void {
        const name = try p.text();
        if (!std.mem.eql(u8, name, "token")) return p.fail(.grammar, "the type {f} is not supported", .{quoted(name)});
    }

    fn texts(p: *Parser) Error![]const []const u8 {
        const key = p.key;
        try p.expect(.array);
        var list: ArrayList([]const u8) = .empty;
        var array: Container = undefined;
        try p.reader.open(&array, .array);
        while (try p.reader.more(&array)) {
            const one = try p.text();
            if (one.len == 0) return p.fail(.grammar, "element {d} of {s} is empty", .{ list.items.len, key });
            try list.append(p.arena, one);
        }
        return list.items;
    }

    fn number(p: *Parser) Error!u32 {
        try p.expect(.integer);
        const found = try p.reader.integer();
        if (found.value < 0) return p.fail(.grammar, "{d} is below 0", .{found.value});
        if (found.value > count_max) return p.fail(.limit, "{d} is more than {d}", .{ found.value, count_max });
        return @intCast(found.value);
    }

    fn boolean(p: *Parser) Error!bool {
        try p.expect(.boolean);
        const first = p.reader.in.bytes[p.reader.in.at];
        var scratch: ArrayList(u8) = .empty;
        try p.reader.skip(&scratch, p.arena);
        return first == 't' or first == 0xc3;
    }

    fn fail(p: *Parser, status: @FieldType(Diagnostic, "status"), comptime format: []const u8, args: anytype) diagnostic.Error {
        var place: [300]u8 = undefined;
        const key = p.key[0..@min(p.key.len, 100)];
        const where = if (p.tag.place.len > 0)
            message.print(&place, "{s}.{s}", .{ p.tag.place, key })
        else
            message.print(&place, "{s}", .{if (key.len == 0) "descriptor" else key});
        return p.diag.fail(status, "{s}: " ++ format, .{where} ++ args);
    }
};
