//! A cache of compiled payloads, keyed by their bytes: least recently used leave first, bounded by count and by
//! memory. The lock is held for look-ups only; compiling and comparing happen outside it.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Mutex = @import("../platform/mutex.zig").Mutex;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const TokenTrie = @import("trie.zig").TokenTrie;
const build = @import("build.zig");
const decode = @import("../payload/decode.zig");

/// The most payloads that are kept.
pub const entries_max = 128;
/// The most memory of the kept payloads, unless `setLimit` changes it.
pub const bytes_max_default = 32 << 20;

/// eliza_trie_cache_stats_t of the header.
pub const Stats = struct {
    entries: u32 = 0,
    bytes: u64 = 0,
    /// Null: the default. So the unused cache of the process is all zeros, which take no room in the library's
    /// file.
    limit: ?u64 = null,
    hits: u64 = 0,
    misses: u64 = 0,
    evictions: u64 = 0,

    /// The limit in force.
    pub fn bytesMax(stats: Stats) u64 {
        return stats.limit orelse bytes_max_default;
    }
};

/// Safe from any thread.
pub const Cache = struct {
    mutex: Mutex = .{},
    hashes: [entries_max]u64 = undefined,
    entries: [entries_max]Entry = undefined,
    clock: u64 = 0,
    counts: Stats = .{},

    const Entry = struct { trie: *TokenTrie, bytes: u64, last_used: u64 };

    /// The compiled payload, from the cache if it is there. The caller owns one reference. Costs a hash and a
    /// comparison of the payload on a hit.
    pub fn get(cache: *Cache, gpa: Allocator, source: []const u8, diag: *Diagnostic) diagnostic.Error!*TokenTrie {
        try decode.checkLength(source.len, diag); // before its bytes are touched
        const hash = std.hash.Wyhash.hash(0, source);
        if (cache.find(hash)) |trie| {
            if (std.mem.eql(u8, trie.source, source)) {
                cache.count(.hits);
                return trie;
            }
            trie.release();
        }
        cache.count(.misses);
        const trie = try build.compile(gpa, source, diag);
        cache.keep(hash, trie);
        return trie;
    }

    /// Removes payloads until the others fit in `bytes_max`. Those in use live on until they are released.
    pub fn setLimit(cache: *Cache, bytes_max: u64) void {
        var dropped: Dropped = .{};
        defer dropped.release();
        cache.mutex.lock();
        defer cache.mutex.unlock();
        cache.counts.limit = bytes_max;
        cache.evict(&dropped);
    }

    /// A copy of the counts.
    pub fn stats(cache: *Cache) Stats {
        cache.mutex.lock();
        defer cache.mutex.unlock();
        return cache.counts;
    }

    fn find(cache: *Cache, hash: u64) ?*TokenTrie {
        cache.mutex.lock();
        defer cache.mutex.unlock();
        const i = std.mem.findScalar(u64, cache.hashes[0..cache.counts.entries], hash) orelse return null;
        cache.clock += 1;
        cache.entries[i].last_used = cache.clock;
        return cache.entries[i].trie.retain();
    }

    fn count(cache: *Cache, comptime which: enum { hits, misses }) void {
        cache.mutex.lock();
        defer cache.mutex.unlock();
        @field(cache.counts, @tagName(which)) += 1;
    }

    /// Does not keep a trie larger than the limit. If another thread has kept the same payload meanwhile, replaces
    /// it.
    fn keep(cache: *Cache, hash: u64, trie: *TokenTrie) void {
        var dropped: Dropped = .{};
        defer dropped.release();
        const bytes = trie.retainedBytes();
        cache.mutex.lock();
        defer cache.mutex.unlock();
        if (bytes > cache.counts.bytesMax()) return;
        if (std.mem.findScalar(u64, cache.hashes[0..cache.counts.entries], hash)) |i| cache.remove(i, &dropped);
        if (cache.counts.entries == entries_max) cache.removeOldest(&dropped);
        cache.clock += 1;
        cache.hashes[cache.counts.entries] = hash;
        cache.entries[cache.counts.entries] = .{ .trie = trie.retain(), .bytes = bytes, .last_used = cache.clock };
        cache.counts.entries += 1;
        cache.counts.bytes += bytes;
        cache.evict(&dropped);
    }

    fn evict(cache: *Cache, dropped: *Dropped) void {
        while (cache.counts.bytes > cache.counts.bytesMax()) cache.removeOldest(dropped);
    }

    fn removeOldest(cache: *Cache, dropped: *Dropped) void {
        var oldest: usize = 0;
        for (cache.entries[0..cache.counts.entries], 0..) |entry, i| {
            if (entry.last_used < cache.entries[oldest].last_used) oldest = i;
        }
        cache.counts.evictions += 1;
        cache.remove(oldest, dropped);
    }

    fn remove(cache: *Cache, i: usize, dropped: *Dropped) void {
        dropped.tries[dropped.len] = cache.entries[i].trie;
        dropped.len += 1;
        cache.counts.bytes -= cache.entries[i].bytes;
        cache.counts.entries -= 1;
        cache.hashes[i] = cache.hashes[cache.counts.entries];
        cache.entries[i] = cache.entries[cache.counts.entries];
    }

    /// Removed tries, released after the lock.
    const Dropped = struct {
        tries: [entries_max]*TokenTrie = undefined,
        len: usize = 0,

        fn release(dropped: *Dropped) void {
            for (dropped.tries[0..dropped.len]) |trie| trie.release();
        }
    };
};

/// The one cache of the process.
pub var shared: Cache = .{};

const testing = std.testing;

fn payloadOf(buffer: []u8, token: usize) []const u8 {
    const format = "{{\"modelId\":\"\",\"descriptors\":[{{\"path\":\"p\",\"leaves\":[{{\"name\":\"A\",\"tokens\":[{d}]}}]}}]}}";
    return std.fmt.bufPrint(buffer, format, .{token}) catch unreachable;
}

fn getAndRelease(cache: *Cache, token: usize) !void {
    var buffer: [128]u8 = undefined;
    var diag: Diagnostic = .{};
    const trie = try cache.get(testing.allocator, payloadOf(&buffer, token), &diag);
    try testing.expectEqual(@as(i32, @intCast(token)), trie.children(trie.at(0))[0]);
    trie.release();
}

test "a second look-up is a hit, and 128 payloads are kept, the least recently used leaving" {
    var cache: Cache = .{};
    defer cache.setLimit(0);
    for (0..entries_max) |token| try getAndRelease(&cache, token);
    try getAndRelease(&cache, 0);
    try testing.expectEqual(1, cache.stats().hits);
    try getAndRelease(&cache, entries_max); // evicts 1: 0 was used since
    try testing.expectEqual(entries_max, cache.stats().entries);
    try testing.expectEqual(1, cache.stats().evictions);
    try getAndRelease(&cache, 0);
    try testing.expectEqual(2, cache.stats().hits);
    try getAndRelease(&cache, 1);
    try testing.expectEqual(2, cache.stats().hits);
}

test "an entry in use outlives its eviction, and a larger one than the bound is not kept" {
    var cache: Cache = .{};
    var buffer: [128]u8 = undefined;
    var diag: Diagnostic = .{};
    const trie = try cache.get(testing.allocator, payloadOf(&buffer, 5), &diag);
    cache.setLimit(10);
    try testing.expectEqual(0, cache.stats().entries);
    try testing.expectEqual(0, cache.stats().bytes);
    try testing.expectEqual(5, trie.children(trie.at(0))[0]);
    trie.release();
    try getAndRelease(&cache, 6);
    try testing.expectEqual(0, cache.stats().entries);
}

test "threads share one cache" {
    const Work = struct {
        fn run(cache: *Cache, failed: *std.atomic.Value(bool)) void {
            for (0..400) |i| getAndRelease(cache, i * 7 % 200) catch failed.store(true, .monotonic);
        }
    };
    var cache: Cache = .{};
    defer cache.setLimit(0);
    var failed: std.atomic.Value(bool) = .init(false);
    var threads: [4]std.Thread = undefined;
    for (&threads) |*thread| thread.* = try std.Thread.spawn(.{}, Work.run, .{ &cache, &failed });
    for (threads) |thread| thread.join();
    try testing.expect(!failed.load(.monotonic));
    const stats = cache.stats();
    try testing.expectEqual(1600, stats.hits + stats.misses);
}
