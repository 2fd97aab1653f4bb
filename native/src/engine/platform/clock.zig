//! The monotonic clock.

const std = @import("std");
const builtin = @import("builtin");

/// Nanoseconds since an arbitrary start. Never goes back; safe from any thread.
pub fn nowNs() u64 {
    if (builtin.os.tag == .windows) return windowsNs();
    if (builtin.cpu.arch.isWasm()) return @trunc(host.nowMs() * std.time.ns_per_ms);
    var now: std.c.timespec = undefined;
    _ = std.c.clock_gettime(.MONOTONIC, &now);
    return @as(u64, @intCast(now.sec)) * std.time.ns_per_s + @as(u64, @intCast(now.nsec));
}

/// The JavaScript around a WebAssembly module.
const host = struct {
    extern "host" fn nowMs() f64;
};

extern "kernel32" fn QueryPerformanceCounter(*i64) callconv(.winapi) c_int;
extern "kernel32" fn QueryPerformanceFrequency(*i64) callconv(.winapi) c_int;

fn windowsNs() u64 {
    var ticks: i64 = undefined;
    var ticks_per_second: i64 = undefined;
    _ = QueryPerformanceCounter(&ticks);
    _ = QueryPerformanceFrequency(&ticks_per_second);
    const ns = @as(u128, @intCast(ticks)) * std.time.ns_per_s / @as(u64, @intCast(ticks_per_second));
    return @intCast(ns);
}

test "time does not go back" {
    const before = nowNs();
    try std.testing.expect(nowNs() >= before);
}
