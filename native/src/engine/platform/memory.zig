//! The one allocator of the library.

const std = @import("std");
const builtin = @import("builtin");

/// The C library's, so that leak checkers see every block; in tests the one that reports leaks. WebAssembly has no C library.
pub const gpa: std.mem.Allocator = if (builtin.is_test)
    std.testing.allocator
else if (builtin.cpu.arch.isWasm())
    std.heap.wasm_allocator
else
    std.heap.c_allocator;
