//! A constraint and the state of one text in it, for any engine that has logits: position, rollback history,
//! random generator.

const std = @import("std");
const Allocator = std.mem.Allocator;
const in_use = @import("../base/in_use.zig");
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const span = @import("../contract/span.zig");
const sampling = @import("../sampling/sampling.zig");
const rows = @import("../sampling/logits.zig");
const Constraint = @import("constraint.zig").Constraint;
const State = @import("kinds.zig").State;

/// Belongs to one thread at a time. A failed call leaves its message in `diag` and, unless said otherwise, the
/// matcher as it was.
pub const Matcher = struct {
    gpa: Allocator,
    constraint: *const Constraint,
    state: State,
    /// Of spans, in tokens. 0: none.
    timeout: u32,
    sampler: sampling.Sampler = .{},
    /// The last failure.
    diag: Diagnostic,
    /// Calls of the C boundary begin and end it; the functions here leave it alone.
    in_use: in_use.InUse = .{},

    /// At the start of a text. Retains the constraint. `config.timeout` 0: the kind's default.
    pub fn create(gpa: Allocator, c: *const Constraint, config: span.Config, diag: *Diagnostic) diagnostic.Error!*Matcher {
        try c.compiled.checkSpan(config, span.timeout_default, diag);
        const m = gpa.create(Matcher) catch return diag.outOfMemory();
        errdefer gpa.destroy(m);
        const own = config.owned(gpa) catch return diag.outOfMemory();
        m.* = .{
            .gpa = gpa,
            .constraint = c.retain(),
            .state = .init(gpa, c.compiled, own),
            .timeout = c.compiled.effectiveTimeout(config.timeout, span.timeout_default),
            .diag = .init(),
        };
        return m;
    }

    /// A matcher at the same place, with the history and the generator. Settings of the sampler are not copied:
    /// `sample` sets them.
    pub fn clone(m: *const Matcher) Allocator.Error!*Matcher {
        const copy = try m.gpa.create(Matcher);
        errdefer m.gpa.destroy(copy);
        copy.* = .{
            .gpa = m.gpa,
            .constraint = m.constraint,
            .state = try m.state.clone(m.gpa),
            .timeout = m.timeout,
            .sampler = .{ .rng = m.sampler.rng },
            .diag = .init(),
        };
        _ = m.constraint.retain();
        return copy;
    }

    /// Frees the matcher and releases the constraint.
    pub fn destroy(m: *Matcher) void {
        m.state.deinit(m.gpa);
        m.sampler.deinit(m.gpa);
        m.constraint.release();
        m.gpa.destroy(m);
    }

    /// A call begins, until `end`. A refusal leaves its message only where no other thread is in a call.
    pub inline fn begin(m: *Matcher) in_use.Refusal!void {
        m.in_use.begin() catch |refusal| return m.refuse(refusal);
    }

    pub inline fn end(m: *Matcher) void {
        m.in_use.end();
    }

    noinline fn refuse(m: *Matcher, refusal: in_use.Refusal) in_use.Refusal {
        @branchHint(.cold);
        if (refusal == error.InCallback) m.diag.fail(.busy, "not allowed inside a callback of a call on the same matcher", .{}) catch {};
        return refusal;
    }

    /// The last failure's message, as C has it; to another thread than that of a call, that the matcher is in use.
    pub fn lastError(m: *const Matcher) [*:0]const u8 {
        return if (m.in_use.byOtherThread()) "another thread is using the matcher" else m.diag.text();
    }

    /// Takes one token. A refused token changes nothing.
    pub fn accept(m: *Matcher, token: i32) diagnostic.Error!span.Step {
        if (token < 0 or token >= m.constraint.vocabulary.tokens.n) {
            return m.diag.fail(.invalid_arg, "token {d} is outside 0..{d}", .{ token, m.constraint.vocabulary.tokens.n - 1 });
        }
        const step = m.state.accept(m.gpa, token, m.timeout) catch |e| return m.notTold(e);
        if (step.timed_out) span.logTimeout(m.timeout);
        return step;
    }

    /// Takes back the last `n_tokens` that were accepted.
    pub fn rollback(m: *Matcher, n_tokens: usize) diagnostic.Error!void {
        return m.state.rollback(n_tokens, &m.diag);
    }

    /// Back to the start of a text. Keeps timeout and generator.
    pub fn reset(m: *Matcher) void {
        m.state.reset();
    }

    /// Opens a span by its path. An open span ends.
    pub fn activate(m: *Matcher, path: []const u8) diagnostic.Error!void {
        return m.state.activate(path, &m.diag);
    }

    /// Ends the open span, if there is one.
    pub fn deactivate(m: *Matcher) void {
        m.state.deactivate();
    }

    /// For the open span too. At least 1.
    pub fn setTimeout(m: *Matcher, n_tokens: u32) diagnostic.Error!void {
        if (n_tokens == 0) return m.diag.fail(.invalid_arg, "a span timeout is at least 1 token", .{});
        m.timeout = n_tokens;
    }

    /// The legal next tokens. Lent until the matcher changes.
    pub fn allowed(m: *Matcher) diagnostic.Error!sampling.Legal {
        const legal = m.state.allowed() catch |e| return m.notTold(e);
        return legal orelse .{ .all = m.constraint.vocabulary.tokens.n };
    }

    /// Whether `allowed` needs no search.
    pub fn isReady(m: *const Matcher) bool {
        return m.state.isReady();
    }

    /// Whether the text may stop here.
    pub fn canStop(m: *Matcher) diagnostic.Error!bool {
        return m.state.canStop() catch |e| m.notTold(e);
    }

    /// The forced tokens: writes as many as fit and returns how many there are.
    pub fn forced(m: *Matcher, out: []i32) diagnostic.Error!usize {
        return m.state.forced(out, m.timeout) catch |e| m.notTold(e);
    }

    /// The forced bytes: writes as many as fit and returns how many there are.
    pub fn forcedBytes(m: *Matcher, out: []u8) diagnostic.Error!usize {
        return m.state.forcedBytes(out) catch |e| m.notTold(e);
    }

    fn notTold(m: *Matcher, reason: span.Error) diagnostic.Error {
        return m.diag.notToldAfter(reason, m.state.stopped());
    }

    /// Where the text stands.
    pub fn report(m: *Matcher) diagnostic.Error!span.Report {
        return m.state.report() catch |e| m.notTold(e);
    }

    /// Writes the legal tokens as a bitmap; words beyond the vocabulary become 0. Returns what `allowed` does.
    pub fn fillBitmap(m: *Matcher, words: []u32) diagnostic.Error!sampling.Legal {
        const n_tokens = m.constraint.vocabulary.tokens.n;
        const needed = std.math.divCeil(usize, n_tokens, 32) catch unreachable;
        if (words.len < needed) {
            return m.diag.fail(.invalid_arg, "{d} words are fewer than the {d} of the vocabulary", .{ words.len, needed });
        }
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

    /// Sets the logits of illegal tokens, and those beyond the vocabulary, to -inf.
    pub fn maskLogits(m: *Matcher, logits: []f32) diagnostic.Error!void {
        try m.checkLogits(logits.len);
        const legal = try m.allowed();
        if (legal != .all) rows.mask(.f32, logits.ptr, logits.len, legal, m.constraint.vocabulary.tokens.n);
    }

    /// How `sample` chooses. A `top_p` of 0 or less counts as 1.
    pub const Sampling = struct { mode: sampling.Mode, temperature: f32, top_p: f32 };

    /// Chooses a legal token; `accept` is the caller's. Fails if no token is legal. Reads the logits of legal
    /// tokens only.
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

    /// There must be one for each token.
    pub fn checkLogits(m: *Matcher, n_logits: usize) diagnostic.Error!void {
        const n_tokens = m.constraint.vocabulary.tokens.n;
        if (n_logits < n_tokens) {
            return m.diag.fail(.invalid_arg, "{d} logits are fewer than the {d} tokens of the vocabulary", .{ n_logits, n_tokens });
        }
    }
};
