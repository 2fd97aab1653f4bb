//! Which thread this is.

const std = @import("std");
const builtin = @import("builtin");

/// A number that no other thread has while this one runs; not 0 where there are threads. The standard library's way needs
/// thread-local storage, and the kernel's a system call. On Linux, processors have a register that points to what the C library
/// keeps of the thread.
pub inline fn current() usize {
    return switch (builtin.os.tag) {
        .windows => std.os.windows.GetCurrentThreadId(),
        .freestanding => 1,
        .linux => switch (builtin.cpu.arch) {
            .x86_64 => asm ("movq %%fs:0, %[self]"
                : [self] "=r" (-> usize),
            ),
            .aarch64 => asm ("mrs %[self], tpidr_el0"
                : [self] "=r" (-> usize),
            ),
            else => @intFromPtr(std.c.pthread_self()),
        },
        else => @intFromPtr(std.c.pthread_self()),
    };
}
