//! The strings, regexes and ranges of a grammar, interned: a string in a rule is the terminal that is defined as this string.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Texts = @import("engine").texts.Texts;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const ast = @import("../regex/ast.zig");
const regex = @import("../regex/parse.zig");
const Place = @import("../bnf.zig").Place;
const properties_module = @import("properties.zig");
const Properties = properties_module.Properties;
const Token = @import("scanner.zig").Token;
const json = @import("../schema/json.zig");
const substring = @import("substring.zig");
const token_set = @import("../token_set.zig");
const TokenSet = token_set.TokenSet;
const source_text = @import("../source_text.zig");
const TokenClasses = @import("../cfg/token_classes.zig").TokenClasses;
const Context = @import("../lr/context.zig").Context;
const Parts = @import("engine").parts.Parts;
const Part = @import("../bnf.zig").Part;
const documentNode = @import("../document_grammar.zig").documentNode;
const SchemaOptions = @import("../schema/compile.zig").Options;
const Tokens = @import("engine").vocabulary.Tokens;
const message = @import("message");
const quoted = diagnostic.quoted;

const Error = Allocator.Error || diagnostic.Error;

/// How many different regexes and strings of any case a grammar may have: each may unpack tables of Unicode.
const costly_max = 8192;

/// A terminal's expression that is one token or one range of them.
pub const Pattern = struct {
    /// As written at its first place.
    text: []const u8,
    place: Place,
    node: *const ast.Node,
    properties: Properties,
    /// A string, with or without `i`.
    is_literal: bool,
};

/// Strings are equal if they mean the same characters, however they are escaped; regexes if they are written the same.
pub const Patterns = struct {
    arena: Allocator,
    budget: *Budget,
    diag: *Diagnostic,
    warnings: *ArrayList([]const u8),
    list: ArrayList(Pattern) = .empty,
    /// How each of them is written.
    keys: Texts = .{},
    n_costly: u32 = 0,
    /// The vocabulary's.
    tokens: *const Tokens,
    /// Of the tokens that are named, and where in `list` each stands; after them those of styles.
    sets: ArrayList(TokenSet) = .empty,
    of_sets: ArrayList(u32) = .empty,
    /// By number.
    parts: ArrayList(Part) = .empty,
    /// What `i` means from here on: cases of ASCII's letters, or of all.
    ascii_case: bool = false,

    /// The index in `list` of a string. `token.text` must live as long as the patterns do.
    pub fn string(p: *Patterns, token: Token) Error!u32 {
        const any_case = token.text[token.text.len - 1] == 'i';
        const inner = token.text[1 .. token.text.len - 1 - @intFromBool(any_case)];
        if (std.mem.findScalar(u8, inner, '\\') == null and !(any_case and p.ascii_case)) {
            return try p.find(token.text) orelse p.addString(token, inner, any_case);
        }
        const text = try p.unescape(token, inner);
        // The key is the string as it would be written without escapes. No written string has a bare quote or backslash inside.
        const end = if (!any_case) "\"" else if (p.ascii_case) "\"ascii" else "\"i";
        const key = try std.mem.concat(p.arena, u8, &.{ "\"", text, end });
        return try p.find(key) orelse p.addString(token, text, any_case);
    }

    /// The index in `list` of a regex. `token.text`, with its slashes and flags, must live as long as the patterns do.
    pub fn regularExpression(p: *Patterns, token: Token) Error!u32 {
        const close = std.mem.findScalarLast(u8, token.text, '/').?;
        const key = if (p.ascii_case) try std.mem.concat(p.arena, u8, &.{ token.text, "ascii" }) else token.text;
        if (try p.find(key)) |index| return index;
        try p.countCostly(token);
        var flags: regex.Flags = .{ .ascii_case = p.ascii_case, .looks = true };
        for (token.text[close + 1 ..], close + 1..) |flag, at| switch (flag) {
            'i' => flags.ignore_case = true,
            's' => flags.dot_all = true,
            'x' => flags.verbose = true,
            'u' => {}, // every regex is Unicode
            'm' => flags.multi_line = true,
            else => return p.fail(token, at, "the flag {s} depends on a locale and is unsupported", .{token.text[at..][0..1]}),
        };
        const nowhere = std.math.maxInt(usize);
        var failed_at: usize = nowhere;
        const node = regex.parse(p.arena, token.text[1..close], flags, &failed_at, p.budget, p.diag) catch |err| {
            if (err == error.OutOfMemory or failed_at == nowhere) return err;
            return source_text.failAgain(placeWithin(token, 1 + failed_at), p.diag);
        };
        return p.add(token, node, false);
    }

    /// The index in `list` of the characters from one string to another, both one character long.
    pub fn range(p: *Patterns, from: Token, to: Token) Error!u32 {
        const ends: ast.Range = .{ .first = try p.character(from), .last = try p.character(to) };
        if (ends.first > ends.last) return p.fail(to, 0, "the range ends before it begins", .{});
        const key = [_]u32{ range_mark, ends.first, ends.last };
        if (try p.find(try p.arena.dupe(u8, std.mem.sliceAsBytes(&key)))) |index| return index;
        const node = try p.arena.create(ast.Node);
        node.* = .{ .class = try p.arena.dupe(ast.Range, &.{ends}) };
        const text = try std.mem.concat(p.arena, u8, &.{ from.text, "..", to.text });
        return p.add(.{ .tag = .string, .text = text, .place = from.place }, node, false);
    }

    /// The index in `list` of an imported regex, written as one in a grammar is; `place` is where it is imported.
    pub fn imported(p: *Patterns, expression: []const u8, place: Place) Error!u32 {
        return p.regularExpression(.{ .tag = .regex, .text = expression, .place = place });
    }

    /// The index in `list` of what no text matches, as which a name is declared.
    pub fn nothing(p: *Patterns, token: Token) Error!u32 {
        if (try p.find(try std.mem.concat(p.arena, u8, &.{ "%declare ", token.text }))) |index| return index;
        return p.add(token, try ast.create(p.arena, .{ .class = &.{} }), false);
    }

    /// The index in `list` of a token of the vocabulary that the grammar names: `<name>`, `<[1,5-9]>`, `<[^1]>`, `<[*]>`.
    pub fn named(p: *Patterns, token: Token) Error!u32 {
        if (try p.find(token.text)) |index| return index;
        const set: TokenSet = if (token.text[1] == '[') try p.tokensOf(token) else one: {
            const id = token_set.find(p.tokens, token.text) orelse
                return p.fail(token, 0, "no token of the vocabulary is {f}", .{quoted(token.text)});
            break :one try .one(p.arena, id);
        };
        const index = try p.add(token, ast.empty, false);
        try p.sets.append(p.arena, set);
        try p.of_sets.append(p.arena, index);
        return index;
    }

    /// Those between `<[` and `]>`.
    fn tokensOf(p: *Patterns, token: Token) Error!TokenSet {
        var list = token.text[2 .. token.text.len - 2];
        if (std.mem.eql(u8, list, "*")) return .{ .ranges = &.{}, .negated = true };
        const negated = list.len > 0 and list[0] == '^';
        if (negated) list = list[1..];
        var ranges: ArrayList(token_set.Range) = .empty;
        var items = std.mem.splitScalar(u8, list, ',');
        while (items.next()) |item| {
            const dash = std.mem.findScalar(u8, item, '-') orelse item.len;
            const first = try p.tokenNumber(token, item[0..dash]);
            const last = if (dash < item.len) try p.tokenNumber(token, item[dash + 1 ..]) else first;
            if (last < first) return p.fail(token, 0, "the range ends before it begins", .{});
            try ranges.append(p.arena, .{ .first = first, .last = last });
        }
        return .{ .ranges = ranges.items, .negated = negated };
    }

    fn tokenNumber(p: *const Patterns, token: Token, text: []const u8) Error!u32 {
        const digits = std.mem.trim(u8, text, " \t");
        const number = std.fmt.parseInt(u32, digits, 10) catch std.math.maxInt(u32);
        const are_digits = for (digits) |digit| {
            if (!std.ascii.isDigit(digit)) break false;
        } else digits.len > 0;
        if (!are_digits) return p.fail(token, 0, "tokens are written <[1,5-9]>, <[^1]>, <[*]> or <name>", .{});
        if (number < p.tokens.n) return number;
        return p.fail(token, 0, "there is no token {s}: the vocabulary has {d}", .{ digits, p.tokens.n });
    }

    /// What the named tokens are to the lexer, once all are known.
    pub fn finishTokens(p: *Patterns) Error!TokenClasses {
        const ctx: Context = .{ .arena = p.arena, .budget = p.budget, .diag = p.diag };
        for (p.parts.items) |part| if (part.options.style) |style| {
            for (try style.tokens(p.arena, p.tokens)) |token| try p.sets.append(p.arena, try .one(p.arena, token));
        };
        const classes: TokenClasses = try .init(&ctx, p.tokens, p.sets.items);
        for (p.sets.items[0..p.of_sets.items.len], p.of_sets.items) |set, index| {
            const node = try classes.nodeOf(&ctx, set);
            p.list.items[index].node = node;
            p.list.items[index].properties = Properties.of(node).?;
        }
        return classes;
    }

    /// The index in `list` of a JSON document that is valid against a schema: two bytes that no text has (glr/parts.zig).
    pub fn document(p: *Patterns, token: Token, text: []const u8, options: SchemaOptions) Error!u32 {
        if (try p.find(try std.mem.concat(p.arena, u8, &.{ "%json ", text }))) |index| return index;
        if (p.parts.items.len == Parts.parts_max) return p.failLimit(token, "the grammar has more than {d} schemas", Parts.parts_max);
        const node = try documentNode(p.arena, p.parts.items.len);
        try p.parts.append(p.arena, .{ .text = text, .options = options, .place = token.place });
        return p.add(token, node, false);
    }

    /// The index in `list` of what the JSON of a `%regex` says, which is written as `text`.
    pub fn structured(p: *Patterns, open: Token, text: []const u8, value: json.Value) Error!u32 {
        const token: Token = .{ .tag = .regex, .text = text, .place = open.place };
        if (try p.find(text)) |index| return index;
        const members = if (value == .object) value.object.members() else &.{};
        if (members.len != 1) return p.fail(token, 0, "%regex is followed by an object of one member", .{});
        const Known = enum { substring_chars, substring_words, substring_chunks };
        const known = std.meta.stringToEnum(Known, members[0].key) orelse
            return p.fail(token, 0, "%regex has no {f}", .{quoted(members[0].key)});
        var chunks: ArrayList([]const u8) = .empty;
        switch (known) {
            .substring_chunks => {
                if (members[0].value != .array) return p.fail(token, 0, "substring_chunks is an array of strings", .{});
                for (members[0].value.array) |chunk| {
                    if (chunk != .string) return p.fail(token, 0, "substring_chunks is an array of strings", .{});
                    try chunks.append(p.arena, chunk.string);
                }
            },
            .substring_chars, .substring_words => {
                if (members[0].value != .string) return p.fail(token, 0, "{s} is a string", .{members[0].key});
                try substring.split(p.arena, members[0].value.string, known == .substring_words, &chunks);
            },
        }
        for (chunks.items) |chunk| if (!std.unicode.utf8ValidateSlice(chunk)) {
            return p.fail(token, 0, "half of a surrogate pair is no character", .{});
        };
        return p.add(token, try ast.create(p.arena, .{ .substring = chunks.items }), false);
    }

    /// First word of a range's key. No string and no regex begins with a zero byte.
    const range_mark = 0;

    /// The index in `list` of what is written so; null if it is new, and then it is added next.
    fn find(p: *Patterns, key: []const u8) Error!?u32 {
        const index = try p.keys.put(p.arena, key);
        return if (index < p.list.items.len) index else null;
    }

    fn addString(p: *Patterns, token: Token, text: []const u8, any_case: bool) Error!u32 {
        if (any_case) try p.countCostly(token);
        return p.add(token, try regex.literal(p.arena, text, .{ .ignore_case = any_case, .ascii_case = p.ascii_case }), true);
    }

    fn countCostly(p: *Patterns, token: Token) Error!void {
        p.n_costly += 1;
        try p.budget.check("the grammar", p.diag);
        if (p.n_costly > costly_max) return p.failLimit(token, "more than {d} different regexes and strings of any case", costly_max);
    }

    fn add(p: *Patterns, token: Token, node: *const ast.Node, is_literal: bool) Error!u32 {
        const properties = Properties.of(node) orelse {
            return p.failLimit(token, "the regex is deeper than {d}", properties_module.depth_max);
        };
        const index: u32 = @intCast(p.list.items.len);
        std.debug.assert(index == p.keys.count() - 1);
        try p.list.append(p.arena, .{
            .text = token.text,
            .place = token.place,
            .node = node,
            .properties = properties,
            .is_literal = is_literal,
        });
        return index;
    }

    fn character(p: *Patterns, token: Token) Error!u21 {
        if (token.text[token.text.len - 1] != '"') return p.fail(token, 0, "a range has no flag", .{});
        const text = try p.unescape(token, token.text[1 .. token.text.len - 1]);
        const length = if (text.len == 0) 0 else std.unicode.utf8ByteSequenceLength(text[0]) catch unreachable;
        if (text.len == 0 or text.len != length) return p.fail(token, 0, "a range goes from one character to another", .{});
        return std.unicode.utf8Decode(text) catch unreachable;
    }

    fn unescape(p: *Patterns, token: Token, inner: []const u8) Error![]const u8 {
        const out = try p.arena.alloc(u8, inner.len); // an escape is never shorter than its character
        var rest = inner;
        var length: usize = 0;
        while (rest.len > 0) {
            if (rest[0] != '\\') {
                out[length] = rest[0];
                length += 1;
                rest = rest[1..];
                continue;
            }
            const escape = Escape.read(rest[1..]) orelse {
                const at = @intFromPtr(rest.ptr) - @intFromPtr(token.text.ptr);
                if (rest.len < 2 or std.mem.findScalar(u8, "xuU", rest[1]) != null) {
                    return p.fail(token, at, "the string has no such escape (a backslash is written \\\\)", .{});
                }
                var buffer: [128]u8 = undefined;
                const format = "{f}: the string has no such escape, so the backslash stands for itself";
                const warning = message.print(&buffer, format, .{placeWithin(token, at)});
                try p.warnings.append(p.arena, try p.arena.dupe(u8, warning));
                out[length] = '\\';
                length += 1;
                rest = rest[1..];
                continue;
            };
            length += std.unicode.utf8Encode(escape.character, out[length..]) catch {
                const at = @intFromPtr(rest.ptr) - @intFromPtr(token.text.ptr);
                return p.fail(token, at, "the escape is no character of Unicode", .{});
            };
            rest = rest[1 + escape.length ..];
        }
        return out[0..length];
    }

    fn failLimit(p: *const Patterns, token: Token, comptime format: []const u8, limit: u32) diagnostic.Error {
        return p.diag.fail(.limit, "{f}: " ++ format, .{ token.place, limit });
    }

    fn fail(p: *const Patterns, token: Token, at: usize, comptime format: []const u8, args: anytype) diagnostic.Error {
        return p.diag.fail(.grammar, "{f}: " ++ format, .{placeWithin(token, at)} ++ args);
    }
};

const Escape = struct {
    character: u21,
    /// In bytes, without the backslash.
    length: usize,

    fn read(text: []const u8) ?Escape {
        if (text.len == 0) return null;
        const simple: u21 = switch (text[0]) {
            '\\', '"', '\'', '/' => text[0],
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'f' => 0x0c,
            'v' => 0x0b,
            'a' => 0x07,
            'b' => 0x08,
            'e' => 0x1b,
            '0' => 0,
            'x' => return readHex(text, 2),
            'u' => return readHex(text, 4),
            'U' => return readHex(text, 8),
            else => return null,
        };
        return .{ .character = simple, .length = 1 };
    }

    /// A letter, and `n_digits` digits or any number of them in braces.
    fn readHex(text: []const u8, n_digits: usize) ?Escape {
        const braced = text.len > 1 and text[1] == '{';
        const digits = if (!braced)
            text[1..@min(1 + n_digits, text.len)]
        else
            text[2 .. std.mem.findScalar(u8, text, '}') orelse return null];
        if (digits.len == 0 or !braced and digits.len != n_digits) return null;
        for (digits) |digit| if (!std.ascii.isHex(digit)) return null;
        const value = std.fmt.parseInt(u32, digits, 16) catch 0xffff_ffff;
        return .{
            .character = @intCast(@min(value, 0x11_0000)), // which is no character
            .length = 1 + digits.len + 2 * @as(usize, @intFromBool(braced)),
        };
    }
};

/// The place of the byte `at` of a token.
fn placeWithin(token: Token, at: usize) Place {
    return source_text.behind(token.place, token.text[0..@min(at, token.text.len)]);
}
