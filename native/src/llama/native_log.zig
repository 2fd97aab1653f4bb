//! What libllama logs: warnings and errors go to this library's log, and the last error is kept,
//! since its functions report a failure as a null pointer and the reason only there.

const std = @import("std");
const log = @import("../platform/log.zig");
const Mutex = @import("../platform/mutex.zig").Mutex;

const level_warn = 3;
const level_error = 4;

pub fn receive(level: c_int, text: [*:0]const u8, _: ?*anyopaque) callconv(.c) void {
    if (level != level_warn and level != level_error) return;
    const message = std.mem.trim(u8, std.mem.span(text), " \r\n");
    if (message.len == 0) return;
    if (level == level_error) keep(message);
    log.write(if (level == level_error) .err else .warn, "libllama: {s}", .{message});
}

/// Call before a function that may fail.
pub fn forget() void {
    mutex.lock();
    defer mutex.unlock();
    last_len = 0;
}

/// The last error since `forget`, copied to `buffer`; "no reason was logged" if there was none.
/// Calls on several threads at once may see each other's.
pub fn reason(buffer: *[reason_bytes_max]u8) []const u8 {
    mutex.lock();
    defer mutex.unlock();
    if (last_len == 0) return "no reason was logged";
    @memcpy(buffer[0..last_len], last[0..last_len]);
    return buffer[0..last_len];
}

pub const reason_bytes_max = 512;

var mutex: Mutex = .{};
var last: [reason_bytes_max]u8 = undefined;
var last_len: usize = 0;

fn keep(message: []const u8) void {
    mutex.lock();
    defer mutex.unlock();
    last_len = @min(message.len, last.len);
    @memcpy(last[0..last_len], message[0..last_len]);
}

test "only errors are kept" {
    var buffer: [reason_bytes_max]u8 = undefined;
    receive(level_error, "bad tensor\n", null);
    receive(level_warn, "slow\n", null);
    try std.testing.expectEqualStrings("bad tensor", reason(&buffer));
    forget();
    try std.testing.expectEqualStrings("no reason was logged", reason(&buffer));
}
