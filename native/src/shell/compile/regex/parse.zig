//! Parses a regular expression to its syntax tree. The header describes the dialect, at eliza_inference_constraint_create_regex.
//! Groups are kept on a stack of the parser's own, so that no pattern can exhaust the caller's.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Arena = @import("engine").arena.Arena;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const Status = @import("engine").status.Status;
const Budget = @import("engine").budget.Budget;
const ast = @import("ast.zig");
const Node = ast.Node;
const anchors = @import("anchors.zig");
const look_around = @import("look_around.zig");
const Range = ast.Range;
const unicode = @import("unicode.zig");
const firstInvalid = @import("../utf8_text.zig").firstInvalid;
const CharacterSet = @import("character_set.zig").CharacterSet;
const dialects = @import("dialects.zig");

const Error = Allocator.Error || diagnostic.Error;

/// The flags in force at the start of the pattern; `(?i)` and the like change them within it.
pub const Flags = packed struct(u8) {
    ignore_case: bool = false,
    /// Where case is ignored, it is that of ASCII's letters alone.
    ascii_case: bool = false,
    dot_all: bool = false,
    /// \d, \w and \s are of ASCII.
    ascii_classes: bool = false,
    verbose: bool = false,
    /// Makes `^` and `$` match at lines, which is not supported: they become errors.
    multi_line: bool = false,
    /// The pattern matches anywhere in a text, but where it has anchors.
    search: bool = false,
    /// Look-around and lazy repeats are in the tree, for look_around.zig; else the first is an error, and the second like any other.
    looks: bool = false,
};

const no_look_around = "look-around is unsupported here";

/// How deep groups may be nested.
pub const nesting_max = 1000;

/// The tree lives in `arena` and keeps nothing of `pattern`. ELIZA_ERR_GRAMMAR: a syntax error, or what is not regular or not
/// supported; the message begins with its byte offset, "at byte 12: ", unless `failed_at` is given to take the offset.
/// ELIZA_ERR_LIMIT: nested too deep, or more than the budget allows.
pub fn parse(
    arena: Allocator,
    pattern: []const u8,
    flags: Flags,
    failed_at: ?*usize,
    budget: *Budget,
    diag: *Diagnostic,
) Error!*const Node {
    var parser: Parser = .{
        .arena = arena,
        .text = pattern,
        .flags = flags,
        .failed_at = failed_at,
        .budget = budget,
        .diag = diag,
    };
    if (firstInvalid(pattern)) |at| return parser.fail(at, "the pattern is not valid UTF-8");
    try parser.frames.append(arena, .{ .open = 0, .flags = flags, .first_item = 0, .first_branch = 0, .may_start = true });
    while (try parser.more()) try parser.step();
    if (parser.frames.items.len > 1) return parser.fail(parser.frame().open, "this group is not closed");
    const anchor = parser.frame().anchor;
    const node = try parser.closeGroup();
    if (flags.search and look_around.isIn(node)) {
        if (anchor) |at| return parser.fail(at, "an anchor beside look-around is unsupported in a search");
        return ast.concat(arena, &.{ ast.anything, node, ast.anything });
    }
    if (!flags.search) return node;
    // Anchors stand at edges alone, so that none is left.
    return anchors.open(arena, try anchors.open(arena, node, .first, ast.anything), .last, ast.anything);
}

/// The tree of exactly `text`, which is valid UTF-8, or of all texts that differ from it only by case. Lives in `arena`.
pub fn literal(arena: Allocator, text: []const u8, flags: Flags) Allocator.Error!*const Node {
    if (text.len == 0) return ast.empty;
    if (!flags.ignore_case) return ast.create(arena, .{ .bytes = try arena.dupe(u8, text) });
    var cases: Cases = .{ .arena = arena, .ascii = flags.ascii_case };
    var nodes: ArrayList(*const Node) = .empty;
    var characters: std.unicode.Utf8Iterator = .{ .bytes = text, .i = 0 };
    while (characters.nextCodepointSlice()) |bytes| {
        const character = std.unicode.utf8Decode(bytes) catch unreachable;
        const node = try cases.variants(character) orelse try ast.create(arena, .{ .bytes = try arena.dupe(u8, bytes) });
        try nodes.append(arena, node);
    }
    return ast.concat(arena, nodes.items);
}

/// Finds the characters that differ only by case, and keeps what it has looked up.
const Cases = struct {
    arena: Allocator,
    /// Only ASCII's letters have cases.
    ascii: bool,
    folds: ?*unicode.Folds = null,
    /// The classes of ASCII letters that were asked for.
    letters: [26]?*const Node = @splat(null),

    /// The class of `character` in all cases, or null if it has only one.
    fn variants(c: *Cases, character: u21) Allocator.Error!?*const Node {
        if (character < 0x80) {
            const letter = std.ascii.toUpper(@intCast(character));
            return if (std.ascii.isUpper(letter)) try c.asciiLetter(letter) else null;
        }
        if (c.ascii) return null;
        var set: CharacterSet = .{};
        const folds = try c.get();
        try folds.appendVariants(c.arena, &set.ranges, character);
        if (set.ranges.items.len == 0) return null;
        try set.add(c.arena, character, character);
        set.normalise();
        return try ast.create(c.arena, .{ .class = set.ranges.items });
    }

    fn get(c: *Cases) Allocator.Error!*const unicode.Folds {
        if (c.folds) |folds| return folds;
        const folds = try c.arena.create(unicode.Folds);
        folds.init();
        c.folds = folds;
        return folds;
    }

    /// Does without the table of folds. Two characters outside of ASCII fold to it: the Kelvin sign and the long s.
    fn asciiLetter(c: *Cases, upper: u8) Allocator.Error!*const Node {
        const known = &c.letters[upper - 'A'];
        if (known.*) |node| return node;
        var set: CharacterSet = .{};
        try set.add(c.arena, upper, upper);
        try set.add(c.arena, upper + 32, upper + 32);
        if (upper == 'K' and !c.ascii) try set.add(c.arena, 0x212a, 0x212a);
        if (upper == 'S' and !c.ascii) try set.add(c.arena, 0x17f, 0x17f);
        const node = try ast.create(c.arena, .{ .class = set.ranges.items });
        known.* = node;
        return node;
    }
};

/// An open group, or the pattern itself.
const Frame = struct {
    /// Offset of its `(`.
    open: usize,
    /// The flags in force around it.
    flags: Flags,
    /// Where its items and branches begin on the parser's stacks.
    first_item: usize,
    first_branch: usize,
    /// Whether nothing that takes text can come before the group.
    may_start: bool,
    /// Whether something in the current branch takes text.
    started: bool = false,
    /// Offset of the `$` of the current branch, after which nothing may follow; and of one in an earlier branch.
    ended: ?usize = null,
    ended_before: ?usize = null,
    /// Offset of the first anchor within the group.
    anchor: ?usize = null,
    /// Of look-around; its node is not set yet.
    look: ?Node.Look = null,
};

const Repeat = struct { min: u32, max: ?u32, lazy: bool = false };

const Parser = struct {
    arena: Allocator,
    text: []const u8,
    at: usize = 0,
    flags: Flags,
    failed_at: ?*usize,
    budget: *Budget,
    diag: *Diagnostic,

    frames: ArrayList(Frame) = .empty,
    items: ArrayList(*const Node) = .empty,
    branches: ArrayList(*const Node) = .empty,
    /// Literal characters that are not an item yet.
    run: ArrayList(u8) = .empty,
    class_set: ClassSet = .{},
    cases: ?Cases = null,
    /// \w, \W, \d, \D, \s and \S, each once it was needed.
    shorthands: [6]?*const Node = @splat(null),
    steps: usize = 0,

    const what = "the regular expression";

    fn frame(p: *Parser) *Frame {
        return &p.frames.items[p.frames.items.len - 1];
    }

    fn peek(p: *const Parser) ?u8 {
        return if (p.at < p.text.len) p.text[p.at] else null;
    }

    fn take(p: *Parser, byte: u8) bool {
        if (p.peek() != byte) return false;
        p.at += 1;
        return true;
    }

    fn startsWith(p: *const Parser, prefix: []const u8) bool {
        return std.mem.startsWith(u8, p.text[p.at..], prefix);
    }

    /// Offset of the next such byte.
    fn find(p: *const Parser, byte: u8) ?usize {
        for (p.text[p.at..], p.at..) |other, offset| if (other == byte) return offset;
        return null;
    }

    /// Skips comments and, in verbose mode, white space; false at the end of the pattern.
    fn more(p: *Parser) Error!bool {
        while (p.peek()) |byte| switch (byte) {
            '(' => {
                if (!p.startsWith("(?#")) return true;
                const close = p.find(')') orelse return p.fail(p.at, "this comment is not closed");
                p.at = close + 1;
            },
            ' ', '\t', '\n', '\r', 0x0b, 0x0c => if (p.flags.verbose) {
                p.at += 1;
            } else return true,
            '#' => if (p.flags.verbose) {
                p.at = p.find('\n') orelse p.text.len;
            } else return true,
            else => return true,
        };
        return false;
    }

    fn countStep(p: *Parser) Error!void {
        p.steps += 1;
        if (p.steps % 4096 == 0) try p.budget.check(what, p.diag);
    }

    /// Reads one atom with its repeat, or one `|`, `(`, `)` or anchor.
    fn step(p: *Parser) Error!void {
        try p.countStep();
        const at = p.at;
        switch (p.text[at]) {
            '|' => {
                p.at += 1;
                try p.closeBranch();
            },
            '(' => try p.openGroup(),
            ')' => {
                p.at += 1;
                if (p.frames.items.len == 1) return p.fail(at, "')' closes no group");
                const closed = p.frame().*;
                const node = try p.closeGroup();
                if (closed.look) |look| {
                    try p.items.append(p.arena, try p.lookNode(closed.open, node, look.behind, look.negated));
                    if (try p.repeat() != null) return p.fail(closed.open, "look-around cannot be repeated");
                } else try p.add(node, closed.anchor);
            },
            '^', '$' => |byte| {
                p.at += 1;
                if (p.flags.multi_line) return p.fail(at, "anchors of lines, of the flag m, are unsupported");
                try p.addAnchor(at, byte == '^');
            },
            '*', '+', '?' => return p.fail(at, "nothing to repeat"),
            '[' => try p.atom(try p.class()),
            '.' => {
                p.at += 1;
                try p.atom(if (p.flags.dot_all) &any else &any_but_newline);
            },
            '\\' => try p.escaped(),
            '{' => {
                if (try p.counted() != null) return p.fail(at, "nothing to repeat");
                p.at = at + 1;
                try p.character('{');
            },
            else => try p.character(p.decode()),
        }
    }

    const any: Node = .{ .class = &.{.{ .first = 0, .last = unicode.last_code_point }} };
    const any_but_newline: Node = .{
        .class = &.{ .{ .first = 0, .last = '\n' - 1 }, .{ .first = '\n' + 1, .last = unicode.last_code_point } },
    };

    fn decode(p: *Parser) u21 {
        const length = std.unicode.utf8ByteSequenceLength(p.text[p.at]) catch unreachable;
        defer p.at += length;
        return std.unicode.utf8Decode(p.text[p.at..][0..length]) catch unreachable;
    }

    // Items, branches, groups.

    fn character(p: *Parser, value: u21) Error!void {
        if (p.flags.ignore_case) {
            if (try p.caseless().variants(value)) |node| return p.atom(node);
        }
        var buffer: [4]u8 = undefined;
        const bytes = buffer[0 .. std.unicode.utf8Encode(value, &buffer) catch unreachable];
        try p.begin();
        if (try p.repeat()) |bounds| {
            try p.flush();
            const node = try ast.create(p.arena, .{ .bytes = try p.arena.dupe(u8, bytes) });
            try p.items.append(p.arena, try p.repeated(node, bounds));
        } else try p.run.appendSlice(p.arena, bytes);
    }

    fn caseless(p: *Parser) *Cases {
        if (p.cases == null) p.cases = .{ .arena = p.arena, .ascii = p.flags.ascii_case };
        return &p.cases.?;
    }

    fn atom(p: *Parser, node: *const Node) Error!void {
        try p.begin();
        try p.add(node, null);
    }

    /// `inner` is the offset of an anchor within the node.
    fn add(p: *Parser, node: *const Node, inner: ?usize) Error!void {
        try p.flush();
        const bounds = try p.repeat() orelse return p.items.append(p.arena, node);
        if (inner) |offset| return p.fail(offset, "an anchor within what is repeated is unsupported");
        try p.items.append(p.arena, try p.repeated(node, bounds));
    }

    fn repeated(p: *Parser, node: *const Node, bounds: Repeat) Error!*const Node {
        const make = if (bounds.lazy and p.flags.looks) &ast.lazyRepeat else &ast.repeat;
        return make(p.arena, node, bounds.min, bounds.max);
    }

    /// A place between a word's character and another, or the text's edge; negated, any other place.
    fn boundary(p: *Parser, at: usize, negated: bool) Error!void {
        if (!p.flags.looks) return p.fail(at, no_look_around);
        const word = try p.shorthand(0);
        var both: [2]*const Node = undefined;
        for (&both, [_]bool{ false, true }) |*one, is_inside| {
            const behind = try p.lookNode(at, word, true, !is_inside);
            one.* = try ast.concat(p.arena, &.{ behind, try p.lookNode(at, word, false, is_inside != negated) });
        }
        try p.flush();
        try p.items.append(p.arena, try ast.alternate(p.arena, &both));
    }

    fn lookNode(p: *Parser, at: usize, node: *const Node, behind: bool, negated: bool) Error!*const Node {
        return ast.create(p.arena, .{ .look = .{ .at = at, .node = node, .behind = behind, .negated = negated } });
    }

    /// Called before something that takes text is added to the branch.
    fn begin(p: *Parser) Error!void {
        const open = p.frame();
        if (open.ended) |offset| return p.fail(offset, "an end anchor is supported only at the end of the pattern");
        open.started = true;
    }

    fn flush(p: *Parser) Error!void {
        if (p.run.items.len == 0) return;
        try p.items.append(p.arena, try ast.create(p.arena, .{ .bytes = try p.arena.dupe(u8, p.run.items) }));
        p.run.clearRetainingCapacity();
    }

    fn addAnchor(p: *Parser, at: usize, first: bool) Error!void {
        for (p.frames.items) |around| if (around.look != null) {
            // No character is before it, or after it.
            try p.flush();
            return p.items.append(p.arena, try p.lookNode(at, &any, first, true));
        };
        const open = p.frame();
        open.anchor = open.anchor orelse at;
        if (p.flags.search) {
            try p.flush();
            const mark: *const Node = if (first) &.{ .bytes = &.{anchors.start_mark} } else &.{ .bytes = &.{anchors.end_mark} };
            try p.items.append(p.arena, mark);
        }
        if (!first) {
            open.ended = open.ended orelse at;
        } else if (open.started or !open.may_start) {
            return p.fail(at, "a start anchor is supported only at the start of the pattern");
        }
    }

    fn openGroup(p: *Parser) Error!void {
        const open = p.at;
        p.at += 1;
        const before = p.flags;
        const kind = p.lookKind();
        if (kind != null) {
            if (!p.flags.looks) return p.fail(open, no_look_around);
            p.at = p.text.len - kind.?.rest.len;
        } else if (p.peek() == '?') {
            p.at += 1;
            if (!try p.groupKind(open)) return;
        } else if (p.peek() == '*') {
            return p.fail(open, "verbs such as (*...) are unsupported");
        }
        if (p.frames.items.len > nesting_max) {
            return p.failWith(.limit, open, "groups are nested deeper than {d}", .{nesting_max});
        }
        const outer = p.frame();
        const may_start = outer.may_start and !outer.started;
        if (kind == null) try p.begin();
        try p.flush();
        try p.frames.append(p.arena, .{
            .open = open,
            .flags = before,
            .first_item = p.items.items.len,
            .first_branch = p.branches.items.len,
            .may_start = may_start,
            .look = if (kind) |one| one.look else null,
        });
    }

    const LookKind = struct { look: Node.Look, rest: []const u8 };

    /// After a `(`.
    fn lookKind(p: *const Parser) ?LookKind {
        const kinds = [_]struct { []const u8, bool, bool }{
            .{ "?=", false, false }, .{ "?!", false, true }, .{ "?<=", true, false }, .{ "?<!", true, true },
        };
        for (kinds) |kind| if (p.startsWith(kind[0])) return .{
            .look = .{ .node = ast.empty, .behind = kind[1], .negated = kind[2] },
            .rest = p.text[p.at + kind[0].len ..],
        };
        return null;
    }

    fn closeBranch(p: *Parser) Error!void {
        try p.flush();
        const open = p.frame();
        const node = try ast.concat(p.arena, p.items.items[open.first_item..]);
        p.items.shrinkRetainingCapacity(open.first_item);
        try p.branches.append(p.arena, node);
        open.ended_before = open.ended_before orelse open.ended;
        open.ended = null;
        open.started = false;
    }

    /// Pops the innermost frame, and returns its node.
    fn closeGroup(p: *Parser) Error!*const Node {
        try p.closeBranch();
        const closed = p.frames.pop().?;
        const node = try ast.alternate(p.arena, p.branches.items[closed.first_branch..]);
        p.branches.shrinkRetainingCapacity(closed.first_branch);
        p.flags = closed.flags;
        if (p.frames.items.len > 0) {
            const outer = p.frame();
            outer.ended = outer.ended orelse closed.ended_before;
            outer.anchor = outer.anchor orelse closed.anchor;
        }
        return node;
    }

    /// Reads what follows `(?`; false if it was flags for the rest of the enclosing group.
    fn groupKind(p: *Parser, open: usize) Error!bool {
        const next = p.peek() orelse return p.fail(open, "this group is not closed");
        switch (next) {
            ':' => {
                p.at += 1;
                return true;
            },
            '>' => return p.fail(open, "atomic groups are unsupported"),
            '|' => return p.fail(open, "branch reset groups are unsupported"),
            '(' => return p.fail(open, "conditional groups are unsupported"),
            'R', '&', '0'...'9' => return p.fail(open, "recursion is not regular: unsupported"),
            'P', '<' => {
                if (p.startsWith("P=")) return p.fail(open, "back-references are not regular: unsupported");
                if (p.startsWith("P>")) return p.fail(open, "recursion is not regular: unsupported");
                _ = p.take('P');
                if (!p.take('<')) return p.fail(open, "unknown group");
                return p.groupName(open);
            },
            else => return p.groupFlags(open),
        }
    }

    fn groupName(p: *Parser, open: usize) Error!bool {
        const first = p.at;
        while (p.peek()) |byte| : (p.at += 1) {
            if (byte != '_' and byte < 0x80 and !std.ascii.isAlphanumeric(byte)) break;
        }
        if (p.at == first or !p.take('>')) return p.fail(open, "a group's name is letters, digits and '_', and closed by '>'");
        return true;
    }

    fn groupFlags(p: *Parser, open: usize) Error!bool {
        var flags = p.flags;
        var value = true;
        while (true) {
            const byte = p.peek() orelse return p.fail(open, "this group is not closed");
            switch (byte) {
                'i' => flags.ignore_case = value,
                's' => flags.dot_all = value,
                'x' => flags.verbose = value,
                'm' => flags.multi_line = value,
                '-' => if (!value) return p.fail(p.at, "a second '-' among flags") else {
                    value = false;
                },
                ')', ':' => break,
                else => return p.fail(p.at, "unknown flag or kind of group"),
            }
            p.at += 1;
        }
        p.flags = flags;
        defer p.at += 1;
        return p.text[p.at] == ':';
    }

    // Repeats.

    /// The repeat that follows an atom, if any.
    fn repeat(p: *Parser) Error!?Repeat {
        if (!try p.more()) return null;
        const at = p.at;
        var bounds = try p.bareRepeat() orelse return null;
        if (p.peek() == '+') return p.fail(p.at, "possessive repeats are unsupported");
        bounds.lazy = p.take('?');
        if (try p.more()) {
            const again = p.at;
            if (try p.bareRepeat() != null) return p.fail(again, "a repeat of a repeat: put the first into a group");
        }
        if (bounds.max) |max| if (bounds.min > max) return p.fail(at, "the bounds of this repeat are the wrong way round");
        return bounds;
    }

    fn bareRepeat(p: *Parser) Error!?Repeat {
        const bounds: Repeat = switch (p.text[p.at]) {
            '*' => .{ .min = 0, .max = null },
            '+' => .{ .min = 1, .max = null },
            '?' => .{ .min = 0, .max = 1 },
            '{' => return p.counted(),
            else => return null,
        };
        p.at += 1;
        return bounds;
    }

    /// `{n}`, `{n,}` or `{n,m}`. null: any other brace is a literal, and nothing is read.
    fn counted(p: *Parser) Error!?Repeat {
        const open = p.at;
        p.at += 1;
        const min = try p.count(open);
        var max = min;
        if (p.take(',')) {
            max = try p.count(open);
            if (min == null and p.peek() == '}') return p.failBounds(open, max);
        }
        if (min != null and p.take('}')) return .{ .min = min.?, .max = max };
        p.at = open;
        return null;
    }

    fn failBounds(p: *Parser, open: usize, max: ?u32) Error {
        const most = max orelse return p.fail(open, "a repeat needs bounds: write * for any number");
        return p.failWith(.grammar, open, "a repeat needs a lower bound: write {s}{d}{s}", .{ "{0,", most, "}" });
    }

    fn count(p: *Parser, open: usize) Error!?u32 {
        const first = p.at;
        while (p.peek()) |byte| : (p.at += 1) if (!std.ascii.isDigit(byte)) break;
        if (p.at == first) return null;
        return std.fmt.parseInt(u32, p.text[first..p.at], 10) catch return p.failWith(
            .limit,
            open,
            "a bound of this repeat is too large",
            .{},
        );
    }

    // Escapes.

    /// What an escape can mean, in a class or outside.
    const Escape = union(enum) {
        character: u21,
        /// An index in `shorthands`.
        shorthand: u3,
        property: unicode.Property,
        /// Anchors, and whether it is no boundary of words: a class cannot have them.
        start,
        end,
        boundary: bool,
    };

    fn escaped(p: *Parser) Error!void {
        const at = p.at;
        switch (try p.escape()) {
            .character => |value| try p.character(value),
            .shorthand => |index| try p.atom(try p.shorthand(index)),
            .property => |property| {
                p.class_set.clear();
                try p.class_set.addProperty(p.arena, property);
                try p.atom(try p.finishClass(false));
            },
            .start => try p.addAnchor(at, true),
            .end => try p.addAnchor(at, false),
            .boundary => |negated| try p.boundary(at, negated),
        }
    }

    fn escape(p: *Parser) Error!Escape {
        const at = p.at;
        p.at += 1;
        if (p.peek() == null) return p.fail(at, "a '\\' at the end of the pattern");
        const value = p.decode();
        return switch (value) {
            'n' => .{ .character = '\n' },
            'r' => .{ .character = '\r' },
            't' => .{ .character = '\t' },
            'f' => .{ .character = 0x0c },
            'v' => .{ .character = 0x0b },
            'a' => .{ .character = 0x07 },
            'e' => .{ .character = 0x1b },
            '0' => if (p.at < p.text.len and std.ascii.isDigit(p.text[p.at]))
                p.fail(at, "octal escapes are unsupported: write \\xHH")
            else
                .{ .character = 0 },
            'x' => p.hexadecimal(at, 2),
            'u' => p.hexadecimal(at, 4),
            'U' => p.hexadecimal(at, 8),
            'w', 'W', 'd', 'D', 's', 'S' => .{ .shorthand = switch (value) {
                'w' => 0,
                'W' => 1,
                'd' => 2,
                'D' => 3,
                's' => 4,
                else => 5,
            } },
            'p', 'P' => p.propertyEscape(at, value == 'P'),
            'A' => .start,
            'z', 'Z' => .end,
            'b', 'B' => .{ .boundary = value == 'B' },
            '1'...'9', 'k', 'g' => p.fail(at, "back-references are not regular: unsupported"),
            'c', 'h', 'i', 'j', 'l', 'm', 'o', 'q', 'y', 'C', 'E'...'O', 'Q', 'R', 'T', 'V', 'X', 'Y' => {
                const instead = dialects.escape(value) orelse return p.fail(at, "unknown escape");
                return p.failWith(.grammar, at, "unknown escape: write {s}", .{instead});
            },
            else => .{ .character = value },
        };
    }

    /// `digits` hexadecimal digits, or one to six in braces.
    fn hexadecimal(p: *Parser, at: usize, digits: usize) Error!Escape {
        const braces = p.take('{');
        const first = p.at;
        const most: usize = if (braces) 6 else digits;
        while (p.at < first + most and p.at < p.text.len and std.ascii.isHex(p.text[p.at])) p.at += 1;
        const found = p.text[first..p.at];
        const complete = if (braces) found.len > 0 and p.take('}') else found.len == digits;
        if (!complete) return p.failWith(.grammar, at, "this escape needs {d} hexadecimal digits, or one to six in braces", .{digits});
        const value = std.fmt.parseInt(u32, found, 16) catch unreachable;
        if (value > unicode.last_code_point) return p.fail(at, "there is no character after U+10FFFF");
        if (value >= 0xd800 and value < 0xe000) return p.fail(at, "a surrogate is no character");
        return .{ .character = @intCast(value) };
    }

    fn propertyEscape(p: *Parser, at: usize, negated: bool) Error!Escape {
        var name = p.text[p.at..@min(p.at + 1, p.text.len)];
        if (p.take('{')) {
            const close = p.find('}') orelse return p.fail(at, "this property is not closed");
            name = p.text[p.at..close];
            p.at = close + 1;
        } else p.at += name.len;
        const property = unicode.find(name) orelse return p.failWith(
            .grammar,
            at,
            "no property of Unicode is called {f}",
            .{quoted(name)},
        );
        return .{ .property = if (negated) property.complement() else property };
    }

    // Classes.

    fn shorthand(p: *Parser, index: u3) Error!*const Node {
        if (p.shorthands[index]) |node| return node;
        var set: CharacterSet = .{};
        if (p.flags.ascii_classes) try set.ranges.appendSlice(p.arena, switch (index / 2) {
            0 => &[_]Range{
                .{ .first = '0', .last = '9' },
                .{ .first = 'A', .last = 'Z' },
                .{ .first = '_', .last = '_' },
                .{ .first = 'a', .last = 'z' },
            },
            1 => &[_]Range{.{ .first = '0', .last = '9' }},
            else => &[_]Range{ .{ .first = '\t', .last = '\r' }, .{ .first = ' ', .last = ' ' } },
        }) else switch (index / 2) {
            0 => try unicode.appendWord(p.arena, &set.ranges),
            1 => try unicode.append(p.arena, &set.ranges, unicode.digit),
            else => try set.ranges.appendSlice(p.arena, unicode.space),
        }
        set.normalise();
        if (index % 2 == 1) try set.negate(p.arena);
        const node = try ast.create(p.arena, .{ .class = set.ranges.items });
        p.shorthands[index] = node;
        return node;
    }

    /// Reads a character class from its `[` on.
    fn class(p: *Parser) Error!*const Node {
        const open = p.at;
        p.at += 1;
        const negated = p.take('^');
        p.class_set.clear();
        const first = p.at;
        while (p.peek() != ']' or p.at == first) {
            try p.countStep();
            if (p.peek() == null) return p.fail(open, "this class is not closed");
            if (dialects.posixClass(p.text[p.at..])) |instead| return p.failWith(.grammar, p.at, dialects.posix, .{instead});
            try p.classItem();
        }
        const inside = p.text[first..p.at];
        p.at += 1;
        if (dialects.isNested(inside, p.text[p.at..])) return p.fail(open, dialects.nested);
        if (dialects.posixClass(p.text[open..])) |instead| return p.failWith(.grammar, open, dialects.posix, .{instead});
        return p.finishClass(negated);
    }

    /// A character, a range, or an escape that stands for a set.
    fn classItem(p: *Parser) Error!void {
        const at = p.at;
        const from = try p.classAtom();
        const after = p.text[p.at..];
        const ranged = after.len >= 2 and after[0] == '-' and after[1] != ']';
        if (!ranged) return switch (from) {
            .character => |value| p.class_set.characters.add(p.arena, value, value),
            .shorthand => |index| p.class_set.addShorthand(p.arena, index, try p.shorthand(index)),
            .property => |property| p.class_set.addProperty(p.arena, property),
            .start, .end, .boundary => unreachable,
        };
        p.at += 1;
        const to = try p.classAtom();
        if (from != .character or to != .character) return p.fail(at, "a range needs a character at each end");
        if (from.character > to.character) return p.fail(at, "the ends of this range are the wrong way round");
        try p.class_set.characters.add(p.arena, from.character, to.character);
    }

    fn classAtom(p: *Parser) Error!Escape {
        const at = p.at;
        if (p.text[at] != '\\') return .{ .character = p.decode() };
        const found = try p.escape();
        if (found == .start or found == .end or found == .boundary) return p.fail(at, "unknown escape in a class");
        return found;
    }

    fn finishClass(p: *Parser, negated: bool) Error!*const Node {
        const set = &p.class_set.characters;
        try p.class_set.finish(p.arena);
        if (p.flags.ignore_case and p.flags.ascii_case) {
            try set.ignoreAsciiCase(p.arena);
        } else if (p.flags.ignore_case) try set.ignoreCase(p.arena, try p.caseless().get());
        if (negated) try set.negate(p.arena);
        const ranges = set.ranges.items;
        try p.budget.take(ranges.len * @sizeOf(Range), what, p.diag);
        try p.budget.check(what, p.diag);
        return ast.create(p.arena, .{ .class = try p.arena.dupe(Range, ranges) });
    }

    // Errors.

    noinline fn fail(p: *Parser, offset: usize, message: []const u8) Error {
        @branchHint(.cold);
        return p.failWith(.grammar, offset, "{s}", .{message});
    }

    inline fn failWith(p: *Parser, status: Status, offset: usize, comptime format: []const u8, args: anytype) Error {
        p.diag.fail(status, format, args) catch {};
        return p.locate(offset);
    }

    noinline fn locate(p: *Parser, offset: usize) Error {
        if (p.failed_at) |to| {
            to.* = offset;
            return error.Failed;
        }
        var copy = p.diag.*;
        return p.diag.fail(copy.status, "at byte {d}: {s}", .{ offset, copy.message() });
    }
};

/// The members of a class while it is being read. What a class names several times is kept once, so that its memory is bounded
/// by the length of its text.
const ClassSet = struct {
    characters: CharacterSet = .{},
    categories: u32 = 0,
    shorthands: std.StaticBitSet(6) = .empty,
    listed: std.StaticBitSet(unicode.Property.numbers_max) = .empty,

    fn clear(c: *ClassSet) void {
        c.characters.ranges.clearRetainingCapacity();
        c.categories = 0;
        c.shorthands = .empty;
        c.listed = .empty;
    }

    fn addShorthand(c: *ClassSet, gpa: Allocator, index: u3, node: *const Node) Error!void {
        if (c.shorthands.isSet(index)) return;
        c.shorthands.set(index);
        try c.characters.ranges.appendSlice(gpa, node.class);
    }

    fn addProperty(c: *ClassSet, gpa: Allocator, property: unicode.Property) Error!void {
        switch (property) {
            .categories => |mask| c.categories |= mask,
            .script, .extensions, .binary => {
                const number = property.number();
                if (c.listed.isSet(number)) return;
                c.listed.set(number);
                try unicode.append(gpa, &c.characters.ranges, property);
            },
        }
    }

    fn finish(c: *ClassSet, gpa: Allocator) Error!void {
        if (c.categories != 0) try unicode.append(gpa, &c.characters.ranges, .{ .categories = c.categories });
        c.characters.normalise();
    }
};

const Case = struct { pattern: []const u8, message: []const u8 };

test "errors name the offset and what is wrong" {
    for ([_]Case{
        .{ .pattern = "ab(c", .message = "at byte 2: this group is not closed" },
        .{ .pattern = "ab)c", .message = "at byte 2: ')' closes no group" },
        .{ .pattern = "a|*", .message = "at byte 2: nothing to repeat" },
        .{ .pattern = "a**", .message = "at byte 2: a repeat of a repeat: put the first into a group" },
        .{ .pattern = "a+++", .message = "at byte 2: possessive repeats are unsupported" },
        .{ .pattern = "a{3,2}", .message = "at byte 1: the bounds of this repeat are the wrong way round" },
        .{ .pattern = "a{,2}", .message = "at byte 1: a repeat needs a lower bound: write {0,2}" },
        .{ .pattern = "a{,}", .message = "at byte 1: a repeat needs bounds: write * for any number" },
        .{ .pattern = "\\h", .message = "at byte 0: unknown escape: write [ \\t]" },
        .{ .pattern = "x[a-z&&[^b]]", .message = "at byte 1: " ++ dialects.nested },
        .{ .pattern = "x[:alpha:]", .message = "at byte 1: this is a POSIX class: write [A-Za-z]" },
        .{ .pattern = "{3}", .message = "at byte 0: nothing to repeat" },
        .{ .pattern = "a(?=b)", .message = "at byte 1: " ++ no_look_around },
        .{ .pattern = "a(?!b)", .message = "at byte 1: " ++ no_look_around },
        .{ .pattern = "a(?<=b)", .message = "at byte 1: " ++ no_look_around },
        .{ .pattern = "a(?<!b)", .message = "at byte 1: " ++ no_look_around },
        .{ .pattern = "(?>a)", .message = "at byte 0: atomic groups are unsupported" },
        .{ .pattern = "(a)\\1", .message = "at byte 3: back-references are not regular: unsupported" },
        .{ .pattern = "(?P<x>a)(?P=x)", .message = "at byte 8: back-references are not regular: unsupported" },
        .{ .pattern = "a\\b", .message = "at byte 1: " ++ no_look_around },
        .{ .pattern = "\u{e9}[z-a]", .message = "at byte 3: the ends of this range are the wrong way round" },
        .{ .pattern = "[\\d-x]", .message = "at byte 1: a range needs a character at each end" },
        .{ .pattern = "[]", .message = "at byte 0: this class is not closed" },
        .{ .pattern = "[[:alpha:]]", .message = "at byte 1: this is a POSIX class: write [A-Za-z]" },
        .{ .pattern = "\\p{Foo}", .message = "at byte 0: no property of Unicode is called \"Foo\"" },
        .{ .pattern = "x\\x4", .message = "at byte 1: this escape needs 2 hexadecimal digits, or one to six in braces" },
        .{ .pattern = "\\u{d800}", .message = "at byte 0: a surrogate is no character" },
        .{ .pattern = "\\x{110000}", .message = "at byte 0: there is no character after U+10FFFF" },
        .{ .pattern = "a^b", .message = "at byte 1: a start anchor is supported only at the start of the pattern" },
        .{ .pattern = "(a|b^)", .message = "at byte 4: a start anchor is supported only at the start of the pattern" },
        .{ .pattern = "a$b", .message = "at byte 1: an end anchor is supported only at the end of the pattern" },
        .{ .pattern = "(a$|b)c", .message = "at byte 2: an end anchor is supported only at the end of the pattern" },
        .{ .pattern = "(^a)*", .message = "at byte 1: an anchor within what is repeated is unsupported" },
        .{ .pattern = "(?m)^a", .message = "at byte 4: anchors of lines, of the flag m, are unsupported" },
        .{ .pattern = "(?q)", .message = "at byte 2: unknown flag or kind of group" },
        .{ .pattern = "ab\xff", .message = "at byte 2: the pattern is not valid UTF-8" },
        .{ .pattern = "a\\", .message = "at byte 1: a '\\' at the end of the pattern" },
        .{ .pattern = "a(?#b", .message = "at byte 1: this comment is not closed" },
        .{ .pattern = "\\y", .message = "at byte 0: unknown escape" },
    }) |case| {
        var arena: Arena = .init(std.testing.allocator);
        defer arena.deinit();
        var budget: Budget = .{};
        var diag: Diagnostic = .{};
        try std.testing.expectError(error.Failed, parse(arena.allocator(), case.pattern, .{}, null, &budget, &diag));
        try std.testing.expectEqualStrings(case.message, diag.message());
        try std.testing.expectEqual(.grammar, diag.status);
        var offset: usize = 0;
        try std.testing.expectError(error.Failed, parse(arena.allocator(), case.pattern, .{}, &offset, &budget, &diag));
        var located: [128]u8 = undefined;
        try std.testing.expectEqualStrings(case.message, try std.fmt.bufPrint(&located, "at byte {d}: {s}", .{ offset, diag.message() }));
    }
}

fn times(gpa: Allocator, text: []const u8, n: usize) ![]const u8 {
    const repeated = try gpa.alloc(u8, n * text.len);
    for (0..n) |i| @memcpy(repeated[i * text.len ..][0..text.len], text);
    return repeated;
}

test "patterns that are all structure end soon, with an error or a small tree" {
    var arena: Arena = .init(std.testing.allocator);
    defer arena.deinit();
    const gpa = arena.allocator();
    var budget: Budget = .{};
    var diag: Diagnostic = .{};
    const deep = try std.mem.concat(gpa, u8, &.{ try times(gpa, "(", 100_000), "a", try times(gpa, "*)", 100_000) });
    try std.testing.expectError(error.Failed, parse(gpa, deep, .{}, null, &budget, &diag));
    try std.testing.expectEqualStrings("at byte 1000: groups are nested deeper than 1000", diag.message());
    try std.testing.expectEqual(.limit, diag.status);
    const nested = try std.mem.concat(gpa, u8, &.{ try times(gpa, "(", nesting_max), "a", try times(gpa, "*)", nesting_max) });
    const star = try parse(gpa, nested, .{}, null, &budget, &diag);
    try std.testing.expectEqualStrings("a", star.repeat.node.bytes);
    const power = try parse(gpa, "((a{1,1000}){1,1000}){0,2}", .{}, null, &budget, &diag);
    try std.testing.expectEqual(2_000_000, power.repeat.max);
    // A class cannot take more memory by naming the same many times.
    const class = try std.mem.concat(gpa, u8, &.{ "[", try times(gpa, "\\w\\PL\\p{Greek}\\P{Greek}", 10_000), "]" });
    const all = try parse(gpa, class, .{}, null, &budget, &diag);
    try std.testing.expectEqual(1, all.class.len);
    budget.bytes_max = 1 << 20;
    const classes = try times(gpa, "[\\w-]", 1_000);
    try std.testing.expectError(error.Failed, parse(gpa, classes, .{}, null, &budget, &diag));
    try std.testing.expectEqual(.limit, diag.status);
}
