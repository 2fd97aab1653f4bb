//! Log messages. They go to the host's receiver, or nowhere if it has set none.

const std = @import("std");
const Mutex = @import("mutex.zig").Mutex;
const thread = @import("thread.zig");
const message = @import("message");

/// ELIZA_LOG_* of the header.
pub const Level = enum(i32) { err = 0, warn = 1, info = 2 };

/// eliza_log_callback of the header.
pub const Callback = fn (level: i32, message: [*:0]const u8, length: usize, user_data: ?*anyopaque) callconv(.c) void;

const Receiver = struct { callback: ?*const Callback = null, user_data: ?*anyopaque = null };

var mutex: Mutex = .{};
var receiver: Receiver = .{};
/// The messages that are being received now, on their threads' stacks; under `mutex`.
var receiving: std.atomic.Value(?*Receiving) = .init(null);

const Receiving = struct { thread: usize, next: ?*Receiving };

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
    var own: Receiving = .{ .thread = thread.current(), .next = null };
    const to = begin(&own);
    const callback = to.callback orelse return;
    defer end(&own);
    var buffer: [message_bytes_max + 1]u8 = undefined;
    const length = message.printErased(buffer[0..message_bytes_max], format, args).len;
    buffer[length] = 0;
    callback(@backingInt(level), buffer[0..length :0], length, to.user_data);
}

const message_bytes_max = 1023;

/// Whether this thread is in a receiver, so that a call comes from within another.
pub fn isReceiving() bool {
    if (receiving.load(.monotonic) == null) return false;
    mutex.lock();
    defer mutex.unlock();
    const own = thread.current();
    var at = receiving.load(.monotonic);
    while (at) |one| : (at = one.next) if (one.thread == own) return true;
    return false;
}

// Gives a copy, so that the lock is not held while the receiver runs.
fn begin(own: *Receiving) Receiver {
    mutex.lock();
    defer mutex.unlock();
    if (receiver.callback == null) return receiver;
    own.next = receiving.load(.monotonic);
    receiving.store(own, .monotonic);
    return receiver;
}

fn end(own: *Receiving) void {
    mutex.lock();
    defer mutex.unlock();
    if (receiving.load(.monotonic) == own) return receiving.store(own.next, .monotonic);
    var at = receiving.load(.monotonic).?;
    while (at.next != own) at = at.next.?;
    at.next = own.next;
}
