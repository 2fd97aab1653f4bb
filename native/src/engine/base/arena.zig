//! Memory that is freed all at once. As `std.heap.ArenaAllocator`, but for one thread, and so without its atomic
//! operations.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Alignment = std.mem.Alignment;

/// A block is a few of the C library's smallest at least.
const block_min = 1008;

pub const Arena = struct {
    gpa: Allocator,
    /// The one that is filled; each links to the one before.
    last: ?*Block = null,

    const Block = struct {
        before: ?*Block,
        /// All of it, this head included.
        n_bytes: usize,
        /// Bytes in use, this head included.
        used: usize,

        fn bytes(block: *Block) [*]u8 {
            return @ptrCast(block);
        }

        fn memory(block: *Block) []u8 {
            return block.bytes()[0..block.n_bytes];
        }
    };

    pub fn init(gpa: Allocator) Arena {
        return .{ .gpa = gpa };
    }

    /// Memory that it has, in bytes.
    pub fn bytes(arena: *const Arena) usize {
        var total: usize = 0;
        var next = arena.last;
        while (next) |block| : (next = block.before) total += block.n_bytes;
        return total;
    }

    pub fn deinit(arena: *const Arena) void {
        freeFrom(arena.gpa, arena.last);
    }

    /// Drops all that was allocated, and keeps the first block.
    pub fn clear(arena: *Arena) void {
        var block = arena.last orelse return;
        while (block.before) |before| : (block = before) arena.gpa.rawFree(block.memory(), .of(Block), @returnAddress());
        block.used = @sizeOf(Block);
        arena.last = block;
    }

    /// The arena stays where it is as long as this is used.
    pub fn allocator(arena: *Arena) Allocator {
        return .{ .ptr = arena, .vtable = &vtable };
    }

    const vtable: Allocator.VTable = .{ .alloc = alloc, .resize = resize, .remap = remap, .free = free };

    // Not inline: wherever an arena is used, these would be.

    noinline fn alloc(context: *anyopaque, n: usize, alignment: Alignment, _: usize) ?[*]u8 {
        const arena: *Arena = @ptrCast(@alignCast(context));
        if (arena.last) |block| if (take(block, n, alignment)) |found| return found;
        return take(arena.addBlock(n, alignment) orelse return null, n, alignment);
    }

    fn take(block: *Block, n: usize, alignment: Alignment) ?[*]u8 {
        const at = alignment.forward(@intFromPtr(block) + block.used) - @intFromPtr(block);
        if (at > block.n_bytes or n > block.n_bytes - at) return null;
        block.used = at + n;
        return block.bytes() + at;
    }

    fn addBlock(arena: *Arena, n: usize, alignment: Alignment) ?*Block {
        @branchHint(.cold);
        const before = if (arena.last) |block| block.n_bytes else 0;
        const least = n +| alignment.toByteUnits() +| @sizeOf(Block);
        const n_bytes = @max(least +| (before +| least) / 2 +| 16, block_min);
        const memory = arena.gpa.rawAlloc(n_bytes, .of(Block), @returnAddress()) orelse return null;
        const block: *Block = @ptrCast(@alignCast(memory));
        block.* = .{ .before = arena.last, .n_bytes = n_bytes, .used = @sizeOf(Block) };
        arena.last = block;
        return block;
    }

    /// What was allocated last can grow where it is, and is given back.
    noinline fn resize(context: *anyopaque, memory: []u8, _: Alignment, n: usize, _: usize) bool {
        const arena: *Arena = @ptrCast(@alignCast(context));
        const block = arena.last.?;
        const end = block.bytes() + block.used;
        if (memory.ptr + memory.len != end) return n <= memory.len;
        const used = block.used - memory.len;
        if (n > block.n_bytes - used) return false;
        block.used = used + n;
        return true;
    }

    noinline fn remap(context: *anyopaque, memory: []u8, alignment: Alignment, n: usize, address: usize) ?[*]u8 {
        return if (resize(context, memory, alignment, n, address)) memory.ptr else null;
    }

    noinline fn free(context: *anyopaque, memory: []u8, _: Alignment, _: usize) void {
        const arena: *Arena = @ptrCast(@alignCast(context));
        const block = arena.last.?;
        if (memory.ptr + memory.len == block.bytes() + block.used) block.used -= memory.len;
    }
};

noinline fn freeFrom(gpa: Allocator, last: ?*Arena.Block) void {
    var next = last;
    while (next) |block| {
        next = block.before;
        gpa.rawFree(block.memory(), .of(Arena.Block), @returnAddress());
    }
}

test "blocks do not overlap, are aligned, and keep what they hold" {
    var arena: Arena = .init(std.testing.allocator);
    defer arena.deinit();
    const gpa = arena.allocator();
    var random: std.Random.DefaultPrng = .init(7);
    var blocks: std.ArrayList([]u64) = .empty;
    defer blocks.deinit(std.testing.allocator);
    for (0..500) |i| {
        _ = try gpa.alloc(u8, random.random().uintLessThan(usize, 9));
        const block = try gpa.alloc(u64, random.random().uintLessThan(usize, if (i % 50 == 0) 5000 else 40));
        @memset(block, i);
        try blocks.append(std.testing.allocator, block);
    }
    for (blocks.items, 0..) |block, i| for (block) |word| try std.testing.expectEqual(i, word);
}

test "the last block grows in place and is given back" {
    var arena: Arena = .init(std.testing.allocator);
    defer arena.deinit();
    const gpa = arena.allocator();
    const first = try gpa.alloc(u32, 2);
    try std.testing.expect(gpa.resize(first, 3));
    const second = try gpa.alloc(u32, 1);
    try std.testing.expect(!gpa.resize(first, 4));
    gpa.free(second);
    try std.testing.expectEqual(second.ptr, (try gpa.alloc(u32, 1)).ptr);
    try std.testing.expect(!gpa.resize(second[0..1], 1 << 20));
}

test "cleared it keeps its first block" {
    var arena: Arena = .init(std.testing.allocator);
    defer arena.deinit();
    arena.clear();
    const gpa = arena.allocator();
    const first = try gpa.alloc(u64, 3);
    const n_bytes = arena.bytes();
    for (0..3) |_| {
        for (0..5) |_| _ = try gpa.alloc(u64, 1000);
        try std.testing.expect(arena.bytes() > n_bytes);
        arena.clear();
        try std.testing.expectEqual(n_bytes, arena.bytes());
        try std.testing.expectEqual(first.ptr, (try gpa.alloc(u64, 3)).ptr);
    }
}

test "out of memory it can still be used" {
    var failing: std.testing.FailingAllocator = .init(std.testing.allocator, .{ .fail_index = 1 });
    var arena: Arena = .init(failing.allocator());
    defer arena.deinit();
    const gpa = arena.allocator();
    const kept = try gpa.dupe(u8, "kept");
    try std.testing.expectError(error.OutOfMemory, gpa.alloc(u8, 1 << 20));
    try std.testing.expectError(error.OutOfMemory, gpa.alloc(u64, std.math.maxInt(usize) / 8));
    try std.testing.expectEqualStrings("kept", kept);
}
