//! The tables of signatures that a grammar has so far. A table is built when it is first needed, or by
//! `prepare`, as long as there is room. From then on any thread reads it without a lock.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const signature = @import("signature.zig");
const Table = signature.Table;
const check = @import("check.zig");
const selection = @import("selection.zig");
const nothing_pending = @import("parser.zig").nothing_pending;
const Mutex = @import("../platform/mutex.zig").Mutex;
const Budget = @import("../base/budget.zig").Budget;
const Watch = @import("../base/watch.zig").Watch;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;

/// Safe from any thread. Must not move once a table was asked for. Tables stay until `deinit`.
pub const TableStore = struct {
    gpa: Allocator,
    mutex: Mutex = .{},
    /// By lexer state. The first, `dead`, has none.
    continuations: []Slot,
    /// By shard.
    restarts: []Slot,
    /// Its address stands for a table that cannot be built.
    too_large: Table = undefined,
    /// A table did not fit: no further one is built.
    is_full: std.atomic.Value(bool) = .init(false),
    /// Tables whose arrays are in a mapped file.
    mapped: []Table = &.{},

    const Slot = std.atomic.Value(?*Table);

    /// An empty store.
    pub fn init(gpa: Allocator, n_lexer_states: usize, n_shards: usize) Allocator.Error!TableStore {
        const continuations = try gpa.alloc(Slot, n_lexer_states);
        errdefer gpa.free(continuations);
        const restarts = try gpa.alloc(Slot, n_shards);
        for (continuations) |*slot| slot.* = .init(null);
        for (restarts) |*slot| slot.* = .init(null);
        return .{ .gpa = gpa, .continuations = continuations, .restarts = restarts };
    }

    /// Frees all tables that are not mapped. None is in use.
    pub fn deinit(store: *TableStore) void {
        for ([_][]Slot{ store.continuations, store.restarts }) |slots| {
            for (slots) |*slot| if (store.built(slot)) |table| {
                if (store.isMapped(table)) continue;
                store.drop(table);
            };
            store.gpa.free(slots);
        }
        store.gpa.free(store.mapped);
    }

    fn isMapped(store: *const TableStore, table: *const Table) bool {
        const first = @intFromPtr(store.mapped.ptr);
        return @intFromPtr(table) >= first and @intFromPtr(table) < first + std.mem.sliceAsBytes(store.mapped).len;
    }

    /// Number of tables.
    pub fn count(store: *const TableStore) u32 {
        var n: u32 = 0;
        for ([_][]Slot{ store.continuations, store.restarts }) |slots| {
            for (slots) |*slot| n += @intFromBool(store.built(slot) != null);
        }
        return n;
    }

    /// The table of a slot; null if it is not built, or cannot be.
    pub fn built(store: *const TableStore, slot: *const Slot) ?*Table {
        const table = slot.load(.acquire) orelse return null;
        return if (table == &store.too_large) null else table;
    }

    /// The tables that a mask in this lexer state is made of, built if need be; null if there is no room for
    /// one. Lent by the store; `restarts` has room for one per shard. `TooLarge`: the source's watch has stopped it.
    pub fn forState(store: *TableStore, source: signature.Source, state: u16, restarts: []*const Table) signature.Error!?selection.Tables {
        for (store.restarts, restarts, 0..) |*slot, *restart, shard| {
            restart.* = try store.get(source, slot, .{ .restart = @intCast(shard) }) orelse return null;
        }
        var tables: selection.Tables = .{ .continuation = null, .base = null, .restarts = restarts };
        if (state == nothing_pending) return tables;
        const table = try store.continuation(source, state) orelse return null;
        tables.continuation = table;
        if (table.base != signature.no_base) tables.base = try store.continuation(source, table.base) orelse return null;
        return tables;
    }

    /// Builds every table that there is room for.
    pub fn prepare(store: *TableStore, of: signature.Source, budget: *const Budget, diag: *Diagnostic) diagnostic.Error!void {
        const interrupt = budget.interrupt();
        var watch: Watch = .{ .interrupt = &interrupt };
        var source = of;
        source.watch = &watch;
        for (store.restarts, 0..) |*slot, shard| {
            try budget.check("the tables", diag);
            store.prepareOne(source, slot, .{ .restart = @intCast(shard) }) catch |e| return notBuilt(e, budget, diag);
        }
        for (store.continuations[1..], 1..) |*slot, state| {
            try budget.check("the tables", diag);
            store.prepareOne(source, slot, .{ .continuation = @intCast(state) }) catch |e| return notBuilt(e, budget, diag);
        }
    }

    fn notBuilt(reason: signature.Error, budget: *const Budget, diag: *Diagnostic) diagnostic.Error {
        return switch (reason) {
            error.OutOfMemory => diag.outOfMemory(),
            error.TooLarge => budget.stopped("the tables", diag),
        };
    }

    /// Names a table in a file: that of a lexer state, or a restart table's shard.
    const Key = extern struct { is_restart: u32, index: u32 };

    /// Writes the tables that are built.
    pub fn save(store: *const TableStore, writer: anytype) Allocator.Error!void {
        var keys: ArrayList(Key) = .empty;
        var tables: ArrayList(*const Table) = .empty;
        for ([_][]Slot{ store.continuations, store.restarts }, 0..) |slots, is_restart| {
            for (slots, 0..) |*slot, index| {
                const table = store.built(slot) orelse continue;
                try keys.append(writer.arena, .{ .is_restart = @intCast(is_restart), .index = @intCast(index) });
                try tables.append(writer.arena, table);
            }
        }
        try writer.put(&@as([]const Key, keys.items));
        for (tables.items) |table| try writer.put(table);
    }

    /// Reads what `save` wrote, into an empty store.
    pub fn open(store: *TableStore, reader: anytype) error{ OutOfMemory, Damaged }!void {
        const keys = try reader.get([]const Key);
        store.mapped = try store.gpa.alloc(Table, keys.len);
        for (keys, store.mapped) |key, *table| {
            table.* = try reader.get(Table);
            const slots = if (key.is_restart != 0) store.restarts else store.continuations;
            if (key.is_restart > 1 or key.index >= slots.len) return error.Damaged;
            slots[key.index].store(table, .monotonic);
        }
    }

    /// Whether tables out of a file are sound, if the program is.
    pub fn isSound(store: *const TableStore, source: signature.Source) Allocator.Error!bool {
        if (store.mapped.len == 0) return true;
        var tables: check.Tables = try .init(source);
        defer tables.deinit();
        for (store.continuations, 0..) |*slot, state| {
            if (store.built(slot)) |table| if (!tables.isContinuation(table, @intCast(state))) return false;
        }
        for (store.restarts, 0..) |*slot, shard| {
            if (store.built(slot)) |table| if (!tables.isRestart(table, @intCast(shard))) return false;
        }
        return true;
    }

    fn continuation(store: *TableStore, source: signature.Source, state: u16) signature.Error!?*const Table {
        return store.get(source, &store.continuations[state], .{ .continuation = state });
    }

    const Which = union(enum) { restart: u32, continuation: u16 };

    inline fn get(store: *TableStore, source: signature.Source, slot: *Slot, which: Which) signature.Error!?*const Table {
        if (slot.load(.acquire) == null) try store.build(source, slot, which);
        return store.built(slot);
    }

    fn build(store: *TableStore, source: signature.Source, slot: *Slot, which: Which) signature.Error!void {
        if (store.is_full.load(.monotonic)) return;
        store.mutex.lock();
        defer store.mutex.unlock();
        if (slot.load(.acquire) != null) return; // another thread was faster
        store.keep(source, slot, try store.make(source, which));
    }

    /// Without the lock while it builds: whom the watch asks may use the constraint.
    fn prepareOne(store: *TableStore, source: signature.Source, slot: *Slot, which: Which) signature.Error!void {
        if (store.is_full.load(.monotonic) or slot.load(.acquire) != null) return;
        const table = try store.make(source, which);
        store.mutex.lock();
        defer store.mutex.unlock();
        if (slot.load(.acquire) == null) return store.keep(source, slot, table);
        if (table != &store.too_large) store.drop(table);
    }

    /// `too_large` if it cannot be built.
    fn make(store: *TableStore, source: signature.Source, which: Which) signature.Error!*Table {
        const table = try store.gpa.create(Table);
        errdefer store.gpa.destroy(table);
        table.* = signatures(store.gpa, source, which) catch |e| {
            const is_stopped = if (source.watch) |watch| watch.stopped != .not else false;
            if (e == error.OutOfMemory or is_stopped) return e;
            store.gpa.destroy(table);
            return &store.too_large;
        };
        std.debug.assert((table.id > std.math.maxInt(u16)) == (which == .restart));
        return table;
    }

    /// As long as there is room. Under the lock.
    fn keep(store: *TableStore, source: signature.Source, slot: *Slot, table: *Table) void {
        if (table != &store.too_large and !source.context.account.take(table.bytes())) {
            store.is_full.store(true, .monotonic);
            return store.drop(table);
        }
        slot.store(table, .release);
    }

    fn drop(store: *TableStore, table: *Table) void {
        table.deinit(store.gpa);
        store.gpa.destroy(table);
    }

    fn signatures(gpa: Allocator, source: signature.Source, which: Which) signature.Error!Table {
        return switch (which) {
            .restart => |shard| signature.buildRestart(gpa, source, shard),
            .continuation => |state| signature.buildContinuation(gpa, source, state),
        };
    }
};
