//! Compiled grammars of streams: a stream of a grammar that another one had needs no time to open, and finds its masks.

const std = @import("std");
const Allocator = std.mem.Allocator;
const compile = @import("../compile/compile.zig");
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Recognizer = @import("engine").recognizer.Recognizer;
const shared_cache = @import("engine").shared_cache;
const Shared = shared_cache.Shared;
const Vocabulary = @import("engine").vocabulary.Vocabulary;
const gpa = @import("engine").memory.gpa;

/// Safe from any thread.
pub const GrammarCache = struct {
    compiled: shared_cache.SharedCache(slots) = .{ .gpa = gpa },

    const slots = 16;

    pub fn deinit(cache: *GrammarCache) void {
        cache.compiled.deinit();
    }

    /// A reference to the grammar of the rule `root`; always for the same vocabulary. Fails as compiling does.
    pub fn get(cache: *GrammarCache, vocabulary: *const Vocabulary, gbnf: []const u8, d: *Diagnostic) diagnostic.Error!*Recognizer {
        if (cache.compiled.get(gbnf)) |found| {
            defer found.release(gpa);
            return Compiled.of(found).recognizer.retain();
        }
        const recognizer = try compile.compile(gpa, vocabulary, .{ .gbnf = .{ .text = gbnf, .options = .{} } }, .{}, d);
        errdefer recognizer.release();
        const kept = Compiled.create(gbnf, recognizer) catch return d.outOfMemory();
        defer kept.shared.release(gpa);
        cache.compiled.put(&kept.shared);
        return recognizer;
    }
};

const Compiled = struct {
    shared: Shared,
    recognizer: *Recognizer,

    fn of(shared: *Shared) *Compiled {
        return @fieldParentPtr("shared", shared);
    }

    fn create(gbnf: []const u8, recognizer: *Recognizer) Allocator.Error!*Compiled {
        const c = try gpa.create(Compiled);
        errdefer gpa.destroy(c);
        c.* = .{ .shared = try .init(gpa, gbnf, destroy), .recognizer = recognizer.retain() };
        return c;
    }

    fn destroy(shared: *Shared, from: Allocator) void {
        const c = of(shared);
        c.recognizer.release();
        from.destroy(c);
    }
};
