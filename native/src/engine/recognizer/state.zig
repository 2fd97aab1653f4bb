//! Where one output stands in a recognizer: the position, the parser's stacks, and the span that is
//! open as long as the text goes on.

const std = @import("std");
const Allocator = std.mem.Allocator;
const recognizer_module = @import("recognizer.zig");
const Recognizer = recognizer_module.Recognizer;
const Position = recognizer_module.Position;
const Mask = recognizer_module.Mask;
const Pool = @import("lr/parser.zig").Pool;
const Stack = @import("lr/parser.zig").Stack;
const Scratch = @import("scratch.zig").Scratch;
const bitmap = @import("../base/bitmap.zig");
const tokenize = @import("../vocabulary/tokenize.zig");
const span_module = @import("../trie/span.zig");
const Step = span_module.Step;
const Illegal = span_module.Illegal;
const Legal = @import("../sampling/sampling.zig").Legal;

/// What an output must be set back to: a plain value.
pub const Span = struct {
    position: Position,
    is_open: bool = true,
    /// Tokens accepted in the open span.
    tokens: u32 = 0,
    started: u32 = 1,
    ended: u32 = 0,
    timeouts: u32 = 0,
    illegal: u32 = 0,
};

pub const end_tokens_max = 16;
pub const forced_bytes_max = 65536;

/// The tokens that close the span where the text is complete.
pub const Ends = union(enum) {
    /// The end-of-generation tokens.
    vocabulary,
    /// These; none at all: the span ends by itself.
    tokens: struct { items: [end_tokens_max]i32 = @splat(0), len: usize = 0 },

    pub fn of(list: ?[]const i32) Ends {
        const given = list orelse return .vocabulary;
        var ends: Ends = .{ .tokens = .{ .len = given.len } };
        @memcpy(ends.tokens.items[0..given.len], given);
        return ends;
    }
};

pub const Output = struct {
    gpa: Allocator,
    recognizer: *Recognizer,
    ends: Ends,
    span: Span,
    pool: Pool = .{},
    /// The pool is made smaller when it gets as long as this.
    compact_at: usize = compact_min,
    /// Of the position, once it was asked for.
    mask: ?*const Mask = null,
    /// A mask that the recognizer does not keep, or with end tokens of this output.
    own: ?*OwnMask = null,
    /// What must follow, as far as it was asked for, and how much of it was accepted.
    forced_run: std.ArrayList(i32) = .empty,
    n_forced_taken: usize = 0,
    mask_hits: u64 = 0,
    mask_misses: u64 = 0,

    const compact_min = 4096;

    /// The recognizer must outlive the output.
    pub fn init(gpa: Allocator, recognizer: *Recognizer, ends: Ends) Output {
        return .{ .gpa = gpa, .recognizer = recognizer, .ends = ends, .span = .{ .position = recognizer.initial() } };
    }

    pub fn deinit(o: *Output) void {
        o.pool.nodes.deinit(o.gpa);
        o.forced_run.deinit(o.gpa);
        if (o.own) |own| own.destroy(o.recognizer.gpa);
    }

    pub fn clone(o: *const Output) Allocator.Error!Output {
        var copy: Output = .init(o.gpa, o.recognizer, o.ends);
        copy.span = o.span;
        copy.pool.nodes = try o.pool.nodes.clone(o.gpa);
        return copy;
    }

    pub fn reset(o: *Output) void {
        o.moveTo(.{ .position = o.recognizer.initial() });
        o.pool.nodes.clearRetainingCapacity();
    }

    /// Opens the span at the start of a text; an open one ends.
    pub fn restart(o: *Output) void {
        if (o.span.is_open) o.close();
        o.span.position = o.recognizer.initial();
        o.span.is_open = true;
        o.span.started +%= 1;
        o.moveTo(o.span);
    }

    pub fn deactivate(o: *Output) void {
        if (o.span.is_open) o.close();
    }

    /// Back to a span that this output had.
    pub fn moveTo(o: *Output, span: Span) void {
        o.span = span;
        o.mask = null;
        o.forgetForced();
    }

    /// `timeout` 0: none.
    pub fn accept(o: *Output, token: i32, timeout: u32, illegal: Illegal) Allocator.Error!Step {
        if (!o.span.is_open) return .{};
        if (o.isEnd(token) and try o.canStop()) {
            o.close();
            return .{ .in_span = true, .span_ended = true };
        }
        const next = try o.after(token) orelse {
            if (o.stepsBack() and try o.canStop()) {
                o.close();
                return .{ .span_ended = true };
            }
            if (illegal == .refuse) return .{ .refused = true };
            o.close();
            o.span.illegal +%= 1;
            return .{ .span_ended = true };
        };
        o.takeForced(token);
        o.span.position = next;
        o.span.tokens += 1;
        o.mask = null;
        if (o.stepsBack() and try o.mustStop()) {
            o.close();
            return .{ .in_span = true, .span_ended = true };
        }
        if (timeout > 0 and o.span.tokens >= timeout) {
            o.close();
            o.span.timeouts +%= 1;
            return .{ .in_span = true, .span_ended = true, .timed_out = true };
        }
        return .{ .in_span = true };
    }

    /// Lent until the output changes.
    pub fn allowed(o: *Output) Allocator.Error!Legal {
        if (!o.span.is_open) return o.everything();
        const mask = try o.currentMask();
        if (!mask.can_stop) return legal(mask);
        if (o.stepsBack()) return o.everything();
        return switch (o.ends) {
            .vocabulary => legal(mask),
            .tokens => |ends| legal(try o.withEnds(mask, ends.items[0..ends.len])),
        };
    }

    /// Whether `allowed` needs no search.
    pub fn isReady(o: *const Output) bool {
        return !o.span.is_open or o.mask != null or o.recognizer.remembered(&o.pool, o.span.position) != null;
    }

    pub fn canStop(o: *Output) Allocator.Error!bool {
        if (!o.span.is_open) return true;
        if (o.mask) |mask| return mask.can_stop;
        return o.recognizer.canStop(&o.pool, o.span.position);
    }

    /// The next token of what must follow.
    pub fn forcedToken(o: *Output) Allocator.Error!?i32 {
        if (o.n_forced_taken < o.forced_run.items.len) return o.forced_run.items[o.n_forced_taken];
        if (!try o.mayForce()) return null;
        try o.findForced();
        return if (o.forced_run.items.len > 0) o.forced_run.items[0] else null;
    }

    /// All tokens that must follow, lent until the output changes.
    pub fn forced(o: *Output) Allocator.Error![]const i32 {
        if (o.n_forced_taken == o.forced_run.items.len) try o.findForced();
        return o.forced_run.items[o.n_forced_taken..];
    }

    /// Appends the bytes that must follow, at most `forced_bytes_max`. True if the text must end there.
    pub fn forcedBytes(o: *Output, out: *std.ArrayList(u8)) Allocator.Error!bool {
        if (!o.span.is_open) return false;
        const n_nodes = o.pool.nodes.items.len;
        defer o.pool.nodes.shrinkRetainingCapacity(n_nodes);
        var position = o.span.position;
        while (out.items.len < forced_bytes_max) {
            const can_stop = try o.recognizer.canStop(&o.pool, position);
            const only = try o.onlyByte(position);
            if (can_stop) return only == .none;
            const byte = switch (only) {
                .one => |byte| byte,
                else => return false,
            };
            try out.append(o.gpa, byte);
            position = (try o.recognizer.advance(&o.pool, position, &.{byte})).?;
        }
        return false;
    }

    /// Keeps only the stacks that the output and the spans that it may be set back to need.
    pub fn compact(o: *Output, history: []Span) Allocator.Error!void {
        if (o.pool.nodes.items.len < o.compact_at) return;
        const stacks: Stacks = .{ .current = &o.span.position.stack, .history = history, .len = history.len + 1 };
        try o.pool.compact(o.gpa, stacks);
        o.compact_at = @max(compact_min, 2 * o.pool.nodes.items.len);
    }

    pub fn retainedBytes(o: *const Output) usize {
        const own = if (o.own) |mask| @sizeOf(OwnMask) + 4 * mask.ids.len + 4 * mask.words.len else 0;
        return o.stackBytes() + 4 * o.forced_run.capacity + own;
    }

    pub fn stackBytes(o: *const Output) usize {
        return o.pool.nodes.capacity * @sizeOf(@import("lr/parser.zig").Node);
    }

    // ---- Spans

    fn close(o: *Output) void {
        o.span.is_open = false;
        o.span.tokens = 0;
        o.span.ended +%= 1;
        o.mask = null;
        o.forgetForced();
    }

    /// Whether the span ends by itself, without an end token.
    fn stepsBack(o: *const Output) bool {
        return o.endTokens().len == 0;
    }

    fn endTokens(o: *const Output) []const i32 {
        return switch (o.ends) {
            .vocabulary => o.recognizer.end_tokens,
            .tokens => |*ends| ends.items[0..ends.len],
        };
    }

    fn isEnd(o: *const Output, token: i32) bool {
        return std.mem.findScalar(i32, o.endTokens(), token) != null;
    }

    fn mustStop(o: *Output) Allocator.Error!bool {
        if (!try o.canStop()) return false;
        const mask = try o.currentMask();
        return mask.n_tokens == o.recognizer.end_tokens.len;
    }

    /// The position after a token; null if it is not legal.
    fn after(o: *Output, token: i32) Allocator.Error!?Position {
        const vocabulary = o.recognizer.vocabulary;
        if (!vocabulary.tokens.isText(@intCast(token))) return null;
        const bytes = vocabulary.tokens.bytesOf(@intCast(token));
        const n_nodes = o.pool.nodes.items.len;
        errdefer o.pool.nodes.shrinkRetainingCapacity(n_nodes);
        const next = try o.recognizer.advance(&o.pool, o.span.position, bytes);
        if (next == null) o.pool.nodes.shrinkRetainingCapacity(n_nodes);
        return next;
    }

    // ---- Masks

    fn currentMask(o: *Output) Allocator.Error!*const Mask {
        if (o.mask) |mask| return mask;
        const mask = if (o.recognizer.remembered(&o.pool, o.span.position)) |mask| hit: {
            o.mask_hits += 1;
            break :hit mask;
        } else try o.findMask();
        o.mask = mask;
        return mask;
    }

    fn findMask(o: *Output) Allocator.Error!*const Mask {
        o.mask_misses += 1;
        const scratch = try o.recognizer.scratches.take();
        defer o.recognizer.scratches.giveBack(scratch);
        const mask = try o.recognizer.find(&o.pool, o.span.position, scratch);
        if (mask != &scratch.mask) return mask;
        const own = try o.ownMask();
        own.take(scratch);
        return &own.mask;
    }

    /// The mask with other end tokens than the vocabulary's.
    fn withEnds(o: *Output, mask: *const Mask, ends: []const i32) Allocator.Error!*const Mask {
        const own = try o.ownMask();
        if (mask != &own.mask) own.copy(mask);
        own.replace(o.recognizer.end_tokens, ends);
        return &own.mask;
    }

    fn ownMask(o: *Output) Allocator.Error!*OwnMask {
        if (o.own) |own| return own;
        const own = try OwnMask.create(o.recognizer);
        o.own = own;
        return own;
    }

    fn everything(o: *const Output) Legal {
        return .{ .all = o.recognizer.vocabulary.tokens.n };
    }

    // ---- What must follow

    const OnlyByte = union(enum) { none, one: u8, several };

    fn onlyByte(o: *Output, position: Position) Allocator.Error!OnlyByte {
        const n_nodes = o.pool.nodes.items.len;
        var only: OnlyByte = .none;
        for (0..256) |byte| {
            const next = try o.recognizer.advance(&o.pool, position, &.{@intCast(byte)});
            o.pool.nodes.shrinkRetainingCapacity(n_nodes);
            if (next == null) continue;
            if (only == .one) return .several;
            only = .{ .one = @intCast(byte) };
        }
        return only;
    }

    /// Whether a look at the mask leaves it possible: its tokens begin with one byte.
    fn mayForce(o: *Output) Allocator.Error!bool {
        if (!o.span.is_open) return false;
        const mask = try o.currentMask();
        if (mask.words != null or mask.n_tokens == 0) return false;
        if (mask.n_tokens == 1) return true;
        if (mask.can_stop) return false;
        const vocabulary = o.recognizer.vocabulary;
        const first = vocabulary.tokens.bytesOf(@intCast(mask.ids[0]))[0];
        for (mask.ids[1..]) |id| if (vocabulary.tokens.bytesOf(@intCast(id))[0] != first) return false;
        return true;
    }

    fn findForced(o: *Output) Allocator.Error!void {
        o.forgetForced();
        if (!o.span.is_open) return;
        var bytes: std.ArrayList(u8) = .empty;
        defer bytes.deinit(o.gpa);
        const must_end = try o.forcedBytes(&bytes);
        if (bytes.items.len > 0) try tokenize.forced(o.gpa, o.recognizer.vocabulary, o.recognizer.trie, bytes.items, must_end, &o.forced_run);
        if (o.forced_run.items.len > 0 or (o.stepsBack() and try o.canStop())) return;
        const single = try o.allowed();
        if (single == .list and single.list.len == 1) try o.forced_run.append(o.gpa, single.list[0]);
    }

    fn takeForced(o: *Output, token: i32) void {
        if (o.n_forced_taken < o.forced_run.items.len and o.forced_run.items[o.n_forced_taken] == token) {
            o.n_forced_taken += 1;
        } else o.forgetForced();
    }

    fn forgetForced(o: *Output) void {
        o.forced_run.clearRetainingCapacity();
        o.n_forced_taken = 0;
    }
};

fn legal(mask: *const Mask) Legal {
    return if (mask.words) |words| .{ .bitmap = .{ .words = words, .n_tokens = mask.n_tokens } } else .{ .list = mask.ids };
}

/// For `Pool.compact`.
const Stacks = struct {
    current: *Stack,
    history: []Span,
    len: usize,

    pub fn at(stacks: Stacks, i: usize) *Stack {
        return if (i == 0) stacks.current else &stacks.history[i - 1].position.stack;
    }
};

/// Memory for one mask.
const OwnMask = struct {
    mask: Mask,
    ids: []i32,
    words: bitmap.Words,

    /// Its memory is the recognizer's, as that of a scratch is.
    fn create(recognizer: *const Recognizer) Allocator.Error!*OwnMask {
        const gpa = recognizer.gpa;
        const own = try gpa.create(OwnMask);
        errdefer gpa.destroy(own);
        const ids = try gpa.alloc(i32, @import("mask.zig").list_max + recognizer.end_tokens.len + end_tokens_max);
        errdefer gpa.free(ids);
        const words = try bitmap.alloc(gpa, bitmap.wordsFor(recognizer.trie.n_tokens));
        own.* = .{ .mask = undefined, .ids = ids, .words = words };
        return own;
    }

    fn destroy(own: *OwnMask, gpa: Allocator) void {
        gpa.free(own.ids);
        gpa.free(own.words);
        gpa.destroy(own);
    }

    /// Takes over the mask that was put together in a scratch.
    fn take(own: *OwnMask, scratch: *Scratch) void {
        if (scratch.mask.words == null) return own.copy(&scratch.mask);
        std.mem.swap(bitmap.Words, &own.words, &scratch.sink.words);
        own.mask = scratch.mask;
    }

    fn copy(own: *OwnMask, mask: *const Mask) void {
        own.mask = mask.*;
        if (mask.words) |words| {
            bitmap.copy(own.words, words);
            own.mask.words = own.words;
        } else {
            @memcpy(own.ids[0..mask.ids.len], mask.ids);
            own.mask.ids = own.ids[0..mask.ids.len];
        }
    }

    /// Takes some tokens out and puts others in, each once.
    fn replace(own: *OwnMask, out: []const i32, in: []const i32) void {
        if (own.mask.words) |words| {
            for (out) |token| own.mask.n_tokens -= @intFromBool(remove(words, token));
            for (in) |token| {
                own.mask.n_tokens += @intFromBool(!bitmap.has(words, @intCast(token)));
                bitmap.set(words, @intCast(token));
            }
            return;
        }
        var n: usize = 0;
        for (own.mask.ids) |id| {
            if (std.mem.findScalar(i32, out, id) != null) continue;
            own.ids[n] = id;
            n += 1;
        }
        for (in) |token| {
            if (std.mem.findScalar(i32, own.ids[0..n], token) != null) continue;
            own.ids[n] = token;
            n += 1;
        }
        std.sort.heap(i32, own.ids[0..n], {}, std.sort.asc(i32));
        own.mask.ids = own.ids[0..n];
        own.mask.n_tokens = @intCast(n);
    }

    fn remove(words: bitmap.Words, token: i32) bool {
        const had = bitmap.has(words, @intCast(token));
        bitmap.unset(words, @intCast(token));
        return had;
    }
};
