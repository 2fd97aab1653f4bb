//! Chooses a token where nothing constrains it: repeat penalty, grammar, top-k, top-p, temperature and a draw,
//! with llama.cpp's own samplers. The grammar is used as in llama.cpp's `common_sampler`: a token is chosen
//! without it and tested; only if it is refused is one chosen of those that are allowed.

const std = @import("std");
const api_module = @import("api.zig");
const TokenData = api_module.TokenData;
const Model = @import("model.zig").Model;
const Grammar = @import("grammar.zig").Grammar;
const sampling = @import("engine").sampling;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const gpa = @import("engine").memory.gpa;

/// As the stream's config has them.
pub const Settings = struct {
    /// 0 or less: greedy.
    temperature: f32,
    /// 1 or more, or 0 or less: off.
    top_p: f32,
    /// 0 or less: off.
    top_k: i32,
    /// 1, or 0 or less: off.
    repeat_penalty: f32,
    /// A token that is never chosen.
    banned: ?i32,
    seed: u64,
};

/// A lower temperature counts as greedy: logits divided by it might overflow, and the most likely token has all of
/// the probability anyway.
const temperature_min = 1e-30;

/// A repeat penalty looks at so many of the last tokens.
pub const penalty_window = 64;

/// Belongs to one thread. Lends the model.
pub const UnconstrainedSampler = struct {
    model: *const Model,
    settings: Settings,
    /// top-k, top-p, temperature, draw; each made when first needed.
    chain: [4]?*api_module.Sampler = @splat(null),
    /// One for each token of the vocabulary; made when first needed.
    candidates: []TokenData = &.{},
    /// Chosen tokens that the grammar refused, so that all candidates were tested.
    rejections: u64 = 0,

    /// Frees the samplers, not the model.
    pub fn deinit(s: *UnconstrainedSampler) void {
        for (&s.chain) |*sampler| s.drop(sampler);
        gpa.free(s.candidates);
    }

    /// Starts the draws over from the seed, and the counter from 0.
    pub fn restart(s: *UnconstrainedSampler) void {
        s.rejections = 0;
        if (s.chain[draw_place]) |sampler| s.model.api().llama_sampler_reset(sampler);
    }

    /// Starts the draws over from a new seed.
    pub fn setSeed(s: *UnconstrainedSampler, seed: u64) void {
        s.settings.seed = seed;
        s.drop(&s.chain[draw_place]);
    }

    /// In force for the next choice.
    pub fn setSampling(s: *UnconstrainedSampler, temperature: f32, top_p: f32) void {
        s.settings.temperature = temperature;
        s.settings.top_p = top_p;
        s.drop(&s.chain[top_p_place]);
        s.drop(&s.chain[temperature_place]);
    }

    /// Chooses a token. `logits` are those of the whole vocabulary; they change during the call only. `recent`
    /// are the tokens of the context, the last of which the penalty looks at.
    pub fn choose(s: *UnconstrainedSampler, logits: [*]f32, recent: []const i32, grammar: ?*Grammar, d: *Diagnostic) diagnostic.Error!i32 {
        var edits: Edits = .{};
        s.penalize(logits, recent, &edits);
        if (s.settings.banned) |token| edits.set(logits, token, -std.math.inf(f32));
        defer edits.undo(logits);

        const token = if (s.isGreedy()) sampling.greedy(logits, .{ .all = s.model.n_tokens }).token else try s.drawFrom(logits, null, d);
        const g = grammar orelse return token;
        if (g.off or g.allows(token) catch |e| return d.notToldAfter(e, g.stopped())) return token;
        s.rejections += 1;
        return s.drawFrom(logits, g, d);
    }

    fn isGreedy(s: *const UnconstrainedSampler) bool {
        return s.settings.temperature < temperature_min;
    }

    /// As llama.cpp does: each distinct token of the window is made less likely once.
    fn penalize(s: *const UnconstrainedSampler, logits: [*]f32, recent: []const i32, edits: *Edits) void {
        const penalty = s.settings.repeat_penalty;
        if (penalty <= 0 or penalty == 1) return;
        const window = recent[recent.len -| penalty_window..];
        for (window, 0..) |token, i| {
            if (std.mem.findScalar(i32, window[0..i], token) != null) continue;
            const logit = logits[@intCast(token)];
            edits.set(logits, token, if (logit <= 0) logit * penalty else logit / penalty);
        }
    }

    fn drawFrom(s: *UnconstrainedSampler, logits: [*]const f32, grammar: ?*Grammar, d: *Diagnostic) diagnostic.Error!i32 {
        const n_tokens = s.model.n_tokens;
        if (s.candidates.len == 0) s.candidates = gpa.alloc(TokenData, n_tokens) catch return d.outOfMemory();
        for (s.candidates, logits[0..n_tokens], 0..) |*candidate, logit, i| {
            candidate.* = .{ .id = @intCast(i), .logit = logit, .p = 0 };
        }
        if (grammar) |g| {
            g.restrict(s.candidates, logits) catch |e| return d.notToldAfter(e, g.stopped());
            const best = s.mostLikely();
            if (best.logit == -std.math.inf(f32)) return d.fail(.ffi_fault, "the grammar allows no token of the vocabulary here", .{});
            if (s.isGreedy()) return best.id;
        }
        try s.makeChain(d);
        var array: api_module.TokenDataArray = .{ .data = s.candidates.ptr, .size = n_tokens, .selected = -1, .sorted = false };
        for (s.chain) |sampler| if (sampler) |one| s.model.api().llama_sampler_apply(one, &array);
        if (array.selected < 0 or array.selected >= array.size) return d.fail(.ffi_fault, "llama.cpp's samplers selected no token", .{});
        return array.data[@intCast(array.selected)].id;
    }

    fn mostLikely(s: *const UnconstrainedSampler) TokenData {
        var best: TokenData = .{ .id = 0, .logit = -std.math.inf(f32), .p = 0 };
        for (s.candidates) |candidate| {
            if (candidate.logit > best.logit) best = candidate;
        }
        return best;
    }

    const top_p_place = 1;
    const temperature_place = 2;
    const draw_place = 3;

    fn makeChain(s: *UnconstrainedSampler, d: *Diagnostic) diagnostic.Error!void {
        const api = s.model.api();
        const settings = s.settings;
        if (s.chain[0] == null and settings.top_k > 0) s.chain[0] = try made(api.llama_sampler_init_top_k(settings.top_k), d);
        if (s.chain[top_p_place] == null and settings.top_p > 0 and settings.top_p < 1) {
            s.chain[top_p_place] = try made(api.llama_sampler_init_top_p(settings.top_p, 1), d);
        }
        if (s.chain[temperature_place] == null) s.chain[temperature_place] = try made(api.llama_sampler_init_temp(settings.temperature), d);
        if (s.chain[draw_place] == null) s.chain[draw_place] = try made(api.llama_sampler_init_dist(shortSeed(settings.seed)), d);
    }

    fn made(sampler: ?*api_module.Sampler, d: *Diagnostic) diagnostic.Error!*api_module.Sampler {
        return sampler orelse d.fail(.ffi_fault, "libllama made no sampler", .{});
    }

    fn drop(s: *UnconstrainedSampler, sampler: *?*api_module.Sampler) void {
        if (sampler.*) |one| s.model.api().llama_sampler_free(one);
        sampler.* = null;
    }
};

/// llama.cpp takes 32 bits; all ones would mean a seed of its own choice.
fn shortSeed(seed: u64) u32 {
    const folded: u32 = @truncate(seed ^ (seed >> 32));
    return @min(folded, std.math.maxInt(u32) - 1);
}

/// Logits that are changed for one choice and put back afterwards.
const Edits = struct {
    list: [penalty_window + 1]struct { token: u32, logit: f32 } = undefined,
    len: usize = 0,

    fn set(edits: *Edits, logits: [*]f32, token: i32, logit: f32) void {
        const index: u32 = @intCast(token);
        edits.list[edits.len] = .{ .token = index, .logit = logits[index] };
        edits.len += 1;
        logits[index] = logit;
    }

    fn undo(edits: *const Edits, logits: [*]f32) void {
        var i = edits.len;
        while (i > 0) {
            i -= 1;
            logits[edits.list[i].token] = edits.list[i].logit;
        }
    }
};

test "edits are undone, also two of one token" {
    var logits = [_]f32{ 1, 2, 3 };
    var edits: Edits = .{};
    edits.set(&logits, 1, -2);
    edits.set(&logits, 1, -std.math.inf(f32));
    edits.set(&logits, 2, 0);
    edits.undo(&logits);
    try std.testing.expectEqualSlices(f32, &.{ 1, 2, 3 }, &logits);
}

test "no seed becomes llama.cpp's random one" {
    try std.testing.expectEqual(7, shortSeed(7));
    try std.testing.expectEqual(0xfffffffe, shortSeed(0xffffffff));
}
