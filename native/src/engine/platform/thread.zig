//! Which thread this is.

const std = @import("std");
const builtin = @import("builtin");

/// A number that no other thread has while this one runs; not 0 where there are threads. The standard library's way needs
/// thread-local storage, and the kernel's a system call.
pub inline fn current() usize {
    return switch (builtin.os.tag) {
        .windows => std.os.windows.GetCurrentThreadId(),
        .freestanding => 1,
        else => @intFromPtr(std.c.pthread_self()),
    };
}
