//! From the text of a regular expression of ECMA-262, with the flag `u`, to its tree. Where the flag forbids what
//! people write nevertheless (`\-` outside a class, `[\w-.]`, a lone brace), it is read as without the flag, unless those
//! who write it mean what another dialect has.
//!
//! Assertions take no text. Each stands in the tree as a *mark*, a byte that no UTF-8 has, and what it asserts is
//! settled by patterns.zig.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const engine = @import("engine");
const diagnostic = engine.diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const Status = engine.status.Status;
const Budget = engine.budget.Budget;
const ast = @import("../regex/ast.zig");
const Node = ast.Node;
const Range = ast.Range;
const unicode = @import("../regex/unicode.zig");
const CharacterSet = @import("../regex/character_set.zig").CharacterSet;
const anchors = @import("../regex/anchors.zig");
const dialects = @import("../regex/dialects.zig");

pub const Error = Allocator.Error || diagnostic.Error;

/// Groups within groups. The parser and those that walk its trees call themselves.
pub const nesting_max = 100;

pub const marks = struct {
    pub const start = anchors.start_mark;
    pub const end = anchors.end_mark;
    pub const boundary = 0xfa;
    pub const no_boundary = 0xfb;
    pub const looks = [_]u8{ 0xfc, 0xfd, 0xfe, 0xff, 0xc0, 0xc1, 0xf5, 0xf6, 0xf7 };
};

/// A look-ahead or a look-behind.
pub const Look = struct {
    mark: u8,
    node: *const Node,
    behind: bool,
    negated: bool,
};

pub const Tree = struct {
    node: *const Node,
    /// Those within others come before them.
    looks: []const Look,
};

/// Lives in `arena`. A message begins with the byte offset of the error, "at byte 12: ".
pub fn parse(arena: Allocator, pattern: []const u8, budget: *Budget, diag: *Diagnostic) Error!Tree {
    var parser: Parser = .{ .arena = arena, .text = pattern, .budget = budget, .diag = diag };
    if (!std.unicode.utf8ValidateSlice(pattern)) return diag.fail(.grammar, "the pattern is not valid UTF-8", .{});
    const node = try parser.disjunction(0);
    if (parser.at < pattern.len) return parser.fail(parser.at, "')' closes no group");
    return .{ .node = node, .looks = parser.looks.items };
}

pub const word: []const Range = &.{ range('0', '9'), range('A', 'Z'), range('_', '_'), range('a', 'z') };
pub const no_word: []const Range = &complement(word);
const digit: []const Range = &.{range('0', '9')};
const no_digit: []const Range = &complement(digit);
const space: []const Range = &.{
    range('\t', '\r'),
    range(' ', ' '),
    range(0xa0, 0xa0),
    range(0x1680, 0x1680),
    range(0x2000, 0x200a),
    range(0x2028, 0x2029),
    range(0x202f, 0x202f),
    range(0x205f, 0x205f),
    range(0x3000, 0x3000),
    range(0xfeff, 0xfeff),
};
const no_space: []const Range = &complement(space);
const dot: []const Range = &complement(&.{ range('\n', '\n'), range('\r', '\r'), range(0x2028, 0x2029) });

fn range(first: u21, last: u21) Range {
    return .{ .first = first, .last = last };
}

/// Of ranges that touch neither each other nor the ends of the code space.
fn complement(comptime ranges: []const Range) [ranges.len + 1]Range {
    var gaps: [ranges.len + 1]Range = undefined;
    var first: u21 = 0;
    for (ranges, gaps[0..ranges.len]) |one, *gap| {
        gap.* = range(first, one.first - 1);
        first = one.last + 1;
    }
    gaps[ranges.len] = range(first, unicode.last_code_point);
    return gaps;
}

const Parser = struct {
    arena: Allocator,
    text: []const u8,
    at: usize = 0,
    budget: *Budget,
    diag: *Diagnostic,
    looks: ArrayList(Look) = .empty,
    /// Offset of the first `[]` or `[^]`.
    empty_class: ?usize = null,
    steps: usize = 0,

    fn peek(p: *const Parser) ?u8 {
        return if (p.at < p.text.len) p.text[p.at] else null;
    }

    fn take(p: *Parser, prefix: []const u8) bool {
        if (!std.mem.startsWith(u8, p.text[p.at..], prefix)) return false;
        p.at += prefix.len;
        return true;
    }

    fn decode(p: *Parser) u21 {
        const length = std.unicode.utf8ByteSequenceLength(p.text[p.at]) catch unreachable;
        defer p.at += length;
        return std.unicode.utf8Decode(p.text[p.at..][0..length]) catch unreachable;
    }

    /// Up to the `)` that closes the group around it, or to the end.
    fn disjunction(p: *Parser, depth: usize) Error!*const Node {
        var branches: ArrayList(*const Node) = .empty;
        var items: ArrayList(*const Node) = .empty;
        var run: ArrayList(u8) = .empty; // literal characters that are not an item yet
        while (true) {
            const byte = p.peek();
            if (byte == null or byte == '|' or byte == ')') {
                try p.flush(&items, &run);
                try branches.append(p.arena, try ast.concat(p.arena, items.items));
                items.clearRetainingCapacity();
                if (byte != '|') return ast.alternate(p.arena, branches.items);
                p.at += 1;
            } else try p.term(&items, &run, depth);
        }
    }

    fn flush(p: *Parser, items: *ArrayList(*const Node), run: *ArrayList(u8)) Error!void {
        if (run.items.len == 0) return;
        try items.append(p.arena, try ast.create(p.arena, .{ .bytes = try p.arena.dupe(u8, run.items) }));
        run.clearRetainingCapacity();
    }

    /// An atom with its repeat, or an assertion.
    fn term(p: *Parser, items: *ArrayList(*const Node), run: *ArrayList(u8), depth: usize) Error!void {
        p.steps += 1;
        if (p.steps % 1024 == 0) try p.budget.check("the pattern", p.diag);
        const atom = try p.atomOrAssertion(depth);
        const bounds = if (atom == .fixed) null else try p.repeat();
        if (atom == .character and bounds == null) {
            var buffer: [4]u8 = undefined;
            return run.appendSlice(p.arena, buffer[0 .. std.unicode.utf8Encode(atom.character, &buffer) catch unreachable]);
        }
        try p.flush(items, run);
        const node = switch (atom) {
            .character => |value| try p.literal(value),
            .class => |ranges| try ast.create(p.arena, .{ .class = ranges }),
            .node, .fixed => |node| node,
        };
        try items.append(p.arena, if (bounds) |b| try ast.repeat(p.arena, node, b.min, b.max) else node);
    }

    fn literal(p: *Parser, value: u21) Error!*const Node {
        var buffer: [4]u8 = undefined;
        const bytes = buffer[0 .. std.unicode.utf8Encode(value, &buffer) catch unreachable];
        return ast.create(p.arena, .{ .bytes = try p.arena.dupe(u8, bytes) });
    }

    const Atom = union(enum) {
        /// No surrogate.
        character: u21,
        class: []const Range,
        node: *const Node,
        /// Cannot be repeated.
        fixed: *const Node,
    };

    fn atomOrAssertion(p: *Parser, depth: usize) Error!Atom {
        const at = p.at;
        switch (p.text[at]) {
            '^', '$' => |byte| {
                p.at += 1;
                return .{ .fixed = try p.mark(if (byte == '^') marks.start else marks.end) };
            },
            '(' => return p.group(depth),
            '.' => {
                p.at += 1;
                return .{ .class = dot };
            },
            '[' => return .{ .class = try p.class() },
            '*', '+', '?' => return p.fail(at, "nothing to repeat"),
            '{' => {
                if (try p.repeat() != null) return p.fail(at, "nothing to repeat");
                p.at += 1;
                return .{ .character = '{' };
            },
            ']' => {
                if (p.empty_class) |open| return p.fail(open, "a class ends at its first ']': write '\\]' for the character");
                p.at += 1;
                return .{ .character = ']' };
            },
            '\\' => {
                if (p.take("\\b")) return .{ .fixed = try p.mark(marks.boundary) };
                if (p.take("\\B")) return .{ .fixed = try p.mark(marks.no_boundary) };
                return switch (try p.escape()) {
                    .character => |value| if (isSurrogate(value)) .{ .class = &.{} } else .{ .character = value },
                    .ranges => |ranges| .{ .class = ranges },
                };
            },
            else => return .{ .character = p.decode() },
        }
    }

    fn mark(p: *Parser, byte: u8) Error!*const Node {
        return ast.create(p.arena, .{ .bytes = try p.arena.dupe(u8, &.{byte}) });
    }

    fn group(p: *Parser, depth: usize) Error!Atom {
        const open = p.at;
        if (depth == nesting_max) return p.failWith(.limit, open, "groups are nested deeper than {d}", .{nesting_max});
        p.at += 1;
        const behind = p.take("?<=") or p.take("?<!");
        const ahead = !behind and (p.take("?=") or p.take("?!"));
        const negated = p.text[p.at - 1] == '!';
        if (!behind and !ahead and !p.take("?:")) {
            if (p.take("?<")) try p.groupName(open) else if (p.peek() == '?') return p.failGroup(open);
        }
        const node = try p.disjunction(depth + 1);
        if (!p.take(")")) return p.fail(open, "this group is not closed");
        if (!behind and !ahead) return .{ .node = node };
        if (p.looks.items.len == marks.looks.len) {
            return p.failWith(.limit, open, "more than {d} look-aheads and look-behinds", .{marks.looks.len});
        }
        const byte = marks.looks[p.looks.items.len];
        try p.looks.append(p.arena, .{ .mark = byte, .node = node, .behind = behind, .negated = negated });
        const marked = try p.mark(byte);
        return if (behind) .{ .fixed = marked } else .{ .node = marked };
    }

    const no_flags = "ECMAScript patterns have no flags, such as (?i): write [Aa] for both cases, [^] for any character";

    /// At the `?` of a group that ECMA-262 lacks.
    fn failGroup(p: *Parser, open: usize) diagnostic.Error {
        const rest = p.text[p.at + 1 ..];
        if (std.mem.startsWith(u8, rest, "P<")) return p.fail(open, "ECMAScript has no (?P<name>...): write (?<name>...)");
        if (std.mem.startsWith(u8, rest, "P=")) return p.fail(open, "back-references are not regular: unsupported");
        return p.fail(open, switch (if (rest.len > 0) rest[0] else 0) {
            'a', 'i', 'm', 's', 'u', 'x', '-', '^' => no_flags,
            '#' => "ECMAScript patterns have no comments: leave it out",
            '>' => "ECMAScript has no atomic groups: write (?:...) if the texts are the same",
            else => "unknown kind of group",
        });
    }

    fn groupName(p: *Parser, open: usize) Error!void {
        const first = p.at;
        while (p.peek()) |byte| : (p.at += 1) {
            if (byte != '_' and byte != '$' and byte < 0x80 and !std.ascii.isAlphanumeric(byte)) break;
        }
        if (p.at == first or std.ascii.isDigit(p.text[first]) or !p.take(">")) {
            return p.fail(open, "a group's name is letters, digits, '_' and '$', and closed by '>'");
        }
    }

    // Repeats.

    const Bounds = struct { min: u32, max: ?u32 };

    /// The repeat that stands here, if any.
    fn repeat(p: *Parser) Error!?Bounds {
        const at = p.at;
        const bounds: Bounds = switch (p.peek() orelse return null) {
            '*' => .{ .min = 0, .max = null },
            '+' => .{ .min = 1, .max = null },
            '?' => .{ .min = 0, .max = 1 },
            '{' => try p.counted() orelse return null,
            else => return null,
        };
        if (p.text[at] != '{') p.at += 1;
        if (p.peek() == '+') return p.fail(p.at, "ECMAScript has no possessive repeats: leave out the '+' if the texts are the same");
        _ = p.take("?"); // lazy: the same language
        if (bounds.max) |max| if (bounds.min > max) return p.fail(at, "the bounds of this repeat are the wrong way round");
        return bounds;
    }

    /// `{n}`, `{n,}` or `{n,m}`; anything else in braces is text.
    fn counted(p: *Parser) Error!?Bounds {
        const open = p.at;
        p.at += 1;
        const min = try p.count(open);
        const max = if (p.take(",")) try p.count(open) else min;
        if (min != null and p.take("}")) return .{ .min = min.?, .max = max };
        if (p.peek() == '}' and p.text[p.at - 1] != '{') {
            if (max) |most| return p.failWith(.grammar, open, "a repeat needs a lower bound: write {s}{d}{s}", .{ "{0,", most, "}" });
            return p.fail(open, "a repeat needs bounds: write * for any number");
        }
        p.at = open;
        return null;
    }

    fn count(p: *Parser, open: usize) Error!?u32 {
        const first = p.at;
        while (p.peek()) |byte| : (p.at += 1) if (!std.ascii.isDigit(byte)) break;
        if (p.at == first) return null;
        return std.fmt.parseInt(u32, p.text[first..p.at], 10) catch
            return p.failWith(.limit, open, "a bound of this repeat is too large", .{});
    }

    // Escapes.

    const Escape = union(enum) {
        /// May be a surrogate.
        character: u21,
        ranges: []const Range,
    };

    fn escape(p: *Parser) Error!Escape {
        const at = p.at;
        p.at += 1;
        if (p.peek() == null) return p.fail(at, "a '\\' at the end of the pattern");
        const value = p.decode();
        return switch (value) {
            'd' => .{ .ranges = digit },
            'D' => .{ .ranges = no_digit },
            'w' => .{ .ranges = word },
            'W' => .{ .ranges = no_word },
            's' => .{ .ranges = space },
            'S' => .{ .ranges = no_space },
            'p', 'P' => .{ .ranges = try p.property(at, value == 'P') },
            'n' => .{ .character = '\n' },
            'r' => .{ .character = '\r' },
            't' => .{ .character = '\t' },
            'f' => .{ .character = 0x0c },
            'v' => .{ .character = 0x0b },
            'b' => .{ .character = 0x08 }, // in a class: elsewhere it is a boundary
            'c' => p.control(at),
            'x' => .{ .character = try p.hexadecimal(at, 2) },
            'u' => .{ .character = try p.codePoint(at) },
            '0' => if (p.peek() != null and std.ascii.isDigit(p.text[p.at]))
                p.fail(at, "octal escapes are unsupported: write \\xHH")
            else
                .{ .character = 0 },
            '1'...'9', 'k' => p.fail(at, "back-references are not regular: unsupported"),
            'a', 'e', 'g'...'j', 'l', 'm', 'o', 'q', 'y', 'z', 'A'...'C', 'E'...'O', 'Q', 'R', 'T'...'V', 'X'...'Z' => {
                const instead = dialects.escape(value) orelse return p.fail(at, "unknown escape");
                return p.failWith(.grammar, at, "ECMAScript has no \\{s}: write {s}", .{ p.text[at + 1 .. p.at], instead });
            },
            else => .{ .character = value },
        };
    }

    fn control(p: *Parser, at: usize) Error!Escape {
        const letter = p.peek() orelse 0;
        if (!std.ascii.isAlphabetic(letter)) return p.fail(at, "\\c needs a letter");
        p.at += 1;
        return .{ .character = letter % 32 };
    }

    fn hexadecimal(p: *Parser, at: usize, comptime n: usize) Error!u21 {
        const digits = p.text[p.at..@min(p.at + n, p.text.len)];
        const value = if (digits.len == n) parseHex(digits) else null;
        p.at += digits.len;
        return @intCast(value orelse return p.failWith(.grammar, at, "this escape needs {d} hexadecimal digits", .{n}));
    }

    /// After `\u`: four digits, two times four for a surrogate pair, or any number in braces.
    fn codePoint(p: *Parser, at: usize) Error!u21 {
        if (p.take("{")) {
            const end = std.mem.findScalarPos(u8, p.text, p.at, '}') orelse p.text.len;
            const digits = if (end < p.text.len) parseHex(p.text[p.at..end]) else null;
            const value = digits orelse return p.fail(at, "this escape needs hexadecimal digits in braces");
            if (value > unicode.last_code_point) return p.fail(at, "there is no character after U+10FFFF");
            p.at = end + 1;
            return @intCast(value);
        }
        const first = try p.hexadecimal(at, 4);
        if (first & 0x1ffc00 != 0xd800) return first;
        const rest = p.text[p.at..];
        if (rest.len < 6 or rest[0] != '\\' or rest[1] != 'u') return first;
        const second = parseHex(rest[2..6]) orelse return first;
        if (second & 0xfc00 != 0xdc00) return first;
        p.at += 6;
        return @intCast(0x10000 + ((@as(u32, first) & 0x3ff) << 10) + (second & 0x3ff));
    }

    /// `{L}`, `{Emoji}`, `{General_Category=L}`, `{Script=Greek}` or `{Script_Extensions=Greek}`, and the short names of these.
    fn property(p: *Parser, at: usize, negated: bool) Error![]const Range {
        const end = std.mem.findScalarPos(u8, p.text, p.at, '}') orelse p.text.len;
        if (!p.take("{") or end == p.text.len) return p.fail(at, "a property's name is in braces, as in \\p{L}");
        const name = p.text[p.at..end];
        p.at = end + 1;
        var set: CharacterSet = .{};
        if (std.mem.eql(u8, name, "ASCII")) {
            try set.add(p.arena, 0, 0x7f);
        } else {
            var found = findProperty(name) orelse
                return p.failWith(.grammar, at, "no property of characters is called {f}", .{quoted(name)});
            if (std.mem.eql(u8, name, "Assigned")) found = found.complement();
            try unicode.append(p.arena, &set.ranges, found);
        }
        if (negated) try set.negate(p.arena);
        try p.budget.take(set.ranges.items.len * @sizeOf(Range), "the pattern", p.diag);
        return set.ranges.items;
    }

    fn findProperty(name: []const u8) ?unicode.Property {
        const equals = std.mem.findScalar(u8, name, '=');
        const value = if (equals) |at| name[at + 1 ..] else name;
        const is_category = equals == null or std.mem.eql(u8, name[0..equals.?], "gc") or
            std.mem.eql(u8, name[0..equals.?], "General_Category");
        // Names of categories that only ECMA-262 has.
        const others = [_][2][]const u8{
            .{ "Assigned", "Cn" }, // of which it is the complement
            .{ "digit", "Nd" },
            .{ "punct", "P" },
            .{ "cntrl", "Cc" },
            .{ "Combining_Mark", "M" },
        };
        if (is_category) for (others) |other| if (std.mem.eql(u8, other[0], value)) return unicode.find(other[1]);
        const found = unicode.find(name) orelse return null;
        return if (found == .script and equals == null) null else found;
    }

    // Classes.

    fn class(p: *Parser) Error![]const Range {
        const open = p.at;
        p.at += 1;
        const negated = p.take("^");
        var set: CharacterSet = .{};
        var normalised_len: usize = 0;
        const first = p.at;
        while (!p.take("]")) {
            if (p.peek() == null) return p.fail(open, "this class is not closed");
            if (dialects.posixClass(p.text[p.at..])) |instead| return p.failPosix(p.at, instead);
            try p.classItem(&set);
            // What a class names many times is kept once, so that its memory is bounded.
            if (set.ranges.items.len > 2 * normalised_len + 4096) {
                try p.budget.check("the pattern", p.diag);
                set.normalise();
                normalised_len = set.ranges.items.len;
            }
        }
        const inside = p.text[first .. p.at - 1];
        if (inside.len == 0) p.empty_class = p.empty_class orelse open;
        if (dialects.isNested(inside, p.text[p.at..])) return p.fail(open, dialects.nested);
        if (!negated) if (dialects.posixClass(p.text[open..])) |instead| return p.failPosix(open, instead);
        set.normalise();
        if (negated) try set.negate(p.arena);
        try p.budget.take(set.ranges.items.len * @sizeOf(Range), "the pattern", p.diag);
        return set.ranges.items;
    }

    fn failPosix(p: *Parser, at: usize, instead: []const u8) diagnostic.Error {
        return p.failWith(.grammar, at, dialects.posix, .{instead});
    }

    /// A character, a range of them, or an escape that stands for many, beside which `-` is itself.
    fn classItem(p: *Parser, set: *CharacterSet) Error!void {
        const at = p.at;
        const from = try p.classAtom();
        const rest = p.text[p.at..];
        if (rest.len < 2 or rest[0] != '-' or rest[1] == ']') return p.addItem(set, from);
        p.at += 1;
        const to = try p.classAtom();
        if (from == .character and to == .character) {
            if (from.character > to.character) return p.fail(at, "the ends of this range are the wrong way round");
            return set.add(p.arena, from.character, to.character);
        }
        try p.addItem(set, from);
        try set.add(p.arena, '-', '-');
        try p.addItem(set, to);
    }

    fn classAtom(p: *Parser) Error!Escape {
        return if (p.peek() == '\\') p.escape() else .{ .character = p.decode() };
    }

    fn addItem(p: *Parser, set: *CharacterSet, item: Escape) Error!void {
        switch (item) {
            .character => |value| try set.add(p.arena, value, value),
            .ranges => |ranges| try set.ranges.appendSlice(p.arena, ranges),
        }
    }

    // Errors.

    noinline fn fail(p: *Parser, offset: usize, message: []const u8) diagnostic.Error {
        return p.failWith(.grammar, offset, "{s}", .{message});
    }

    inline fn failWith(p: *Parser, status: Status, offset: usize, comptime format: []const u8, args: anytype) diagnostic.Error {
        return p.diag.fail(status, "at byte {d}: " ++ format, .{offset} ++ args);
    }
};

fn isSurrogate(value: u21) bool {
    return value & 0x1ff800 == 0xd800;
}

/// Null unless the text is nothing but digits; no higher than the first number that is no character.
fn parseHex(digits: []const u8) ?u32 {
    if (digits.len == 0) return null;
    var value: u32 = 0;
    for (digits) |byte| {
        value = @min(value * 16 + (std.fmt.charToDigit(byte, 16) catch return null), unicode.last_code_point + 1);
    }
    return value;
}
