//! Header, section 6: matcher.

const std = @import("std");
const boundary = @import("boundary.zig");
const gpa = boundary.gpa;
const Constraint = @import("engine").constraint.Constraint;
const Matcher = @import("engine").matcher.Matcher;
const span = @import("engine").span;
const batch = @import("engine").batch;
const in_use = @import("engine").in_use;
const sampling = @import("engine").sampling;
const Logits = @import("engine").logits.Type;

const invalid_arg = boundary.Status.invalid_arg.code();

/// eliza_span_state_t.
pub const SpanState = extern struct {
    struct_size: u32 = @sizeOf(SpanState),
    active: i32 = 0,
    descriptor: i32 = -1,
    can_stop: i32 = 0,
    constrained: i32 = 0,
    n_allowed: u32 = 0,
    span_tokens: u32 = 0,
    leaf_descriptor: i32 = -1,
    leaf: i32 = -1,
    reserved: u32 = 0,
    spans_started: u64 = 0,
    spans_ended: u64 = 0,
    timeouts: u64 = 0,
    illegal: u64 = 0,

    pub const first_size = 72;

    /// The report in the header's numbers.
    pub fn of(report: span.Report) SpanState {
        return .{
            .active = @intFromBool(report.descriptor != null),
            .descriptor = if (report.descriptor) |d| @intCast(d) else -1,
            .can_stop = @intFromBool(report.can_stop),
            .constrained = @intFromBool(report.is_constrained),
            .n_allowed = report.n_allowed,
            .span_tokens = report.tokens,
            .leaf_descriptor = if (report.leaf) |leaf| @intCast(leaf.descriptor) else -1,
            .leaf = if (report.leaf) |leaf| @bitCast(leaf.index) else -1, // `Leaf.text` is -1
            .spans_started = report.started,
            .spans_ended = report.ended,
            .timeouts = report.timeouts,
            .illegal = report.illegal,
        };
    }
};

/// eliza_sampling_t.
pub const Sampling = extern struct {
    struct_size: u32,
    mode: i32,
    temperature: f32,
    top_p: f32,

    pub const first_size = 16;
};

export fn eliza_inference_matcher_create(
    constraint: ?*const Constraint,
    span_timeout: u32,
    out_matcher: ?*?*Matcher,
    out_error: ?*boundary.Message,
) c_int {
    const config = std.mem.zeroInit(SpanSettings, .{ .struct_size = @sizeOf(SpanSettings), .span_timeout = span_timeout });
    return eliza_inference_matcher_create_span(constraint, &config, out_matcher, out_error);
}

/// eliza_span_config_t.
pub const SpanSettings = extern struct {
    struct_size: u32,
    span_timeout: u32,
    end: ?[*]const i32,
    n_end: usize,
    prefill: ?[*]const u8,
    prefill_len: usize,

    pub const first_size = if (@sizeOf(usize) == 8) 24 else 16;

    /// The config of a caller; NULL: the defaults. Lends `end` and `prefill`.
    pub fn read(config: ?*const SpanSettings, diag: *boundary.Diagnostic) boundary.Error!span.Config {
        const c = try boundary.read(SpanSettings, "config", config orelse return .{}, diag);
        if (c.end == null and c.n_end > 0) return diag.fail(.invalid_arg, "config.end is NULL, config.n_end is not 0", .{});
        const prefill = boundary.slice(u8, c.prefill, c.prefill_len) orelse
            return diag.fail(.invalid_arg, "config.prefill is NULL, config.prefill_len is not 0", .{});
        return .{ .timeout = c.span_timeout, .end = if (c.end) |end| end[0..c.n_end] else null, .prefill = prefill };
    }
};

export fn eliza_inference_matcher_create_span(
    constraint: ?*const Constraint,
    config: ?*const SpanSettings,
    out_matcher: ?*?*Matcher,
    out_error: ?*boundary.Message,
) c_int {
    boundary.begin(out_error);
    const out = out_matcher orelse return boundary.reject(out_error, "out_matcher is NULL");
    out.* = null;
    const c = constraint orelse return boundary.reject(out_error, "constraint is NULL");
    var diag: boundary.Diagnostic = .init();
    const settings = SpanSettings.read(config, &diag) catch return boundary.fail(out_error, &diag);
    out.* = Matcher.create(gpa, c, settings, &diag) catch return boundary.fail(out_error, &diag);
    return 0;
}

export fn eliza_inference_matcher_clone(matcher: ?*Matcher, out_matcher: ?*?*Matcher) c_int {
    const out = out_matcher orelse return invalid_arg;
    out.* = null;
    const m = open(matcher) catch |e| return codeOf(e);
    defer m.end();
    out.* = m.clone() catch return boundary.Status.oom.code();
    return 0;
}

/// One that is in use stays: its thread continues with it.
export fn eliza_inference_matcher_free(matcher: ?*Matcher) void {
    const m = matcher orelse return;
    m.begin() catch return;
    m.destroy();
}

const Refusal = error{ Null, Twice } || in_use.Refusal;

/// The matcher of a call, until its `end`.
inline fn open(matcher: ?*Matcher) Refusal!*Matcher {
    const m = matcher orelse return error.Null;
    try m.begin();
    return m;
}

/// Those of a batch, until `endAll`. If one is refused, none is in use.
fn openAll(matchers: ?[*]const ?*Matcher, n: usize) Refusal![]const *Matcher {
    const all = boundary.slice(?*Matcher, matchers, n) orelse return error.Null;
    for (all, 0..) |matcher, i| {
        errdefer endAll(@ptrCast(all[0..i]));
        _ = open(matcher) catch |e| return if (isTwice(all[0..i], matcher)) error.Twice else e;
    }
    return @ptrCast(all);
}

/// Whether it is in use by the batch itself.
fn isTwice(before: []const ?*Matcher, matcher: ?*Matcher) bool {
    if (std.mem.findScalar(?*Matcher, before, matcher) == null) return false;
    matcher.?.diag.fail(.invalid_arg, "the matcher is there twice", .{}) catch {};
    return true;
}

fn endAll(matchers: []const *Matcher) void {
    for (matchers) |m| m.end();
}

/// A matcher that is only looked at, which a callback of a call on it may do, too.
const Reading = struct {
    matcher: *Matcher,
    is_use: bool,

    fn begin(matcher: ?*Matcher) Refusal!Reading {
        const m = matcher orelse return error.Null;
        return .{ .matcher = m, .is_use = try m.in_use.beginReading() };
    }

    fn end(r: Reading) void {
        if (r.is_use) r.matcher.end();
    }
};

noinline fn codeOf(refusal: Refusal) c_int {
    @branchHint(.cold);
    return switch (refusal) {
        error.Null, error.Twice => invalid_arg,
        error.InCallback, error.OtherThread => boundary.Status.busy.code(),
    };
}

export fn eliza_inference_matcher_last_error(matcher: ?*const Matcher) [*:0]const u8 {
    return if (matcher) |m| m.lastError() else "";
}

export fn eliza_inference_matcher_accept(matcher: ?*Matcher, token: i32) c_int {
    const m = open(matcher) catch |e| return codeOf(e);
    defer m.end();
    const step = m.accept(token) catch return m.diag.status.code();
    return @bitCast(step);
}

export fn eliza_inference_matcher_rollback(matcher: ?*Matcher, n_tokens: usize) c_int {
    const m = open(matcher) catch |e| return codeOf(e);
    defer m.end();
    m.rollback(n_tokens) catch return m.diag.status.code();
    return 0;
}

export fn eliza_inference_matcher_reset(matcher: ?*Matcher) c_int {
    const m = open(matcher) catch |e| return codeOf(e);
    defer m.end();
    m.reset();
    return 0;
}

export fn eliza_inference_matcher_activate(matcher: ?*Matcher, path: ?[*]const u8, path_len: usize) c_int {
    const m = open(matcher) catch |e| return codeOf(e);
    defer m.end();
    activate(m, path, path_len) catch return m.diag.status.code();
    return 0;
}

fn activate(m: *Matcher, path: ?[*]const u8, path_len: usize) boundary.Error!void {
    const text = boundary.slice(u8, path, path_len) orelse return m.diag.fail(.invalid_arg, "path is NULL", .{});
    return m.activate(text);
}

export fn eliza_inference_matcher_deactivate(matcher: ?*Matcher) c_int {
    const m = open(matcher) catch |e| return codeOf(e);
    defer m.end();
    m.deactivate();
    return 0;
}

export fn eliza_inference_matcher_set_span_timeout(matcher: ?*Matcher, n_tokens: u32) c_int {
    const m = open(matcher) catch |e| return codeOf(e);
    defer m.end();
    m.setTimeout(n_tokens) catch return m.diag.status.code();
    return 0;
}

export fn eliza_inference_matcher_set_seed(matcher: ?*Matcher, seed: u64) c_int {
    const m = open(matcher) catch |e| return codeOf(e);
    defer m.end();
    m.sampler.rng = .{ .state = seed };
    return 0;
}

export fn eliza_inference_matcher_state(matcher: ?*Matcher, out_state: ?*SpanState) c_int {
    const m = open(matcher) catch |e| return codeOf(e);
    defer m.end();
    const report = m.report() catch return m.diag.status.code();
    return if (boundary.fill(SpanState, out_state, .of(report))) 0 else invalid_arg;
}

export fn eliza_inference_matcher_leaf(matcher: ?*Matcher, out_name: ?*?[*]const u8, out_len: ?*usize) c_int {
    const reading = Reading.begin(matcher) catch |e| return codeOf(e);
    defer reading.end();
    return lendLeaf(reading.matcher.state.leafName(), out_name, out_len);
}

/// Hands out the name of a leaf; NULL and 0 for null.
pub fn lendLeaf(leaf: ?[]const u8, out_name: ?*?[*]const u8, out_len: ?*usize) c_int {
    const name_out = out_name orelse return invalid_arg;
    const len_out = out_len orelse return invalid_arg;
    name_out.* = if (leaf) |name| name.ptr else null;
    len_out.* = if (leaf) |name| name.len else 0;
    return 0;
}

/// ELIZA_ALLOWED_* of the header.
fn kindOf(legal: sampling.Legal) c_int {
    return switch (legal) {
        .all => 0,
        .list => 1,
        .bitmap => 2,
    };
}

export fn eliza_inference_matcher_allowed(matcher: ?*Matcher, out_ids: ?*?[*]const i32, out_n: ?*usize) c_int {
    const m = open(matcher) catch |e| return codeOf(e);
    defer m.end();
    const ids_out = out_ids orelse return invalid_arg;
    const n_out = out_n orelse return invalid_arg;
    ids_out.* = null;
    n_out.* = 0;
    const legal = m.allowed() catch return m.diag.status.code();
    if (legal == .list) ids_out.* = legal.list.ptr;
    if (legal != .all) n_out.* = legal.len();
    return kindOf(legal);
}

export fn eliza_inference_matcher_bitmap(matcher: ?*Matcher, out_words: ?*?[*]const u32, out_n_words: ?*usize) c_int {
    const m = open(matcher) catch |e| return codeOf(e);
    defer m.end();
    const words_out = out_words orelse return invalid_arg;
    const n_out = out_n_words orelse return invalid_arg;
    words_out.* = null;
    n_out.* = 0;
    const legal = m.allowed() catch return m.diag.status.code();
    if (legal == .bitmap) {
        words_out.* = legal.bitmap.words.ptr;
        n_out.* = (m.constraint.vocabulary.tokens.n + 31) / 32;
    }
    return kindOf(legal);
}

export fn eliza_inference_matcher_fill_bitmap(matcher: ?*Matcher, words: ?[*]u32, n_words: usize) c_int {
    const m = open(matcher) catch |e| return codeOf(e);
    defer m.end();
    const out = words orelse return invalid_arg;
    return kindOf(m.fillBitmap(out[0..n_words]) catch return m.diag.status.code());
}

export fn eliza_inference_matcher_fill_bitmaps(
    matchers: ?[*]const ?*Matcher,
    n: usize,
    words: ?[*]u32,
    n_words: usize,
    n_threads: u32,
) c_int {
    if (n > 0 and words == null and n_words > 0) return invalid_arg;
    const all = openAll(matchers, n) catch |e| return codeOf(e);
    defer endAll(all);
    return if (n == 0) 0 else batch.fillBitmaps(all, words, n_words, n_threads).code();
}

export fn eliza_inference_matcher_can_stop(matcher: ?*Matcher) c_int {
    const m = open(matcher) catch |e| return codeOf(e);
    defer m.end();
    return @intFromBool(m.canStop() catch return m.diag.status.code());
}

export fn eliza_inference_matcher_forced(matcher: ?*Matcher, out_tokens: ?[*]i32, cap: usize, out_n: ?*usize) c_int {
    const m = open(matcher) catch |e| return codeOf(e);
    defer m.end();
    const n_out = out_n orelse return invalid_arg;
    n_out.* = 0;
    if (out_tokens == null and cap > 0) return invalid_arg;
    n_out.* = m.forced(if (out_tokens) |tokens| tokens[0..cap] else &.{}) catch return m.diag.status.code();
    return 0;
}

export fn eliza_inference_matcher_forced_bytes(matcher: ?*Matcher, out_bytes: ?[*]u8, cap: usize, out_n: ?*usize) c_int {
    const m = open(matcher) catch |e| return codeOf(e);
    defer m.end();
    const n_out = out_n orelse return invalid_arg;
    n_out.* = 0;
    if (out_bytes == null and cap > 0) return invalid_arg;
    n_out.* = m.forcedBytes(if (out_bytes) |bytes| bytes[0..cap] else &.{}) catch return m.diag.status.code();
    return 0;
}

/// eliza_matcher_info_t.
pub const Info = extern struct {
    struct_size: u32 = @sizeOf(Info),
    reserved: u32 = 0,
    retained_bytes: u64,
    history_bytes: u64,
    stack_bytes: u64 = 0,
    mask_hits: u64 = 0,
    mask_misses: u64 = 0,

    pub const first_size = 48;
};

export fn eliza_inference_matcher_info(matcher: ?*Matcher, out_info: ?*Info) c_int {
    const reading = Reading.begin(matcher) catch |e| return codeOf(e);
    defer reading.end();
    const m = reading.matcher;
    const usage = m.state.usage();
    const info: Info = .{
        .retained_bytes = @sizeOf(Matcher) + m.state.historyBytes() + usage.retained,
        .history_bytes = m.state.historyBytes(),
        .stack_bytes = usage.stacks,
        .mask_hits = usage.mask_hits,
        .mask_misses = usage.mask_misses,
    };
    return if (boundary.fill(Info, out_info, info)) 0 else invalid_arg;
}

export fn eliza_inference_matcher_mask_logits(matcher: ?*Matcher, logits: ?[*]f32, n_logits: usize) c_int {
    const m = open(matcher) catch |e| return codeOf(e);
    defer m.end();
    maskLogits(m, logits, n_logits) catch return m.diag.status.code();
    return 0;
}

fn maskLogits(m: *Matcher, logits: ?[*]f32, n_logits: usize) boundary.Error!void {
    const array = logits orelse return m.diag.fail(.invalid_arg, "logits is NULL", .{});
    return m.maskLogits(array[0..n_logits]);
}

export fn eliza_inference_matcher_mask_rows(
    matchers: ?[*]const ?*Matcher,
    n: usize,
    logits: ?[*]u8,
    type_number: c_int,
    n_logits: usize,
    stride: usize,
    row_of_matchers: ?[*]const u32,
    n_threads: u32,
) c_int {
    const all = openAll(matchers, n) catch |e| return codeOf(e);
    defer endAll(all);
    if (n == 0) return 0;
    const rows = rowsOf(all[0], logits, type_number, n_logits, stride, row_of_matchers, n) catch return all[0].diag.status.code();
    return batch.maskRows(all, rows, n_threads).code();
}

/// What is wrong is told by the first matcher.
fn rowsOf(
    m: *Matcher,
    logits: ?[*]u8,
    type_number: c_int,
    n_logits: usize,
    stride: usize,
    row_of_matchers: ?[*]const u32,
    n: usize,
) boundary.Error!batch.Rows {
    const first = logits orelse return m.diag.fail(.invalid_arg, "logits is NULL", .{});
    const of = std.enums.fromInt(Logits, type_number) orelse
        return m.diag.fail(.invalid_arg, "type {d} is none of ELIZA_LOGITS_*", .{type_number});
    if (@intFromPtr(first) % of.byteSize() != 0) return m.diag.fail(.invalid_arg, "logits are not aligned to {d} bytes", .{of.byteSize()});
    if (stride < n_logits) return m.diag.fail(.invalid_arg, "rows of {d} logits are {d} apart", .{ n_logits, stride });
    const stride_bytes = std.math.mul(usize, stride, of.byteSize()) catch
        return m.diag.fail(.invalid_arg, "rows that are {d} logits apart do not fit into memory", .{stride});
    const of_matchers = if (row_of_matchers) |rows| rows[0..n] else null;
    return .{ .type = of, .first = first, .n_logits = n_logits, .stride = stride_bytes, .of_matchers = of_matchers };
}

export fn eliza_inference_matcher_sample(
    matcher: ?*Matcher,
    logits: ?[*]const f32,
    n_logits: usize,
    how: ?*const Sampling,
    out_token: ?*i32,
) c_int {
    const m = open(matcher) catch |e| return codeOf(e);
    defer m.end();
    const out = out_token orelse return invalid_arg;
    out.* = sample(m, logits, n_logits, how) catch return m.diag.status.code();
    return 0;
}

fn sample(m: *Matcher, logits: ?[*]const f32, n_logits: usize, how: ?*const Sampling) boundary.Error!i32 {
    const array = logits orelse return m.diag.fail(.invalid_arg, "logits is NULL", .{});
    const given = how orelse return m.diag.fail(.invalid_arg, "sampling is NULL", .{});
    const s = try boundary.read(Sampling, "sampling", given, &m.diag);
    const mode = std.enums.fromInt(sampling.Mode, s.mode) orelse
        return m.diag.fail(.invalid_arg, "sampling.mode {d} is neither 0 (greedy) nor 1 (sampled)", .{s.mode});
    return m.sample(array[0..n_logits], .{ .mode = mode, .temperature = s.temperature, .top_p = s.top_p });
}
