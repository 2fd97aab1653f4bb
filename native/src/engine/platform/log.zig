//! Log messages. They go to the host's receiver, or nowhere if it has set none.

const Mutex = @import("mutex.zig").Mutex;
const message = @import("message");

/// ELIZA_LOG_* of the header.
pub const Level = enum(i32) { err = 0, warn = 1, info = 2 };

/// eliza_log_callback of the header.
pub const Callback = fn (level: i32, message: [*:0]const u8, length: usize, user_data: ?*anyopaque) callconv(.c) void;

const Receiver = struct { callback: ?*const Callback = null, user_data: ?*anyopaque = null };

var mutex: Mutex = .{};
var receiver: Receiver = .{};

/// Replaces the receiver; null: none. Safe from any thread, and from the receiver itself. A message that is
/// being sent may still reach the old one.
pub fn setReceiver(callback: ?*const Callback, user_data: ?*anyopaque) void {
    mutex.lock();
    defer mutex.unlock();
    receiver = .{ .callback = callback, .user_data = user_data };
}

/// Sends a message, cut after `message_bytes_max` bytes. Calls the receiver on this thread, with no lock held.
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

// A copy, so that the lock is not held while the receiver runs.
fn current() Receiver {
    mutex.lock();
    defer mutex.unlock();
    return receiver;
}
