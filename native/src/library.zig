//! The root of the shared library. It is compiled for speed, as the parts of the standard library that the
//! engine is made of; the shell is compiled for size.

const builtin = @import("builtin");
const std = @import("std");

/// A library must not take over its host's signals, nor bring stack traces with it.
pub const std_options: std.Options = .{
    .enable_segfault_handler = false,
    .signal_stack_size = null,
    .allow_stack_tracing = builtin.mode == .debug,
};

comptime {
    _ = @import("shell");
}
