//! The state of one output in a constraint, for any engine that has logits: position, rollback
//! history, generator.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const constraint = @import("constraint.zig");
const Constraint = constraint.Constraint;
const TokenTrie = @import("../trie/trie.zig").TokenTrie;
const span_module = @import("../trie/span.zig");
const Span = span_module.Span;
const Step = span_module.Step;
const output_module = @import("../recognizer/state.zig");
const Output = output_module.Output;
const sampling = @import("../sampling/sampling.zig");
const log = @import("../platform/log.zig");
const message = @import("message");

pub const rollback_tokens_max = 65536;

pub const Matcher = struct {
    gpa: Allocator,
    constraint: *const Constraint,
    state: State,
    /// Tokens; 0: none.
    timeout: u32,
    sampler: sampling.Sampler = .{},
    /// Of the last failed call.
    diag: Diagnostic = .{},

    pub const State = union(enum) {
        trie: struct { trie: *const TokenTrie, span: Span, history: History(Span) = .{} },
        recognizer: struct { output: Output, history: History(output_module.Span) = .{} },
    };

    /// `config.timeout` 0: the default.
    pub fn create(gpa: Allocator, c: *const Constraint, config: constraint.SpanConfig, diag: *Diagnostic) diagnostic.Error!*Matcher {
        const timeout = try config.check(c, diag);
        const m = gpa.create(Matcher) catch return diag.outOfMemory();
        m.* = .{ .gpa = gpa, .constraint = c.retain(), .timeout = timeout, .state = switch (c.kind) {
            .trie => |trie_of| .{ .trie = .{ .trie = trie_of, .span = .init(trie_of) } },
            .recognizer => |recognizer| .{ .recognizer = .{ .output = .init(gpa, recognizer, .of(config.end)) } },
        } };
        return m;
    }

    pub fn clone(m: *const Matcher) Allocator.Error!*Matcher {
        const copy = try m.gpa.create(Matcher);
        errdefer m.gpa.destroy(copy);
        copy.* = .{
            .gpa = m.gpa,
            .constraint = m.constraint,
            .timeout = m.timeout,
            .sampler = .{ .rng = m.sampler.rng },
            .state = switch (m.state) {
                .trie => |*t| .{ .trie = .{ .trie = t.trie, .span = t.span, .history = try t.history.clone(m.gpa) } },
                .recognizer => |*r| recognizer: {
                    var output = try r.output.clone();
                    errdefer output.deinit();
                    break :recognizer .{ .recognizer = .{ .output = output, .history = try r.history.clone(m.gpa) } };
                },
            },
        };
        _ = m.constraint.retain();
        return copy;
    }

    pub fn destroy(m: *Matcher) void {
        switch (m.state) {
            .trie => |*t| t.history.deinit(m.gpa),
            .recognizer => |*r| {
                r.history.deinit(m.gpa);
                r.output.deinit();
            },
        }
        m.sampler.deinit(m.gpa);
        m.constraint.release();
        m.gpa.destroy(m);
    }

    pub fn accept(m: *Matcher, token: i32) diagnostic.Error!Step {
        if (token < 0 or token >= m.constraint.vocabulary.tokens.n) {
            return m.diag.fail(.invalid_arg, "token {d} is outside 0..{d}", .{ token, m.constraint.vocabulary.tokens.n - 1 });
        }
        const step = switch (m.state) {
            .trie => |*t| step: {
                const before = try t.history.reserve(m.gpa, t.span, &m.diag);
                const step = t.span.accept(t.trie, token, m.timeout, .refuse);
                if (!step.refused) t.history.push(before);
                break :step step;
            },
            .recognizer => |*r| try m.acceptText(&r.output, &r.history, token),
        };
        if (step.timed_out) logTimeout(m.timeout);
        return step;
    }

    fn acceptText(m: *Matcher, output: *Output, history: *History(output_module.Span), token: i32) diagnostic.Error!Step {
        const before = try history.reserve(m.gpa, output.span, &m.diag);
        const step = output.accept(token, m.timeout, .refuse) catch {
            output.moveTo(before);
            return m.diag.outOfMemory();
        };
        if (step.refused) return step;
        history.push(before);
        // Without memory for it the stacks stay as they are.
        output.compact(history.spans.items) catch {};
        return step;
    }

    pub fn rollback(m: *Matcher, n_tokens: usize) diagnostic.Error!void {
        switch (m.state) {
            .trie => |*t| t.span = try t.history.pop(n_tokens, &m.diag) orelse return,
            .recognizer => |*r| r.output.moveTo(try r.history.pop(n_tokens, &m.diag) orelse return),
        }
    }

    pub fn reset(m: *Matcher) void {
        switch (m.state) {
            .trie => |*t| {
                t.span = .init(t.trie);
                t.history.clear();
            },
            .recognizer => |*r| {
                r.output.reset();
                r.history.clear();
            },
        }
    }

    pub fn activate(m: *Matcher, path: []const u8) diagnostic.Error!void {
        switch (m.state) {
            .trie => |*t| t.span.activate(t.trie, try findPath(t.trie, path, &m.diag)),
            .recognizer => |*r| {
                try checkPath(path, &m.diag);
                r.output.restart();
            },
        }
    }

    pub fn deactivate(m: *Matcher) void {
        switch (m.state) {
            .trie => |*t| t.span.deactivate(),
            .recognizer => |*r| r.output.deactivate(),
        }
    }

    pub fn setTimeout(m: *Matcher, n_tokens: u32) diagnostic.Error!void {
        if (n_tokens == 0) return m.diag.fail(.invalid_arg, "a span timeout is at least 1 token", .{});
        m.timeout = n_tokens;
    }

    /// Lent until the matcher changes.
    pub fn allowed(m: *Matcher) diagnostic.Error!sampling.Legal {
        switch (m.state) {
            .trie => |*t| return if (t.span.allowed(t.trie)) |ids| .{ .list = ids } else .{ .all = m.constraint.vocabulary.tokens.n },
            .recognizer => |*r| return r.output.allowed() catch m.diag.outOfMemory(),
        }
    }

    /// Whether the legal tokens are known without computing them.
    pub fn isReady(m: *const Matcher) bool {
        return switch (m.state) {
            .trie => true,
            .recognizer => |*r| r.output.isReady(),
        };
    }

    pub fn canStop(m: *Matcher) diagnostic.Error!bool {
        return switch (m.state) {
            .trie => |*t| t.span.canStop(),
            .recognizer => |*r| r.output.canStop() catch m.diag.outOfMemory(),
        };
    }

    /// Length of the forced run; as much of it as fits is written.
    pub fn forced(m: *Matcher, out: []i32) diagnostic.Error!usize {
        switch (m.state) {
            .trie => |*t| {
                var span = t.span;
                var n: usize = 0;
                while (span.forced(t.trie)) |token| : (n += 1) {
                    if (n < out.len) out[n] = token;
                    _ = span.accept(t.trie, token, m.timeout, .refuse);
                }
                return n;
            },
            .recognizer => |*r| {
                const run = r.output.forced() catch return m.diag.outOfMemory();
                const n = @min(run.len, out.len);
                @memcpy(out[0..n], run[0..n]);
                return run.len;
            },
        }
    }

    /// Length of the bytes that must follow; as much of them as fits is written.
    pub fn forcedBytes(m: *Matcher, out: []u8) diagnostic.Error!usize {
        if (m.state != .recognizer) return 0;
        var bytes: std.ArrayList(u8) = .empty;
        defer bytes.deinit(m.gpa);
        _ = m.state.recognizer.output.forcedBytes(&bytes) catch return m.diag.outOfMemory();
        const n = @min(bytes.items.len, out.len);
        @memcpy(out[0..n], bytes.items[0..n]);
        return bytes.items.len;
    }

    /// Writes the legal tokens as a bitmap; words beyond the vocabulary become 0.
    pub fn fillBitmap(m: *Matcher, words: []u32) diagnostic.Error!sampling.Legal {
        const n_tokens = m.constraint.vocabulary.tokens.n;
        const needed = std.math.divCeil(usize, n_tokens, 32) catch unreachable;
        if (words.len < needed) return m.diag.fail(.invalid_arg, "{d} words are fewer than the {d} of the vocabulary", .{ words.len, needed });
        const legal = try m.allowed();
        switch (legal) {
            .all => {
                @memset(words[0..needed], std.math.maxInt(u32));
                if (n_tokens % 32 != 0) words[needed - 1] = (@as(u32, 1) << @truncate(n_tokens)) - 1;
            },
            .bitmap => |bitmap| @memcpy(words[0..needed], bitmap.words[0..needed]),
            .list => |ids| {
                @memset(words[0..needed], 0);
                for (ids) |id| words[@as(u32, @intCast(id)) / 32] |= @as(u32, 1) << @truncate(@as(u32, @intCast(id)));
            },
        }
        @memset(words[needed..], 0);
        return legal;
    }

    pub fn maskLogits(m: *Matcher, logits: []f32) diagnostic.Error!void {
        try m.checkLogits(logits.len);
        switch (try m.allowed()) {
            .all => {},
            .list => |ids| {
                var from: usize = 0;
                for (ids) |id| {
                    exclude(logits[from..@intCast(id)]);
                    from = @as(usize, @intCast(id)) + 1;
                }
                exclude(logits[from..]);
            },
            .bitmap => |bitmap| {
                const n_tokens = m.constraint.vocabulary.tokens.n;
                excludeOthers(logits[0..n_tokens], bitmap.words);
                exclude(logits[n_tokens..]);
            },
        }
    }

    pub const Sampling = struct { mode: sampling.Mode, temperature: f32, top_p: f32 };

    pub fn sample(m: *Matcher, logits: []const f32, how: Sampling) diagnostic.Error!i32 {
        try m.checkLogits(logits.len);
        if (!std.math.isFinite(how.temperature) or !std.math.isFinite(how.top_p)) {
            return m.diag.fail(.invalid_arg, "sampling: temperature and top_p must be finite", .{});
        }
        const legal = try m.allowed();
        if (legal.len() == 0) return m.diag.fail(.state, "no token of the vocabulary continues the text", .{});
        if (how.mode == .greedy) return sampling.greedy(logits.ptr, legal).token;
        m.sampler.reserve(m.gpa, legal.len()) catch return m.diag.outOfMemory();
        m.sampler.temperature = how.temperature;
        m.sampler.top_p = if (how.top_p > 0) how.top_p else 1;
        return m.sampler.draw(logits.ptr, legal).token;
    }

    fn checkLogits(m: *Matcher, n_logits: usize) diagnostic.Error!void {
        const n_tokens = m.constraint.vocabulary.tokens.n;
        if (n_logits < n_tokens) {
            return m.diag.fail(.invalid_arg, "{d} logits are fewer than the {d} tokens of the vocabulary", .{ n_logits, n_tokens });
        }
    }
};

/// The spans before the accepted tokens, the latest last.
fn History(comptime T: type) type {
    return struct {
        spans: std.ArrayList(T) = .empty,

        const H = @This();

        fn clone(h: *const H, gpa: Allocator) Allocator.Error!H {
            return .{ .spans = try h.spans.clone(gpa) };
        }

        fn deinit(h: *H, gpa: Allocator) void {
            h.spans.deinit(gpa);
        }

        pub fn bytes(h: *const H) usize {
            return h.spans.capacity * @sizeOf(T);
        }

        fn clear(h: *H) void {
            h.spans.clearRetainingCapacity();
        }

        /// Room for one span more, which is given back.
        fn reserve(h: *H, gpa: Allocator, span: T, diag: *Diagnostic) diagnostic.Error!T {
            if (h.spans.items.len == 2 * rollback_tokens_max) h.forgetOldest();
            h.spans.ensureUnusedCapacity(gpa, 1) catch return diag.outOfMemory();
            return span;
        }

        fn push(h: *H, span: T) void {
            h.spans.appendAssumeCapacity(span);
        }

        /// The span `n` tokens ago; null for 0.
        fn pop(h: *H, n: usize, diag: *Diagnostic) diagnostic.Error!?T {
            const kept = h.spans.items.len;
            const most = @min(kept, rollback_tokens_max);
            if (n > most) return diag.fail(.invalid_arg, "cannot take back {d} tokens: {d} can be taken back", .{ n, most });
            if (n == 0) return null;
            defer h.spans.shrinkRetainingCapacity(kept - n);
            return h.spans.items[kept - n];
        }

        /// Half of what is kept at a time, so that a long output costs O(1) per token.
        fn forgetOldest(h: *H) void {
            @memcpy(h.spans.items[0..rollback_tokens_max], h.spans.items[rollback_tokens_max..]);
            h.spans.shrinkRetainingCapacity(rollback_tokens_max);
        }
    };
}

const lowest = -std.math.inf(f32);
const lanes = 16;

/// By whole vectors: the compiler fills floats one by one.
fn exclude(logits: []f32) void {
    var i: usize = 0;
    while (i + lanes <= logits.len) : (i += lanes) logits[i..][0..lanes].* = @as(@Vector(lanes, f32), @splat(lowest));
    for (logits[i..]) |*logit| logit.* = lowest;
}

/// What is not in the bitmap, a byte of it at a time.
fn excludeOthers(logits: []f32, words: []const u32) void {
    const places = @Vector(8, u8){ 1, 2, 4, 8, 16, 32, 64, 128 };
    const bytes = std.mem.sliceAsBytes(words);
    var i: usize = 0;
    while (i + 8 <= logits.len) : (i += 8) {
        const is_legal = @as(@Vector(8, u8), @splat(bytes[i / 8])) & places != @as(@Vector(8, u8), @splat(0));
        const chunk: @Vector(8, f32) = logits[i..][0..8].*;
        logits[i..][0..8].* = @select(f32, is_legal, chunk, @as(@Vector(8, f32), @splat(lowest)));
    }
    for (logits[i..], i..) |*logit, token| {
        if (bytes[token / 8] >> @truncate(token) & 1 == 0) logit.* = lowest;
    }
}

/// The span of a recognizer has no name.
pub fn checkPath(path: []const u8, diag: *Diagnostic) diagnostic.Error!void {
    if (path.len > 0) return diag.fail(.unknown_path, "no descriptor has the path {f}: the span of a recognizer has the path \"\"", .{quoted(path)});
}

/// The descriptor with this path; otherwise the message lists the paths that there are.
pub fn findPath(trie: *const TokenTrie, path: []const u8, diag: *Diagnostic) diagnostic.Error!u32 {
    if (trie.findPath(path)) |descriptor| return descriptor;
    var known: [512]u8 = undefined;
    var writer: std.Io.Writer = .fixed(&known);
    for (trie.descriptors, 0..) |descriptor, i| {
        message.write(&writer, "{s}{f}", .{ if (i == 0) "" else ", ", quoted(trie.textOf(descriptor.path)) }) catch break;
    }
    return diag.fail(.unknown_path, "no descriptor has the path {f}; known: {s}", .{ quoted(path), writer.buffered() });
}

pub fn logTimeout(timeout: u32) void {
    log.write(.warn, "a span reached its timeout of {d} tokens and was deactivated", .{timeout});
}
