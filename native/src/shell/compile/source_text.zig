//! What all notations of grammars ask of a text.

const std = @import("std");
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Place = @import("bnf.zig").Place;

/// ELIZA_GRAMMAR_BYTES_MAX of the header.
pub const bytes_max = 16 << 20;

/// Fails if the text is too long, is not UTF-8, or has a byte order mark or a zero byte. ELIZA_ERR_LIMIT,
/// ELIZA_ERR_GRAMMAR; the message begins with the place.
pub fn check(text: []const u8, diag: *Diagnostic) diagnostic.Error!void {
    if (text.len > bytes_max) return diag.fail(.limit, "1:1: the grammar is longer than {d} bytes", .{bytes_max});
    if (std.mem.startsWith(u8, text, "\u{feff}")) return failAt(text, 0, "a byte order mark", diag);
    if (std.mem.findScalar(u8, text, 0)) |at| return failAt(text, at, "a zero byte", diag);
    if (std.unicode.utf8ValidateSlice(text)) return;
    var at: usize = 0;
    while (true) {
        const length = std.unicode.utf8ByteSequenceLength(text[at]) catch break;
        if (at + length > text.len or !std.unicode.utf8ValidateSlice(text[at..][0..length])) break;
        at += length;
    }
    return failAt(text, at, "invalid UTF-8", diag);
}

fn failAt(text: []const u8, at: usize, what: []const u8, diag: *Diagnostic) diagnostic.Error {
    var place: Place = .{ .line = 1, .column = 1 };
    for (text[0..at]) |byte| {
        if (byte == '\n') {
            place.line += 1;
            place.column = 1;
        } else if (byte & 0xc0 != 0x80) place.column += 1;
    }
    return diag.fail(.grammar, "{d}:{d}: {s}", .{ place.line, place.column, what });
}
