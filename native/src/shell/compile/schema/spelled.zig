//! Strings that are spelled without some texts, as patterns over their contents.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const message = @import("message");
const escapes = @import("engine").schema_escapes;

/// After the backslash, of all that canonical texts have.
pub const escape_letters = "\"\\bfnrtu";

/// Of strings in JSON: between the quotes of their canonical text there is none of `texts`, and no escape of `refused`
/// (numbers in `escape_letters`).
pub fn inDocuments(arena: Allocator, texts: []const []const u8, refused: u8) Allocator.Error![]const u8 {
    var w: Writer = .{ .arena = arena };
    for (texts) |text| {
        try w.add(null, text);
        for (escapes.canonical) |one| {
            var buffer: [6]u8 = undefined;
            const spelled = message.print(&buffer, "\\{s}", .{one.escape});
            for (1..spelled.len) |from| {
                const n = @min(spelled.len - from, text.len);
                if (std.mem.eql(u8, spelled[from..][0..n], text[0..n])) try w.add(one.character, text[n..]);
            }
        }
    }
    var others: ArrayList(u8) = .empty;
    for (escapes.canonical) |one| {
        const letter = std.mem.findScalar(u8, escape_letters, one.escape[0]).?;
        if (refused >> @intCast(letter) & 1 != 0) try appendByte(arena, &others, one.character);
    }
    return w.finish(others.items);
}

/// Of strings that stand as they are.
pub fn asTheyAre(arena: Allocator, texts: []const []const u8) Allocator.Error![]const u8 {
    var w: Writer = .{ .arena = arena };
    for (texts) |text| {
        var way: ArrayList(u8) = .empty;
        for (text) |byte| try appendByte(arena, &way, byte);
        try w.ways.append(arena, way.items);
    }
    return w.finish("");
}

const Writer = struct {
    arena: Allocator,
    /// Patterns of contents that are spelled with one of the texts.
    ways: ArrayList([]const u8) = .empty,

    /// Adds what is spelled with `text`, after a character whose escape may have ended before it; nothing, if nothing is.
    fn add(w: *Writer, first: ?u8, text: []const u8) Allocator.Error!void {
        var way: ArrayList(u8) = .empty;
        if (first) |character| try appendByte(w.arena, &way, character);
        var rest = text;
        while (rest.len > 0) {
            if (rest[0] == '\\') {
                rest = try w.addEscape(&way, rest[1..]) orelse return;
                continue;
            }
            if (rest[0] < ' ' or rest[0] == '"') return;
            try appendByte(w.arena, &way, rest[0]);
            rest = rest[1..];
        }
        try w.ways.append(w.arena, way.items);
    }

    /// Of an escape, after the backslash, which may continue after the text. Returns what is left; null if there is none.
    fn addEscape(w: *Writer, way: *ArrayList(u8), text: []const u8) Allocator.Error!?[]const u8 {
        var n: usize = 0;
        var left: []const u8 = "";
        try way.append(w.arena, '[');
        for (escapes.canonical) |one| {
            const len = @min(one.escape.len, text.len);
            if (!std.mem.eql(u8, one.escape[0..len], text[0..len])) continue;
            try appendByte(w.arena, way, one.character);
            left = text[len..];
            n += 1;
        }
        try way.append(w.arena, ']');
        return if (n == 0) null else left;
    }

    /// `others` are no characters of the string either.
    fn finish(w: *const Writer, others: []const u8) Allocator.Error![]const u8 {
        const ways = try std.mem.join(w.arena, "|", w.ways.items);
        const open: []const u8, const close: []const u8 = if (ways.len == 0) .{ "", "" } else .{ "(?![^]*(?:", "))" };
        return std.mem.concat(w.arena, u8, &.{ "^", open, ways, close, "[^", others, "]*$" });
    }
};

fn appendByte(arena: Allocator, to: *ArrayList(u8), byte: u8) Allocator.Error!void {
    var buffer: [4]u8 = undefined;
    try to.appendSlice(arena, if (byte >= 0x80) &.{byte} else message.print(&buffer, "\\x{x:0>2}", .{byte}));
}

test "texts that an escape begins or ends with, or that are within one" {
    const Arena = @import("engine").arena.Arena;
    var arena: Arena = .init(std.testing.allocator);
    defer arena.deinit();
    const cases = [_]struct { []const []const u8, u8, []const u8 }{
        .{ &.{}, 0, "^[^]*$" },
        .{ &.{}, 1, "^[^\\x22]*$" },
        .{ &.{"<"}, 0, "^(?![^]*(?:\\x3c))[^]*$" },
        .{ &.{"\n"}, 0, "^[^]*$" },
        .{ &.{ "\"", "\"a" }, 0, "^(?![^]*(?:\\x22|\\x22\\x61))[^]*$" },
        .{ &.{"ta"}, 0, "^(?![^]*(?:\\x74\\x61|\\x09\\x61))[^]*$" },
        .{ &.{"a\\t"}, 0, "^(?![^]*(?:\\x61[\\x09]|\\x1a[\\x09]))[^]*$" },
        .{ &.{"é\\u001"}, 0, "^(?![^]*(?:é[\\x10\\x11\\x12\\x13\\x14\\x15\\x16\\x17\\x18\\x19\\x1a\\x1b\\x1c\\x1d\\x1e\\x1f]))[^]*$" },
    };
    for (cases) |case| {
        try std.testing.expectEqualStrings(case[2], try inDocuments(arena.allocator(), case[0], case[1]));
    }
    try std.testing.expectEqualStrings("^(?![^]*(?:\\x22|\\x5cé))[^]*$", try asTheyAre(arena.allocator(), &.{ "\"", "\\é" }));
}
