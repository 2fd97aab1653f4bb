//! Variables of the process's environment.

const std = @import("std");
const builtin = @import("builtin");

/// The value of a variable, which may be lent by the system or lie in `buffer`. Null if it is not set, on Windows also if it
/// is longer than the buffer. UTF-8, whatever code page a process on Windows has.
pub fn get(comptime name: [:0]const u8, buffer: []u8) ?[]const u8 {
    if (builtin.cpu.arch.isWasm()) return null;
    if (builtin.os.tag != .windows) return std.mem.span(std.c.getenv(name) orelse return null);
    var wide: [4096]u16 = undefined;
    const length = GetEnvironmentVariableW(std.unicode.utf8ToUtf16LeStringLiteral(name), &wide, wide.len);
    if (length == 0 or length >= wide.len or std.unicode.calcWtf8Len(wide[0..length]) > buffer.len) return null;
    return buffer[0..std.unicode.wtf16LeToWtf8(buffer, wide[0..length])];
}

extern "kernel32" fn GetEnvironmentVariableW([*:0]const u16, [*]u16, u32) callconv(.winapi) u32;

test "a variable that is set, and one that is not" {
    var buffer: [4096]u8 = undefined;
    try std.testing.expect(get("PATH", &buffer).?.len > 0);
    try std.testing.expectEqual(null, get("ELIZA_NO_SUCH_VARIABLE", &buffer));
}
