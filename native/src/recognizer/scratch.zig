//! Memory for finding masks, lent to one thread at a time, so that it is not part of each matcher; and
//! how a mask is put together in it.

const std = @import("std");
const Allocator = std.mem.Allocator;
const VocabularyTrie = @import("vocabulary_trie.zig").VocabularyTrie;
const Recognizer = @import("recognizer.zig").Recognizer;
const Program = @import("program.zig").Program;
const set_widths = @import("program.zig").set_widths;
const Pool = @import("parser.zig").Pool;
const selection = @import("selection.zig");
const mask_module = @import("mask.zig");
const Mask = mask_module.Mask;
const bitmap = @import("bitmap.zig");
const walk = @import("walk.zig").walk;
const Mutex = @import("../platform/mutex.zig").Mutex;

pub const ScratchPool = struct {
    gpa: Allocator,
    trie: *const VocabularyTrie,
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
    words: bitmap.Words,
    ids: []i32,
    /// For each byte of the longest token, and one more.
    states: []u32,
    place_bytes: []align(16) u8 = &.{},
    selectors: Selectors = .none,

    const Selectors = union(enum) {
        none,
        narrow: selection.Selector(set_widths[0]),
        middle: selection.Selector(set_widths[1]),
        wide: selection.Selector(set_widths[2]),
    };

    fn create(gpa: Allocator, trie: *const VocabularyTrie, n_end_tokens: usize) Allocator.Error!*Scratch {
        const s = try gpa.create(Scratch);
        errdefer gpa.destroy(s);
        const words = try bitmap.alloc(gpa, bitmap.wordsFor(trie.n_tokens));
        errdefer gpa.free(words);
        const ids = try gpa.alloc(i32, mask_module.list_max + n_end_tokens);
        errdefer gpa.free(ids);
        const states = try gpa.alloc(u32, trie.longest + 2);
        s.* = .{ .mask = undefined, .words = words, .ids = ids, .states = states };
        return s;
    }

    fn destroy(s: *Scratch, gpa: Allocator) void {
        switch (s.selectors) {
            .none => {},
            inline else => |*selector_of_width| selector_of_width.deinit(),
        }
        gpa.free(s.place_bytes);
        gpa.free(s.states);
        gpa.free(s.ids);
        gpa.free(s.words);
        gpa.destroy(s);
    }

    pub fn places(s: *Scratch, comptime Place: type, gpa: Allocator) Allocator.Error![]Place {
        if (s.place_bytes.len == 0) s.place_bytes = try gpa.alignedAlloc(u8, .@"16", s.states.len * @sizeOf(Place));
        return @ptrCast(@alignCast(s.place_bytes));
    }

    pub fn selector(s: *Scratch, comptime width: usize, gpa: Allocator, program: *const Program, pool: *Pool) Allocator.Error!*selection.Selector(width) {
        const tag = switch (width) {
            set_widths[0] => "narrow",
            set_widths[1] => "middle",
            set_widths[2] => "wide",
            else => unreachable,
        };
        if (s.selectors == .none) {
            s.selectors = @unionInit(Selectors, tag, .{
                .parser = .{ .gpa = gpa, .program = program, .pool = pool },
                .n_words = s.words.len,
            });
        }
        const one = &@field(s.selectors, tag);
        one.parser.pool = pool;
        return one;
    }

    /// The mask by walking the whole vocabulary.
    pub fn fromWalk(s: *Scratch, r: *const Recognizer, walker: anytype, can_stop: bool) void {
        bitmap.clear(s.words);
        walk(r.trie, r.vocabulary, walker, s.words);
        s.finishBitmap(r, bitmap.count(s.words), can_stop);
        if (s.mask.n_tokens > mask_module.list_max) return;
        const n = bitmap.list(s.words, s.ids);
        s.mask = .{ .ids = s.ids[0..n], .words = null, .n_tokens = @intCast(n), .can_stop = can_stop };
    }

    /// The mask from groups of tokens.
    pub fn fromSelection(s: *Scratch, r: *const Recognizer, selected: *const selection.Selected) void {
        var n_ids: usize = 0;
        var n_bitmaps: usize = 0;
        for (selected.parts) |part| {
            n_ids += part.ids.len;
            n_bitmaps += @intFromBool(part.words != null);
        }
        if (n_bitmaps == 0 and n_ids <= mask_module.list_max) {
            s.gatherList(r, selected);
        } else {
            s.gatherBitmap(r, selected);
        }
    }

    fn gatherList(s: *Scratch, r: *const Recognizer, selected: *const selection.Selected) void {
        var n: usize = 0;
        for (selected.parts, 0..) |part, i| for (part.ids) |id| {
            if (i < selected.n_base and std.sort.binarySearch(i32, selected.except, id, compare) != null) continue;
            s.ids[n] = id;
            n += 1;
        };
        if (selected.can_stop) {
            @memcpy(s.ids[n..][0..r.end_tokens.len], r.end_tokens);
            n += r.end_tokens.len;
        }
        std.sort.heap(i32, s.ids[0..n], {}, std.sort.asc(i32));
        s.mask = .{ .ids = s.ids[0..n], .words = null, .n_tokens = @intCast(n), .can_stop = selected.can_stop };
    }

    fn gatherBitmap(s: *Scratch, r: *const Recognizer, selected: *const selection.Selected) void {
        bitmap.clear(s.words);
        var n_tokens = s.addParts(selected.parts[0..selected.n_base]);
        if (selected.n_base > 0) for (selected.except) |id| {
            n_tokens -= @intFromBool(bitmap.has(s.words, @intCast(id)));
            bitmap.unset(s.words, @intCast(id));
        };
        n_tokens += s.addParts(selected.parts[selected.n_base..]);
        s.finishBitmap(r, n_tokens, selected.can_stop);
    }

    /// Number of tokens; no two groups of a mask share one.
    fn addParts(s: *Scratch, parts: []const selection.Part) u32 {
        var n_tokens: u32 = 0;
        var waiting: ?bitmap.Words = null;
        for (parts) |part| {
            n_tokens += part.n_tokens;
            const words = part.words orelse {
                for (part.ids) |id| bitmap.set(s.words, @intCast(id));
                continue;
            };
            if (waiting) |other| {
                bitmap.uniteTwo(s.words, other, words);
                waiting = null;
            } else waiting = words;
        }
        if (waiting) |words| bitmap.unite(s.words, words);
        return n_tokens;
    }

    fn finishBitmap(s: *Scratch, r: *const Recognizer, n_tokens: u32, can_stop: bool) void {
        if (can_stop) for (r.end_tokens) |token| bitmap.set(s.words, @intCast(token));
        const n_ends: u32 = if (can_stop) @intCast(r.end_tokens.len) else 0;
        s.mask = .{ .ids = &.{}, .words = s.words, .n_tokens = n_tokens + n_ends, .can_stop = can_stop };
    }

    fn compare(token: i32, id: i32) std.math.Order {
        return std.math.order(token, id);
    }
};
