//! Why a call failed: a status and a message, carried from where it happened up to the C boundary.
//! It lives on the caller's stack or in a handle and allocates nothing, so it works out of memory.

const std = @import("std");
const Status = @import("status.zig").Status;
const message_module = @import("message");

/// Every failure that has been written down in a Diagnostic.
pub const Error = error{Failed};

pub const Diagnostic = struct {
    status: Status = .ok,
    len: usize = 0,
    /// Means something up to `len`.
    buffer: [message_bytes_max:0]u8 = undefined,

    /// Longer messages are cut at a character.
    pub const message_bytes_max = 1023;

    pub inline fn fail(d: *Diagnostic, status: Status, comptime format: []const u8, args: anytype) Error {
        return d.failErased(status, format, &message_module.erase(format, &args));
    }

    noinline fn failErased(d: *Diagnostic, status: Status, format: []const u8, args: []const message_module.Argument) Error {
        @branchHint(.cold);
        d.status = status;
        d.len = message_module.printErased(d.buffer[0..message_bytes_max], format, args).len;
        d.buffer[d.len] = 0;
        return error.Failed;
    }

    pub noinline fn outOfMemory(d: *Diagnostic) Error {
        @branchHint(.cold);
        return d.fail(.oom, "out of memory", .{});
    }

    pub fn clear(d: *Diagnostic) void {
        d.status = .ok;
        d.len = 0;
    }

    pub fn message(d: *const Diagnostic) [:0]const u8 {
        return if (d.len == 0) "" else d.buffer[0..d.len :0];
    }
};

/// Prints text from outside within double quotes: control characters escaped, at most `shown_max`
/// bytes of it.
pub fn quoted(text: []const u8) std.fmt.Alt([]const u8, printQuoted) {
    return .{ .data = text };
}

const shown_max = 64;

fn printQuoted(text: []const u8, writer: *std.Io.Writer) std.Io.Writer.Error!void {
    const shown = text[0..message_module.wholeCharacters(text[0..@min(text.len, shown_max)])];
    try writer.writeByte('"');
    for (shown) |byte| switch (byte) {
        '"', '\\' => try writer.print("\\{c}", .{byte}),
        0...0x1f, 0x7f => try writer.print("\\u{x:0>4}", .{byte}),
        else => try writer.writeByte(byte),
    };
    if (shown.len < text.len) try writer.writeAll("...");
    try writer.writeByte('"');
}

test "a message keeps status and text" {
    var d: Diagnostic = .{};
    try std.testing.expectEqual(error.Failed, d.fail(.limit, "{d} is too many", .{7}));
    try std.testing.expectEqual(Status.limit, d.status);
    try std.testing.expectEqualStrings("7 is too many", d.message());
}

test "a long message is cut at a character" {
    var d: Diagnostic = .{};
    const euros: [500][3]u8 = @splat("\u{20ac}".*);
    d.fail(.payload, "x{s}", .{std.mem.sliceAsBytes(&euros)}) catch {};
    try std.testing.expect(d.len > Diagnostic.message_bytes_max - 4);
    try std.testing.expect(std.unicode.utf8ValidateSlice(d.message()));
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
