//! What a descriptor of tags says, in JSON or MessagePack: its own keys, and those of XGrammar's structural tags as far
//! as they mean the same (native/TAGS.md).

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

/// ELIZA_TAGS_* of the header.
pub const descriptor_bytes_max = 16 << 20;
pub const tags_max = 4096;
pub const count_max = 1024;
/// Levels of arrays and objects, of a schema within too. A deeper schema is given as a text.
const depth_max = 256;

/// Lends its texts from the descriptor or from the arena.
pub const Descriptor = struct {
    tags: []const Tag = &.{},
    /// Empty: the begin texts.
    triggers: []const []const u8 = &.{},
    excludes: []const []const u8 = &.{},
    /// Before it, nothing is a trigger. Empty: from the start.
    after: []const u8 = "",
    count: Count = .{},
};

pub const Tag = struct {
    begin: []const u8 = "",
    end: []const u8 = "",
    content: Content = .nothing,
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
    any_text,
};

const Error = Allocator.Error || diagnostic.Error || error{ Malformed, TooDeep };

/// Fails with ELIZA_ERR_GRAMMAR, and a message that begins with the place, or ELIZA_ERR_LIMIT.
pub fn parse(arena: Allocator, bytes: []const u8, diag: *Diagnostic) (Allocator.Error || diagnostic.Error)!Descriptor {
    if (bytes.len > descriptor_bytes_max) {
        return diag.fail(.limit, "{d} bytes of descriptor are more than {d}", .{ bytes.len, descriptor_bytes_max });
    }
    const is_map = bytes.len > 0 and switch (bytes[0]) {
        0x80...0x8f, 0xde, 0xdf => true,
        else => false,
    };
    var p: Parser = .{ .reader = .init(if (is_map) .msgpack else .json, bytes, depth_max), .arena = arena, .diag = diag };
    p.document() catch |e| switch (e) {
        error.OutOfMemory => return error.OutOfMemory,
        error.Failed => return error.Failed,
        error.TooDeep => return p.fail(.limit, "nested deeper than {d} levels", .{depth_max}),
        error.Malformed => return diag.fail(
            .grammar,
            "byte {d} of the descriptor: {s}",
            .{ p.reader.in.problem.at, p.reader.in.problem.what },
        ),
    };
    return p.out;
}

const Parser = struct {
    reader: Reader,
    arena: Allocator,
    diag: *Diagnostic,
    out: Descriptor = .{},
    tag: Tag = .{},
    /// The index of the tag that is being read.
    in_tag: ?usize = null,
    key: []const u8 = "",

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
        // XGrammar's
        .{ "type", readType },
        .{ "format", readFormat },
        .{ "structures", readTags },
        .{ "at_least_one", readLeastOne },
    };

    const of_tag: []const Member = &.{
        .{ "begin", readBegin },
        .{ "end", readEnd },
        .{ "json_schema", readSchema },
        .{ "regex", readRegex },
        .{ "lark", readLark },
        .{ "gbnf", readGbnf },
        .{ "ebnf", readEbnf },
        .{ "choices", readChoices },
        // XGrammar's
        .{ "type", readType },
        .{ "schema", readSchema },
        .{ "content", readContent },
    };

    /// XGrammar's.
    const of_content: []const Member = &.{
        .{ "type", readType },
        .{ "json_schema", readSchema },
        .{ "pattern", readRegex },
        .{ "grammar", readEbnf },
        .{ "value", readConstant },
    };

    fn object(p: *Parser, members: []const Member) Error!void {
        try p.expect(.map);
        var map: Container = undefined;
        try p.reader.open(&map, .map);
        while (try p.reader.more(&map)) {
            var list: ArrayList(u8) = .empty;
            p.key = try p.reader.key(&list, p.arena);
            for (members) |member| {
                const name, const read = member;
                if (!std.mem.eql(u8, name, p.key)) continue;
                try read(p);
                break;
            } else return p.fail(.grammar, "the key {f} is not known", .{quoted(p.key)});
        }
    }

    fn readTags(p: *Parser) Error!void {
        var tags: ArrayList(Tag) = .empty;
        var array: Container = undefined;
        try p.expect(.array);
        try p.reader.open(&array, .array);
        while (try p.reader.more(&array)) {
            if (tags.items.len == tags_max) return p.fail(.limit, "more than {d} tags", .{tags_max});
            p.in_tag = tags.items.len;
            p.tag = .{};
            try p.object(of_tag);
            try tags.append(p.arena, p.tag);
        }
        p.in_tag = null;
        p.out.tags = tags.items;
    }

    fn readTriggers(p: *Parser) Error!void {
        p.out.triggers = try p.texts();
    }

    fn readExcludes(p: *Parser) Error!void {
        p.out.excludes = try p.texts();
    }

    fn readAfter(p: *Parser) Error!void {
        p.out.after = try p.text();
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

    fn readLeastOne(p: *Parser) Error!void {
        if (try p.boolean()) p.out.count.least = @max(p.out.count.least, 1);
    }

    fn readFormat(p: *Parser) Error!void {
        return p.object(top);
    }

    fn readBegin(p: *Parser) Error!void {
        p.tag.begin = try p.text();
    }

    /// XGrammar writes a list too.
    fn readEnd(p: *Parser) Error!void {
        if (p.reader.kind() != .array) {
            p.tag.end = try p.text();
            return;
        }
        const listed = try p.texts();
        if (listed.len != 1) return p.fail(.grammar, "a list of {d} end texts is not served", .{listed.len});
        p.tag.end = listed[0];
    }

    fn readSchema(p: *Parser) Error!void {
        const kind = p.reader.kind();
        if (kind == .string) return p.give(.{ .json_schema = try p.text() });
        if (kind != .nothing and p.reader.format == .msgpack) {
            return p.fail(.grammar, "expected the schema's text, found {s}", .{kind.phrase()});
        }
        const first = p.reader.in.at;
        var scratch: ArrayList(u8) = .empty;
        try p.reader.skip(&scratch, p.arena);
        return p.give(.{ .json_schema = p.reader.in.bytes[first..p.reader.in.at] });
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

    fn readConstant(p: *Parser) Error!void {
        const one = try p.arena.alloc([]const u8, 1);
        one[0] = try p.text();
        return p.give(.{ .choices = one });
    }

    fn readContent(p: *Parser) Error!void {
        return p.object(of_content);
    }

    /// Of XGrammar: types that say what the other keys say too.
    fn readType(p: *Parser) Error!void {
        const name = try p.text();
        if (std.mem.eql(u8, name, "any_text") and p.in_tag != null) return p.give(.any_text);
        const known: []const []const u8 = if (p.in_tag == null)
            &.{ "structural_tag", "triggered_tags" }
        else
            &.{ "tag", "json_schema", "regex", "grammar", "const_string" };
        for (known) |one| if (std.mem.eql(u8, one, name)) return;
        return p.fail(.grammar, "the type {f} is not served", .{quoted(name)});
    }

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
        const where = if (p.in_tag) |tag|
            message.print(&place, "tags[{d}].{s}", .{ tag, key })
        else
            message.print(&place, "{s}", .{if (key.len == 0) "descriptor" else key});
        return p.diag.fail(status, "{s}: " ++ format, .{where} ++ args);
    }
};
