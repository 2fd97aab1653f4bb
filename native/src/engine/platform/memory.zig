//! The one allocator of the library.

const std = @import("std");
const builtin = @import("builtin");

/// The C library's, so that leak checkers see every block; in tests the one that reports leaks.
pub const gpa: std.mem.Allocator = if (builtin.is_test) std.testing.allocator else std.heap.c_allocator;
