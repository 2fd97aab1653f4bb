//! The state of one output in a constraint, for any engine that has logits: position, rollback
//! history, generator.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const constraint = @import("constraint.zig");
const Constraint = constraint.Constraint;
const TokenTrie = @import("trie/trie.zig").TokenTrie;
const span_module = @import("trie/span.zig");
const Span = span_module.Span;
const Step = span_module.Step;
const sampling = @import("sampling/sampling.zig");
const log = @import("platform/log.zig");

pub const rollback_tokens_max = 65536;

pub const Matcher = struct {
    gpa: Allocator,
    constraint: *const Constraint,
    span: Span,
    timeout: u32,
    /// The span before each accepted token, the latest last.
    history: std.ArrayList(Span) = .empty,
    sampler: sampling.Sampler = .{},
    /// Of the last failed call.
    diag: Diagnostic = .{},

    /// `timeout` 0: the default.
    pub fn create(gpa: Allocator, c: *const Constraint, timeout: u32, diag: *Diagnostic) diagnostic.Error!*Matcher {
        const tokens = if (timeout == 0) constraint.span_timeout_default else timeout;
        try constraint.checkTimeout(c.trie, tokens, diag);
        const m = gpa.create(Matcher) catch return diag.outOfMemory();
        m.* = .{ .gpa = gpa, .constraint = c.retain(), .span = .init(c.trie), .timeout = tokens };
        return m;
    }

    pub fn clone(m: *const Matcher) Allocator.Error!*Matcher {
        const copy = try m.gpa.create(Matcher);
        errdefer m.gpa.destroy(copy);
        const history = try m.history.clone(m.gpa);
        copy.* = .{
            .gpa = m.gpa,
            .constraint = m.constraint.retain(),
            .span = m.span,
            .timeout = m.timeout,
            .history = history,
            .sampler = .{ .rng = m.sampler.rng },
        };
        return copy;
    }

    pub fn destroy(m: *Matcher) void {
        m.history.deinit(m.gpa);
        m.sampler.deinit(m.gpa);
        m.constraint.release();
        m.gpa.destroy(m);
    }

    pub fn accept(m: *Matcher, token: i32) diagnostic.Error!Step {
        if (token < 0 or token >= m.constraint.vocabulary.n_tokens) {
            return m.diag.fail(.invalid_arg, "token {d} is outside 0..{d}", .{ token, m.constraint.vocabulary.n_tokens - 1 });
        }
        if (m.history.items.len == 2 * rollback_tokens_max) m.forgetOldest();
        m.history.ensureUnusedCapacity(m.gpa, 1) catch return m.diag.outOfMemory();
        const before = m.span;
        const step = m.span.accept(m.trie(), token, m.timeout, .refuse);
        if (step.refused) return step;
        m.history.appendAssumeCapacity(before);
        if (step.timed_out) logTimeout(m.timeout);
        return step;
    }

    pub fn rollback(m: *Matcher, n_tokens: usize) diagnostic.Error!void {
        const kept = m.history.items.len;
        const most = @min(kept, rollback_tokens_max);
        if (n_tokens > most) {
            return m.diag.fail(.invalid_arg, "cannot take back {d} tokens: {d} can be taken back", .{ n_tokens, most });
        }
        if (n_tokens == 0) return;
        m.span = m.history.items[kept - n_tokens];
        m.history.shrinkRetainingCapacity(kept - n_tokens);
    }

    pub fn reset(m: *Matcher) void {
        m.span = .init(m.trie());
        m.history.clearRetainingCapacity();
    }

    pub fn activate(m: *Matcher, path: []const u8) diagnostic.Error!void {
        m.span.activate(m.trie(), try findPath(m.trie(), path, &m.diag));
    }

    pub fn setTimeout(m: *Matcher, n_tokens: u32) diagnostic.Error!void {
        if (n_tokens == 0) return m.diag.fail(.invalid_arg, "a span timeout is at least 1 token", .{});
        m.timeout = n_tokens;
    }

    /// Length of the forced run; as much of it as fits is written.
    pub fn forced(m: *const Matcher, out: []i32) usize {
        var span = m.span;
        var n: usize = 0;
        while (span.forced(m.trie())) |token| : (n += 1) {
            if (n < out.len) out[n] = token;
            _ = span.accept(m.trie(), token, m.timeout, .refuse);
        }
        return n;
    }

    pub fn maskLogits(m: *Matcher, logits: []f32) diagnostic.Error!void {
        try m.checkLogits(logits.len);
        const ids = m.span.allowed(m.trie()) orelse return;
        var from: usize = 0;
        for (ids) |id| {
            exclude(logits[from..@intCast(id)]);
            from = @as(usize, @intCast(id)) + 1;
        }
        exclude(logits[from..]);
    }

    pub const Sampling = struct { mode: sampling.Mode, temperature: f32, top_p: f32 };

    pub fn sample(m: *Matcher, logits: []const f32, how: Sampling) diagnostic.Error!i32 {
        try m.checkLogits(logits.len);
        const legal: sampling.Legal = if (m.span.allowed(m.trie())) |ids|
            .{ .list = ids }
        else
            .{ .all = m.constraint.vocabulary.n_tokens };
        if (!std.math.isFinite(how.temperature) or !std.math.isFinite(how.top_p)) {
            return m.diag.fail(.invalid_arg, "sampling: temperature and top_p must be finite", .{});
        }
        if (how.mode == .greedy) return sampling.greedy(logits.ptr, legal).token;
        m.sampler.reserve(m.gpa, switch (legal) {
            .list => |ids| ids.len,
            .all => |n| n,
        }) catch return m.diag.outOfMemory();
        m.sampler.temperature = how.temperature;
        m.sampler.top_p = if (how.top_p > 0) how.top_p else 1;
        return m.sampler.draw(logits.ptr, legal).token;
    }

    pub fn trie(m: *const Matcher) *const TokenTrie {
        return m.constraint.trie;
    }

    fn checkLogits(m: *Matcher, n_logits: usize) diagnostic.Error!void {
        const n_tokens = m.constraint.vocabulary.n_tokens;
        if (n_logits < n_tokens) {
            return m.diag.fail(.invalid_arg, "{d} logits are fewer than the {d} tokens of the vocabulary", .{ n_logits, n_tokens });
        }
    }

    /// By whole vectors: the compiler fills floats one by one.
    fn exclude(logits: []f32) void {
        const lanes = 16;
        var i: usize = 0;
        while (i + lanes <= logits.len) : (i += lanes) logits[i..][0..lanes].* = @as(@Vector(lanes, f32), @splat(-std.math.inf(f32)));
        for (logits[i..]) |*logit| logit.* = -std.math.inf(f32);
    }

    /// Half of what is kept at a time, so that a long output costs O(1) per token.
    fn forgetOldest(m: *Matcher) void {
        @memcpy(m.history.items[0..rollback_tokens_max], m.history.items[rollback_tokens_max..]);
        m.history.shrinkRetainingCapacity(rollback_tokens_max);
    }
};

/// The descriptor with this path; otherwise the message lists the paths that there are.
pub fn findPath(trie: *const TokenTrie, path: []const u8, diag: *Diagnostic) diagnostic.Error!u32 {
    if (trie.findPath(path)) |descriptor| return descriptor;
    var known: [512]u8 = undefined;
    var writer: std.Io.Writer = .fixed(&known);
    for (trie.descriptors, 0..) |descriptor, i| {
        writer.print("{s}{f}", .{ if (i == 0) "" else ", ", quoted(trie.textOf(descriptor.path)) }) catch break;
    }
    return diag.fail(.unknown_path, "no descriptor has the path {f}; known: {s}", .{ quoted(path), writer.buffered() });
}

pub fn logTimeout(timeout: u32) void {
    log.write(.warn, "a span reached its timeout of {d} tokens and was deactivated", .{timeout});
}
