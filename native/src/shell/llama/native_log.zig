//! What libllama logs. Warnings and errors go to this library's log. The first error of a call is kept: a
//! failed call returns a null pointer, and only the log says why. Later errors say less and less.

const std = @import("std");
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const log = @import("engine").log;
const Mutex = @import("engine").mutex.Mutex;

const level_warn = 3;
const level_error = 4;

/// The log callback of libllama. Safe from any thread.
pub fn receive(level: c_int, text: [*:0]const u8, _: ?*anyopaque) callconv(.c) void {
    if (level != level_warn and level != level_error) return;
    if (interrupted.load(.monotonic) > 0) return;
    const message = std.mem.trim(u8, std.mem.span(text), " \r\n");
    if (message.len == 0) return;
    if (level == level_error) keep(message);
    log.write(if (level == level_error) .err else .warn, "libllama: {s}", .{message});
}

/// Fails in a receiver of log messages: the call whose message it is may hold locks.
pub fn refuseWithin(d: *Diagnostic) diagnostic.Error!void {
    if (log.isReceiving()) return d.fail(.busy, "not allowed inside a log callback", .{});
}

/// Decodes that this library has interrupted and that are about to return: what libllama says of them is no
/// news.
pub var interrupted: std.atomic.Value(u32) = .init(0);

/// Forgets the kept error. Call it before a function that may fail.
pub fn forget() void {
    mutex.lock();
    defer mutex.unlock();
    first_len = 0;
}

/// The first error since `forget`, copied to `buffer`; "no reason was logged" if there was none. With calls on
/// several threads it may be another thread's.
pub fn reason(buffer: *[reason_bytes_max]u8) []const u8 {
    mutex.lock();
    defer mutex.unlock();
    if (first_len == 0) return "no reason was logged";
    @memcpy(buffer[0..first_len], first[0..first_len]);
    return buffer[0..first_len];
}

/// Longer errors are cut.
pub const reason_bytes_max = 512;

var mutex: Mutex = .{};
var first: [reason_bytes_max]u8 = undefined;
var first_len: usize = 0;

fn keep(message: []const u8) void {
    mutex.lock();
    defer mutex.unlock();
    if (first_len > 0) return;
    first_len = @min(message.len, first.len);
    @memcpy(first[0..first_len], message[0..first_len]);
}

test "the first error is kept" {
    var buffer: [reason_bytes_max]u8 = undefined;
    receive(level_warn, "slow\n", null);
    receive(level_error, "bad tensor\n", null);
    receive(level_error, "failed\n", null);
    try std.testing.expectEqualStrings("bad tensor", reason(&buffer));
    forget();
    try std.testing.expectEqualStrings("no reason was logged", reason(&buffer));
}
