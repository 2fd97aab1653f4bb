//! What one compilation may use: states, bytes, time; and whether the caller still wants it.

const std = @import("std");
const diagnostic = @import("diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const Interrupt = @import("watch.zig").Interrupt;
const clock = @import("../platform/clock.zig");

/// ELIZA_COMPILE_* of the header. States are numbered by 16 bits.
pub const states_most = 65535;
pub const bytes_default = 256 << 20;
pub const mask_bytes_default = 64 << 20;
/// What a schema keeps of the texts that it has read, beside masks, is never given back, so that it is bounded by mask_bytes_max
/// where that was given, and else by far more than any use needs.
pub const text_bytes_least = 1 << 20;
pub const text_bytes_default = 1 << 30;

/// The caller's question during a compilation, on its thread: anything but 0 cancels it.
pub const Cancel = fn (user_data: ?*anyopaque) callconv(.c) c_int;

/// The limits of one compilation, and what it has used of them. Belongs to one thread.
pub const Budget = struct {
    states_max: u32 = states_most,
    bytes_max: u64 = bytes_default,
    /// On the clock of platform/clock.zig. 0: none.
    deadline_ns: u64 = 0,
    cancel: ?*const Cancel = null,
    user_data: ?*anyopaque = null,
    /// Taken so far. Freed memory is not given back.
    bytes: u64 = 0,

    /// Fails if the compilation was cancelled or is out of time. Call it at least every 10 microseconds of
    /// work, with what is being built.
    pub fn check(b: *const Budget, what: []const u8, diag: *Diagnostic) diagnostic.Error!void {
        if (b.cancel) |cancel| if (cancel(b.user_data) != 0) {
            return diag.fail(.cancelled, "cancelled while building {s}", .{what});
        };
        if (b.deadline_ns != 0 and clock.nowNs() >= b.deadline_ns) {
            return diag.fail(.limit, "building {s} takes longer than ms_max", .{what});
        }
    }

    /// The time since then, on the same clock, does not count: what a vocabulary makes once is for all its constraints.
    pub fn leaveOut(b: *Budget, since_ns: u64) void {
        if (b.deadline_ns != 0) b.deadline_ns +|= clock.nowNs() - since_ns;
    }

    /// For what asks a watch in place of the budget.
    pub fn interrupt(b: *const Budget) Interrupt {
        return .{ .deadline_ns = b.deadline_ns, .ask = b.cancel, .user_data = b.user_data };
    }

    /// Fails as `check` does, since `interrupt` has stopped the work.
    pub fn stopped(b: *const Budget, what: []const u8, diag: *Diagnostic) diagnostic.Error {
        if (b.interrupt().isOver()) return diag.fail(.limit, "building {s} takes longer than ms_max", .{what});
        return diag.fail(.cancelled, "cancelled while building {s}", .{what});
    }

    /// Fails if an automaton would have more than `states_max` states.
    pub fn checkStates(b: *const Budget, n_states: usize, what: []const u8, diag: *Diagnostic) diagnostic.Error!void {
        if (n_states <= b.states_max) return;
        return diag.fail(.limit, "{s} needs more than {d} states", .{ what, b.states_max });
    }

    /// Accounts for memory that is about to be allocated. Fails if that exceeds the limit.
    pub fn take(b: *Budget, bytes: u64, what: []const u8, diag: *Diagnostic) diagnostic.Error!void {
        b.bytes +|= bytes;
        if (b.bytes <= b.bytes_max) return;
        return diag.fail(.limit, "{s} needs more than {d} bytes", .{ what, b.bytes_max });
    }
};

test "time that is left out moves the deadline, if there is one" {
    var budget: Budget = .{ .deadline_ns = 100 };
    budget.leaveOut(clock.nowNs() - 50);
    try std.testing.expect(budget.deadline_ns >= 150);
    budget.deadline_ns = 0;
    budget.leaveOut(clock.nowNs() - 50);
    try std.testing.expectEqual(0, budget.deadline_ns);
}

test "each bound is an error that says what was being built" {
    var diag: Diagnostic = .{};
    var budget: Budget = .{ .states_max = 2, .bytes_max = 10 };
    try budget.check("the lexer", &diag);
    try budget.checkStates(2, "the lexer", &diag);
    try std.testing.expectError(error.Failed, budget.checkStates(3, "the lexer", &diag));
    try std.testing.expectEqualStrings("the lexer needs more than 2 states", diag.message());
    try budget.take(10, "the lexer", &diag);
    try std.testing.expectError(error.Failed, budget.take(1, "the lexer", &diag));
    budget.cancel = struct {
        fn always(_: ?*anyopaque) callconv(.c) c_int {
            return 1;
        }
    }.always;
    try std.testing.expectError(error.Failed, budget.check("the lexer", &diag));
    try std.testing.expectEqual(.cancelled, diag.status);
}
