//! A streaming session: prompt in, tokens and text out, constrained while a span is open. Then no candidate
//! array is built: the logits of legal tokens are read where libllama keeps them. Forced tokens need no logits;
//! they are decoded together when logits are next needed, and a draft of what may follow with them.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const Context = @import("context.zig").Context;
const Sequence = @import("sequence.zig").Sequence;
const Grammar = @import("grammar.zig").Grammar;
const UnconstrainedSampler = @import("unconstrained.zig").UnconstrainedSampler;
const Outbox = @import("outbox.zig").Outbox;
const cache_type = @import("cache_type.zig");
const Drafter = @import("drafter.zig").Drafter;
const DraftOptions = @import("drafter.zig").Options;
const DraftOutcome = @import("verifier.zig").Outcome;
const slots = @import("slot.zig");
const compilePayload = @import("engine").constraint.compilePayload;
const Constraint = @import("engine").constraint.Constraint;
const Guide = @import("engine").guide.Guide;
const Compiled = @import("engine").kinds.Compiled;
const span = @import("engine").span;
const sampling = @import("engine").sampling;
const in_use = @import("engine").in_use;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Error = diagnostic.Error;
const clock = @import("engine").clock;
const log = @import("engine").log;
const gpa = @import("engine").memory.gpa;

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

/// eliza_llm_stream_config_t of the header.
pub const Config = struct {
    /// 0: no limit.
    max_tokens: u32,
    temperature: f32,
    top_p: f32,
    top_k: i32,
    repeat_penalty: f32,
    gbnf: ?[:0]const u8,
    disable_thinking: bool,
    /// 0: none. Negative: as the model was loaded.
    n_gpu_layers: i32,
    /// Names of KV cache types; "": f16.
    type_k: []const u8,
    type_v: []const u8,
    /// 0: what the model was trained with.
    context_size: u32,
    draft: DraftOptions,
};

/// The stream's part of eliza_llm_stream_stats_t of the header.
pub const Counters = struct {
    emitted_tokens: u64 = 0,
    sampled_tokens: u64 = 0,
    forced_tokens: u64 = 0,
    constrained_steps: u64 = 0,
    skipped_candidates: u64 = 0,
    fallbacks: u64 = 0,
    sample_ns: u64 = 0,
};

/// Receives each token, or -1 with text at the end, and its text, lent for the call. Anything but 0 stops the
/// generation.
pub const TokenCallback = fn (token: i32, text: [*:0]const u8, user_data: ?*anyopaque) callconv(.c) c_int;

/// What one step delivered; `final`: the stream has stopped and nothing is left to deliver.
pub const Delivery = struct {
    n_tokens: usize = 0,
    text_bytes: usize = 0,
    final: bool = false,
    /// Tokens that were drafted in this step.
    drafted: u64 = 0,
    /// Drafted tokens, of this step or one before, that came out.
    accepted: u64 = 0,
};

/// Belongs to one thread at a time; `cancel` alone is safe from any. A failed call leaves its message in
/// `diag`.
pub const Stream = struct {
    context: *Context,
    sequence: Sequence,
    grammar: ?Grammar = null,
    unconstrained: UnconstrainedSampler,
    cache_types: [2]u32,
    drafter: ?Drafter = null,

    guide: ?Guide = null,
    mode: sampling.Mode = .greedy,
    /// Chooses among the legal tokens in mode `sampled`.
    sampler: sampling.Sampler = .{},
    seed: u64 = 0,
    /// For token tries that were set without one.
    timeout: u32 = span.timeout_default,

    /// As configured. 0: no limit.
    max_tokens: u32,
    budget_ns: u64 = 0,
    stop_at_span_end: bool = false,
    skip_ahead: bool = true,

    stop: Stop = .none,
    run: Run = .{},
    outbox: Outbox = .{},
    /// The bytes of the current token.
    piece: ArrayList(u8) = .empty,
    /// Calls of the C boundary enter and leave.
    in_use: in_use.InUse = .{},
    /// In a callback that is told of a token or a draft, and may change what constrains the next one.
    in_callback: bool = false,
    /// In a call from such a callback.
    in_call_of_callback: bool = false,
    counters: Counters = .{},
    /// The last failure.
    diag: Diagnostic = .{},

    /// What limits are about: the time since the last prompt, or since a stopped stream was resumed.
    const Run = struct {
        tokens: u64 = 0,
        tokens_max: u64 = std.math.maxInt(u64),
        /// When the first step began. 0: not yet.
        started_ns: u64 = 0,
    };

    /// Makes a llama.cpp context of its own. Retains `context`.
    pub fn open(context: *Context, config: Config, d: *Diagnostic) Error!*Stream {
        context.opening.lock();
        defer context.opening.unlock();
        const types = [2]u32{
            try cache_type.parse("cache_type_k", config.type_k, d),
            try cache_type.parse("cache_type_v", config.type_v, d),
        };
        const banned = if (config.disable_thinking) try thinkToken(context, d) else null;
        if (context.model.hasEncoder()) {
            return d.fail(.unsupported, "{s}: models with an encoder are unsupported", .{context.model.path});
        }
        const model = try context.modelWithGpuLayers(config.n_gpu_layers, d);
        const s = gpa.create(Stream) catch {
            model.release();
            return d.outOfMemory();
        };
        errdefer gpa.destroy(s);
        s.* = .{
            .context = context,
            .sequence = undefined,
            .unconstrained = .{ .model = model, .settings = .{
                .temperature = config.temperature,
                .top_p = config.top_p,
                .top_k = config.top_k,
                .repeat_penalty = config.repeat_penalty,
                .banned = banned,
                .seed = 0,
            } },
            .cache_types = types,
            .max_tokens = config.max_tokens,
        };
        try s.sequence.init(model, .{
            .n_ctx = config.context_size,
            .type_k = types[0],
            .type_v = types[1],
            .draft_max = config.draft.max,
        }, d);
        errdefer s.sequence.deinit();
        if (config.draft.max > 0) {
            s.drafter = @as(Drafter, undefined);
            try s.drafter.?.init(context, config.draft, config.n_gpu_layers, s.sequence.n_ctx, d);
        }
        errdefer if (s.drafter) |*drafter| drafter.deinit();
        if (config.gbnf) |gbnf| {
            s.grammar = try .init(context, gbnf, d);
            s.grammar.?.setInterrupt(&s.sequence.interrupt.of);
        }
        s.setSampling(config.temperature, config.top_p);
        _ = context.retain();
        return s;
    }

    /// Frees the stream, in which no call is.
    pub fn close(s: *Stream) void {
        if (s.guide) |*guide| guide.deinit();
        if (s.grammar) |*grammar| grammar.deinit();
        s.unconstrained.deinit();
        s.sampler.deinit(gpa);
        s.outbox.deinit(gpa);
        s.piece.deinit(gpa);
        if (s.drafter) |*drafter| drafter.deinit();
        s.sequence.deinit();
        s.context.release();
        gpa.destroy(s);
    }

    /// A call begins, until `leave`. Fails within another, except in a callback that may change what comes next: what a call
    /// works on must not change under it. A refusal leaves its message only where no other thread is in a call.
    pub fn enter(s: *Stream) in_use.Refusal!*Stream {
        s.in_use.begin() catch |refusal| {
            if (refusal == error.OtherThread) return refusal;
            if (!s.in_callback or s.in_call_of_callback) {
                s.diag.fail(.busy, "not allowed inside a callback of a call on the same stream", .{}) catch {};
                return refusal;
            }
            s.in_call_of_callback = true;
        };
        return s;
    }

    pub fn leave(s: *Stream) void {
        if (s.in_call_of_callback) s.in_call_of_callback = false else s.in_use.end();
    }

    /// A stream that is only looked at, which any callback may do, too.
    pub const Reading = struct {
        stream: *const Stream,
        is_use: ?*Stream,

        pub fn end(r: Reading) void {
            if (r.is_use) |s| s.in_use.end();
        }
    };

    pub fn beginReading(s: *Stream) error{OtherThread}!Reading {
        return .{ .stream = s, .is_use = if (try s.in_use.beginReading()) s else null };
    }

    /// Whether the stream may be closed, which it then must be.
    pub fn beginClosing(s: *Stream) bool {
        s.in_use.begin() catch return false;
        return true;
    }

    /// The last failure's message, as C has it; to another thread than that of a call, that the stream is in use.
    pub fn lastError(s: *Stream) [*:0]const u8 {
        return if (s.in_use.byOtherThread()) "another thread is using the stream" else s.diag.text();
    }

    /// Back to the state after `open`, but with the first `n_keep` tokens of the context, or all if it has fewer.
    /// Returns how many. Settings stay; the constraint starts over. Undoes `cancel`.
    pub fn reset(s: *Stream, n_keep: usize) Error!usize {
        try s.refuseInCallback();
        s.sequence.interrupt.of.cancelled.store(false, .monotonic);
        s.sequence.truncate(@min(n_keep, s.sequence.tokens.items.len));
        s.sequence.counters = .{};
        if (s.drafter) |*drafter| drafter.reset();
        s.counters = .{};
        s.unconstrained.restart();
        s.sampler.rng = .{ .state = s.seed };
        if (s.grammar) |*grammar| grammar.restart();
        if (s.guide) |*guide| guide.state.reset();
        s.outbox.clear();
        s.startRun();
        return s.sequence.tokens.items.len;
    }

    /// Interrupts the running call; later ones fail until `reset`. Safe from any thread.
    pub fn cancel(s: *Stream) void {
        s.sequence.interrupt.of.cancelled.store(true, .monotonic);
        if (s.drafter) |*drafter| drafter.cancel();
    }

    /// `none` while the stream can continue.
    pub fn stopReason(s: *const Stream) Stop {
        return if (s.isCancelled()) .cancelled else s.stop;
    }

    // ---- Prompt and steps

    /// Appends prompt tokens and decodes them. If it fails, nothing has changed.
    pub fn prefill(s: *Stream, tokens: []const i32) Error!void {
        try s.refuseInCallback();
        try s.refuseCancelled();
        if (s.outbox.token != null) return s.diag.fail(.state, "a token is not delivered yet: call next with room for its text first", .{});
        if (tokens.len == 0) return s.diag.fail(.invalid_arg, "num_tokens is 0", .{});
        const before = s.sequence.tokens.items.len;
        if (tokens.len > s.sequence.room()) {
            return s.diag.fail(
                .context_full,
                "{d} tokens do not fit the context of {d}, of which {d} are in use (context_size sets it)",
                .{ tokens.len, s.sequence.n_ctx, before },
            );
        }
        try s.sequence.model.checkTokens("token_ids", tokens, &s.diag);
        s.sequence.appendPrompt(tokens);
        errdefer s.sequence.truncate(before);
        s.sequence.interrupt.of.deadline_ns = 0;
        if (try s.sequence.evaluate(.prompt, 0, &s.diag) != .ready) return s.failCancelled();
        if (s.stop == .end_of_generation) if (s.grammar) |*grammar| grammar.restart();
        s.outbox.held = .{}; // the text before left a character incomplete
        s.startRun();
    }

    /// One step: at most one decode, and all tokens that it gives. `text_out` null: no text is wanted. A
    /// token whose text does not fit waits for the next call.
    pub fn next(s: *Stream, tokens_out: []i32, text_out: ?[]u8) Error!Delivery {
        try s.beginStep(s.max_tokens);
        const before = s.sequence.counters;
        var done: Delivery = .{};
        var may_decode = true;
        while (true) {
            if (s.outbox.isEmpty()) {
                if (s.stop != .none or done.n_tokens == tokens_out.len) break;
                const produced = s.produce(may_decode) catch |e| {
                    if (done.n_tokens == 0) return e;
                    break; // deliver what there is: the next call fails in the same way
                };
                if (produced == .chosen) may_decode = false;
                if (produced == .nothing and s.stop == .none) break;
                continue;
            }
            if (!s.deliverText(text_out, &done)) break;
            const token = s.outbox.token orelse continue;
            tokens_out[done.n_tokens] = token;
            done.n_tokens += 1;
            const is_border = s.outbox.step.isBorder();
            s.deliverToken(token);
            if (is_border) break;
        }
        done.final = s.stop != .none and s.outbox.isEmpty();
        done.drafted = s.sequence.counters.drafted_tokens - before.drafted_tokens;
        done.accepted = s.sequence.counters.accepted_drafts - before.accepted_drafts;
        return done;
    }

    /// Steps until the stream stops, and hands each token to `on_token`. `max_tokens` 0: as configured.
    pub fn generate(s: *Stream, max_tokens: u32, on_token: *const TokenCallback, user_data: ?*anyopaque) Error!void {
        try s.refuseInCallback();
        s.resumeIfStopped();
        s.run.tokens = 0;
        try s.beginStep(if (max_tokens > 0) max_tokens else s.max_tokens);
        while (true) {
            if (s.outbox.isEmpty()) {
                if (s.stop != .none) break;
                _ = try s.produce(true);
                continue;
            }
            const stopped = s.callBack(on_token, user_data);
            s.outbox.dropText();
            if (s.outbox.token) |token| s.deliverToken(token);
            if (stopped and s.stop == .none) s.stop = .callback;
        }
    }

    // ---- Constraint

    /// Constrains the stream by a token-tree payload. If it fails, nothing has changed.
    pub fn setTrie(s: *Stream, payload: []const u8, mode: sampling.Mode) Error!void {
        const speller: Context.Speller = .{ .context = s.context, .model = s.sequence.model };
        const model_id = s.context.modelId() catch return s.diag.outOfMemory();
        defer gpa.free(model_id);
        const trie = try compilePayload(gpa, payload, .{
            .n_tokens = speller.model.n_tokens,
            .model_id = model_id,
            .spelling = speller.spelling(),
        }, &s.diag);
        defer trie.release();
        if (trie.parts.len == 0) return s.constrainBy(.{ .token_trie = trie }, mode, .{});
        const parted = try s.context.addParts(trie, &s.diag);
        defer parted.release();
        return s.constrainBy(.{ .parted_trie = parted }, mode, .{});
    }

    /// Constrains the stream by a compiled constraint, which it retains. If it fails, nothing has changed.
    pub fn setConstraint(s: *Stream, c: *const Constraint, mode: sampling.Mode, config: span.Config) Error!void {
        try s.checkVocabulary(c);
        try s.constrainBy(c.compiled, mode, config);
    }

    fn constrainBy(s: *Stream, compiled: Compiled, mode: sampling.Mode, config: span.Config) Error!void {
        try compiled.checkSpan(config, s.timeout, &s.diag);
        // The generation would end there, and the rest would never come.
        if (compiled.prematureEnd(s.sequence.model)) |token| {
            return s.diag.fail(.payload, "a leaf continues after token {d}, which ends the generation", .{token});
        }
        s.sampler.reserve(gpa, compiled.listMax()) catch return s.diag.outOfMemory();
        const own = config.owned(gpa) catch return s.diag.outOfMemory();
        s.clearConstraint(); // first: a recognizer drops what texts have left only where none continues
        s.guide = .init(gpa, compiled, own);
        s.guide.?.state.setInterrupt(&s.sequence.interrupt.of);
        s.mode = mode;
        s.resumeIfStopped();
    }

    /// A constraint on bytes needs a vocabulary with the model's bytes.
    fn checkVocabulary(s: *Stream, c: *const Constraint) Error!void {
        const model = s.sequence.model;
        const vocabulary = c.vocabulary;
        if (vocabulary.tokens.n != model.n_tokens) {
            return s.diag.fail(
                .model_mismatch,
                "the constraint is for a vocabulary of {d} tokens, the model has {d}",
                .{ vocabulary.tokens.n, model.n_tokens },
            );
        }
        if (!c.compiled.readsBytes() or vocabulary.isOwnedBy(model)) return;
        for (0..vocabulary.tokens.n) |token| {
            const bytes = vocabulary.tokens.bytesOf(@intCast(token));
            const flags = vocabulary.tokens.flagsOf(@intCast(token));
            if (bytes.len == 0 or flags.special or flags.end_of_generation or flags.unused) continue;
            s.piece.clearRetainingCapacity();
            model.appendBytes(@intCast(token), true, &s.piece) catch return s.diag.outOfMemory();
            if (std.mem.eql(u8, bytes, s.piece.items)) continue;
            return s.diag.fail(.model_mismatch, "token {d} is {f} in the constraint's vocabulary, and {f} in the model's", .{
                token, diagnostic.quoted(bytes), diagnostic.quoted(s.piece.items),
            });
        }
    }

    /// Removes the constraint, if there is one.
    pub fn clearConstraint(s: *Stream) void {
        if (s.guide) |*guide| guide.deinit() else return;
        s.guide = null;
        s.forgetBorder();
    }

    /// Opens a span by its path. An open span ends. A stopped stream continues.
    pub fn activate(s: *Stream, path: []const u8) Error!void {
        const guide = if (s.guide) |*guide| guide else {
            return s.diag.fail(.state, "nothing constrains the output: set a token trie or a constraint first", .{});
        };
        try guide.state.activate(path, &s.diag);
        s.forgetBorder();
        s.resumeIfStopped();
    }

    /// Where the text stands.
    pub fn report(s: *Stream) Error!span.Report {
        const guide = if (s.guide) |*guide| guide else return .{};
        return guide.state.report() catch |e| s.notTold(e);
    }

    /// A token that waits for room was accepted in the span before; it is no border of this one.
    fn forgetBorder(s: *Stream) void {
        if (!s.in_callback) s.outbox.step = .{};
    }

    // ---- Settings

    /// Starts all draws over from the seed.
    pub fn setSeed(s: *Stream, seed: u64) void {
        s.seed = seed;
        s.sampler.rng = .{ .state = seed };
        s.unconstrained.setSeed(seed);
    }

    /// In force for the next choice. `top_p` 0 or less: 1.
    pub fn setSampling(s: *Stream, temperature: f32, top_p: f32) void {
        s.unconstrained.setSampling(temperature, top_p);
        s.sampler.temperature = temperature;
        s.sampler.top_p = if (top_p > 0) top_p else 1;
    }

    /// The number of threads that decode.
    pub fn setThreads(s: *Stream, n_threads: i32) void {
        s.sequence.setThreads(n_threads);
        if (s.drafter) |*drafter| drafter.setThreads(n_threads);
    }

    /// The time from the first step after a prompt on. 0: no limit. In force at once.
    pub fn setTimeBudget(s: *Stream, budget_ns: u64) void {
        s.budget_ns = budget_ns;
        if (s.in_callback) s.setDeadline();
    }

    // ---- Slots

    /// Writes context and tokens to a file; decodes pending tokens first.
    pub fn saveSlot(s: *Stream, path: [:0]const u8) Error!void {
        try s.refuseInCallback();
        try s.refuseCancelled();
        if (s.sequence.tokens.items.len == 0) return s.diag.fail(.state, "the context is empty: there is nothing to save", .{});
        s.sequence.interrupt.of.deadline_ns = 0;
        if (s.sequence.pending() > 0 and try s.sequence.evaluate(.output, 0, &s.diag) != .ready) return s.failCancelled();
        const state = try s.sequence.copyState(&s.diag);
        defer gpa.free(state);
        try slots.write(path, s.slotIdentity(), s.sequence.tokens.items, state, &s.diag);
    }

    /// Replaces context and tokens by those of a file, and removes the constraint. If it fails, the stream is
    /// empty.
    pub fn restoreSlot(s: *Stream, path: [:0]const u8) Error!void {
        try s.refuseInCallback();
        try s.refuseCancelled();
        s.clearConstraint();
        s.outbox.clear();
        s.sequence.truncate(0);
        if (s.grammar) |*grammar| grammar.restart();
        s.startRun();
        const slot = try slots.read(path, s.slotIdentity(), &s.diag);
        defer slot.deinit();
        try s.sequence.restore(&slot, &s.diag);
        if (s.grammar) |*grammar| grammar.switchOff("a slot was restored, whose output it has not seen");
    }

    fn slotIdentity(s: *const Stream) slots.Identity {
        const model = s.sequence.model;
        return .{
            .model = model.fingerprint(),
            .library = slots.hash(model.runtime.version),
            .n_ctx = s.sequence.n_ctx,
            .n_tokens = model.n_tokens,
            .type_k = s.cache_types[0],
            .type_v = s.cache_types[1],
        };
    }

    // ---- Producing one token

    const Produced = enum {
        /// The token in the outbox took logits.
        chosen,
        /// The token in the outbox was the only legal one.
        forced,
        /// There is no token: the stream has stopped, or it would take another decode.
        nothing,
    };

    /// Chooses the next token, accepts it and puts it into the outbox. What fails has changed nothing.
    fn produce(s: *Stream, may_decode: bool) Error!Produced {
        try s.refuseCancelled();
        return s.tryProduce(may_decode) catch |e| {
            if (s.diag.status != .cancelled) return e;
            // A search was interrupted.
            return if (s.isCancelled()) s.failCancelled() else s.end(.time_budget);
        };
    }

    fn tryProduce(s: *Stream, may_decode: bool) Error!Produced {
        if (s.sequence.interrupt.of.isOver()) return s.end(.time_budget);
        if (s.sequence.room() == 0) return s.end(.context_full);
        const only = if (s.guide) |*guide| guide.state.forcedToken() catch |e| return s.notTold(e) else null;
        const needs_model = only == null or !s.skip_ahead;
        if (needs_model) {
            if (!may_decode and !s.sequence.isReady()) return .nothing;
            const n_draft = if (only == null) s.draft() else 0;
            switch (try s.sequence.evaluate(.output, n_draft, &s.diag)) {
                .ready => {},
                .cancelled => return s.failCancelled(),
                .out_of_time => return s.end(.time_budget),
            }
        }
        const start = clock.nowNs();
        defer s.counters.sample_ns += clock.nowNs() - start;
        if (s.guide) |*guide| guide.state.prefetch();
        const token = only orelse try s.choose();
        if (s.sequence.model.isEndOfGeneration(token)) {
            _ = try s.acceptInSpan(token);
            if (s.sequence.n_ahead > 0) s.tellVerifier(.ended);
            s.sequence.dropDraft();
            return s.end(.end_of_generation);
        }
        try s.accept(token);
        if (only == null) s.counters.sampled_tokens += 1 else s.counters.forced_tokens += 1;
        return if (needs_model) .chosen else .forced;
    }

    /// Drafts what may follow, unless logits are there. Returns how many tokens.
    fn draft(s: *Stream) usize {
        const drafter = if (s.drafter) |*one| one else return 0;
        const last_is_not_decoded = 1;
        return drafter.draft(&s.sequence, .{
            .guide = if (s.guide) |*guide| guide else null,
            .grammar = if (s.grammar) |*grammar| grammar else null,
            .default_timeout = s.timeout,
            .stop_at_span_end = s.stop_at_span_end,
        }, s.run.tokens_max - s.run.tokens - last_is_not_decoded);
    }

    fn choose(s: *Stream) Error!i32 {
        const logits = s.sequence.logits.?;
        const guide = if (s.guide) |*guide| guide else return s.chooseUnconstrained();
        const found = guide.state.allowed() catch |e| return s.notTold(e);
        const legal = found orelse return s.chooseUnconstrained();
        if (legal.len() == 0) return s.diag.fail(.state, "no token of the vocabulary continues the text", .{});
        const choice = switch (s.mode) {
            .greedy => sampling.greedy(logits, legal),
            .sampled => sampled: {
                s.sampler.reserve(gpa, legal.len()) catch return s.diag.outOfMemory();
                break :sampled s.sampler.draw(logits, legal);
            },
        };
        s.counters.constrained_steps += 1;
        s.counters.skipped_candidates += s.sequence.model.n_tokens - legal.len();
        if (choice.fallback) s.countFallback();
        return choice.token;
    }

    fn chooseUnconstrained(s: *Stream) Error!i32 {
        const grammar = if (s.grammar) |*grammar| grammar else null;
        return s.unconstrained.choose(s.sequence.logits.?, s.sequence.tokens.items, grammar, &s.diag);
    }

    fn accept(s: *Stream, token: i32) Error!void {
        s.piece.clearRetainingCapacity();
        s.sequence.model.appendBytes(token, false, &s.piece) catch return s.diag.outOfMemory();
        const held = s.outbox.held;
        const place = if (s.grammar) |*grammar| grammar.checkpoint() else null;
        errdefer {
            s.outbox.clear();
            s.outbox.held = held;
            if (place) |before| s.grammar.?.takeBack(before);
        }
        s.outbox.putText(gpa, s.piece.items) catch return s.diag.outOfMemory();
        if (s.grammar) |*grammar| grammar.accept(token) catch |e| return s.diag.notToldAfter(e, grammar.stopped());
        s.outbox.step = try s.acceptInSpan(token);
        s.outbox.token = token;
        const is_last = s.run.tokens + 1 >= s.run.tokens_max or (s.outbox.step.span_ended and s.stop_at_span_end);
        if (is_last) s.outbox.endText();
    }

    fn acceptInSpan(s: *Stream, token: i32) Error!@FieldType(Outbox, "step") {
        const guide = if (s.guide) |*guide| guide else return .{};
        return guide.accept(token, s.timeout) catch |e| s.notTold(e);
    }

    /// What the guide has failed with.
    fn notTold(s: *Stream, reason: span.Error) Error {
        return s.diag.notToldAfter(reason, s.guide.?.state.stopped());
    }

    fn countFallback(s: *Stream) void {
        if (s.counters.fallbacks == 0) log.write(.warn, "no legal token had a logit above -inf: they counted as equal", .{});
        s.counters.fallbacks += 1;
    }

    // ---- Delivering it

    /// Whether all text before the token was delivered.
    fn deliverText(s: *Stream, text_out: ?[]u8, done: *Delivery) bool {
        const out = text_out orelse {
            s.outbox.dropText();
            return true;
        };
        var n: usize = undefined;
        const is_empty = done.n_tokens == 0 and done.text_bytes == 0;
        const whole = s.outbox.copyText(out[done.text_bytes..], is_empty, &n);
        done.text_bytes += n;
        return whole;
    }

    fn deliverToken(s: *Stream, token: i32) void {
        const drafted = s.sequence.ahead();
        const is_drafted = drafted.len > 0 and drafted[0] == token;
        s.sequence.append(token);
        s.counters.emitted_tokens += 1;
        if (drafted.len > 0 and s.sequence.n_ahead == 0) s.tellVerifier(if (is_drafted) .accepted else .rejected);
        s.run.tokens += 1;
        if (s.outbox.step.span_ended and s.stop_at_span_end) {
            s.stop = .span_end;
        } else if (s.run.tokens >= s.run.tokens_max) {
            s.stop = .max_tokens;
        }
        s.outbox.takeToken();
    }

    /// When a draft is over.
    fn tellVerifier(s: *Stream, outcome: DraftOutcome) void {
        const verifier = s.context.verifierNow() orelse return;
        s.in_callback = true;
        defer s.in_callback = false;
        verifier.tell(&s.sequence, outcome, s.counters.emitted_tokens);
    }

    /// The token was accepted before the call: what the callback activates or sets is in force for the next one.
    fn callBack(s: *Stream, on_token: *const TokenCallback, user_data: ?*anyopaque) bool {
        s.in_callback = true;
        defer s.in_callback = false;
        const end_of_text = -1;
        return on_token(s.outbox.token orelse end_of_text, s.outbox.terminated(), user_data) != 0;
    }

    // ---- Beginnings and ends

    fn beginStep(s: *Stream, tokens_max: u32) Error!void {
        try s.refuseInCallback();
        try s.refuseCancelled();
        if (s.sequence.tokens.items.len == 0) return s.diag.fail(.state, "there is no prompt: call prefill first", .{});
        s.run.tokens_max = if (tokens_max == 0) std.math.maxInt(u64) else tokens_max;
        s.setDeadline();
    }

    fn setDeadline(s: *Stream) void {
        s.sequence.interrupt.of.deadline_ns = 0;
        if (s.budget_ns == 0) return;
        if (s.run.started_ns == 0) s.run.started_ns = clock.nowNs();
        s.sequence.interrupt.of.deadline_ns = s.run.started_ns +| s.budget_ns;
    }

    fn end(s: *Stream, reason: Stop) Produced {
        s.outbox.endText();
        s.stop = reason;
        return .nothing;
    }

    /// Lets a stopped stream continue, except after the end of generation.
    fn resumeIfStopped(s: *Stream) void {
        if (s.stop != .none and s.stop != .end_of_generation) s.startRun();
    }

    fn startRun(s: *Stream) void {
        s.stop = .none;
        s.run = .{};
    }

    fn isCancelled(s: *const Stream) bool {
        return s.sequence.interrupt.of.cancelled.load(.monotonic);
    }

    fn refuseCancelled(s: *Stream) Error!void {
        if (s.isCancelled()) return s.failCancelled();
    }

    fn failCancelled(s: *Stream) Error {
        return s.diag.fail(.cancelled, "the stream was cancelled: reset it to continue", .{});
    }

    fn refuseInCallback(s: *Stream) Error!void {
        if (s.in_callback) return s.diag.fail(.busy, "not allowed inside a token callback of this stream", .{});
    }
};

/// The one special token "<think>", if the vocabulary has it.
fn thinkToken(context: *Context, d: *Diagnostic) Error!?i32 {
    const tokens = try context.tokenize("<think>", false, true, d);
    defer gpa.free(tokens);
    if (tokens.len != 1) return null;
    const model = context.model;
    const attribute = model.api().llama_vocab_get_attr(model.vocab, tokens[0]);
    return if (attribute.control or attribute.user_defined) tokens[0] else null;
}
