//! Why a call failed: a status and a message, carried from where it happened up to the C boundary. Lives on the
//! caller's stack or in a handle and allocates nothing, so that it works out of memory.

const std = @import("std");
const Watch = @import("watch.zig").Watch;
const Status = @import("status.zig").Status;
const message_module = @import("message");

/// The failure is in a Diagnostic.
pub const Error = error{Failed};

/// Reports one failure; the next one replaces it. Belongs to one thread.
pub const Diagnostic = struct {
    status: Status = .ok,
    len: usize = 0,
    /// Undefined from `len` on. Once there is a message, a 0 is at the end, whatever another thread reads meanwhile.
    buffer: [message_bytes_max:0]u8 = undefined,

    /// Longer messages are cut at a character.
    pub const message_bytes_max = 1023;

    /// No failure. As `.{}`, but the buffer is not copied from a constant.
    pub inline fn init() Diagnostic {
        var d: Diagnostic = undefined;
        d.clear();
        return d;
    }

    /// Records a failure. Returns the error, for `return diag.fail(...)`.
    pub inline fn fail(d: *Diagnostic, status: Status, comptime format: []const u8, args: anytype) Error {
        return d.failErased(status, message_module.terminated(format), &message_module.erase(format, &args));
    }

    noinline fn failErased(d: *Diagnostic, status: Status, format: [*:0]const u8, args: [*]const message_module.Argument) Error {
        @branchHint(.cold);
        d.status = status;
        d.buffer[message_bytes_max] = 0;
        d.len = message_module.printErased(d.buffer[0..message_bytes_max], format, args).len;
        d.buffer[d.len] = 0;
        return error.Failed;
    }

    /// Records that memory is short. Returns the error, as `fail` does.
    pub noinline fn outOfMemory(d: *Diagnostic) Error {
        @branchHint(.cold);
        return d.fail(.oom, "out of memory", .{});
    }

    /// Records why what may follow cannot be told. Returns the error, as `fail` does.
    pub noinline fn notTold(d: *Diagnostic, reason: error{ OutOfMemory, TooLarge }) Error {
        return d.notToldAfter(reason, .not);
    }

    /// The same, if a watch has stopped the search.
    pub noinline fn notToldAfter(d: *Diagnostic, reason: error{ OutOfMemory, TooLarge }, stopped: Watch.Reason) Error {
        @branchHint(.cold);
        if (reason == error.OutOfMemory) return d.outOfMemory();
        return switch (stopped) {
            .not => d.fail(.limit, "what may follow here has more alternatives than are followed at once", .{}),
            .too_long => d.fail(.limit, "what may follow here takes more steps than are made", .{}),
            .out_of_time => d.fail(.limit, "what may follow here takes longer to find than mask_ms_max", .{}),
            .interrupted => d.fail(.cancelled, "cancelled while finding what may follow here", .{}),
        };
    }

    /// Forgets the failure: status `ok`, no message.
    pub fn clear(d: *Diagnostic) void {
        d.status = .ok;
        d.len = 0;
    }

    /// The message for a C caller, lent as that of `message`.
    pub fn text(d: *const Diagnostic) [*:0]const u8 {
        return if (d.len == 0) "" else &d.buffer;
    }

    /// "" if nothing failed. Lent until the next failure or `clear`.
    pub fn message(d: *const Diagnostic) [:0]const u8 {
        return if (d.len == 0) "" else d.buffer[0..d.len :0];
    }
};

/// For {f}: text from outside, quoted, escaped and cut.
pub const quoted = message_module.quoted;

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
