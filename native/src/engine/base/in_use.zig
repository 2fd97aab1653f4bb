//! Who uses an object that belongs to one thread at a time. A call on it begins and ends its use; a second call meanwhile is
//! refused, whether it comes from another thread or from a callback inside the first.

const std = @import("std");
const builtin = @import("builtin");
const thread = @import("../platform/thread.zig");

/// Why a call is refused.
pub const Refusal = error{
    /// It comes from inside a call of this thread.
    InCallback,
    OtherThread,
};

pub const InUse = struct {
    by: std.atomic.Value(usize) = .init(nobody),

    const nobody = 0;

    /// A call begins, until `end`.
    pub inline fn begin(u: *InUse) Refusal!void {
        const by = u.by.cmpxchgStrong(nobody, thread.current(), .acquire, .monotonic) orelse return;
        return if (by == thread.current()) error.InCallback else error.OtherThread;
    }

    pub inline fn end(u: *InUse) void {
        u.by.store(nobody, .release);
    }

    /// A call begins that changes nothing, and may therefore be inside another of this thread. Returns whether `end` is due.
    pub fn beginReading(u: *InUse) error{OtherThread}!bool {
        u.begin() catch |refusal| switch (refusal) {
            error.InCallback => return false,
            error.OtherThread => return error.OtherThread,
        };
        return true;
    }

    pub fn byOtherThread(u: *const InUse) bool {
        const by = u.by.load(.monotonic);
        return by != nobody and by != thread.current();
    }
};

test "a second use is refused, and told whether it is this thread's own" {
    var in_use: InUse = .{};
    try in_use.begin();
    try std.testing.expectError(error.InCallback, in_use.begin());
    try std.testing.expect(!try in_use.beginReading());
    try std.testing.expect(!in_use.byOtherThread());
    if (!builtin.single_threaded) {
        const other = try std.Thread.spawn(.{}, refusedToOthers, .{&in_use});
        other.join();
    }
    in_use.end();
    try std.testing.expect(try in_use.beginReading());
    in_use.end();
}

fn refusedToOthers(in_use: *InUse) void {
    std.testing.expectError(error.OtherThread, in_use.begin()) catch unreachable;
    std.testing.expectError(error.OtherThread, in_use.beginReading()) catch unreachable;
    std.testing.expect(in_use.byOtherThread()) catch unreachable;
}
