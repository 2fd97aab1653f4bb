//! The legal next tokens at one place, and the memory of those that were found: a mask is looked up by
//! the state of the automaton or lexer and by as much of the parser's stack as was looked at when it
//! was computed, from the top. Any thread may look up while another inserts. Nothing is ever removed,
//! so that what was lent stays: when the memory is used up, new masks are not kept.

const std = @import("std");
const Allocator = std.mem.Allocator;
const bitmap = @import("../base/bitmap.zig");
const NumberMap = @import("../base/number_map.zig").NumberMap;
const Mutex = @import("../platform/mutex.zig").Mutex;

/// More tokens than these are a bitmap.
pub const list_max = 256;

pub const Mask = struct {
    /// The tokens, ascending, if they are at most `list_max`.
    ids: []const i32,
    /// The tokens as a bitmap if they are more.
    words: ?bitmap.Words,
    n_tokens: u32,
    /// Whether the text may end here. The vocabulary's end-of-generation tokens are among the tokens then.
    can_stop: bool,

    pub fn bytes(mask: *const Mask) usize {
        return @sizeOf(Mask) + std.mem.sliceAsBytes(mask.ids).len + if (mask.words) |words| std.mem.sliceAsBytes(words).len else 0;
    }

    fn eql(a: *const Mask, b: *const Mask) bool {
        if (a.can_stop != b.can_stop or a.n_tokens != b.n_tokens) return false;
        if (a.words) |words| return std.mem.eql(u32, words, b.words.?);
        return std.mem.eql(i32, a.ids, b.ids);
    }

    fn hash(mask: *const Mask) u64 {
        const content = if (mask.words) |words| std.mem.sliceAsBytes(words) else std.mem.sliceAsBytes(mask.ids);
        return std.hash.Wyhash.hash(@intFromBool(mask.can_stop), content);
    }

    fn copy(mask: *const Mask, gpa: Allocator) Allocator.Error!*Mask {
        const kept = try gpa.create(Mask);
        errdefer gpa.destroy(kept);
        kept.* = mask.*;
        if (mask.words) |words| {
            kept.words = try bitmap.alloc(gpa, words.len);
            bitmap.copy(kept.words.?, words);
        } else kept.ids = try gpa.dupe(i32, mask.ids);
        return kept;
    }

    fn destroy(mask: *const Mask, gpa: Allocator) void {
        if (mask.words) |words| gpa.free(words) else gpa.free(mask.ids);
        gpa.destroy(mask);
    }
};

/// What the memory of masks, and the tables beside it, may take together.
pub const Account = struct {
    bytes_max: u64,
    bytes: std.atomic.Value(usize) = .init(0),

    /// False if there is no room; then nothing is taken.
    pub fn take(account: *Account, bytes: usize) bool {
        const before = account.bytes.fetchAdd(bytes, .monotonic);
        if (before + bytes <= account.bytes_max) return true;
        account.giveBack(bytes);
        return false;
    }

    pub fn giveBack(account: *Account, bytes: usize) void {
        _ = account.bytes.fetchSub(bytes, .monotonic);
    }
};

/// The states that a key may have, the first one included.
pub const key_max = 64;

pub const Memory = struct {
    gpa: Allocator,
    account: *Account,
    mutex: Mutex = .{},
    slots: std.atomic.Value(?*Slots) = .init(null),
    /// What the slots are to be replaced by, with the first `n_moved` of them.
    next: ?*Slots = null,
    n_moved: usize = 0,
    n_inner: u32 = 0,
    /// Different ones, by their hash.
    masks: std.ArrayList(*Mask) = .empty,
    by_hash: NumberMap = .{},

    pub fn deinit(m: *Memory) void {
        var slots = m.next orelse m.slots.load(.monotonic);
        while (slots) |one| {
            slots = one.older;
            one.destroy(m.gpa);
        }
        for (m.masks.items) |mask| mask.destroy(m.gpa);
        m.masks.deinit(m.gpa);
        m.by_hash.deinit(m.gpa);
    }

    pub fn count(m: *Memory) u32 {
        m.mutex.lock();
        defer m.mutex.unlock();
        return @intCast(m.masks.items.len);
    }

    /// `key` gives the states, from the first, by `next() u32`; it is asked for as many as are needed.
    pub inline fn find(m: *const Memory, key: anytype) ?*const Mask {
        const slots = m.slots.load(.acquire) orelse return null;
        var value: Value = .root;
        while (true) {
            value = slots.get(value, key.next()) orelse return null;
            if (value.mask()) |mask| return mask;
        }
    }

    /// Keeps a copy of a mask under its key, or gives the one that is kept already; null if there is
    /// no room.
    pub fn insert(m: *Memory, key: []const u32, mask: *const Mask) ?*const Mask {
        m.mutex.lock();
        defer m.mutex.unlock();
        return m.insertLocked(key, mask) catch null;
    }

    fn insertLocked(m: *Memory, key: []const u32, mask: *const Mask) error{ OutOfMemory, NoRoom }!*const Mask {
        try m.makeRoom(key.len);
        const slots = m.slots.load(.monotonic).?;
        var value: Value = .root;
        for (key[0 .. key.len - 1]) |state| {
            value = slots.get(value, state) orelse inner: {
                m.n_inner += 1;
                const made: Value = .inner(m.n_inner);
                m.put(value, state, made);
                break :inner made;
            };
            if (value.mask()) |kept| return kept;
        }
        if (slots.get(value, key[key.len - 1])) |there| return there.mask() orelse error.NoRoom;
        const kept = try m.keep(mask);
        m.put(value, key[key.len - 1], .of(kept));
        return kept;
    }

    fn keep(m: *Memory, mask: *const Mask) error{ OutOfMemory, NoRoom }!*const Mask {
        const hash = mask.hash() >> 1; // a key of the map is not all ones
        const same_hash = m.by_hash.get(hash);
        if (same_hash) |i| if (m.masks.items[i].eql(mask)) return m.masks.items[i];
        try m.masks.ensureUnusedCapacity(m.gpa, 1);
        if (!m.account.take(mask.bytes())) return error.NoRoom;
        errdefer m.account.giveBack(mask.bytes());
        const kept = try mask.copy(m.gpa);
        errdefer kept.destroy(m.gpa);
        if (same_hash == null) try m.by_hash.put(m.gpa, hash, @intCast(m.masks.items.len));
        m.masks.appendAssumeCapacity(kept);
        return kept;
    }

    /// Slots for `n` more keys. When half of them are used, there are to be twice as many, and with each
    /// insertion some of the keys move there, so that none waits for all. What is replaced may still be
    /// read.
    fn makeRoom(m: *Memory, n: usize) error{ OutOfMemory, NoRoom }!void {
        const slots = m.slots.load(.monotonic) orelse return m.slots.store(try m.createSlots(256, null), .release);
        if (m.next == null and 2 * (slots.used + n) > slots.all.len) m.next = try m.createSlots(2 * slots.all.len, slots);
        const next = m.next orelse return;
        const end = @min(m.n_moved + moves_per_key * n, slots.all.len);
        for (slots.all[m.n_moved..end]) |*slot| {
            const key = slot.key.load(.monotonic);
            if (key != 0 and next.getKey(key) == null) next.putKey(key, slot.value.load(.monotonic));
        }
        m.n_moved = end;
        if (end < slots.all.len) return;
        m.slots.store(next, .release);
        m.next = null;
        m.n_moved = 0;
    }

    /// So the slots are never fuller than three quarters.
    const moves_per_key = 8;

    fn createSlots(m: *Memory, len: usize, older: ?*Slots) error{ OutOfMemory, NoRoom }!*Slots {
        if (!m.account.take(len * @sizeOf(Slots.Slot))) return error.NoRoom;
        errdefer m.account.giveBack(len * @sizeOf(Slots.Slot));
        return Slots.create(m.gpa, len, older);
    }

    /// The key is not there yet.
    fn put(m: *Memory, node: Value, state: u32, value: Value) void {
        const key = Slots.keyOf(node, state);
        m.slots.load(.monotonic).?.putKey(key, value.bits);
        if (m.next) |next| next.putKey(key, value.bits);
    }
};

/// An inner node of the trie of keys, or a mask.
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

/// A hash table with open addressing, from inner node and state to value.
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

    fn destroy(slots: *Slots, gpa: Allocator) void {
        gpa.free(slots.all);
        gpa.destroy(slots);
    }

    inline fn get(slots: *const Slots, node: Value, state: u32) ?Value {
        return slots.getKey(keyOf(node, state));
    }

    inline fn getKey(slots: *const Slots, wanted: u64) ?Value {
        var i = slots.start(wanted);
        while (true) : (i = (i + 1) & (slots.all.len - 1)) {
            const key = slots.all[i].key.load(.acquire);
            if (key == wanted) return .{ .bits = slots.all[i].value.load(.monotonic) };
            if (key == 0) return null;
        }
    }

    fn putKey(slots: *Slots, key: u64, value: u64) void {
        var i = slots.start(key);
        while (slots.all[i].key.load(.monotonic) != 0) i = (i + 1) & (slots.all.len - 1);
        slots.all[i].value.store(value, .monotonic);
        slots.all[i].key.store(key, .release);
        slots.used += 1;
    }

    /// Not 0: the node's bits are odd.
    inline fn keyOf(node: Value, state: u32) u64 {
        return node.bits << 31 | state;
    }

    /// Multiplicative hashing (Knuth, TAOCP 3, 6.4).
    inline fn start(slots: *const Slots, key: u64) usize {
        return @intCast((key *% 0x9e3779b97f4a7c15) >> slots.shift);
    }
};

const Word = if (@bitSizeOf(usize) >= 64) std.atomic.Value(u64) else Halves;

/// For processors without atomic words of 64 bits. It is written once, and its lower half is never 0
/// then: no half is seen before it is there.
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
