//! Log messages go to the receiver that the host has set, or nowhere.

const Mutex = @import("mutex.zig").Mutex;
const message = @import("message");

pub const Level = enum(i32) { err = 0, warn = 1, info = 2 };

pub const Callback = fn (level: i32, message: [*:0]const u8, length: usize, user_data: ?*anyopaque) callconv(.c) void;

const Receiver = struct { callback: ?*const Callback = null, user_data: ?*anyopaque = null };

var mutex: Mutex = .{};
var receiver: Receiver = .{};

pub fn setReceiver(callback: ?*const Callback, user_data: ?*anyopaque) void {
    mutex.lock();
    defer mutex.unlock();
    receiver = .{ .callback = callback, .user_data = user_data };
}

/// Formats at most `message_bytes_max` bytes; the rest is cut.
pub inline fn write(level: Level, comptime format: []const u8, args: anytype) void {
    send(level, message.terminated(format), &message.erase(format, &args));
}

noinline fn send(level: Level, format: [*:0]const u8, args: [*]const message.Argument) void {
    @branchHint(.cold);
    const to = current();
    const callback = to.callback orelse return;
    var buffer: [message_bytes_max + 1]u8 = undefined;
    const length = message.printErased(buffer[0..message_bytes_max], format, args).len;
    buffer[length] = 0;
    callback(@backingInt(level), buffer[0..length :0], length, to.user_data);
}

const message_bytes_max = 1023;

// Copied out, so that a receiver may itself set another one.
fn current() Receiver {
    mutex.lock();
    defer mutex.unlock();
    return receiver;
}
