//! Scratch memory for computing masks, lent to one thread at a time, so that no matcher has its own.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ByteTrie = @import("../vocabulary/byte_trie.zig").ByteTrie;
const mask_module = @import("mask.zig");
const Mask = mask_module.Mask;
const MaskBuilder = @import("builder.zig").MaskBuilder;
const bitmap = @import("../base/bitmap.zig");
const Shared = @import("../base/shared_cache.zig").Shared;
const Mutex = @import("../platform/mutex.zig").Mutex;

/// The scratch memory of one recognizer: as much as threads have needed at the same time. Safe from any thread.
pub const ScratchPool = struct {
    gpa: Allocator,
    trie: *const ByteTrie,
    mutex: Mutex = .{},
    idle: ?*Scratch = null,

    /// Frees all of it. None is lent.
    pub fn deinit(pool: *ScratchPool) void {
        while (pool.idle) |scratch| {
            pool.idle = scratch.next_idle;
            scratch.destroy(pool.gpa);
        }
    }

    /// Lends scratch memory to this thread, until `giveBack`.
    pub fn take(pool: *ScratchPool) Allocator.Error!*Scratch {
        pool.mutex.lock();
        const first = pool.idle;
        if (first) |scratch| pool.idle = scratch.next_idle;
        pool.mutex.unlock();
        if (first) |scratch| scratch.next_idle = null;
        return first orelse Scratch.create(pool.gpa, pool.trie);
    }

    /// Ends the loan.
    pub fn giveBack(pool: *ScratchPool, scratch: *Scratch) void {
        pool.mutex.lock();
        defer pool.mutex.unlock();
        std.debug.assert(scratch.next_idle == null and scratch != pool.idle);
        scratch.next_idle = pool.idle;
        pool.idle = scratch;
    }
};

/// Per-thread scratch for computing masks.
pub const Scratch = struct {
    next_idle: ?*Scratch = null,
    /// The last mask that was computed here.
    mask: Mask,
    /// Kept alive for it.
    held: ?*Shared = null,
    builder: MaskBuilder,
    /// The stack of states of a walk: one for each byte of the longest token, and one more.
    states: []u32,
    /// The same, for a walker with states of another type.
    place_bytes: []align(16) u8 = &.{},
    attachment: ?Attachment = null,

    /// What the language keeps here between masks, of a type of its own.
    const Attachment = struct {
        pointer: *anyopaque,
        type_name: []const u8,
        destroy: *const fn (pointer: *anyopaque, gpa: Allocator) void,
    };

    fn create(gpa: Allocator, trie: *const ByteTrie) Allocator.Error!*Scratch {
        const s = try gpa.create(Scratch);
        errdefer gpa.destroy(s);
        const words = try bitmap.alloc(gpa, bitmap.wordsFor(trie.n_tokens));
        errdefer gpa.free(words);
        const ids = try gpa.alloc(i32, mask_module.list_max + trie.end_tokens.len);
        errdefer gpa.free(ids);
        const states = try gpa.alloc(u32, trie.longest + 2);
        s.* = .{ .mask = undefined, .builder = .{ .words = words, .ids = ids }, .states = states };
        return s;
    }

    /// Takes over a reference to what the mask lends, or lets go of it.
    pub fn hold(s: *Scratch, gpa: Allocator, shared: ?*Shared) void {
        if (s.held) |before| before.release(gpa);
        s.held = shared;
    }

    fn destroy(s: *Scratch, gpa: Allocator) void {
        s.hold(gpa, null);
        if (s.attachment) |attachment| attachment.destroy(attachment.pointer, gpa);
        gpa.free(s.place_bytes);
        gpa.free(s.states);
        gpa.free(s.builder.ids);
        gpa.free(s.builder.words);
        gpa.destroy(s);
    }

    /// A walk's stack of states of another type. A language always uses the same type.
    pub fn places(s: *Scratch, comptime Place: type, gpa: Allocator) Allocator.Error![]Place {
        if (s.place_bytes.len == 0) s.place_bytes = try gpa.alignedAlloc(u8, .@"16", s.states.len * @sizeOf(Place));
        return @ptrCast(@alignCast(s.place_bytes));
    }

    /// What `attach` has put here; null if nothing. A language always attaches the same type.
    pub inline fn attachmentOf(s: *const Scratch, comptime T: type) ?*T {
        const attachment = s.attachment orelse return null;
        std.debug.assert(attachment.type_name.ptr == @typeName(T).ptr);
        return @ptrCast(@alignCast(attachment.pointer));
    }

    /// Keeps a value until the scratch is freed, with the value's `deinit()`. Returns its place.
    pub fn attach(s: *Scratch, gpa: Allocator, value: anytype) Allocator.Error!*@TypeOf(value) {
        const T = @TypeOf(value);
        std.debug.assert(s.attachment == null);
        const own = try gpa.create(T);
        own.* = value;
        const of = struct {
            fn destroy(pointer: *anyopaque, owner: Allocator) void {
                const it: *T = @ptrCast(@alignCast(pointer));
                it.deinit();
                owner.destroy(it);
            }
        };
        s.attachment = .{ .pointer = own, .type_name = @typeName(T), .destroy = of.destroy };
        return own;
    }
};

test "a scratch is lent to one at a time, and keeps what was left in it" {
    const gpa = std.testing.allocator;
    const trie: ByteTrie = .{
        .n_tokens = 40,
        .nodes = &.{},
        .duplicates = &.{},
        .long_tokens = &.{},
        .longest = 5,
        .missing_bytes = 0,
        .end_tokens = &.{ 38, 39 },
    };
    const Counter = struct {
        freed: *u32,

        pub fn deinit(counter: *@This()) void {
            counter.freed.* += 1;
        }
    };
    const Place = struct { state: u16, more: u64 };
    var freed: u32 = 0;
    {
        var pool: ScratchPool = .{ .gpa = gpa, .trie = &trie };
        defer pool.deinit();
        const a = try pool.take();
        const b = try pool.take();
        try std.testing.expect(a != b);
        // Room for the longest list, and for the longest token.
        try std.testing.expectEqual(mask_module.list_max + 2, a.builder.ids.len);
        try std.testing.expect(a.states.len > trie.longest);
        try std.testing.expectEqual(a.states.len, (try a.places(Place, gpa)).len);
        try std.testing.expectEqual((try a.places(Place, gpa)).ptr, (try a.places(Place, gpa)).ptr);
        try std.testing.expectEqual(null, a.attachmentOf(Counter));
        const kept = try a.attach(gpa, @as(Counter, .{ .freed = &freed }));
        pool.giveBack(a);
        const again = try pool.take();
        try std.testing.expectEqual(a, again);
        try std.testing.expectEqual(kept, again.attachmentOf(Counter));
        try std.testing.expectEqual(null, b.attachmentOf(Counter));
        pool.giveBack(again);
        pool.giveBack(b);
        try std.testing.expectEqual(0, freed);
    }
    try std.testing.expectEqual(1, freed);
}
