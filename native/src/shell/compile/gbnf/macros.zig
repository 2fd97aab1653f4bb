//! What EBNF writes as calls: `Regex("...")`, `Substring("...", ...)`, `TagDispatch(("tag", rule), ...)`, `Token(1, 2)`,
//! `ExcludeToken(1)`.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const Place = @import("../bnf.zig").Place;
const source_text = @import("../source_text.zig");
const ast = @import("../regex/ast.zig");
const regex = @import("../regex/parse.zig");
const Characters = @import("characters.zig").Characters;
const Cursor = @import("cursor.zig").Cursor;
const FreeText = @import("free_text.zig").FreeText;
const Tokens = @import("tokens.zig").Tokens;
const Range = @import("../token_set.zig").Range;
const TokenSet = @import("../token_set.zig").TokenSet;

const Error = Allocator.Error || diagnostic.Error;

/// The calls, by name.
pub const Macro = enum { Regex, Substring, Token, ExcludeToken, TagDispatch, TokenTagDispatch };

/// What a call means.
pub const Value = union(enum) {
    pattern: *const ast.Node,
    tokens: TokenSet,
    dispatch: Dispatch,
};

/// Free text in which each tag leads to its rule.
pub const Dispatch = struct {
    tags: []const Tag,
    /// Any text without a tag, and without what is excluded.
    free: *const ast.Node,
    /// Whether free text continues after a rule.
    loops: bool,

    pub const Tag = struct {
        /// Free text up to the tag.
        before: *const ast.Node,
        rule: []const u8,
        place: Place,
    };
};

/// Reads the arguments of calls. Everything lives in the arena.
pub const Macros = struct {
    arena: Allocator,
    cursor: *Cursor,
    characters: *Characters,
    tokens: *const Tokens,
    budget: *Budget,

    /// The parenthesis after the name is next; `place` is the name's.
    pub fn read(m: *const Macros, macro: Macro, place: Place) Error!Value {
        _ = m.cursor.take("(");
        m.cursor.skipSpace(true);
        return switch (macro) {
            .Regex => .{ .pattern = try m.regularExpression(place) },
            .Substring => .{ .pattern = try m.substring() },
            .Token, .ExcludeToken => .{ .tokens = .{ .ranges = try m.numbers(), .negated = macro == .ExcludeToken } },
            .TagDispatch => .{ .dispatch = try m.dispatch() },
            .TokenTagDispatch => m.cursor.fail(place, "{s} is unsupported", .{@tagName(macro)}),
        };
    }

    fn regularExpression(m: *const Macros, place: Place) Error!*const ast.Node {
        const pattern = try m.text();
        var flags = of_ascii;
        flags.dot_all = true;
        var in_json = false;
        while (try m.more()) {
            const at = m.cursor.here();
            if (m.option("flags")) {
                flags = try m.flagsOf(try m.text(), at);
            } else if (m.option("json_string")) {
                in_json = try m.boolean();
            } else return m.cursor.fail(at, "Regex has the options flags and json_string", .{});
        }
        const node = try m.parse(pattern, flags, place);
        return if (in_json) m.inJson(node) else node;
    }

    const of_ascii: regex.Flags = .{ .ascii_case = true, .ascii_classes = true };

    fn flagsOf(m: *const Macros, letters: []const u8, at: Place) Error!regex.Flags {
        var flags = of_ascii;
        for (letters) |letter| switch (letter) {
            'i' => flags.ignore_case = true,
            's' => flags.dot_all = true,
            'u' => {}, // every regex is Unicode
            else => return m.cursor.fail(at, "the flags of Regex are i, s and u", .{}),
        };
        return flags;
    }

    fn parse(m: *const Macros, pattern: []const u8, flags: regex.Flags, place: Place) Error!*const ast.Node {
        const diag = m.cursor.diag;
        return regex.parse(m.arena, pattern, flags, null, m.budget, diag) catch |err| {
            if (err == error.OutOfMemory) return err;
            return source_text.failAgain(place, diag);
        };
    }

    /// Without the characters that a JSON string cannot have as they are.
    fn inJson(m: *const Macros, node: *const ast.Node) Allocator.Error!*const ast.Node {
        switch (node.*) {
            .empty, .automaton, .substring, .look => return node,
            .bytes => |bytes| for (bytes) |byte| {
                if (byte < 0x20 or byte == '"' or byte == '\\') return ast.create(m.arena, .{ .class = &.{} });
            } else return node,
            .class => |ranges| {
                var kept: ArrayList(ast.Range) = .empty;
                for (ranges) |range| for (json_characters) |allowed| {
                    const first = @max(range.first, allowed.first);
                    const last = @min(range.last, allowed.last);
                    if (first <= last) try kept.append(m.arena, .{ .first = first, .last = last });
                };
                return ast.create(m.arena, .{ .class = kept.items });
            },
            .concat => |parts| return ast.concat(m.arena, try m.allInJson(parts)),
            .alternate => |parts| return ast.alternate(m.arena, try m.allInJson(parts)),
            .repeat => |r| return ast.repeat(m.arena, try m.inJson(r.node), r.min, r.max),
        }
    }

    fn allInJson(m: *const Macros, parts: []const *const ast.Node) Allocator.Error![]const *const ast.Node {
        const all = try m.arena.alloc(*const ast.Node, parts.len);
        for (all, parts) |*to, from| to.* = try m.inJson(from);
        return all;
    }

    const json_characters = [_]ast.Range{
        .{ .first = 0x20, .last = '"' - 1 },
        .{ .first = '"' + 1, .last = '\\' - 1 },
        .{ .first = '\\' + 1, .last = 0x10ffff },
    };

    /// Any run of chunks that follow each other, the empty one included.
    fn substring(m: *const Macros) Error!*const ast.Node {
        var chunks: ArrayList([]const u8) = .empty;
        var goes_on = !m.cursor.take(")");
        while (goes_on) : (goes_on = try m.more()) {
            const chunk = try m.text();
            if (chunk.len > 0) try chunks.append(m.arena, chunk);
        }
        return if (chunks.items.len == 0) ast.empty else ast.create(m.arena, .{ .substring = chunks.items });
    }

    fn dispatch(m: *const Macros) Error!Dispatch {
        var tags: ArrayList(Dispatch.Tag) = .empty;
        var ends: ArrayList([]const u8) = .empty;
        var loops = true;
        var goes_on = !m.cursor.take(")");
        while (goes_on) : (goes_on = try m.more()) {
            const place = m.cursor.here();
            if (m.cursor.take("(")) {
                m.cursor.skipSpace(true);
                try ends.insert(m.arena, tags.items.len, try m.textOfSome(place));
                if (!m.cursor.take(",")) return m.cursor.expected("\",\"");
                m.cursor.skipSpace(true);
                const at = m.cursor.here();
                const rule = m.cursor.run(isRuleByte);
                if (rule.len == 0) return m.cursor.expected("the name of a rule");
                try tags.append(m.arena, .{ .before = ast.empty, .rule = rule, .place = at });
                m.cursor.skipSpace(true);
                if (!m.cursor.take(")")) return m.cursor.expected("\")\"");
                m.cursor.skipSpace(true);
            } else if (m.option("loop_after_dispatch")) {
                loops = try m.boolean();
            } else if (m.option("excludes")) {
                if (!m.cursor.take("(")) return m.cursor.expected("\"(\"");
                m.cursor.skipSpace(true);
                while (!m.cursor.take(")")) {
                    try ends.append(m.arena, try m.textOfSome(place));
                    _ = m.cursor.take(",");
                    m.cursor.skipSpace(true);
                }
                m.cursor.skipSpace(true);
            } else return m.cursor.fail(place, "expected a tag and its rule, loop_after_dispatch or excludes", .{});
        }
        const free: FreeText = .{ .arena = m.arena, .budget = m.budget, .diag = m.cursor.diag, .ends = ends.items };
        for (tags.items, ends.items[0..tags.items.len]) |*tag, end| tag.before = try free.upTo(end);
        return .{ .tags = tags.items, .free = try free.without(), .loops = loops };
    }

    /// Reads `name=`, if it is next.
    fn option(m: *const Macros, name: []const u8) bool {
        if (!m.cursor.take(name)) return false;
        m.cursor.skipSpace(true);
        if (!m.cursor.take("=")) return false;
        m.cursor.skipSpace(true);
        return true;
    }

    fn boolean(m: *const Macros) Error!bool {
        const value = m.cursor.take("true");
        if (!value and !m.cursor.take("false")) return m.cursor.expected("\"true\" or \"false\"");
        m.cursor.skipSpace(true);
        return value;
    }

    fn textOfSome(m: *const Macros, place: Place) Error![]const u8 {
        const found = try m.text();
        return if (found.len > 0) found else m.cursor.fail(place, "the text is empty", .{});
    }

    fn isRuleByte(byte: u8) bool {
        return std.ascii.isAlphanumeric(byte) or byte == '_' or byte == '-' or byte == '.';
    }

    fn numbers(m: *const Macros) Error![]const Range {
        var all: ArrayList(Range) = .empty;
        while (true) {
            const token = try m.tokens.number(m.cursor);
            try all.append(m.arena, .{ .first = token, .last = token });
            m.cursor.skipSpace(true);
            if (!try m.more()) return all.items;
        }
    }

    fn text(m: *const Macros) Error![]const u8 {
        if (m.cursor.peek() != '"') return m.cursor.expected("a text in quotes");
        defer m.cursor.skipSpace(true);
        return m.characters.string();
    }

    /// Reads the comma or the end of the list.
    fn more(m: *const Macros) Error!bool {
        const goes_on = m.cursor.take(",");
        if (!goes_on and !m.cursor.take(")")) return m.cursor.expected("\",\" or \")\"");
        if (goes_on) m.cursor.skipSpace(true);
        return goes_on;
    }
};
