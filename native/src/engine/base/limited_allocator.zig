//! An allocator of so many bytes, for what grows with what comes from outside. Beyond them it has none, and says so.

const std = @import("std");
const Allocator = std.mem.Allocator;

/// Used by one thread at a time, but for `bytes_max`. Must not move while something is allocated.
pub const LimitedAllocator = struct {
    parent: Allocator,
    bytes_max: usize = std.math.maxInt(usize),
    /// In use.
    bytes: usize = 0,
    /// The limit has refused something.
    is_full: bool = false,

    pub fn allocator(limited: *LimitedAllocator) Allocator {
        return .{ .ptr = limited, .vtable = &.{ .alloc = alloc, .resize = resize, .remap = remap, .free = free } };
    }

    /// What an operation with this allocator failed with.
    pub fn reason(limited: *LimitedAllocator, failure: error{ OutOfMemory, TooLarge }) error{ OutOfMemory, TooLarge } {
        defer limited.is_full = false;
        return if (limited.is_full) error.TooLarge else failure;
    }

    fn grow(limited: *LimitedAllocator, before: usize, after: usize) bool {
        if (after <= before or limited.bytes - before <= limited.bytes_max -| after) return true;
        limited.is_full = true;
        return false;
    }

    fn alloc(pointer: *anyopaque, n: usize, alignment: std.mem.Alignment, address: usize) ?[*]u8 {
        const limited: *LimitedAllocator = @ptrCast(@alignCast(pointer));
        if (!limited.grow(0, n)) return null;
        const memory = limited.parent.rawAlloc(n, alignment, address) orelse return null;
        limited.bytes += n;
        return memory;
    }

    fn resize(pointer: *anyopaque, memory: []u8, alignment: std.mem.Alignment, n: usize, address: usize) bool {
        const limited: *LimitedAllocator = @ptrCast(@alignCast(pointer));
        if (!limited.grow(memory.len, n) or !limited.parent.rawResize(memory, alignment, n, address)) return false;
        limited.bytes = limited.bytes - memory.len + n;
        return true;
    }

    fn remap(pointer: *anyopaque, memory: []u8, alignment: std.mem.Alignment, n: usize, address: usize) ?[*]u8 {
        const limited: *LimitedAllocator = @ptrCast(@alignCast(pointer));
        if (!limited.grow(memory.len, n)) return null;
        const moved = limited.parent.rawRemap(memory, alignment, n, address) orelse return null;
        limited.bytes = limited.bytes - memory.len + n;
        return moved;
    }

    fn free(pointer: *anyopaque, memory: []u8, alignment: std.mem.Alignment, address: usize) void {
        const limited: *LimitedAllocator = @ptrCast(@alignCast(pointer));
        limited.parent.rawFree(memory, alignment, address);
        limited.bytes -= memory.len;
    }
};

test "what is in use is counted, and never more than the limit" {
    var limited: LimitedAllocator = .{ .parent = std.testing.allocator, .bytes_max = 100 };
    const gpa = limited.allocator();
    var first = try gpa.alloc(u8, 60);
    try std.testing.expectError(error.OutOfMemory, gpa.alloc(u8, 41));
    try std.testing.expectEqual(error.TooLarge, limited.reason(error.OutOfMemory));
    try std.testing.expectEqual(error.OutOfMemory, limited.reason(error.OutOfMemory));
    const second = try gpa.alloc(u8, 40);
    try std.testing.expectEqual(100, limited.bytes);
    try std.testing.expectError(error.OutOfMemory, gpa.realloc(first, 61));
    gpa.free(second);
    first = try gpa.realloc(first, 10);
    first = try gpa.realloc(first, 80);
    try std.testing.expectEqual(80, limited.bytes);
    gpa.free(first);
    try std.testing.expectEqual(0, limited.bytes);
}
