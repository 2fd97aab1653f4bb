//! A blocking lock made of what each system offers. The standard library's brings its whole input/output layer
//! and thread-local storage with it.

const std = @import("std");
const builtin = @import("builtin");

/// `lock` blocks until this thread has the lock, and must not be called by the thread that has it; `unlock`
/// gives it up. Unlocked from the start; needs no deinit.
pub const Mutex = switch (builtin.os.tag) {
    .linux => Futex,
    .windows => SlimLock,
    .macos, .ios => UnfairLock,
    .freestanding => OneThread,
    else => @compileError("no lock for this system"),
};

/// Three states, after Drepper, "Futexes Are Tricky" (2011), mutex 2.
const Futex = struct {
    state: std.atomic.Value(u32) = .init(free),

    const free = 0;
    const held = 1;
    const contended = 2;
    const linux = std.os.linux;

    pub fn lock(m: *Futex) void {
        if (m.state.cmpxchgStrong(free, held, .acquire, .monotonic) == null) return;
        while (m.state.swap(contended, .acquire) != free) {
            _ = linux.futex_4arg(&m.state.raw, .{ .cmd = .WAIT, .private = true }, contended, null);
        }
    }

    pub fn unlock(m: *Futex) void {
        if (m.state.swap(free, .release) == contended) {
            _ = linux.futex_3arg(&m.state.raw, .{ .cmd = .WAKE, .private = true }, 1);
        }
    }
};

const SlimLock = struct {
    state: usize = 0,

    extern "kernel32" fn AcquireSRWLockExclusive(*usize) callconv(.winapi) void;
    extern "kernel32" fn ReleaseSRWLockExclusive(*usize) callconv(.winapi) void;

    pub fn lock(m: *SlimLock) void {
        AcquireSRWLockExclusive(&m.state);
    }

    pub fn unlock(m: *SlimLock) void {
        ReleaseSRWLockExclusive(&m.state);
    }
};

const UnfairLock = struct {
    state: std.c.os_unfair_lock = .{},

    pub fn lock(m: *UnfairLock) void {
        std.c.os_unfair_lock_lock(&m.state);
    }

    pub fn unlock(m: *UnfairLock) void {
        std.c.os_unfair_lock_unlock(&m.state);
    }
};

/// WebAssembly, whose threads share no memory.
const OneThread = struct {
    pub fn lock(_: *OneThread) void {}
    pub fn unlock(_: *OneThread) void {}
};

test "four threads count to the same number" {
    const Shared = struct {
        var mutex: Mutex = .{};
        var count: u32 = 0;

        fn work() void {
            for (0..10_000) |i| {
                mutex.lock();
                defer mutex.unlock();
                const before = count;
                if (i % 16 == 0) std.Thread.yield() catch {}; // others come to wait
                count = before + 1;
            }
        }
    };
    var threads: [4]std.Thread = undefined;
    for (&threads) |*thread| thread.* = try std.Thread.spawn(.{}, Shared.work, .{});
    for (threads) |thread| thread.join();
    try std.testing.expectEqual(40_000, Shared.count);
}
