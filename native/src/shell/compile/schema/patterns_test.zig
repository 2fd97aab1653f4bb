//! The automata of patterns against a matcher that is naive: sets of positions computed on the tree, where an
//! assertion is what ECMA-262 says of it.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const Arena = @import("engine").arena.Arena;
const testing = std.testing;
const engine = @import("engine");
const Diagnostic = engine.diagnostic.Diagnostic;
const Budget = engine.budget.Budget;
const ast = @import("../regex/ast.zig");
const ecmascript = @import("ecmascript.zig");
const marks = ecmascript.marks;
const patterns = @import("patterns.zig");
const nested = @import("../regex/dialects.zig").nested;

const Naive = struct {
    looks: []const ecmascript.Look,
    text: []const u8,

    /// Bit i of the result: the node can end at i if it begins at one of the positions of `from`.
    fn ends(n: Naive, node: *const ast.Node, from: u32) u32 {
        var at: u32 = 0;
        switch (node.*) {
            .empty => return from,
            .bytes => |bytes| for (0..n.text.len + 1) |i| {
                if (from >> @intCast(i) & 1 == 0) continue;
                if (bytes[0] >= 0xf5 or bytes[0] == 0xc0 or bytes[0] == 0xc1) {
                    if (n.holds(bytes[0], i)) at |= bit(i);
                } else if (std.mem.startsWith(u8, n.text[i..], bytes)) at |= bit(i + bytes.len);
            },
            .class => |ranges| for (0..n.text.len) |i| {
                if (from >> @intCast(i) & 1 == 0) continue;
                const length = std.unicode.utf8ByteSequenceLength(n.text[i]) catch continue;
                const character = std.unicode.utf8Decode(n.text[i..][0..length]) catch unreachable;
                for (ranges) |range| if (range.first <= character and character <= range.last) {
                    at |= bit(i + length);
                };
            },
            .concat => |children| {
                at = from;
                for (children) |child| at = n.ends(child, at);
            },
            .alternate => |children| for (children) |child| {
                at |= n.ends(child, from);
            },
            .repeat => |repeat| {
                var here = from;
                for (0..repeat.min) |_| here = n.ends(repeat.node, here);
                at = here;
                // More repetitions than there are positions add nothing.
                for (0..@min(n.text.len + 1, (repeat.max orelse 99) - repeat.min)) |_| {
                    here = n.ends(repeat.node, here);
                    at |= here;
                }
            },
            .automaton, .substring, .look => unreachable,
        }
        return at;
    }

    fn holds(n: Naive, mark: u8, at: usize) bool {
        return switch (mark) {
            marks.start => at == 0,
            marks.end => at == n.text.len,
            marks.boundary => n.isWord(at) != (at > 0 and n.isWord(at - 1)),
            marks.no_boundary => n.isWord(at) == (at > 0 and n.isWord(at - 1)),
            else => for (n.looks) |look| {
                if (look.mark != mark) continue;
                const found = if (look.behind) n.ends(look.node, n.anywhere()) & bit(at) != 0 else n.ends(look.node, bit(at)) != 0;
                break found != look.negated;
            } else unreachable,
        };
    }

    fn isWord(n: Naive, at: usize) bool {
        return at < n.text.len and (std.ascii.isAlphanumeric(n.text[at]) or n.text[at] == '_');
    }

    fn anywhere(n: Naive) u32 {
        var all: u32 = bit(n.text.len);
        for (n.text, 0..) |byte, i| if (byte & 0xc0 != 0x80) {
            all |= bit(i);
        };
        return all;
    }

    fn bit(i: usize) u32 {
        return @as(u32, 1) << @intCast(i);
    }
};

const letters = [_][]const u8{ "a", "b", "-", "\u{e9}" };

fn generate(random: std.Random, out: *ArrayList(u8), gpa: std.mem.Allocator, depth: usize) !void {
    const leaves = [_][]const u8{ "a", "b", "-", "\u{e9}", "^", "$", "\\b", "\\B", ".", "\\w", "[^a]", "[ab]", "" };
    const opens = [_][]const u8{ "(", "(?:", "(?=", "(?!", "(?<=", "(?<!" };
    switch (random.uintLessThan(u8, if (depth == 0) 2 else 8)) {
        0, 1 => try out.appendSlice(gpa, leaves[random.uintLessThan(usize, leaves.len)]),
        2, 3, 4 => {
            try generate(random, out, gpa, depth - 1);
            try generate(random, out, gpa, depth - 1);
        },
        5 => {
            try out.appendSlice(gpa, opens[random.uintLessThan(usize, opens.len)]);
            try generate(random, out, gpa, depth - 1);
            try out.append(gpa, ')');
        },
        6 => {
            try out.append(gpa, '(');
            try generate(random, out, gpa, depth - 1);
            try out.append(gpa, '|');
            try generate(random, out, gpa, depth - 1);
            try out.append(gpa, ')');
        },
        else => {
            try out.append(gpa, '(');
            try generate(random, out, gpa, depth - 1);
            try out.append(gpa, ')');
            try out.appendSlice(gpa, ([_][]const u8{ "*", "+", "?", "{2}", "{1,3}?", "{0,2}" })[random.uintLessThan(usize, 6)]);
        },
    }
}

test "random patterns match what a naive matcher finds" {
    const gpa = testing.allocator;
    var prng: std.Random.DefaultPrng = .init(12);
    for (0..300) |_| {
        var arena: Arena = .init(gpa);
        defer arena.deinit();
        var text: ArrayList(u8) = .empty;
        try generate(prng.random(), &text, arena.allocator(), 5);
        errdefer std.debug.print("pattern: {s}\n", .{text.items});
        var budget: Budget = .{};
        var diag: Diagnostic = .{};
        const tree = ecmascript.parse(arena.allocator(), text.items, &budget, &diag) catch |err| {
            if (diag.status == .limit) continue; // many look-aheads
            return err;
        };
        var dfa = try patterns.compile(gpa, arena.allocator(), text.items, &budget, &diag);
        defer dfa.deinit(gpa);
        for (0..4 * 4 * 4 * 4) |number| for (0..5) |n| {
            var string: [8]u8 = undefined;
            var length: usize = 0;
            for (0..n) |i| {
                const letter = letters[number >> @intCast(2 * i) & 3];
                @memcpy(string[length..][0..letter.len], letter);
                length += letter.len;
            }
            const naive: Naive = .{ .looks = tree.looks, .text = string[0..length] };
            errdefer std.debug.print("string: {s}\n", .{string[0..length]});
            try testing.expectEqual(naive.ends(tree.node, naive.anywhere()) != 0, patterns.accepts(&dfa, string[0..length]));
        };
    }
}

const Case = struct { pattern: []const u8, matching: []const []const u8 = &.{}, others: []const []const u8 = &.{} };

test "patterns are those of ECMA-262 and match anywhere" {
    for ([_]Case{
        .{ .pattern = "a|b$", .matching = &.{ "xay", "b", "xb" }, .others = &.{ "", "by" } },
        .{ .pattern = "^a|b$", .matching = &.{ "ax", "xb" }, .others = &.{ "xa", "bx" } },
        .{ .pattern = "^(?:a|b)$", .matching = &.{ "a", "b" }, .others = &.{ "aa", "a\n", "\na" } },
        .{ .pattern = "", .matching = &.{ "", "x" } },
        .{ .pattern = "a^b", .others = &.{ "ab", "a\nb" } },
        .{ .pattern = "^[\\d]+$", .matching = &.{"0"}, .others = &.{ "\u{966}", "a" } },
        .{ .pattern = "^\\w$", .matching = &.{ "_", "k" }, .others = &.{ "\u{e9}", "\u{212a}" } },
        .{ .pattern = "^\\s$", .matching = &.{ "\u{feff}", "\u{2029}", "\u{a0}", "\x0b" }, .others = &.{ "\u{85}", "\u{200b}" } },
        .{ .pattern = "^.$", .matching = &.{ "\u{1f600}", "\u{85}" }, .others = &.{ "\n", "\r", "\u{2028}" } },
        .{ .pattern = "^\\ud83d\\ude00\\u00e9\\u{1F600}$", .matching = &.{"\u{1f600}\u{e9}\u{1f600}"} },
        .{ .pattern = "^[\\ud83d\\ude00]$", .matching = &.{"\u{1f600}"} },
        .{ .pattern = "\\ud83d|[\\ud800-\\udfff]", .others = &.{ "\u{1f600}", "" } },
        .{ .pattern = "^\\x41\\cJ\\0\\t\\v$", .matching = &.{"A\n\x00\t\x0b"} },
        .{ .pattern = "^[\\ud83d\\ndc00]$", .matching = &.{ "\n", "d", "0" }, .others = &.{"\u{1f400}"} },
        .{ .pattern = "^[\\d-x]$", .matching = &.{ "1", "-", "x" }, .others = &.{ "y", "" } },
        .{ .pattern = "^[\\b\\-\\w-.]+$", .matching = &.{"\x08-a."}, .others = &.{","} },
        .{ .pattern = "^\\p{Lu}\\P{gc=Lu}\\p{Script=Greek}\\p{ASCII}$", .matching = &.{"Aa\u{3b1}a"}, .others = &.{"AA\u{3b1}a"} },
        .{ .pattern = "^\\p{Emoji}\\P{Alpha}\\p{scx=Hira}$", .matching = &.{"1-\u{30fc}"}, .others = &.{ "a-\u{30fc}", "1a\u{30fc}" } },
        .{ .pattern = "^\\p{digit}\\p{Assigned}\\p{gc=punct}$", .matching = &.{"\u{9ea}a!"}, .others = &.{"\u{9ea}\u{378}!"} },
        .{ .pattern = "^[]$|^[^]$", .matching = &.{"\n"}, .others = &.{""} },
        .{ .pattern = "^a\\-{x}{1,b]}$", .matching = &.{"a-{x}{1,b]}"} },
        .{ .pattern = "^(?<year>\\d{4})-(?:0[1-9])??$", .matching = &.{ "2020-", "2020-09" }, .others = &.{"2020-00"} },
        .{ .pattern = "^(?<_$1a>a)(?<\u{400}>b)$", .matching = &.{"ab"}, .others = &.{"a"} },
        .{ .pattern = "^(?!foo|.*bar$)[a-z]+$", .matching = &.{ "xfoo", "barx" }, .others = &.{ "foox", "xbar", "" } },
        .{ .pattern = "^(?=.*\\d)(?=.*[a-z]).{3,}$", .matching = &.{"--1a"}, .others = &.{ "1a", "--11" } },
        .{ .pattern = "(?<!-)\\bfoo\\b", .matching = &.{ "a foo.", "foo" }, .others = &.{ "-foo", "food" } },
        .{ .pattern = "(?:(?=ab)a|b){2}$", .matching = &.{ "ab", "bb" }, .others = &.{ "aab ", "ba" } },
    }) |case| {
        const gpa = testing.allocator;
        var arena: Arena = .init(gpa);
        defer arena.deinit();
        var budget: Budget = .{};
        var diag: Diagnostic = .{};
        errdefer std.debug.print("{s}: {s}\n", .{ case.pattern, diag.message() });
        var dfa = try patterns.compile(gpa, arena.allocator(), case.pattern, &budget, &diag);
        defer dfa.deinit(gpa);
        for (case.matching) |text| try testing.expect(patterns.accepts(&dfa, text));
        for (case.others) |text| try testing.expect(!patterns.accepts(&dfa, text));
    }
}

test "what is no pattern, or not regular, is an error that says where" {
    const gpa = testing.allocator;
    for ([_][2][]const u8{
        .{ "(a", "at byte 0: this group is not closed" },
        .{ "a)", "at byte 1: ')' closes no group" },
        .{ "a|*", "at byte 2: nothing to repeat" },
        .{ "a**", "at byte 2: nothing to repeat" },
        .{ "^*", "at byte 1: nothing to repeat" },
        .{ "{2}", "at byte 0: nothing to repeat" },
        .{ "a{3,2}", "at byte 1: the bounds of this repeat are the wrong way round" },
        .{ "(a)\\1", "at byte 3: back-references are not regular: unsupported" },
        .{ "(?<x>a)\\k<x>", "at byte 7: back-references are not regular: unsupported" },
        .{ "(?i)a", "at byte 0: ECMAScript patterns have no flags, such as (?i): write [Aa] for both cases, [^] for any character" },
        .{ "(?i:a)", "at byte 0: ECMAScript patterns have no flags, such as (?i): write [Aa] for both cases, [^] for any character" },
        .{ "a(?P<x>b)", "at byte 1: ECMAScript has no (?P<name>...): write (?<name>...)" },
        .{ "(?<x>b)(?P=x)", "at byte 7: back-references are not regular: unsupported" },
        .{ "(?#a)b", "at byte 0: ECMAScript patterns have no comments: leave it out" },
        .{ "(?>a)", "at byte 0: ECMAScript has no atomic groups: write (?:...) if the texts are the same" },
        .{ "(?|a)", "at byte 0: unknown kind of group" },
        .{ "a++", "at byte 2: ECMAScript has no possessive repeats: leave out the '+' if the texts are the same" },
        .{ "a{,3}", "at byte 1: a repeat needs a lower bound: write {0,3}" },
        .{ "a{,}", "at byte 1: a repeat needs bounds: write * for any number" },
        .{ "[[:alpha:]]", "at byte 1: this is a POSIX class: write [A-Za-z]" },
        .{ "x[_[:space:]]", "at byte 3: this is a POSIX class: write [\\s]" },
        .{ "[:digit:]", "at byte 0: this is a POSIX class: write [0-9]" },
        .{ "[a-z&&[^b]]", "at byte 0: " ++ nested },
        .{ "[[a-z]]", "at byte 0: " ++ nested },
        .{ "a[^]b]", "at byte 1: a class ends at its first ']': write '\\]' for the character" },
        .{ "[]b]", "at byte 0: a class ends at its first ']': write '\\]' for the character" },
        .{ "\\A", "at byte 0: ECMAScript has no \\A: write ^" },
        .{ "\\h", "at byte 0: ECMAScript has no \\h: write [ \\t]" },
        .{ "\\K", "at byte 0: unknown escape" },
        .{ "(?<1>a)", "at byte 0: a group's name is letters, digits, '_' and '$', and closed by '>'" },
        .{ "(?<a\x7f>a)", "at byte 0: a group's name is letters, digits, '_' and '$', and closed by '>'" },
        .{ "\u{e9}[z-a]", "at byte 3: the ends of this range are the wrong way round" },
        .{ "[a", "at byte 0: this class is not closed" },
        .{ "\\a", "at byte 0: ECMAScript has no \\a: write \\x07" },
        .{ "\\Z", "at byte 0: ECMAScript has no \\Z: write $" },
        .{ "\\", "at byte 0: a '\\' at the end of the pattern" },
        .{ "\\01", "at byte 0: octal escapes are unsupported: write \\xHH" },
        .{ "\\xg0", "at byte 0: this escape needs 2 hexadecimal digits" },
        .{ "\\u12", "at byte 0: this escape needs 4 hexadecimal digits" },
        .{ "\\u{110000}", "at byte 0: there is no character after U+10FFFF" },
        .{ "\\u{1", "at byte 0: this escape needs hexadecimal digits in braces" },
        .{ "\\c1", "at byte 0: \\c needs a letter" },
        .{ "\\pL", "at byte 0: a property's name is in braces, as in \\p{L}" },
        .{ "\\p{RGI_Emoji}", "at byte 0: no property of characters is called \"RGI_Emoji\"" },
        .{ "\\p{Greek}", "at byte 0: no property of characters is called \"Greek\"" },
        .{ "a\xff", "the pattern is not valid UTF-8" },
        .{ &@as([101]u8, @splat('(')), "at byte 100: groups are nested deeper than 100" },
        .{ "(?=a)(?=a)(?=a)(?=a)(?=a)(?=a)(?=a)(?=a)(?=a)(?=a)", "at byte 45: more than 9 look-aheads and look-behinds" },
        .{ "a{99999999999}", "at byte 1: a bound of this repeat is too large" },
    }) |case| {
        var arena: Arena = .init(gpa);
        defer arena.deinit();
        var budget: Budget = .{};
        var diag: Diagnostic = .{};
        errdefer std.debug.print("{s}\n", .{case[0]});
        try testing.expectError(error.Failed, patterns.compile(gpa, arena.allocator(), case[0], &budget, &diag));
        try testing.expectEqualStrings(case[1], diag.message());
    }
}
