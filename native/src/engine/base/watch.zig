//! What one operation on a text may take: every loop that can be long asks. Steps are counted, and the clock and whoever may
//! cancel are looked at now and then.

const std = @import("std");
const clock = @import("../platform/clock.zig");

/// What cancels from outside. Any thread may set `cancelled`.
pub const Interrupt = struct {
    cancelled: std.atomic.Value(bool) = .init(false),
    /// On the clock of platform/clock.zig. 0: none.
    deadline_ns: u64 = 0,
    /// Asked on the thread that works: anything but 0 cancels.
    ask: ?*const fn (user_data: ?*anyopaque) callconv(.c) c_int = null,
    user_data: ?*anyopaque = null,

    fn isCancelled(interrupt: *const Interrupt) bool {
        if (interrupt.cancelled.load(.monotonic)) return true;
        return if (interrupt.ask) |ask| ask(interrupt.user_data) != 0 else false;
    }

    /// Whether the deadline has passed.
    pub fn isOver(interrupt: *const Interrupt) bool {
        return interrupt.deadline_ns != 0 and clock.nowNs() >= interrupt.deadline_ns;
    }
};

/// Belongs to one text.
pub const Watch = struct {
    /// For each operation; 0: none.
    ms_max: u32 = 0,
    interrupt: ?*const Interrupt = null,
    /// Steps up to the next look.
    left: u32 = interval,
    looks: u32 = 0,
    /// When the operation is out of time, from its first look on.
    deadline_ns: u64 = 0,
    stopped: Reason = .not,

    /// Why the last operation was stopped.
    pub const Reason = enum { not, too_long, out_of_time, interrupted };

    /// Steps between looks: some tens of microseconds.
    const interval = 1 << 11;
    /// The most steps of an operation: seconds.
    const looks_max = (1 << 28) / interval;

    /// Another operation begins.
    pub inline fn begin(w: *Watch) void {
        w.left = interval;
        w.looks = 0;
        w.stopped = .not;
    }

    /// Counts steps of about 20 ns. `TooLarge`: the operation ends here; `stopped` says why.
    pub inline fn steps(w: *Watch, n: u32) error{TooLarge}!void {
        if (w.left > n) w.left -= n else return w.lookAgain(n);
    }

    /// Steps of the operation so far.
    pub fn taken(w: *const Watch) u64 {
        return @as(u64, w.looks) * interval + (interval - w.left);
    }

    /// As often as if the steps were counted one by one.
    noinline fn lookAgain(w: *Watch, n: u32) error{TooLarge}!void {
        for (0..1 + n / interval) |_| try w.look();
    }

    fn look(w: *Watch) error{TooLarge}!void {
        w.left = interval;
        w.looks += 1;
        if (w.looks > looks_max) return w.stop(.too_long);
        if (w.interrupt) |interrupt| {
            if (interrupt.isCancelled() or interrupt.isOver()) return w.stop(.interrupted);
        }
        if (w.ms_max == 0) return;
        const now = clock.nowNs();
        if (w.looks == 1) w.deadline_ns = now +| @as(u64, w.ms_max) * std.time.ns_per_ms;
        if (now >= w.deadline_ns) return w.stop(.out_of_time);
    }

    fn stop(w: *Watch, reason: Reason) error{TooLarge} {
        w.left = 0; // what continues all the same is stopped again
        w.stopped = reason;
        return error.TooLarge;
    }
};

test "a watch stops for its own time, for its interrupt, and after very many steps" {
    var w: Watch = .{};
    w.begin();
    for (0..10 * Watch.interval) |_| try w.steps(1);
    w.begin();
    try std.testing.expectError(error.TooLarge, w.steps(Watch.looks_max * Watch.interval)); // as many at once
    w.begin();
    w.looks = Watch.looks_max;
    try std.testing.expectError(error.TooLarge, w.steps(2 * Watch.interval));
    try std.testing.expectEqual(.too_long, w.stopped);
    try std.testing.expectError(error.TooLarge, w.steps(1));

    w.begin();
    w.ms_max = 1;
    try w.steps(2 * Watch.interval);
    w.deadline_ns = 1;
    try std.testing.expectError(error.TooLarge, w.steps(2 * Watch.interval));
    try std.testing.expectEqual(.out_of_time, w.stopped);

    var interrupt: Interrupt = .{};
    w = .{ .interrupt = &interrupt };
    try w.steps(2 * Watch.interval);
    interrupt.cancelled.store(true, .monotonic);
    try std.testing.expectError(error.TooLarge, w.steps(2 * Watch.interval));
    try std.testing.expectEqual(.interrupted, w.stopped);
    interrupt = .{ .deadline_ns = 1 };
    w.begin();
    try std.testing.expectError(error.TooLarge, w.steps(2 * Watch.interval));
}
