//! Formatting of messages with the argument types erased: one formatter serves every message of the library.
//! The standard library's would be compiled again for each, a fifth of the code.

const std = @import("std");
const Writer = std.Io.Writer;

/// One argument of a message. Lends what it points to.
pub const Argument = union(enum) {
    text: []const u8,
    signed: i64,
    unsigned: u64,
    /// A value with a `format` method.
    other: struct { value: *const anyopaque, print: *const fn (*const anyopaque, *Writer) Writer.Error!void },

    inline fn of(arg: anytype) Argument {
        return switch (@typeInfo(@TypeOf(arg))) {
            .comptime_int => .{ .signed = arg },
            .int => |int| if (int.signedness == .signed) .{ .signed = arg } else .{ .unsigned = arg },
            .@"enum" => .{ .text = @tagName(arg) },
            .pointer => |pointer| if (@typeInfo(pointer.child) == .@"struct")
                .{ .other = .{ .value = arg, .print = printerOf(pointer.child) } }
            else
                .{ .text = if (@TypeOf(arg) == [*:0]const u8) std.mem.span(arg) else arg },
            else => comptime unreachable,
        };
    }

    fn printerOf(comptime T: type) *const fn (*const anyopaque, *Writer) Writer.Error!void {
        return struct {
            fn print(value: *const anyopaque, writer: *Writer) Writer.Error!void {
                const typed: *const T = @ptrCast(@alignCast(value));
                return typed.format(writer);
            }
        }.print;
    }
};

/// Formats as `std.Io.Writer.print` does, for the placeholders {s}, {d}, {t}, {f} and {x:0>2}.
/// Returns the part of `buffer` that was written: valid UTF-8, cut at a character if the buffer is full.
pub inline fn print(buffer: []u8, comptime format: []const u8, args: anytype) []u8 {
    return printErased(buffer, terminated(format), &erase(format, &args));
}

/// As `print`, for a `format` method that writes part of a message.
pub inline fn write(writer: *Writer, comptime format: []const u8, args: anytype) Writer.Error!void {
    return writeErased(writer, terminated(format), &erase(format, &args));
}

/// The format argument of `printErased`.
pub inline fn terminated(comptime format: []const u8) [*:0]const u8 {
    return format ++ "";
}

/// The `args` argument of `printErased`. Points into `args`, which must be addressable until then.
pub inline fn erase(comptime format: []const u8, args: anytype) [args.len]Argument {
    comptime std.debug.assert(std.mem.count(u8, format, "{") == args.len);
    var erased: [args.len]Argument = undefined;
    inline for (&erased, 0..) |*to, i| {
        to.* = .of(if (@typeInfo(@TypeOf(args[i])) == .@"struct") &args[i] else args[i]);
    }
    return erased;
}

/// For {f}: text from outside in double quotes, control characters escaped, cut after `shown_max` bytes. Lends
/// the text.
pub fn quoted(text: []const u8) std.fmt.Alt([]const u8, printQuoted) {
    return .{ .data = text };
}

const shown_max = 64;

fn printQuoted(text: []const u8, writer: *Writer) Writer.Error!void {
    const shown = text[0..wholeCharacters(text[0..@min(text.len, shown_max)])];
    try writer.writeByte('"');
    for (shown) |byte| switch (byte) {
        '"', '\\' => try writer.writeAll(&.{ '\\', byte }),
        0...0x1f, 0x7f => try write(writer, "\\u00{x:0>2}", .{byte}),
        else => try writer.writeByte(byte),
    };
    if (shown.len < text.len) try writer.writeAll("...");
    try writer.writeByte('"');
}

/// Length of `text` without a UTF-8 character that its end cuts in two.
pub fn wholeCharacters(text: []const u8) usize {
    var start = text.len;
    while (start > 0 and text.len - start < 4) {
        start -= 1;
        if (text[start] & 0xc0 == 0x80) continue;
        const length = std.unicode.utf8ByteSequenceLength(text[start]) catch return text.len;
        return if (start + length > text.len) start else text.len;
    }
    return text.len;
}

/// `print` for callers that erase their arguments themselves. `args` has one argument for each placeholder.
pub noinline fn printErased(buffer: []u8, format: [*:0]const u8, args: [*]const Argument) []u8 {
    @branchHint(.cold);
    var writer: Writer = .fixed(buffer);
    writeErased(&writer, format, args) catch {}; // full
    const written = writer.buffered();
    const whole = written[0..wholeCharacters(written)];
    replaceInvalid(whole);
    return whole;
}

noinline fn writeErased(writer: *Writer, format: [*:0]const u8, args: [*]const Argument) Writer.Error!void {
    var rest: []const u8 = std.mem.span(format);
    var next = args;
    while (std.mem.findScalar(u8, rest, '{')) |open| : (next += 1) {
        const close = std.mem.findScalarPos(u8, rest, open, '}').?;
        try writer.writeAll(rest[0..open]);
        try writeOne(writer, rest[open + 1], next[0]);
        rest = rest[close + 1 ..];
    }
    try writer.writeAll(rest);
}

/// Bytes that are not UTF-8 become question marks, and so do zeros: every binding can read the message, and C all of it.
fn replaceInvalid(text: []u8) void {
    var i: usize = 0;
    while (i < text.len) {
        const length = std.unicode.utf8ByteSequenceLength(text[i]) catch 1;
        const end = @min(i + length, text.len);
        if (text[i] != 0 and std.unicode.utf8ValidateSlice(text[i..end])) {
            i = end;
        } else {
            text[i] = '?';
            i += 1;
        }
    }
}

fn writeOne(writer: *Writer, placeholder: u8, arg: Argument) Writer.Error!void {
    switch (arg) {
        .text => |text| try writer.writeAll(text),
        .signed => |number| {
            if (number < 0) try writer.writeByte('-');
            try writeNumber(writer, @abs(number), 10, 1);
        },
        .unsigned => |number| if (placeholder == 'x')
            try writeNumber(writer, number, 16, 2)
        else
            try writeNumber(writer, number, 10, 1),
        .other => |other| try other.print(other.value, writer),
    }
}

fn writeNumber(writer: *Writer, number: u64, base: u8, digits_min: usize) Writer.Error!void {
    var digits: [20]u8 = undefined; // the largest number has 20
    var n: usize = 0;
    var rest = number;
    while (rest > 0 or n < digits_min) : (rest /= base) {
        n += 1;
        digits[digits.len - n] = "0123456789abcdef"[@intCast(rest % base)];
    }
    try writer.writeAll(digits[digits.len - n ..]);
}

test "messages read as the standard library would write them" {
    const Place = struct {
        at: u32,

        pub fn format(place: @This(), writer: *Writer) Writer.Error!void {
            try writer.print("<{d}>", .{place.at});
        }
    };
    const name: [*:0]const u8 = "name";
    var place: Place = .{ .at = 5 };
    place.at += 1;
    const args = .{ "text", @as(u8, 10), @as(i32, -3), 0, place, @as(std.math.Order, .lt), name, @as(u64, std.math.maxInt(u64)) };
    const format = "{s} 0x{x:0>2} {d}, {d} {f} {t} {s} {d}.";
    var expected: [96]u8 = undefined;
    var found: [96]u8 = undefined;
    try std.testing.expectEqualStrings(try std.fmt.bufPrint(&expected, format, args), print(&found, format, args));
}

test "a message is UTF-8, whatever it quotes and wherever it is cut" {
    var buffer: [8]u8 = undefined;
    try std.testing.expectEqualStrings("?a???\u{e9}", print(&buffer, "{s}", .{"\xffa\xe2\x82\xc3\u{e9}"}));
    try std.testing.expectEqualStrings("?a", print(&buffer, "{s}", .{"\x00a"}));
    try std.testing.expectEqualStrings("abcdef", print(&buffer, "{s}", .{"abcdef\u{20ac}"}));
}

test "quoted text is short and printable" {
    var buffer: [256]u8 = undefined;
    const text = try std.fmt.bufPrint(&buffer, "{f}", .{quoted("a\"b\n\u{e9}")});
    try std.testing.expectEqualStrings("\"a\\\"b\\u000a\u{e9}\"", text);
    const euros: [50][3]u8 = @splat("\u{20ac}".*);
    const long = try std.fmt.bufPrint(&buffer, "{f}", .{quoted(std.mem.sliceAsBytes(&euros))});
    try std.testing.expectEqual(1 + 21 * 3 + 4, long.len);
    try std.testing.expect(std.mem.endsWith(u8, long, "\u{20ac}...\""));
}
