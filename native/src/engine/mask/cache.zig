//! The mask cache: masks by the states that decided about them, that of the automaton or lexer first, then as
//! much of the parser's stack as was looked at, from the top (recognizer/key.zig says why that is enough). Any
//! thread may look up while another inserts. Nothing is ever removed, so that what was lent stays valid: when
//! the room is used up, new masks are not kept.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Mask = @import("mask.zig").Mask;
const NumberMap = @import("../base/number_map.zig").NumberMap;
const Mutex = @import("../platform/mutex.zig").Mutex;

/// The memory that cached masks, and the tables beside them, may take together. Safe from any thread.
pub const Account = struct {
    bytes_max: u64,
    bytes: std.atomic.Value(usize) = .init(0),

    /// Reserves memory. False if there is no room: then nothing is reserved.
    pub fn take(account: *Account, bytes: usize) bool {
        const before = account.bytes.fetchAdd(bytes, .monotonic);
        if (before + bytes <= account.bytes_max) return true;
        account.giveBack(bytes);
        return false;
    }

    /// Frees memory that `take` reserved.
    pub fn giveBack(account: *Account, bytes: usize) void {
        const before = account.bytes.fetchSub(bytes, .monotonic);
        std.debug.assert(before >= bytes);
    }
};

/// The most states that the key of a stack may have.
pub const key_max = 64;
/// The same of a graph of stacks.
pub const graph_key_max = 1024;

/// A trie of keys in one hash table: an inner node and a state lead to a node or a mask. Safe from any thread;
/// look-ups take no lock.
pub const MaskCache = struct {
    gpa: Allocator,
    account: *Account,
    mutex: Mutex = .{},
    slots: std.atomic.Value(?*Slots) = .init(null),
    /// The larger table that will replace `slots`; it has the first `n_moved` of them.
    next: ?*Slots = null,
    n_moved: usize = 0,
    n_inner: u32 = 0,
    /// The distinct masks: equal ones are shared.
    masks: ArrayList(*Mask) = .empty,
    by_hash: NumberMap = .{},

    /// Frees all masks. None is in use.
    pub fn deinit(c: *MaskCache) void {
        var slots = c.next orelse c.slots.load(.monotonic);
        while (slots) |one| {
            slots = one.older;
            c.account.giveBack(one.bytes());
            one.destroy(c.gpa);
        }
        for (c.masks.items) |mask| {
            c.account.giveBack(mask.bytes());
            mask.destroy(c.gpa);
        }
        c.masks.deinit(c.gpa);
        c.by_hash.deinit(c.gpa);
    }

    /// The same, and is as new. No other thread uses it.
    pub fn clear(c: *MaskCache) void {
        c.deinit();
        c.* = .{ .gpa = c.gpa, .account = c.account };
    }

    /// Number of distinct masks.
    pub fn count(c: *MaskCache) u32 {
        c.mutex.lock();
        defer c.mutex.unlock();
        return @intCast(c.masks.items.len);
    }

    /// The mask of a key; null if it is not cached. `key.next() u32` gives the states one by one, as many as
    /// are needed. Lent as long as the cache lives.
    pub inline fn get(c: *const MaskCache, key: anytype) ?*const Mask {
        const slots = c.slots.load(.acquire) orelse return null;
        var value = slots.probe(Slots.keyOf(.root, key.next())) orelse return null;
        while (true) {
            if (value.mask()) |mask| return mask;
            value = slots.get(value, key.next()) orelse return null;
        }
    }

    /// Caches a copy of a mask under its key, unless the key has one already. Returns the cached mask; null if
    /// there is no room.
    pub fn insert(c: *MaskCache, key: []const u32, mask: *const Mask) ?*const Mask {
        std.debug.assert(key.len >= 1 and key.len <= graph_key_max);
        mask.assertValid();
        c.mutex.lock();
        defer c.mutex.unlock();
        return c.insertLocked(key, mask) catch null;
    }

    fn insertLocked(c: *MaskCache, key: []const u32, mask: *const Mask) error{ OutOfMemory, NoRoom }!*const Mask {
        try c.makeRoom(key.len);
        const slots = c.slots.load(.monotonic).?;
        var value: Value = .root;
        for (key[0 .. key.len - 1]) |state| {
            value = slots.get(value, state) orelse inner: {
                c.n_inner += 1;
                const made: Value = .inner(c.n_inner);
                c.put(value, state, made);
                break :inner made;
            };
            if (value.mask()) |kept| return kept;
        }
        if (slots.get(value, key[key.len - 1])) |there| return there.mask() orelse error.NoRoom;
        const kept = try c.keep(mask);
        c.put(value, key[key.len - 1], .of(kept));
        return kept;
    }

    fn keep(c: *MaskCache, mask: *const Mask) error{ OutOfMemory, NoRoom }!*const Mask {
        const hash = mask.hash() >> 1; // a key of the map is not all ones
        const same_hash = c.by_hash.get(hash);
        if (same_hash) |i| if (c.masks.items[i].eql(mask)) return c.masks.items[i];
        try c.masks.ensureUnusedCapacity(c.gpa, 1);
        if (!c.account.take(mask.bytes())) return error.NoRoom;
        errdefer c.account.giveBack(mask.bytes());
        const kept = try mask.copy(c.gpa);
        errdefer kept.destroy(c.gpa);
        if (same_hash == null) try c.by_hash.put(c.gpa, hash, @intCast(c.masks.items.len));
        c.masks.appendAssumeCapacity(kept);
        return kept;
    }

    /// Makes room for `n` more keys. Once half of the slots are used, a larger table is made, and each insertion moves some
    /// of the keys there, so that none waits for all but one for which the table in use is too small. Readers may still use
    /// the old table, so it stays.
    fn makeRoom(c: *MaskCache, n: usize) error{ OutOfMemory, NoRoom }!void {
        if (c.slots.load(.monotonic) == null) c.slots.store(try c.createSlots(@max(256, lengthFor(n)), null), .release);
        while (true) {
            const slots = c.slots.load(.monotonic).?;
            const wanted = lengthFor(slots.used + n);
            if (c.next == null and wanted > slots.all.len) c.next = try c.createSlots(wanted, slots);
            const next = c.next orelse return;
            const is_room = slots.hasRoom(n);
            const end = if (is_room) @min(c.n_moved + moves_per_key * n, slots.all.len) else slots.all.len;
            for (slots.all[c.n_moved..end]) |*slot| {
                const key = slot.key.load(.monotonic);
                if (key != 0 and next.getKey(key) == null) next.putKey(key, slot.value.load(.monotonic));
            }
            c.n_moved = end;
            if (end == slots.all.len) {
                c.slots.store(next, .release);
                c.next = null;
                c.n_moved = 0;
            }
            if (is_room) return;
        }
    }

    /// Of a table that is at most half full with `n` keys.
    fn lengthFor(n: usize) usize {
        return std.math.ceilPowerOfTwoAssert(usize, 2 * n);
    }

    /// Enough that slots are never more than three quarters full.
    const moves_per_key = 8;

    fn createSlots(c: *MaskCache, len: usize, older: ?*Slots) error{ OutOfMemory, NoRoom }!*Slots {
        if (!c.account.take(len * @sizeOf(Slots.Slot))) return error.NoRoom;
        errdefer c.account.giveBack(len * @sizeOf(Slots.Slot));
        return Slots.create(c.gpa, len, older);
    }

    /// The key is not in the table yet.
    fn put(c: *MaskCache, node: Value, state: u32, value: Value) void {
        const key = Slots.keyOf(node, state);
        c.slots.load(.monotonic).?.putKey(key, value.bits);
        if (c.next) |next| next.putKey(key, value.bits);
    }
};

/// An inner node of the trie of keys (odd bits), or a mask (its address).
const Value = packed struct(u64) {
    bits: u64,

    const root: Value = inner(0);

    fn inner(n: u32) Value {
        return .{ .bits = @as(u64, n) << 1 | 1 };
    }

    fn of(kept: *const Mask) Value {
        return .{ .bits = @intFromPtr(kept) };
    }

    inline fn mask(value: Value) ?*const Mask {
        return if (value.bits & 1 == 0) @ptrFromInt(@as(usize, @intCast(value.bits))) else null;
    }
};

/// A hash table with linear probing, from inner node and state to value. One thread writes, any reads: a key is stored
/// after its value. The first key of a node lies at the node's home, if that is free: nodes of one long key are made in a
/// row, and found so they are read in a row, too.
const Slots = struct {
    all: []Slot,
    shift: u6,
    used: usize,
    older: ?*Slots,

    const Slot = struct { key: Word, value: Word };

    fn create(gpa: Allocator, len: usize, older: ?*Slots) Allocator.Error!*Slots {
        const slots = try gpa.create(Slots);
        errdefer gpa.destroy(slots);
        const all = try gpa.alloc(Slot, len);
        for (all) |*slot| slot.* = .{ .key = .init(0), .value = .init(0) };
        slots.* = .{ .all = all, .shift = @intCast(64 - @as(u32, std.math.log2_int(usize, len))), .used = 0, .older = older };
        return slots;
    }

    fn bytes(slots: *const Slots) usize {
        return slots.all.len * @sizeOf(Slot);
    }

    fn destroy(slots: *Slots, gpa: Allocator) void {
        gpa.free(slots.all);
        gpa.destroy(slots);
    }

    inline fn get(slots: *const Slots, node: Value, state: u32) ?Value {
        return slots.getKey(keyOf(node, state));
    }

    inline fn getKey(slots: *const Slots, wanted: u64) ?Value {
        const first = &slots.all[slots.home(wanted)];
        if (first.key.load(.acquire) == wanted) return .{ .bits = first.value.load(.monotonic) };
        return slots.probe(wanted);
    }

    inline fn probe(slots: *const Slots, wanted: u64) ?Value {
        var i = slots.start(wanted);
        while (true) : (i = (i + 1) & (slots.all.len - 1)) {
            const key = slots.all[i].key.load(.acquire);
            if (key == wanted) return .{ .bits = slots.all[i].value.load(.monotonic) };
            if (key == 0) return null;
        }
    }

    fn hasRoom(slots: *const Slots, n: usize) bool {
        return 4 * (slots.used + n) <= 3 * slots.all.len;
    }

    fn putKey(slots: *Slots, key: u64, value: u64) void {
        std.debug.assert(slots.hasRoom(1));
        var i = if (isOfRoot(key)) slots.start(key) else slots.home(key);
        if (slots.all[i].key.load(.monotonic) != 0) i = slots.start(key);
        while (slots.all[i].key.load(.monotonic) != 0) i = (i + 1) & (slots.all.len - 1);
        slots.all[i].value.store(value, .monotonic);
        slots.all[i].key.store(key, .release);
        slots.used += 1;
    }

    /// Not 0: the node's bits are odd.
    inline fn keyOf(node: Value, state: u32) u64 {
        std.debug.assert(node.mask() == null and state <= std.math.maxInt(u31));
        return node.bits << 31 | state;
    }

    /// The root has too many for one of them to lie at a home.
    inline fn isOfRoot(key: u64) bool {
        return key >> 31 == Value.root.bits;
    }

    /// The node's bits, which are odd: what does not lie at its home is found between those that do.
    inline fn home(slots: *const Slots, key: u64) usize {
        return @intCast(key >> 31 & (slots.all.len - 1));
    }

    /// Multiplicative hashing (Knuth, TAOCP 3, 6.4).
    inline fn start(slots: *const Slots, key: u64) usize {
        return @intCast((key *% 0x9e3779b97f4a7c15) >> slots.shift);
    }
};

const Word = if (@bitSizeOf(usize) >= 64) std.atomic.Value(u64) else Halves;

/// For processors without atomic words of 64 bits. Written once, the lower half last, which is then never 0: so no
/// reader sees half of a value.
const Halves = struct {
    low: std.atomic.Value(u32),
    high: std.atomic.Value(u32),

    fn init(value: u64) Halves {
        return .{ .low = .init(@truncate(value)), .high = .init(@intCast(value >> 32)) };
    }

    fn store(halves: *Halves, value: u64, comptime order: std.lang.AtomicOrder) void {
        std.debug.assert(@as(u32, @truncate(value)) != 0);
        halves.high.store(@intCast(value >> 32), .monotonic);
        halves.low.store(@truncate(value), order);
    }

    fn load(halves: *const Halves, comptime order: std.lang.AtomicOrder) u64 {
        const low = halves.low.load(order);
        if (low == 0) return 0;
        return @as(u64, halves.high.load(.monotonic)) << 32 | low;
    }
};
