//! What all notations of grammars ask of a text.

const std = @import("std");
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Place = @import("bnf.zig").Place;
const Import = @import("bnf.zig").Import;
const firstInvalid = @import("utf8_text.zig").firstInvalid;

/// ELIZA_GRAMMAR_BYTES_MAX of the header.
pub const bytes_max = 16 << 20;

/// Fails if the text is too long, is not UTF-8, or has a byte order mark or a zero byte. ELIZA_ERR_LIMIT,
/// ELIZA_ERR_GRAMMAR; the message begins with the place.
pub fn check(text: []const u8, within: ?*const Import, diag: *Diagnostic) diagnostic.Error!void {
    const start: Place = .{ .line = 1, .column = 1, .within = within };
    if (text.len > bytes_max) return diag.fail(.limit, "{f}: the grammar is longer than {d} bytes", .{ start, bytes_max });
    if (std.mem.startsWith(u8, text, "\u{feff}")) return failAt(start, "", "a byte order mark", diag);
    if (std.mem.findScalar(u8, text, 0)) |at| return failAt(start, text[0..at], "a zero byte", diag);
    if (firstInvalid(text)) |at| return failAt(start, text[0..at], "invalid UTF-8", diag);
}

/// The place behind `text`, which begins at `start`.
pub fn behind(start: Place, text: []const u8) Place {
    var place = start;
    for (text) |byte| {
        if (byte == '\n') {
            place.line += 1;
            place.column = 1;
        } else if (byte & 0xc0 != 0x80) place.column += 1;
    }
    return place;
}

/// Fails with the same message as before, after a place.
pub fn failAgain(place: Place, diag: *Diagnostic) diagnostic.Error {
    var buffer: [Diagnostic.message_bytes_max]u8 = undefined;
    const before = buffer[0..diag.message().len];
    @memcpy(before, diag.message());
    return diag.fail(diag.status, "{f}: {s}", .{ place, before });
}

fn failAt(start: Place, before: []const u8, what: []const u8, diag: *Diagnostic) diagnostic.Error {
    const place = behind(start, before);
    return diag.fail(.grammar, "{f}: {s}", .{ place, what });
}

test "what is not UTF-8 is an error at its first byte" {
    for ([_]struct { []const u8, []const u8 }{
        .{ "\xff", "1:1: " },
        .{ "\u{e9}\u{e9}\xff", "1:3: " },
        .{ "a\n\u{20ac}\xe2\x82", "2:2: " },
    }) |case| {
        var diag: Diagnostic = .{};
        try std.testing.expectError(error.Failed, check(case[0], null, &diag));
        try std.testing.expectStringStartsWith(diag.message(), case[1]);
    }
}
