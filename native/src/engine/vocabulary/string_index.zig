//! What each token does inside a JSON string, so that most of a mask there is found without a look at the tokens.
//! A *plain* token is text that stands for itself; plain ones are grouped by their *alphabet*, the classes of
//! characters that they have, and where any text of some classes may stand, whole groups are legal. A *closer* is
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
const ByteTrie = @import("byte_trie.zig").ByteTrie;
const SharedCache = @import("../base/shared_cache.zig").SharedCache;

/// Classes of characters, by bit.
pub const Alphabet = u64;
/// The class of what is not ASCII.
pub const beyond_ascii: u6 = 63;

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
        0x00...0x1f, '"', '\\' => class.* = 62, // of no plain text
        else => {
            class.* = n;
            n += 1;
        },
    };
    break :blk classes;
};

/// Plain tokens with the same alphabet.
pub const Group = struct {
    alphabet: Alphabet,
    /// Of `members`.
    from: u32,
    to: u32,
    /// The same as a set, if they are many.
    words: ?bitmap.Words,
};

pub const Digits = struct { node: u32, token: i32 };

pub const Long = struct { token: i32, length: u16 };

pub const Closer = struct { token: i32, inner: u32 };

/// Groups of so many tokens are sets, too.
const set_min = 1024;
/// Plain tokens of more characters are few.
const reach_min = 32;
/// Tokens of more bytes are few.
pub const short_max = 24;

pub const StringIndex = struct {
    arena: Arena,
    plain: bitmap.Words,
    n_plain: u32,
    /// Characters of the longest plain token.
    longest: u32,
    /// All classes of plain tokens, and how many tokens have each.
    alphabet: Alphabet,
    weights: [64]u32,
    groups: []const Group,
    /// Plain tokens by group, the shorter ones first, and their numbers of characters.
    members: []const i32,
    lengths: []const u16,
    /// The plain tokens of more than `reach` characters, the longest first. No other token is longer in a string.
    long: []const Long,
    reach: u32,
    others: Texts,
    /// Tokens without a quote that have more than `short_max` bytes.
    outsized: []const i32,
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

    /// Of several alphabets, a larger one has more tokens, by and large.
    pub fn weightOf(index: *const StringIndex, alphabet: Alphabet) u64 {
        var sum: u64 = 0;
        var left = alphabet;
        while (left != 0) : (left &= left - 1) sum += index.weights[@ctz(left)];
        return sum;
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

    const Plain = struct {
        alphabet: Alphabet,
        length: u16,
        token: i32,

        fn isBefore(_: void, a: Plain, b: Plain) bool {
            if (a.alphabet != b.alphabet) return a.alphabet < b.alphabet;
            if (a.length != b.length) return a.length < b.length;
            return a.token < b.token;
        }
    };

    const Error = Allocator.Error || diagnostic.Error;

    fn tryBuild(index: *StringIndex, gpa: Allocator, tokens: *const Tokens, trie: *const ByteTrie, diag: *Diagnostic) Error!void {
        var arena_state: Arena = .init(gpa);
        errdefer arena_state.deinit();
        const arena = arena_state.allocator();
        var scratch: Arena = .init(gpa);
        defer scratch.deinit();
        var plain: ArrayList(Plain) = .empty;
        var others: ArrayList(Part) = .empty;
        var closing: ArrayList(Part) = .empty;
        var outsized: ArrayList(i32) = .empty;
        for (0..tokens.n) |number| {
            const token: i32 = @intCast(number);
            if (!tokens.isText(@intCast(number))) continue;
            const text = tokens.bytesOf(@intCast(number));
            const special = findSpecial(text);
            if (text.len > short_max and (special == .none or special == .other)) try outsized.append(arena, token);
            switch (special) {
                .none => try plain.append(scratch.allocator(), .{
                    .alphabet = alphabetOf(text),
                    .length = std.math.lossyCast(u16, nCharacters(text)),
                    .token = token,
                }),
                .quote => |at| try closing.append(scratch.allocator(), .{ .text = text[at..], .token = token, .inner = text[0..at] }),
                .other => try others.append(scratch.allocator(), .{ .text = text, .token = token }),
                .control => {},
            }
        }
        std.sort.pdq(Plain, plain.items, {}, Plain.isBefore);
        const words = try bitmap.alloc(arena, bitmap.wordsFor(tokens.n));
        bitmap.clear(words);
        const members = try arena.alloc(i32, plain.items.len);
        const lengths = try arena.alloc(u16, plain.items.len);
        var longest: u32 = 0;
        var alphabet: Alphabet = 0;
        var weights: [64]u32 = @splat(0);
        for (plain.items, members, lengths) |one, *member, *length| {
            bitmap.set(words, @intCast(one.token));
            member.* = one.token;
            length.* = one.length;
            longest = @max(longest, one.length);
            alphabet |= one.alphabet;
            for (&weights, 0..) |*weight, class| weight.* += @intFromBool(one.alphabet >> @intCast(class) & 1 != 0);
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
        index.* = .{
            .plain = words,
            .n_plain = @intCast(members.len),
            .longest = longest,
            .alphabet = alphabet,
            .weights = weights,
            .groups = try groupsOf(arena, plain.items, members, words.len),
            .members = members,
            .lengths = lengths,
            .long = try longOf(arena, plain.items, reach),
            .reach = reach,
            .others = try textsOf(arena, others.items, diag),
            .outsized = outsized.items,
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

    fn groupsOf(arena: Allocator, plain: []const Plain, members: []const i32, n_words: usize) Allocator.Error![]const Group {
        var groups: ArrayList(Group) = .empty;
        var from: usize = 0;
        for (plain, 1..) |one, to| {
            if (to < plain.len and plain[to].alphabet == one.alphabet) continue;
            var words: ?bitmap.Words = null;
            if (to - from >= set_min) {
                words = try bitmap.alloc(arena, n_words);
                bitmap.clear(words.?);
                for (members[from..to]) |token| bitmap.set(words.?, @intCast(token));
            }
            try groups.append(arena, .{ .alphabet = one.alphabet, .from = @intCast(from), .to = @intCast(to), .words = words });
            from = to;
        }
        return groups.items;
    }

    fn longOf(arena: Allocator, plain: []const Plain, reach: u32) Allocator.Error![]const Long {
        var long: ArrayList(Long) = .empty;
        for (plain) |one| if (one.length > reach) try long.append(arena, .{ .token = one.token, .length = one.length });
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

fn alphabetOf(plain: []const u8) Alphabet {
    var alphabet: Alphabet = 0;
    for (plain) |byte| alphabet |= @as(Alphabet, 1) << if (byte < 0x80) class_of[byte] else beyond_ascii;
    return alphabet;
}

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

test "plain tokens by their alphabets, closers by their rests, and others" {
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
    try std.testing.expectEqual(3, index.n_plain);
    try std.testing.expectEqual(2, index.longest);
    try std.testing.expectEqual(2, index.groups.len);
    try std.testing.expectEqualSlices(i32, &.{ 0, 11 }, index.members[index.groups[0].from..index.groups[0].to]);
    try std.testing.expectEqual(2, index.rests.tokens.n);
    try std.testing.expectEqualStrings("\",", index.rests.tokens.bytesOf(1));
    try std.testing.expectEqualSlices(i32, &.{ 1, 2, 10, 12 }, index.rests.of[index.rests.starts[0]..index.rests.starts[1]]);
    try std.testing.expectEqualStrings("\\\"", index.inners[index.closers[3].inner]);
    try std.testing.expectEqualSlices(i32, &.{ 4, 7, 8, 6 }, index.others.of);
    try std.testing.expectEqual(trie.find("a"), index.root['a']);
}
