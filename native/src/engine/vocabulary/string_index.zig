//! What each token does inside a JSON string, so that most of a mask there is found without a look at the tokens.
//! A *plain* token is text that stands for itself. Its *shape* is the sequence of the classes of its characters: the
//! shapes are a trie, small beside that of the bytes, and most patterns do not look closer. A *closer* is
//! text and then a quote that ends the string; what follows its text is its *rest*. The others, with escapes or
//! parts of characters, are some hundreds, in a trie of their own.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const sort = @import("../base/sort.zig").sort;
const Arena = @import("../base/arena.zig").Arena;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const bitmap = @import("../base/bitmap.zig");
const Tokens = @import("tokens.zig").Tokens;
const byte_trie = @import("byte_trie.zig");
const ByteTrie = byte_trie.ByteTrie;
const SharedCache = @import("../base/shared_cache.zig").SharedCache;

/// Classes of characters, by bit.
pub const Alphabet = u64;

/// The class of an ASCII character that may stand in a string.
pub const class_of: [128]u6 = blk: {
    var classes: [128]u6 = undefined;
    var n: u6 = 5;
    for (&classes, 0..) |*class, byte| switch (byte) {
        'a'...'f' => class.* = 0,
        'g'...'z' => class.* = 1,
        'A'...'F' => class.* = 2,
        'G'...'Z' => class.* = 3,
        '0'...'9' => class.* = 4,
        0x00...0x1f, '"', '\\' => class.* = 63, // of no plain text
        else => {
            class.* = n;
            n += 1;
        },
    };
    break :blk classes;
};

/// The class of a character beyond ASCII, by its first byte.
pub fn classOfLead(byte: u8) u6 {
    return switch (byte) {
        0xc2 => 37,
        0xc3 => 38,
        0xc4...0xcf => 39,
        0xd0...0xdf => 40,
        0xe0 => 41,
        0xe1 => 42,
        0xe2 => 43,
        0xe3 => 44,
        0xe4...0xec => 45,
        0xed => 46,
        0xee => 47,
        0xef => 48,
        else => 49,
    };
}

/// The first and the last of the bytes that characters of a class begin with: they are neighbours.
pub fn bytesOf(class: u6) [2]u8 {
    return byte_ranges[class];
}

const byte_ranges: [50][2]u8 = blk: {
    @setEvalBranchQuota(10_000);
    var ranges: [50][2]u8 = @splat(.{ 0xff, 0 });
    for (0x20..0xf5) |byte| {
        if (byte == '"' or byte == '\\' or byte >= 0x80 and byte < 0xc2) continue;
        const range = &ranges[if (byte < 0x80) class_of[byte] else classOfLead(byte)];
        range.* = .{ @min(range[0], byte), byte };
    }
    for (ranges) |range| std.debug.assert(range[0] <= range[1]);
    break :blk ranges;
};

/// A node of the trie of shapes, in depth-first order as those of bytes are.
pub const Shape = struct {
    /// The classes that follow in the subtree, and in how many characters at most.
    below: Alphabet,
    height: u8,
    class: u6,
    /// Characters, including this one.
    depth: u8,
    subtree: u32,
    /// Of `members`: the tokens of this shape, up to those of the next node.
    from: u32,
};

pub const Digits = struct { node: u32, token: i32 };

pub const Long = struct { token: i32, length: u16 };

pub const Closer = struct { token: i32, inner: u32 };

/// Plain tokens of more characters are few.
const reach_min = 32;

pub const StringIndex = struct {
    arena: Arena,
    plain: bitmap.Words,
    /// After the last one a node for the end of the members.
    shapes: []const Shape,
    /// Plain tokens by shape, and their texts in this order: that of member i ends at `ends[i]`.
    members: []const i32,
    texts: []const u8,
    ends: []const u32,
    /// The plain tokens of more than `reach` characters, the longest first. No other token is longer in a string.
    long: []const Long,
    reach: u32,
    others: Texts,
    /// In the vocabulary's trie: the tokens of digits alone, and nodes that come first behind digits; both by node.
    digits: []const Digits,
    behind_digits: []const u32,
    /// What stands before the quote of closers: different texts, ascending.
    inners: []const []const u8,
    /// Those with rest i are `closers[rests.starts[i]..rests.starts[i + 1]]`.
    closers: []const Closer,
    rests: Texts,
    /// Children in the vocabulary's trie, by byte: of its root, and of a space. 0: none.
    root: [256]u32,
    space: [256]u32,
    space_node: u32,
    /// What constraints of the vocabulary share, since formats and patterns come back in many schemas: automata, and
    /// what tokens do at their states.
    automata: Automata,
    sets: Sets,

    pub const Automata = SharedCache(128);
    pub const Sets = SharedCache(512);

    /// Different texts as the tokens of a trie.
    pub const Texts = struct {
        trie: ByteTrie,
        tokens: Tokens,
        /// Those of text i are `of[starts[i]..starts[i + 1]]`, ascending.
        of: []const i32,
        starts: []const u32,
    };

    /// In place, since it is large. `trie` is of these tokens.
    pub fn build(
        index: *StringIndex,
        gpa: Allocator,
        tokens: *const Tokens,
        trie: *const ByteTrie,
        diag: *Diagnostic,
    ) diagnostic.Error!void {
        return index.tryBuild(gpa, tokens, trie, diag) catch |e| switch (e) {
            error.OutOfMemory => diag.outOfMemory(),
            error.Failed => error.Failed,
        };
    }

    pub fn deinit(index: *StringIndex) void {
        index.sets.deinit();
        index.automata.deinit();
        index.arena.deinit();
    }

    /// The place of a text in `inners`; null if it is not there.
    pub fn innerOf(index: *const StringIndex, text: []const u8) ?u32 {
        const found = std.sort.binarySearch([]const u8, index.inners, text, compare) orelse return null;
        return @intCast(found);
    }

    fn compare(wanted: []const u8, text: []const u8) std.math.Order {
        return std.mem.order(u8, wanted, text);
    }

    /// A text of a token, or a part of it.
    const Part = struct {
        text: []const u8,
        token: i32,
        /// Of closers: what stands before.
        inner: []const u8 = "",

        fn isBefore(_: void, a: Part, b: Part) bool {
            return switch (std.mem.order(u8, a.text, b.text)) {
                .lt => true,
                .gt => false,
                .eq => a.token < b.token,
            };
        }
    };

    const Error = Allocator.Error || diagnostic.Error;

    fn tryBuild(index: *StringIndex, gpa: Allocator, tokens: *const Tokens, trie: *const ByteTrie, diag: *Diagnostic) Error!void {
        var arena_state: Arena = .init(gpa);
        errdefer arena_state.deinit();
        const arena = arena_state.allocator();
        var scratch: Arena = .init(gpa);
        defer scratch.deinit();
        const plain = try bitmap.alloc(arena, bitmap.wordsFor(tokens.n));
        bitmap.clear(plain);
        var long: ArrayList(Long) = .empty;
        var others: ArrayList(Part) = .empty;
        var closing: ArrayList(Part) = .empty;
        for (0..tokens.n) |number| {
            const token: i32 = @intCast(number);
            if (!tokens.isText(@intCast(number))) continue;
            const text = tokens.bytesOf(@intCast(number));
            switch (findSpecial(text)) {
                .none => if (text.len <= byte_trie.depth_max) { // longer ones are tried one by one
                    bitmap.set(plain, @intCast(number));
                    const length = nCharacters(text);
                    if (length > reach_min) try long.append(scratch.allocator(), .{ .token = token, .length = @intCast(length) });
                },
                .quote => |at| try closing.append(scratch.allocator(), .{ .text = text[at..], .token = token, .inner = text[0..at] }),
                .other => try others.append(scratch.allocator(), .{ .text = text, .token = token }),
                .control => {},
            }
        }
        sort(Part, closing.items, {}, Part.isBefore);
        sort(Part, others.items, {}, Part.isBefore);
        const inners = try innersOf(arena, closing.items);
        const closers = try arena.alloc(Closer, closing.items.len);
        for (closers, closing.items) |*to, from| {
            to.* = .{ .token = from.token, .inner = @intCast(std.sort.binarySearch([]const u8, inners, from.inner, compare).?) };
        }
        var reach: u32 = reach_min;
        for (others.items) |one| reach = @max(reach, nCharacters(one.text));
        for (inners) |inner| reach = @max(reach, nCharacters(inner));
        var digits: ArrayList(Digits) = .empty;
        var behind_digits: ArrayList(u32) = .empty;
        for ('0'..'9' + 1) |byte| if (trie.child(0, @intCast(byte))) |node| {
            try findDigits(arena, trie, node, &digits, &behind_digits);
        };
        const space_node = trie.child(0, ' ') orelse 0;
        const shapes: Shapes = try .of(arena, scratch.allocator(), tokens, trie, plain);
        index.* = .{
            .plain = plain,
            .shapes = shapes.nodes,
            .members = shapes.members,
            .texts = shapes.texts,
            .ends = shapes.ends,
            .long = try longOf(arena, long.items, reach),
            .reach = reach,
            .others = try textsOf(arena, others.items, diag),
            .digits = digits.items,
            .behind_digits = behind_digits.items,
            .inners = inners,
            .closers = closers,
            .rests = try textsOf(arena, closing.items, diag),
            .root = childrenOf(trie, 0),
            .space = if (space_node == 0) @splat(0) else childrenOf(trie, space_node),
            .space_node = space_node,
            .automata = .{ .gpa = gpa },
            .sets = .{ .gpa = gpa },
            .arena = arena_state,
        };
    }

    fn longOf(arena: Allocator, plain: []const Long, reach: u32) Allocator.Error![]const Long {
        var long: ArrayList(Long) = .empty;
        for (plain) |one| if (one.length > reach) try long.append(arena, one);
        sort(Long, long.items, {}, isLonger);
        return long.items;
    }

    fn isLonger(_: void, a: Long, b: Long) bool {
        return a.length > b.length;
    }

    fn innersOf(arena: Allocator, closing: []const Part) Allocator.Error![]const []const u8 {
        const all = try arena.alloc([]const u8, closing.len);
        for (all, closing) |*to, from| to.* = from.inner;
        sort([]const u8, all, {}, isLess);
        var n: usize = 0;
        for (all) |text| {
            if (n > 0 and std.mem.eql(u8, all[n - 1], text)) continue;
            all[n] = text;
            n += 1;
        }
        return all[0..n];
    }

    fn isLess(_: void, a: []const u8, b: []const u8) bool {
        return std.mem.lessThan(u8, a, b);
    }

    /// Of parts that are sorted.
    fn textsOf(arena: Allocator, parts: []const Part, diag: *Diagnostic) Error!Texts {
        const of = try arena.alloc(i32, parts.len);
        var starts: ArrayList(u32) = .empty;
        var bytes: ArrayList(u8) = .empty;
        var offsets: ArrayList(u64) = .empty;
        for (parts, of, 0..) |one, *token, i| {
            token.* = one.token;
            if (i > 0 and std.mem.eql(u8, one.text, parts[i - 1].text)) continue;
            try starts.append(arena, @intCast(i));
            try offsets.append(arena, bytes.items.len);
            try bytes.appendSlice(arena, one.text);
        }
        try starts.append(arena, @intCast(parts.len));
        try offsets.append(arena, bytes.items.len);
        const tokens: Tokens = .{ .n = @intCast(starts.items.len - 1), .bytes = bytes.items, .offsets = offsets.items };
        return .{ .trie = try .build(arena, &tokens, diag), .tokens = tokens, .of = of, .starts = starts.items };
    }

    /// Of the subtree of a digit.
    fn findDigits(
        arena: Allocator,
        trie: *const ByteTrie,
        root: u32,
        digits: *ArrayList(Digits),
        behind: *ArrayList(u32),
    ) Allocator.Error!void {
        const end = root + trie.nodes[root].subtree;
        var at = root;
        while (at < end) {
            const node = trie.nodes[at];
            if (std.ascii.isDigit(node.byte)) {
                if (node.token()) |token| try digits.append(arena, .{ .node = at, .token = @intCast(token) });
                at += 1;
            } else {
                try behind.append(arena, at);
                at += node.subtree;
            }
        }
    }

    fn childrenOf(trie: *const ByteTrie, parent: u32) [256]u32 {
        var children: [256]u32 = @splat(0);
        var node = parent + 1;
        const end = parent + trie.nodes[parent].subtree;
        while (node < end) : (node += trie.nodes[node].subtree) children[trie.nodes[node].byte] = node;
        return children;
    }
};

/// Makes the trie of shapes out of that of the bytes.
const Shapes = struct {
    nodes: []const Shape,
    members: []const i32,
    texts: []const u8,
    ends: []const u32,

    /// As it is met: with links to the first child and to the next one of its parent. 0: none.
    const Draft = struct { class: u6, child: u32 = 0, next: u32 = 0, n_members: u32 = 0, at: u32 = 0 };
    const Found = struct { token: i32, draft: u32 };

    fn of(
        arena: Allocator,
        scratch: Allocator,
        tokens: *const Tokens,
        trie: *const ByteTrie,
        plain: bitmap.Words,
    ) Allocator.Error!Shapes {
        var drafts: ArrayList(Draft) = .empty;
        var found: ArrayList(Found) = .empty;
        try drafts.append(scratch, .{ .class = 0 });
        try gather(scratch, trie, plain, &drafts, &found);
        const nodes = try arena.alloc(Shape, drafts.items.len);
        var n: u32 = 0;
        var n_members: u32 = 0;
        var child = drafts.items[0].child;
        while (child != 0) : (child = drafts.items[child].next) _ = layOut(drafts.items, child, 1, nodes, &n, &n_members);
        nodes[n] = .{ .below = 0, .height = 0, .class = 0, .depth = 1, .subtree = 1, .from = n_members };
        const members = try arena.alloc(i32, n_members);
        for (found.items) |one| {
            const at = &drafts.items[one.draft].at;
            members[at.*] = one.token;
            at.* += 1;
        }
        const ends = try arena.alloc(u32, n_members);
        var n_bytes: u32 = 0;
        for (members, ends) |token, *end| {
            n_bytes += @intCast(tokens.bytesOf(@intCast(token)).len);
            end.* = n_bytes;
        }
        const texts = try arena.alloc(u8, n_bytes);
        for (members, ends) |token, end| {
            const text = tokens.bytesOf(@intCast(token));
            @memcpy(texts[end - text.len ..][0..text.len], text);
        }
        return .{ .nodes = nodes, .members = members, .texts = texts, .ends = ends };
    }

    fn gather(
        scratch: Allocator,
        trie: *const ByteTrie,
        plain: bitmap.Words,
        drafts: *ArrayList(Draft),
        found: *ArrayList(Found),
    ) Allocator.Error!void {
        var path: [byte_trie.depth_max + 1]u32 = undefined;
        path[0] = 0;
        var at: u32 = 1;
        while (at < trie.nodes.len) {
            const node = trie.nodes[at];
            const parent = path[node.depth - 1];
            const class = switch (node.byte) {
                0x00...0x7f => class_of[node.byte],
                0x80...0xbf => null,
                else => classOfLead(node.byte),
            };
            if (class == class_of['"'] or class == null and node.depth == 1) {
                at += node.subtree;
                continue;
            }
            const draft = if (class) |one| try childOf(scratch, drafts, parent, one) else parent;
            path[node.depth] = draft;
            if (node.token()) |token| if (bitmap.has(plain, token)) {
                try found.append(scratch, .{ .token = @intCast(token), .draft = draft });
                drafts.items[draft].n_members += 1;
            };
            at += 1;
        }
    }

    fn childOf(scratch: Allocator, drafts: *ArrayList(Draft), parent: u32, class: u6) Allocator.Error!u32 {
        var child = drafts.items[parent].child;
        while (child != 0) : (child = drafts.items[child].next) if (drafts.items[child].class == class) return child;
        const made: u32 = @intCast(drafts.items.len);
        try drafts.append(scratch, .{ .class = class, .next = drafts.items[parent].child });
        drafts.items[parent].child = made;
        return made;
    }

    /// The subtree of a draft. Returns its height.
    fn layOut(drafts: []Draft, draft: u32, depth: u8, nodes: []Shape, n: *u32, n_members: *u32) u8 {
        const at = n.*;
        n.* += 1;
        const from = n_members.*;
        drafts[draft].at = from;
        n_members.* += drafts[draft].n_members;
        var below: Alphabet = 0;
        var height: u8 = 0;
        var child = drafts[draft].child;
        while (child != 0) : (child = drafts[child].next) {
            const first = n.*;
            height = @max(height, 1 + layOut(drafts, child, depth + 1, nodes, n, n_members));
            below |= nodes[first].below | @as(Alphabet, 1) << drafts[child].class;
        }
        nodes[at] = .{
            .below = below,
            .height = height,
            .class = drafts[draft].class,
            .depth = depth,
            .subtree = n.* - at,
            .from = from,
        };
        return height;
    }
};

const Special = union(enum) {
    none,
    /// Where the string ends.
    quote: usize,
    /// Escapes, or parts of characters.
    other,
    /// Stands in no string.
    control,
};

fn findSpecial(text: []const u8) Special {
    var escaped = false;
    var has_escape = false;
    for (text, 0..) |byte, i| {
        if (escaped) {
            escaped = false;
            continue;
        }
        switch (byte) {
            0x00...0x1f => return .control,
            '"' => return .{ .quote = i },
            '\\' => {
                escaped = true;
                has_escape = true;
            },
            else => {},
        }
    }
    return if (has_escape or !std.unicode.utf8ValidateSlice(text)) .other else .none;
}

fn nCharacters(utf8: []const u8) u32 {
    var n: u32 = 0;
    for (utf8) |byte| n += @intFromBool(byte & 0xc0 != 0x80);
    return n;
}

test "plain tokens by their shapes, closers by their rests, and others" {
    const texts = [_][]const u8{ "ab", "a\"", "\"", "b\",", "\\", "\n", "\xc3", "x\xc3", "\xa9", "\u{e9}", "q\"", "ba", "\\\"\"", "a\n" };
    var bytes: [64]u8 = undefined;
    var offsets: [texts.len + 1]u64 = undefined;
    var n: usize = 0;
    for (texts, 0..) |text, i| {
        offsets[i] = n;
        @memcpy(bytes[n..][0..text.len], text);
        n += text.len;
    }
    offsets[texts.len] = n;
    var diag: Diagnostic = .{};
    const gpa = std.testing.allocator;
    const tokens: Tokens = .{ .n = texts.len, .bytes = bytes[0..n], .offsets = &offsets };
    var trie: ByteTrie = try .build(gpa, &tokens, &diag);
    defer trie.deinit(gpa);
    var index: StringIndex = undefined;
    try index.build(gpa, &tokens, &trie, &diag);
    defer index.deinit();
    try std.testing.expectEqualSlices(i32, &.{ 9, 0, 11 }, index.members);
    const letter = for (index.shapes) |shape| {
        if (shape.depth == 1 and shape.class == class_of['a']) break shape;
    } else unreachable;
    try std.testing.expectEqual(2, letter.subtree);
    try std.testing.expectEqual(1, letter.height);
    try std.testing.expectEqual(1, letter.below);
    try std.testing.expectEqual(2, index.rests.tokens.n);
    try std.testing.expectEqualStrings("\",", index.rests.tokens.bytesOf(1));
    try std.testing.expectEqualSlices(i32, &.{ 1, 2, 10, 12 }, index.rests.of[index.rests.starts[0]..index.rests.starts[1]]);
    try std.testing.expectEqualStrings("\\\"", index.inners[index.closers[3].inner]);
    try std.testing.expectEqualSlices(i32, &.{ 4, 7, 8, 6 }, index.others.of);
    try std.testing.expectEqual(trie.find("a"), index.root['a']);
}
