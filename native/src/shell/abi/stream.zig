//! Header, sections 9 and 10: streams, and what constrains them.

const std = @import("std");
const boundary = @import("boundary.zig");
const gpa = boundary.gpa;
const context_abi = @import("context.zig");
const library_abi = @import("library.zig");
const matcher_abi = @import("matcher.zig");
const stream_module = @import("../llama/stream.zig");
const Stream = stream_module.Stream;
const DraftOptions = @import("../llama/drafter.zig").Options;
const verifier = @import("../llama/verifier.zig");
const draft_tokens_max = @import("../llama/drafter.zig").draft_tokens_max;
const Constraint = @import("engine").constraint.Constraint;
const sampling = @import("engine").sampling;
const Table = @import("handles.zig").Table;

const invalid_arg = boundary.Status.invalid_arg.code();

/// EliLlmStream: a number of the table, not an address.
pub const Handle = opaque {};

var streams: Table(Stream, Handle, .stream) = .{};

/// eliza_llm_stream_config_t.
pub const Config = extern struct {
    max_tokens: i32,
    temperature: f32,
    top_p: f32,
    top_k: i32,
    repeat_penalty: f32,
    slot_id: i32,
    prompt_cache_key: ?[*:0]const u8,
    draft_min: i32,
    draft_max: i32,
    mtp_drafter_path: ?[*:0]const u8,
    gbnf_grammar: ?[*:0]const u8,
    disable_thinking: i32,
    n_gpu_layers: i32,
    cache_type_k: ?[*:0]const u8,
    cache_type_v: ?[*:0]const u8,
    /// Not in ABI 13.
    context_size: i32,

    /// The caller's struct, as far as it reaches.
    fn copy(given: *const Config) Config {
        const known: usize = if (library_abi.isForAbi13()) @offsetOf(Config, "context_size") else @sizeOf(Config);
        var config = std.mem.zeroes(Config);
        @memcpy(std.mem.asBytes(&config)[0..known], std.mem.asBytes(given)[0..known]);
        return config;
    }

    /// The part of the config that this library serves, checked.
    fn read(config: *const Config, diag: *boundary.Diagnostic) boundary.Error!stream_module.Config {
        if (config.max_tokens < 0) return diag.fail(.invalid_arg, "max_tokens: {d} is negative", .{config.max_tokens});
        inline for (.{ "temperature", "top_p", "repeat_penalty" }) |name| {
            if (!std.math.isFinite(@field(config, name))) return diag.fail(.invalid_arg, name ++ " is not a finite number", .{});
        }
        if (config.repeat_penalty > 0 and config.repeat_penalty < penalty_min) {
            return diag.fail(.invalid_arg, "repeat_penalty: too close to 0", .{});
        }
        return .{
            .max_tokens = @intCast(config.max_tokens),
            .temperature = config.temperature,
            .top_p = config.top_p,
            .top_k = config.top_k,
            .repeat_penalty = config.repeat_penalty,
            .gbnf = if (textOf(config.gbnf_grammar).len > 0) textOf(config.gbnf_grammar) else null,
            .disable_thinking = config.disable_thinking != 0,
            .n_gpu_layers = config.n_gpu_layers,
            .type_k = textOf(config.cache_type_k),
            .type_v = textOf(config.cache_type_v),
            .context_size = @intCast(@max(config.context_size, 0)),
            .draft = try config.draftOptions(diag),
        };
    }

    fn draftOptions(config: *const Config, diag: *boundary.Diagnostic) boundary.Error!DraftOptions {
        if (config.draft_min <= 0 or config.draft_max <= 0) return .{ .min = 0, .max = 0, .path = "" };
        if (config.draft_max > draft_tokens_max) {
            return diag.fail(.limit, "draft_max: {d} is more than {d}", .{ config.draft_max, draft_tokens_max });
        }
        if (config.draft_min > config.draft_max) {
            return diag.fail(.invalid_arg, "draft_min: {d} is more than draft_max, {d}", .{ config.draft_min, config.draft_max });
        }
        return .{
            .min = @intCast(config.draft_min),
            .max = @intCast(config.draft_max),
            .path = textOf(config.mtp_drafter_path),
        };
    }
};

/// eliza_llm_stream_stats_t.
pub const Stats = extern struct {
    struct_size: u32 = @sizeOf(Stats),
    grammar_off: i32,
    prefill_passes: u64,
    forward_passes: u64,
    decoded_tokens: u64,
    emitted_tokens: u64,
    sampled_tokens: u64,
    forced_tokens: u64,
    constrained_steps: u64,
    skipped_candidates: u64,
    fallbacks: u64,
    grammar_rejections: u64,
    sample_ns: u64,
    decode_ns: u64,
    context_tokens: u64,
    pending_tokens: u64,
    drafted_tokens: u64,
    accepted_drafts: u64,
    saved_passes: u64,
    drafter_passes: u64,

    pub const first_size = 120;

    fn of(s: *const Stream) Stats {
        const c = &s.counters;
        const m = &s.sequence.counters;
        return .{
            .grammar_off = @intFromBool(if (s.grammar) |grammar| grammar.off else false),
            .prefill_passes = m.prefill_passes,
            .forward_passes = m.forward_passes,
            .decoded_tokens = m.decoded_tokens,
            .emitted_tokens = c.emitted_tokens,
            .sampled_tokens = c.sampled_tokens,
            .forced_tokens = c.forced_tokens,
            .constrained_steps = c.constrained_steps,
            .skipped_candidates = c.skipped_candidates,
            .fallbacks = c.fallbacks,
            .grammar_rejections = s.unconstrained.rejections,
            .sample_ns = c.sample_ns,
            .decode_ns = m.decode_ns,
            .context_tokens = s.sequence.n_decoded,
            .pending_tokens = s.sequence.pending(),
            .drafted_tokens = m.drafted_tokens,
            .accepted_drafts = m.accepted_drafts,
            .saved_passes = m.saved_passes,
            .drafter_passes = if (s.drafter) |*drafter| drafter.passes() else 0,
        };
    }
};

fn textOf(text: ?[*:0]const u8) [:0]const u8 {
    return if (text) |t| std.mem.span(t) else "";
}

/// The stream of a call, until its `leave`. One that is in another call is refused. What only reads what stands, and `cancel`, do
/// not enter.
fn enter(handle: ?*const Handle, diag: *boundary.Diagnostic) boundary.Error!*Stream {
    if (handle == null) return diag.fail(.invalid_arg, "stream is NULL", .{});
    const entered = streams.get(handle, Stream.enter) orelse return diag.fail(.closed, "stream is not an open stream", .{});
    return entered catch |refusal| switch (refusal) {
        error.InCallback => diag.fail(.busy, "not allowed inside a callback of a call on the same stream", .{}),
        error.OtherThread => diag.fail(.busy, "another thread is using the stream", .{}),
    };
}

/// A stream that is only looked at, until `end`; else the status.
fn read(handle: ?*const Handle, status: *c_int) error{Failed}!Stream.Reading {
    status.* = missing(handle);
    const reading = streams.get(handle, Stream.beginReading) orelse return error.Failed;
    status.* = boundary.Status.busy.code();
    return reading catch error.Failed;
}

/// The status of a handle that is not open.
fn missing(handle: ?*const Handle) c_int {
    return if (handle == null) invalid_arg else boundary.Status.closed.code();
}

// ---- Life

export fn eliza_inference_llm_stream_open(
    ctx: ?*context_abi.Handle,
    cfg: ?*const Config,
    out_error: ?*boundary.Message,
) ?*Handle {
    boundary.begin(out_error);
    var diag: boundary.Diagnostic = .init();
    return open(ctx, cfg, &diag) catch {
        _ = boundary.fail(out_error, &diag);
        return null;
    };
}

fn open(ctx: ?*context_abi.Handle, cfg: ?*const Config, diag: *boundary.Diagnostic) boundary.Error!*Handle {
    const context = try context_abi.find(ctx, diag);
    defer context.release();
    const config: Config = .copy(cfg orelse return diag.fail(.invalid_arg, "cfg is NULL", .{}));
    const s = try Stream.open(context, try config.read(diag), diag);
    errdefer s.close();
    return streams.add(gpa, s) catch diag.outOfMemory();
}

export fn eliza_inference_llm_stream_close(stream: ?*Handle) void {
    if (streams.take(stream, Stream.beginClosing)) |s| s.close();
}

export fn eliza_inference_llm_stream_reset(stream: ?*Handle) c_int {
    return eliza_inference_llm_stream_reset_keep(stream, 0);
}

export fn eliza_inference_llm_stream_reset_keep(stream: ?*Handle, n_keep: i32) c_int {
    var diag: boundary.Diagnostic = .init();
    const s = enter(stream, &diag) catch return diag.status.code();
    defer s.leave();
    return resetKeep(s, n_keep) catch s.diag.status.code();
}

fn resetKeep(s: *Stream, n_keep: i32) boundary.Error!c_int {
    if (n_keep < 0) return s.diag.fail(.invalid_arg, "n_keep: {d} is negative", .{n_keep});
    return @intCast(try s.reset(@intCast(n_keep)));
}

export fn eliza_inference_llm_stream_cancel(stream: ?*Handle) c_int {
    streams.get(stream, Stream.cancel) orelse return missing(stream);
    return 0;
}

// ---- Prompt and steps

export fn eliza_inference_llm_stream_prefill(
    stream: ?*Handle,
    token_ids: ?[*]const i32,
    num_tokens: usize,
    out_error: ?*boundary.Message,
) c_int {
    boundary.begin(out_error);
    var diag: boundary.Diagnostic = .init();
    const s = enter(stream, &diag) catch return boundary.fail(out_error, &diag);
    defer s.leave();
    prefill(s, token_ids, num_tokens) catch return boundary.fail(out_error, &s.diag);
    return 0;
}

fn prefill(s: *Stream, token_ids: ?[*]const i32, num_tokens: usize) boundary.Error!void {
    const tokens = boundary.slice(i32, token_ids, num_tokens) orelse return s.diag.fail(.invalid_arg, "token_ids is NULL", .{});
    return s.prefill(tokens);
}

export fn eliza_inference_llm_stream_next(
    stream: ?*Handle,
    tokens_out: ?[*]i32,
    tokens_cap: usize,
    num_tokens_out: ?*usize,
    text_out: ?[*]u8,
    text_cap: usize,
    drafter_drafted_out: ?*i32,
    drafter_accepted_out: ?*i32,
    out_error: ?*boundary.Message,
) c_int {
    boundary.begin(out_error);
    if (num_tokens_out) |n| n.* = 0;
    if (drafter_drafted_out) |n| n.* = 0;
    if (drafter_accepted_out) |n| n.* = 0;
    if (text_out != null and text_cap > 0) text_out.?[0] = 0;
    var diag: boundary.Diagnostic = .init();
    const s = enter(stream, &diag) catch return boundary.fail(out_error, &diag);
    defer s.leave();
    const delivery = next(s, .{ .tokens = tokens_out, .cap = tokens_cap, .n = num_tokens_out }, text_out, text_cap) catch
        return boundary.fail(out_error, &s.diag);
    if (drafter_drafted_out) |n| n.* = @intCast(delivery.drafted);
    if (drafter_accepted_out) |n| n.* = @intCast(delivery.accepted);
    return @intFromBool(delivery.final);
}

const TokensOut = struct { tokens: ?[*]i32, cap: usize, n: ?*usize };

fn next(s: *Stream, out: TokensOut, text_out: ?[*]u8, text_cap: usize) boundary.Error!stream_module.Delivery {
    const tokens = out.tokens orelse return s.diag.fail(.invalid_arg, "tokens_out is NULL", .{});
    const n_out = out.n orelse return s.diag.fail(.invalid_arg, "num_tokens_out is NULL", .{});
    if (out.cap == 0) return s.diag.fail(.invalid_arg, "tokens_cap is 0", .{});
    if (text_out == null and text_cap > 0) return s.diag.fail(.invalid_arg, "text_out is NULL", .{});
    const character_and_terminator = 5;
    if (text_out != null and text_cap < character_and_terminator) {
        return s.diag.fail(.invalid_arg, "text_cap: {d} is less than {d}", .{ text_cap, character_and_terminator });
    }
    const delivery = try s.next(tokens[0..out.cap], if (text_out) |text| text[0 .. text_cap - 1] else null);
    if (text_out) |text| text[delivery.text_bytes] = 0;
    n_out.* = delivery.n_tokens;
    return delivery;
}

export fn eliza_inference_llm_stream_generate(
    stream: ?*Handle,
    max_tokens: i32,
    on_token: ?*const stream_module.TokenCallback,
    user_data: ?*anyopaque,
    out_error: ?*boundary.Message,
) c_int {
    boundary.begin(out_error);
    var diag: boundary.Diagnostic = .init();
    const s = enter(stream, &diag) catch return boundary.fail(out_error, &diag);
    defer s.leave();
    generate(s, max_tokens, on_token, user_data) catch return boundary.fail(out_error, &s.diag);
    return 0;
}

fn generate(s: *Stream, max_tokens: i32, on_token: ?*const stream_module.TokenCallback, user_data: ?*anyopaque) boundary.Error!void {
    const callback = on_token orelse return s.diag.fail(.invalid_arg, "on_token is NULL", .{});
    if (max_tokens < 0) return s.diag.fail(.invalid_arg, "max_tokens: {d} is negative", .{max_tokens});
    return s.generate(@intCast(max_tokens), callback, user_data);
}

export fn eliza_inference_llm_stream_stop_reason(stream: ?*Handle) c_int {
    var status: c_int = undefined;
    const reading = read(stream, &status) catch return status;
    defer reading.end();
    return @backingInt(reading.stream.stopReason());
}

export fn eliza_inference_llm_stream_last_error(stream: ?*Handle) [*:0]const u8 {
    return streams.get(stream, Stream.lastError) orelse "";
}

export fn eliza_inference_llm_stream_stats(stream: ?*Handle, out_stats: ?*Stats) c_int {
    var status: c_int = undefined;
    const reading = read(stream, &status) catch return status;
    defer reading.end();
    return if (boundary.fill(Stats, out_stats, .of(reading.stream))) 0 else invalid_arg;
}

export fn eliza_inference_set_verifier_callback(
    ctx: ?*context_abi.Handle,
    callback: ?*const verifier.Callback,
    user_data: ?*anyopaque,
    out_error: ?*boundary.Message,
) c_int {
    boundary.begin(out_error);
    var diag: boundary.Diagnostic = .init();
    const context = context_abi.find(ctx, &diag) catch return boundary.fail(out_error, &diag);
    defer context.release();
    context.setVerifier(if (callback) |given| .{ .callback = given, .user_data = user_data } else null);
    return 0;
}

// ---- Slots

export fn eliza_inference_llm_stream_save_slot(stream: ?*Handle, filename: ?[*:0]const u8, out_error: ?*boundary.Message) c_int {
    return withFile(stream, filename, out_error, Stream.saveSlot);
}

export fn eliza_inference_llm_stream_restore_slot(stream: ?*Handle, filename: ?[*:0]const u8, out_error: ?*boundary.Message) c_int {
    return withFile(stream, filename, out_error, Stream.restoreSlot);
}

fn withFile(
    stream: ?*Handle,
    filename: ?[*:0]const u8,
    out_error: ?*boundary.Message,
    action: fn (*Stream, [:0]const u8) boundary.Error!void,
) c_int {
    boundary.begin(out_error);
    const path = filename orelse return boundary.reject(out_error, "filename is NULL");
    var diag: boundary.Diagnostic = .init();
    const s = enter(stream, &diag) catch return boundary.fail(out_error, &diag);
    defer s.leave();
    action(s, std.mem.span(path)) catch return boundary.fail(out_error, &s.diag);
    return 0;
}

// ---- Settings

export fn eliza_inference_llm_stream_set_seed(stream: ?*Handle, seed: u64) c_int {
    var diag: boundary.Diagnostic = .init();
    const s = enter(stream, &diag) catch return diag.status.code();
    defer s.leave();
    s.setSeed(seed);
    return 0;
}

export fn eliza_inference_llm_stream_set_sampling(stream: ?*Handle, how: ?*const matcher_abi.Sampling) c_int {
    var diag: boundary.Diagnostic = .init();
    const s = enter(stream, &diag) catch return diag.status.code();
    defer s.leave();
    setSampling(s, how) catch return s.diag.status.code();
    return 0;
}

fn setSampling(s: *Stream, how: ?*const matcher_abi.Sampling) boundary.Error!void {
    const given = how orelse return s.diag.fail(.invalid_arg, "sampling is NULL", .{});
    const known = try boundary.read(matcher_abi.Sampling, "sampling", given, &s.diag);
    if (!std.math.isFinite(known.temperature) or !std.math.isFinite(known.top_p)) {
        return s.diag.fail(.invalid_arg, "temperature and top_p must be finite numbers", .{});
    }
    s.setSampling(known.temperature, known.top_p);
}

export fn eliza_inference_llm_stream_set_time_budget_ms(stream: ?*Handle, ms: u64) c_int {
    var diag: boundary.Diagnostic = .init();
    const s = enter(stream, &diag) catch return diag.status.code();
    defer s.leave();
    s.setTimeBudget(ms *| std.time.ns_per_ms);
    return 0;
}

export fn eliza_inference_llm_stream_set_span_timeout(stream: ?*Handle, n_tokens: u32) c_int {
    var diag: boundary.Diagnostic = .init();
    const s = enter(stream, &diag) catch return diag.status.code();
    defer s.leave();
    if (n_tokens == 0) {
        s.diag.fail(.invalid_arg, "a span timeout is at least 1 token", .{}) catch {};
        return invalid_arg;
    }
    s.timeout = n_tokens;
    return 0;
}

export fn eliza_inference_llm_stream_set_stop_at_span_end(stream: ?*Handle, on: c_int) c_int {
    var diag: boundary.Diagnostic = .init();
    const s = enter(stream, &diag) catch return diag.status.code();
    defer s.leave();
    s.stop_at_span_end = on != 0;
    return 0;
}

export fn eliza_inference_llm_stream_set_skip_ahead(stream: ?*Handle, on: c_int) c_int {
    var diag: boundary.Diagnostic = .init();
    const s = enter(stream, &diag) catch return diag.status.code();
    defer s.leave();
    s.skip_ahead = on != 0;
    return 0;
}

/// Logits are divided by it, and must stay finite.
const penalty_min = 1e-6;

pub const threads_max = 512; // GGML_MAX_N_THREADS: beyond it ggml ends the process

export fn eliza_inference_llm_stream_set_threads(stream: ?*Handle, n_threads: i32) c_int {
    var diag: boundary.Diagnostic = .init();
    const s = enter(stream, &diag) catch return diag.status.code();
    defer s.leave();
    if (n_threads < 1 or n_threads > threads_max) {
        s.diag.fail(.invalid_arg, "n_threads: {d} is outside 1..{d}", .{ n_threads, threads_max }) catch {};
        return invalid_arg;
    }
    s.setThreads(n_threads);
    return 0;
}

// ---- Constraint

export fn eliza_inference_set_token_trie(handle: ?*Handle, payload: ?[*]const u8, payload_len: usize, mode: c_int) c_int {
    var diag: boundary.Diagnostic = .init();
    const s = enter(handle, &diag) catch return diag.status.code();
    defer s.leave();
    setTokenTrie(s, payload, payload_len, mode) catch return s.diag.status.code();
    return 0;
}

fn setTokenTrie(s: *Stream, payload: ?[*]const u8, payload_len: usize, mode: c_int) boundary.Error!void {
    const bytes = boundary.slice(u8, payload, payload_len) orelse return s.diag.fail(.invalid_arg, "payload is NULL", .{});
    return s.setTrie(bytes, try readMode(mode, &s.diag));
}

/// An ELIZA_MODE_* of the header.
pub fn readMode(mode: c_int, diag: *boundary.Diagnostic) boundary.Error!sampling.Mode {
    return std.enums.fromInt(sampling.Mode, mode) orelse
        diag.fail(.invalid_arg, "mode {d} is neither 0 (greedy) nor 1 (sampled)", .{mode});
}

export fn eliza_inference_clear_token_trie(handle: ?*Handle) c_int {
    var diag: boundary.Diagnostic = .init();
    const s = enter(handle, &diag) catch return diag.status.code();
    defer s.leave();
    s.clearConstraint();
    return 0;
}

export fn eliza_inference_set_constraint(
    handle: ?*Handle,
    constraint: ?*const Constraint,
    mode: c_int,
    config: ?*const matcher_abi.SpanSettings,
) c_int {
    var diag: boundary.Diagnostic = .init();
    const s = enter(handle, &diag) catch return diag.status.code();
    defer s.leave();
    setConstraint(s, constraint, mode, config) catch return s.diag.status.code();
    return 0;
}

fn setConstraint(s: *Stream, constraint: ?*const Constraint, mode: c_int, config: ?*const matcher_abi.SpanSettings) boundary.Error!void {
    const c = constraint orelse return s.diag.fail(.invalid_arg, "constraint is NULL", .{});
    const span = try matcher_abi.SpanSettings.read(config, &s.diag);
    return s.setConstraint(c, try readMode(mode, &s.diag), span);
}

export fn eliza_inference_clear_constraint(handle: ?*Handle) c_int {
    var diag: boundary.Diagnostic = .init();
    const s = enter(handle, &diag) catch return diag.status.code();
    defer s.leave();
    s.clearConstraint();
    return 0;
}

export fn eliza_inference_llm_stream_activate(stream: ?*Handle, path: ?[*]const u8, path_len: usize) c_int {
    var diag: boundary.Diagnostic = .init();
    const s = enter(stream, &diag) catch return diag.status.code();
    defer s.leave();
    activate(s, path, path_len) catch return s.diag.status.code();
    return 0;
}

fn activate(s: *Stream, path: ?[*]const u8, path_len: usize) boundary.Error!void {
    return s.activate(boundary.slice(u8, path, path_len) orelse return s.diag.fail(.invalid_arg, "path is NULL", .{}));
}

export fn eliza_inference_llm_stream_state(stream: ?*Handle, out_state: ?*matcher_abi.SpanState) c_int {
    var diag: boundary.Diagnostic = .init();
    const s = enter(stream, &diag) catch return diag.status.code();
    defer s.leave();
    const report = s.report() catch return s.diag.status.code();
    return if (boundary.fill(matcher_abi.SpanState, out_state, .of(report))) 0 else invalid_arg;
}

export fn eliza_inference_llm_stream_leaf(stream: ?*Handle, out_name: ?*?[*]const u8, out_len: ?*usize) c_int {
    var status: c_int = undefined;
    const reading = read(stream, &status) catch return status;
    defer reading.end();
    const leaf = if (reading.stream.guide) |*guide| guide.state.leafName() else null;
    return matcher_abi.lendLeaf(leaf, out_name, out_len);
}
