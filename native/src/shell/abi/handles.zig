//! Handles of the C interface for objects that a caller may use after closing them. A handle is not an address:
//! it names a slot and counts its uses, so that a closed handle is told from an open one even if its slot is
//! used again.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Mutex = @import("engine").mutex.Mutex;

/// What a handle names.
pub const Kind = enum(u2) { context, stream };

/// The open handles of one kind. Safe from any thread. Objects are claimed under its lock, so that none is freed between its
/// look-up and its use.
pub fn Table(comptime T: type, comptime Handle: type, comptime kind: Kind) type {
    return struct {
        const Self = @This();

        mutex: Mutex = .{},
        slots: ArrayList(Slot) = .empty,
        open: usize = 0,

        const Slot = struct { object: ?*T = null, uses: u32 = 0 };

        /// A new handle for an object. Fails beyond `handles_max` open handles.
        pub fn add(table: *Self, gpa: Allocator, object: *T) Allocator.Error!*Handle {
            table.mutex.lock();
            defer table.mutex.unlock();
            const index = table.freeSlot() orelse try table.newSlot(gpa);
            const slot = &table.slots.items[index];
            slot.object = object;
            slot.uses = if (slot.uses == uses_max) 1 else slot.uses + 1;
            table.open += 1;
            return encode(index, slot.uses);
        }

        /// What `claim` returns of the object of an open handle; null for any other handle.
        pub fn get(table: *Self, handle: ?*const Handle, comptime claim: anytype) ?Claimed(claim) {
            table.mutex.lock();
            defer table.mutex.unlock();
            return claim((table.find(handle) orelse return null).object.?);
        }

        /// Closes a handle, if `claim` allows it. Returns its object; null if it was not open.
        pub fn take(table: *Self, handle: ?*const Handle, comptime claim: fn (*T) bool) ?*T {
            table.mutex.lock();
            defer table.mutex.unlock();
            const slot = table.find(handle) orelse return null;
            if (!claim(slot.object.?)) return null;
            defer slot.object = null;
            table.open -= 1;
            return slot.object;
        }

        fn Claimed(comptime claim: anytype) type {
            return @typeInfo(@TypeOf(claim)).@"fn".return_type.?;
        }

        fn find(table: *Self, handle: ?*const Handle) ?*Slot {
            const address = @intFromPtr(handle orelse return null);
            if (address % step != tag) return null;
            const value = address / step;
            const index = value % handles_max;
            if (index >= table.slots.items.len) return null;
            const slot = &table.slots.items[index];
            return if (slot.object != null and slot.uses == value / handles_max) slot else null;
        }

        fn freeSlot(table: *Self) ?usize {
            if (table.open == table.slots.items.len) return null;
            for (table.slots.items, 0..) |slot, i| if (slot.object == null) return i;
            unreachable;
        }

        fn newSlot(table: *Self, gpa: Allocator) Allocator.Error!usize {
            if (table.slots.items.len == handles_max) return error.OutOfMemory;
            try table.slots.append(gpa, .{});
            return table.slots.items.len - 1;
        }

        fn encode(index: usize, uses: u32) *Handle {
            return @ptrFromInt((@as(usize, uses) * handles_max + index) * step + tag);
        }

        const tag = @as(usize, @backingInt(kind)) * @alignOf(u64);
    };
}

/// Handles are aligned as pointers are, and below 2^53, so that JavaScript can hold them as numbers.
const step = 4 * @alignOf(u64);
/// The most handles that are open at once, in each table.
pub const handles_max = 1 << 11;
const uses_max = std.math.maxInt(u32) >> (if (@sizeOf(usize) == 8) 0 else 16);

comptime {
    const largest = (uses_max * handles_max + handles_max - 1) * step + step - 1;
    std.debug.assert(largest <= std.math.maxInt(usize) and largest < 1 << 53);
}

test "a closed handle is told from an open one" {
    const gpa = std.testing.allocator;
    const Handle = opaque {};
    var table: Table(u32, Handle, .context) = .{};
    var other: Table(u32, Handle, .stream) = .{};
    defer other.slots.deinit(gpa);
    defer table.slots.deinit(gpa);
    var objects = [_]u32{ 1, 2, 3 };
    const first = try table.add(gpa, &objects[0]);
    const second = try table.add(gpa, &objects[1]);
    try std.testing.expectEqual(&objects[1], table.get(second, whole).?);
    try std.testing.expectEqual(null, table.take(first, none));
    try std.testing.expectEqual(&objects[0], table.take(first, any).?);
    try std.testing.expectEqual(null, table.take(first, any));
    const third = try table.add(gpa, &objects[2]);
    try std.testing.expect(third != first);
    try std.testing.expectEqual(null, table.get(first, whole));
    try std.testing.expectEqual(&objects[2], table.get(third, whole).?);
    try std.testing.expectEqual(null, table.get(null, whole));
    try std.testing.expectEqual(null, table.get(@ptrFromInt(0x7fff_1234_5670), whole));
    _ = try other.add(gpa, &objects[0]);
    try std.testing.expectEqual(null, other.get(second, whole));
    try std.testing.expectEqual(null, table.get(@ptrFromInt(@intFromPtr(second) + 1), whole));
}

test "as many handles as there may be, and one more" {
    const gpa = std.testing.allocator;
    const Handle = opaque {};
    var table: Table(u32, Handle, .context) = .{};
    defer table.slots.deinit(gpa);
    var object: u32 = 0;
    var last: *Handle = undefined;
    for (0..handles_max) |_| last = try table.add(gpa, &object);
    try std.testing.expectError(error.OutOfMemory, table.add(gpa, &object));
    try std.testing.expectEqual(&object, table.take(last, any).?);
    try std.testing.expect(try table.add(gpa, &object) != last);
    try std.testing.expectError(error.OutOfMemory, table.add(gpa, &object));
}

fn whole(object: *u32) *u32 {
    return object;
}

fn any(_: *u32) bool {
    return true;
}

fn none(_: *u32) bool {
    return false;
}
