//! Compiled languages by their source: a stream that needs one that another had needs no time for it, and finds its masks.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Recognizer = @import("engine").recognizer.Recognizer;
const shared_cache = @import("engine").shared_cache;
const Shared = shared_cache.Shared;
const gpa = @import("engine").memory.gpa;

/// Of one vocabulary. Safe from any thread.
pub const RecognizerCache = struct {
    compiled: shared_cache.SharedCache(slots) = .{ .gpa = gpa },

    const slots = 16;

    pub fn deinit(cache: *RecognizerCache) void {
        cache.compiled.deinit();
    }

    /// A reference to what was put under this key, if it is there.
    pub fn get(cache: *RecognizerCache, key: []const u8) ?*Recognizer {
        const found = cache.compiled.get(key) orelse return null;
        defer found.release(gpa);
        return Compiled.of(found).recognizer.retain();
    }

    /// Keeps a reference of its own.
    pub fn put(cache: *RecognizerCache, key: []const u8, recognizer: *Recognizer) Allocator.Error!void {
        const kept = try Compiled.create(key, recognizer);
        defer kept.shared.release(gpa);
        cache.compiled.put(&kept.shared);
    }
};

const Compiled = struct {
    shared: Shared,
    recognizer: *Recognizer,

    fn of(shared: *Shared) *Compiled {
        return @fieldParentPtr("shared", shared);
    }

    fn create(key: []const u8, recognizer: *Recognizer) Allocator.Error!*Compiled {
        const c = try gpa.create(Compiled);
        errdefer gpa.destroy(c);
        c.* = .{ .shared = try .init(gpa, key, destroy), .recognizer = recognizer.retain() };
        return c;
    }

    fn destroy(shared: *Shared, from: Allocator) void {
        const c = of(shared);
        c.recognizer.release();
        from.destroy(c);
    }
};
