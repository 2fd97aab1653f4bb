//! A streaming session: prompt in, tokens and text out, constrained by a token trie where a span is
//! open. While one is open no candidate array is built: the legal ids' logits are read where
//! libllama keeps them, and tokens that must follow are emitted without logits and decoded together
//! when logits are next needed.

const std = @import("std");
const Context = @import("context.zig").Context;
const Model = @import("model.zig").Model;
const sequence_module = @import("sequence.zig");
const Sequence = sequence_module.Sequence;
const Grammar = @import("grammar.zig").Grammar;
const free_module = @import("free.zig");
const FreeSampler = free_module.FreeSampler;
const Text = @import("text.zig").Text;
const text_module = @import("text.zig");
const slot_module = @import("slot.zig");
const cache_type = @import("cache_type.zig");
const constraint = @import("../constraint.zig");
const matcher = @import("../matcher.zig");
const TokenTrie = @import("../trie/trie.zig").TokenTrie;
const Span = @import("../trie/span.zig").Span;
const sampling = @import("../sampling/sampling.zig");
const diagnostic = @import("../diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const Error = diagnostic.Error;
const clock = @import("../platform/clock.zig");
const log = @import("../platform/log.zig");
const gpa = @import("../platform/memory.zig").gpa;

/// ELIZA_STOP_* of the header.
pub const Stop = enum(c_int) {
    none = 0,
    end_of_generation = 1,
    max_tokens = 2,
    span_end = 3,
    callback = 4,
    time_budget = 5,
    cancelled = 6,
    context_full = 7,
};

pub const Config = struct {
    /// 0: no bound.
    max_tokens: u32,
    temperature: f32,
    top_p: f32,
    top_k: i32,
    repeat_penalty: f32,
    gbnf: ?[*:0]const u8,
    disable_thinking: bool,
    n_gpu_layers: i32,
    /// Names of KV cache types; "": as usual.
    type_k: []const u8,
    type_v: []const u8,
    context_size: u32,
};

pub const Counters = struct {
    emitted_tokens: u64 = 0,
    sampled_tokens: u64 = 0,
    forced_tokens: u64 = 0,
    constrained_steps: u64 = 0,
    skipped_candidates: u64 = 0,
    fallbacks: u64 = 0,
    sample_ns: u64 = 0,
};

pub const TokenCallback = fn (token: i32, text: [*:0]const u8, user_data: ?*anyopaque) callconv(.c) c_int;

pub const Stream = struct {
    context: *Context,
    sequence: Sequence,
    free: FreeSampler,
    grammar: ?Grammar,
    /// Chooses among the legal tokens.
    sampler: sampling.Sampler,
    seed: u64 = 0,
    type_k: u32,
    type_v: u32,

    trie: ?*TokenTrie = null,
    span: Span = .{},
    mode: sampling.Mode = .greedy,
    timeout: u32 = constraint.span_timeout_default,

    max_tokens: u64,
    budget_ns: u64 = 0,
    stop_at_span_end: bool = false,
    skip_ahead: bool = true,

    stop: Stop = .none,
    /// Emitted since the prompt, or since a finished stream was taken up again.
    run_tokens: u64 = 0,
    run_tokens_max: u64 = std.math.maxInt(u64),
    run_started_ns: u64 = 0,

    text: Text = .{},
    outbox: Outbox = .{},
    in_callback: bool = false,
    counters: Counters = .{},
    /// Of the last failed call.
    diag: Diagnostic = .{},

    /// A token that is accepted and not yet delivered, and text not yet delivered.
    const Outbox = struct {
        token: ?i32 = null,
        /// The token starts or ends a span, or is the last of a run: the step ends with it.
        ends_step: bool = false,
        ended_span: bool = false,
        text: std.ArrayList(u8) = .empty,
        /// Bytes of `text` that were delivered.
        delivered: usize = 0,

        fn waiting(outbox: *const Outbox) []const u8 {
            return outbox.text.items[outbox.delivered..];
        }

        fn isEmpty(outbox: *const Outbox) bool {
            return outbox.token == null and outbox.waiting().len == 0;
        }

        fn clear(outbox: *Outbox) void {
            outbox.text.clearRetainingCapacity();
            outbox.* = .{ .text = outbox.text };
        }
    };

    // ---- Life

    pub fn open(context: *Context, config: Config, d: *Diagnostic) Error!*Stream {
        const type_k = try cache_type.parse("cache_type_k", config.type_k, d);
        const type_v = try cache_type.parse("cache_type_v", config.type_v, d);
        const stream = gpa.create(Stream) catch return d.outOfMemory();
        errdefer gpa.destroy(stream);
        const model = try context.modelWithGpuLayers(config.n_gpu_layers, d);
        if (model.api().llama_model_has_encoder(model.handle)) {
            defer model.release();
            return d.fail(.not_implemented, "{s}: models with an encoder are not served", .{model.path});
        }
        stream.sequence.init(model, .{ .n_ctx = config.context_size, .type_k = type_k, .type_v = type_v }, d) catch |e| {
            model.release();
            return e;
        };
        errdefer stream.sequence.deinit();
        var grammar: ?Grammar = if (config.gbnf) |gbnf| try .init(model, gbnf, d) else null;
        errdefer if (grammar) |*g| g.deinit();
        const sequence = stream.sequence;
        stream.* = .{
            .context = context.retain(),
            .sequence = sequence,
            .grammar = grammar,
            .free = .{ .model = model, .settings = .{
                .temperature = config.temperature,
                .top_p = config.top_p,
                .top_k = config.top_k,
                .repeat_penalty = config.repeat_penalty,
                .banned = if (config.disable_thinking) thinkToken(context) else null,
                .seed = 0,
            } },
            .sampler = .{},
            .type_k = type_k,
            .type_v = type_v,
            .max_tokens = config.max_tokens,
        };
        stream.setSampling(config.temperature, config.top_p);
        return stream;
    }

    pub fn close(s: *Stream) void {
        s.clearTrie();
        s.sampler.deinit(gpa);
        s.free.deinit();
        if (s.grammar) |*g| g.deinit();
        s.outbox.text.deinit(gpa);
        s.sequence.deinit();
        s.context.release();
        gpa.destroy(s);
    }

    /// Back to the state after `open` with the first `n_keep` tokens of the context; settings stay,
    /// and a trie is as it was after it was set.
    pub fn reset(s: *Stream, n_keep: usize) Error!void {
        try s.refuseInCallback();
        s.sequence.interrupt.cancelled.store(false, .monotonic);
        s.sequence.truncate(@min(n_keep, s.sequence.tokens.items.len));
        s.sequence.counters = .{};
        s.counters = .{};
        s.free.restart();
        s.free.rejections = 0;
        s.sampler.rng = .{ .state = s.seed };
        if (s.grammar) |*g| g.restart();
        if (s.trie) |trie| s.span = .init(trie);
        s.forgetOutput();
    }

    /// Any thread.
    pub fn cancel(s: *Stream) void {
        s.sequence.interrupt.cancelled.store(true, .monotonic);
    }

    // ---- Prompt

    pub fn prefill(s: *Stream, tokens: []const i32) Error!void {
        try s.refuseInCallback();
        try s.refuseCancelled();
        try s.refuseUndelivered();
        if (tokens.len == 0) return s.diag.fail(.invalid_arg, "num_tokens is 0", .{});
        try s.sequence.model.checkTokens("token_ids", tokens, &s.diag);
        const before = s.sequence.tokens.items.len;
        if (tokens.len > s.sequence.room()) return s.diag.fail(.context_full, "{d} tokens do not fit a context of {d} with {d} in use", .{
            tokens.len, s.sequence.n_ctx, before,
        });
        s.sequence.append(tokens);
        errdefer s.sequence.truncate(before);
        s.sequence.interrupt.deadline_ns = 0;
        if (try s.sequence.evaluate(.prompt, &s.diag) != .ready) return s.failCancelled();
        if (s.stop == .end_of_generation) {
            if (s.grammar) |*g| g.restart();
        }
        s.startRun();
    }

    // ---- Steps

    pub const Delivered = struct { n_tokens: usize = 0, text_bytes: usize = 0, final: bool = false };

    /// One step. `text_out` has room for the terminator that the caller adds, or is null.
    pub fn next(s: *Stream, tokens_out: []i32, text_out: ?[]u8) Error!Delivered {
        try s.beginStep(s.max_tokens);
        var done: Delivered = .{};
        var chosen = false;
        while (true) {
            if (s.outbox.isEmpty()) {
                s.outbox.clear();
                if (s.stop != .none or done.n_tokens == tokens_out.len) break;
                const produced = s.produce(!chosen) catch |e| {
                    // What was delivered is not lost: the call that follows fails again.
                    if (done.n_tokens == 0 or s.diag.status == .cancelled) return e;
                    break;
                };
                if (produced == .nothing) {
                    if (s.stop == .none) break;
                    continue; // the end may have left text to deliver
                }
                if (produced == .chosen) chosen = true;
            }
            if (done.n_tokens == tokens_out.len) break;
            if (!s.deliverText(text_out, &done)) break;
            const token = s.outbox.token orelse continue;
            tokens_out[done.n_tokens] = token;
            done.n_tokens += 1;
            const ends_step = s.outbox.ends_step;
            s.delivered(token);
            if (ends_step and s.stop == .none) break;
        }
        done.final = s.stop != .none and s.outbox.isEmpty();
        return done;
    }

    /// Steps until an end. `max_tokens` 0: as configured.
    pub fn generate(s: *Stream, max_tokens: u64, on_token: *const TokenCallback, user_data: ?*anyopaque) Error!void {
        try s.refuseInCallback();
        s.takeUp();
        s.run_tokens = 0;
        try s.beginStep(if (max_tokens > 0) max_tokens else s.max_tokens);
        while (s.stop == .none or !s.outbox.isEmpty()) {
            if (s.outbox.isEmpty()) {
                s.outbox.clear();
                if (try s.produce(true) == .nothing) continue;
            }
            const stopped = try s.call(on_token, user_data);
            if (s.outbox.token) |token| s.delivered(token) else s.outbox.clear();
            if (stopped and s.stop == .none) s.finish(.callback);
        }
        s.outbox.clear();
    }

    /// The callback sees the stream as it is after the token, so it may activate and set.
    fn call(s: *Stream, on_token: *const TokenCallback, user_data: ?*anyopaque) Error!bool {
        s.outbox.text.append(gpa, 0) catch return s.diag.outOfMemory();
        const with_end = s.outbox.waiting();
        s.outbox.text.items.len -= 1;
        s.in_callback = true;
        defer s.in_callback = false;
        const no_token = -1; // text of the end alone
        return on_token(s.outbox.token orelse no_token, with_end[0 .. with_end.len - 1 :0], user_data) != 0;
    }

    fn beginStep(s: *Stream, run_tokens_max: u64) Error!void {
        try s.refuseInCallback();
        try s.refuseCancelled();
        if (s.sequence.tokens.items.len == 0) return s.diag.fail(.state, "there is no prompt yet: call prefill first", .{});
        s.run_tokens_max = if (run_tokens_max == 0) std.math.maxInt(u64) else run_tokens_max;
        if (s.run_started_ns == 0) s.run_started_ns = clock.nowNs();
        s.sequence.interrupt.deadline_ns = if (s.budget_ns == 0) 0 else s.run_started_ns +| s.budget_ns;
    }

    const Produced = enum {
        /// A token is in the outbox that took logits.
        chosen,
        /// A token is in the outbox that was the only one.
        forced,
        /// Nothing more in this step, or at all.
        nothing,
    };

    /// Accepts the next token.
    fn produce(s: *Stream, may_choose: bool) Error!Produced {
        try s.refuseCancelled();
        if (s.sequence.interrupt.isOver()) return s.end(.time_budget);
        if (s.sequence.room() == 0) return s.end(.context_full);
        const only = if (s.trie) |trie| s.span.forced(trie) else null;
        if (only == null or !s.skip_ahead) {
            if (!may_choose) return .nothing;
            switch (try s.sequence.evaluate(.output, &s.diag)) {
                .ready => {},
                .cancelled => return s.failCancelled(),
                .out_of_time => return s.end(.time_budget),
            }
        }
        const start = clock.nowNs();
        const token = only orelse try s.choose();
        const is_end = s.sequence.model.isEndOfGeneration(token);
        try s.accept(token, is_end);
        s.counters.sample_ns += clock.nowNs() - start;
        if (only == null) s.counters.sampled_tokens += 1 else s.counters.forced_tokens += 1;
        if (is_end) return s.end(.end_of_generation);
        return if (only == null or !s.skip_ahead) .chosen else .forced;
    }

    fn choose(s: *Stream) Error!i32 {
        const logits = s.sequence.logits.?;
        const legal = if (s.trie) |trie| s.span.allowed(trie) else null;
        const ids = legal orelse
            return s.free.choose(logits, s.sequence.tokens.items, if (s.grammar) |*g| g else null, &s.diag);
        s.counters.constrained_steps += 1;
        s.counters.skipped_candidates += s.sequence.model.n_tokens - ids.len;
        const choice = switch (s.mode) {
            .greedy => sampling.greedy(logits, .{ .list = ids }),
            .sampled => s.sampler.draw(logits, .{ .list = ids }),
        };
        if (choice.fallback) {
            if (s.counters.fallbacks == 0) log.write(.warn, "no legal token has a logit above -inf: one is chosen as if they were equal", .{});
            s.counters.fallbacks += 1;
        }
        return choice.token;
    }

    /// The end-of-generation token ends a span like any other token, but is no output: it has no
    /// text, and the grammar, which would have to be at its end, is not fed.
    fn accept(s: *Stream, token: i32, is_end: bool) Error!void {
        if (!is_end) {
            if (s.grammar) |*g| g.accept(token);
            s.outbox.text.clearRetainingCapacity();
            try s.writeText(token);
        }
        const trie = s.trie orelse return s.post(token, is_end);
        const step = s.span.accept(trie, token, s.timeout, .end_span);
        if (step.timed_out) matcher.logTimeout(s.timeout);
        s.outbox.ended_span = step.span_ended;
        s.outbox.ends_step = step.isBorder();
        return s.post(token, is_end);
    }

    fn post(s: *Stream, token: i32, is_end: bool) Error!void {
        if (is_end) return;
        s.outbox.token = token;
        const last = s.run_tokens + 1 >= s.run_tokens_max or (s.outbox.ended_span and s.stop_at_span_end);
        if (last) s.text.finish(gpa, &s.outbox.text) catch return s.diag.outOfMemory();
    }

    fn writeText(s: *Stream, token: i32) Error!void {
        var bytes: std.ArrayList(u8) = .initBuffer(&s.piece);
        _ = &bytes;
        _ = token;
    }
};
