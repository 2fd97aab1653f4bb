//! Memory for finding masks, lent to one thread at a time, so that it is not part of each matcher; and
//! how a mask is put together in it.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ByteTrie = @import("../vocabulary/byte_trie.zig").ByteTrie;
const Recognizer = @import("recognizer.zig").Recognizer;
const Program = @import("lr/program.zig").Program;
const set_widths = @import("lr/program.zig").set_widths;
const Pool = @import("lr/parser.zig").Pool;
const selection = @import("lr/selection.zig");
const mask_module = @import("mask.zig");
const Mask = mask_module.Mask;
const bitmap = @import("../base/bitmap.zig");
const walk = @import("walk.zig").walk;
const Sink = @import("mask_builder.zig").Sink;
const Mutex = @import("../platform/mutex.zig").Mutex;

pub const ScratchPool = struct {
    gpa: Allocator,
    trie: *const ByteTrie,
    n_end_tokens: usize,
    mutex: Mutex = .{},
    free: ?*Scratch = null,

    pub fn deinit(pool: *ScratchPool) void {
        while (pool.free) |scratch| {
            pool.free = scratch.next_free;
            scratch.destroy(pool.gpa);
        }
    }

    pub fn take(pool: *ScratchPool) Allocator.Error!*Scratch {
        pool.mutex.lock();
        const first = pool.free;
        if (first) |scratch| pool.free = scratch.next_free;
        pool.mutex.unlock();
        return first orelse Scratch.create(pool.gpa, pool.trie, pool.n_end_tokens);
    }

    pub fn giveBack(pool: *ScratchPool, scratch: *Scratch) void {
        pool.mutex.lock();
        defer pool.mutex.unlock();
        scratch.next_free = pool.free;
        pool.free = scratch;
    }
};

pub const Scratch = struct {
    next_free: ?*Scratch = null,
    /// The last mask that was put together here.
    mask: Mask,
    sink: Sink,
    /// For each byte of the longest token, and one more.
    states: []u32,
    place_bytes: []align(16) u8 = &.{},
    selectors: Selectors = .none,

    const Selectors = union(enum) {
        none,
        narrow: selection.Selector(set_widths[0]),
        wide: selection.Selector(set_widths[1]),
    };

    fn create(gpa: Allocator, trie: *const ByteTrie, n_end_tokens: usize) Allocator.Error!*Scratch {
        const s = try gpa.create(Scratch);
        errdefer gpa.destroy(s);
        const words = try bitmap.alloc(gpa, bitmap.wordsFor(trie.n_tokens));
        errdefer gpa.free(words);
        const ids = try gpa.alloc(i32, mask_module.list_max + n_end_tokens);
        errdefer gpa.free(ids);
        const states = try gpa.alloc(u32, trie.longest + 2);
        s.* = .{ .mask = undefined, .sink = .{ .words = words, .ids = ids }, .states = states };
        return s;
    }

    fn destroy(s: *Scratch, gpa: Allocator) void {
        switch (s.selectors) {
            .none => {},
            inline else => |*selector_of_width| selector_of_width.deinit(),
        }
        gpa.free(s.place_bytes);
        gpa.free(s.states);
        gpa.free(s.sink.ids);
        gpa.free(s.sink.words);
        gpa.destroy(s);
    }

    pub fn places(s: *Scratch, comptime Place: type, gpa: Allocator) Allocator.Error![]Place {
        if (s.place_bytes.len == 0) s.place_bytes = try gpa.alignedAlloc(u8, .@"16", s.states.len * @sizeOf(Place));
        return @ptrCast(@alignCast(s.place_bytes));
    }

    pub fn selector(s: *Scratch, comptime width: usize, gpa: Allocator, program: *const Program, pool: *Pool) Allocator.Error!*selection.Selector(width) {
        const tag = switch (width) {
            set_widths[0] => "narrow",
            set_widths[1] => "wide",
            else => unreachable,
        };
        if (s.selectors == .none) {
            s.selectors = @unionInit(Selectors, tag, .{
                .parser = .{ .gpa = gpa, .program = program, .pool = pool },
            });
        }
        const one = &@field(s.selectors, tag);
        one.parser.pool = pool;
        return one;
    }

    /// The mask by walking the whole vocabulary.
    pub fn fromWalk(s: *Scratch, r: *const Recognizer, walker: anytype, can_stop: bool) void {
        bitmap.clear(s.sink.words);
        walk(r.trie, &r.vocabulary.tokens, walker, s.sink.words);
        s.sink.clear();
        s.sink.n_tokens = bitmap.count(s.sink.words);
        s.sink.n_listed = if (s.sink.n_tokens <= mask_module.list_max) bitmap.list(s.sink.words, s.sink.ids) else null;
        s.mask = s.sink.finish(can_stop, r.end_tokens);
    }
};
