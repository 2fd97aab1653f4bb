//! Choosing a token where no trie restricts it: repeat penalty, grammar, top-k, top-p, temperature
//! and a draw, with llama.cpp's own samplers. The grammar is used as llama.cpp's `common_sampler`
//! does: a token is chosen freely and tested, and only if it is refused are all candidates tested.

const std = @import("std");
const api_module = @import("api.zig");
const TokenData = api_module.TokenData;
const Model = @import("model.zig").Model;
const Grammar = @import("grammar.zig").Grammar;
const sampling = @import("engine").sampling;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const gpa = @import("engine").memory.gpa;

pub const Settings = struct {
    /// 0 or less: greedy.
    temperature: f32,
    /// 1 or more, or 0 or less: off.
    top_p: f32,
    /// 0 or less: off.
    top_k: i32,
    /// 1, or 0 or less: off.
    repeat_penalty: f32,
    /// Never chosen.
    banned: ?i32,
    seed: u64,
};

/// Logits are divided by it: below this they might overflow, and the likeliest token has all of the
/// probability anyway.
const temperature_min = 1e-30;

/// The last tokens of the context that a repeat penalty looks at.
pub const penalty_window = 64;

pub const FreeSampler = struct {
    model: *const Model,
    settings: Settings,
    /// top-k, top-p, temperature, draw; made when they are first needed.
    chain: [4]?*api_module.Sampler = @splat(null),
    /// One per token of the vocabulary; made when first needed.
    candidates: []TokenData = &.{},
    /// Tokens that the grammar refused, so that all candidates were tested.
    rejections: u64 = 0,

    pub fn deinit(f: *FreeSampler) void {
        for (&f.chain) |*sampler| f.drop(sampler);
        gpa.free(f.candidates);
    }

    /// Draws start over from the seed, counters from 0.
    pub fn restart(f: *FreeSampler) void {
        f.rejections = 0;
        if (f.chain[draw]) |sampler| f.model.api().llama_sampler_reset(sampler);
    }

    pub fn setSeed(f: *FreeSampler, seed: u64) void {
        f.settings.seed = seed;
        f.drop(&f.chain[draw]);
    }

    pub fn setSampling(f: *FreeSampler, temperature: f32, top_p: f32) void {
        f.settings.temperature = temperature;
        f.settings.top_p = top_p;
        f.drop(&f.chain[nucleus]);
        f.drop(&f.chain[heat]);
    }

    /// `logits` are those of the whole vocabulary; they are as before afterwards. `recent` are the
    /// last tokens of the context.
    pub fn choose(f: *FreeSampler, logits: [*]f32, recent: []const i32, grammar: ?*Grammar, d: *Diagnostic) diagnostic.Error!i32 {
        var edits: Edits = .{};
        f.penalize(logits, recent, &edits);
        if (f.settings.banned) |token| edits.set(logits, token, -std.math.inf(f32));
        defer edits.undo(logits);

        const token = if (f.isGreedy()) sampling.greedy(logits, .{ .all = f.model.n_tokens }).token else try f.drawFrom(logits, null, d);
        const g = grammar orelse return token;
        if (g.off or g.allows(token)) return token;
        f.rejections += 1;
        return f.drawFrom(logits, g, d);
    }

    fn isGreedy(f: *const FreeSampler) bool {
        return f.settings.temperature < temperature_min;
    }

    /// As llama.cpp does it: each distinct token of the window is made less likely once.
    fn penalize(f: *const FreeSampler, logits: [*]f32, recent: []const i32, edits: *Edits) void {
        const penalty = f.settings.repeat_penalty;
        if (penalty <= 0 or penalty == 1) return;
        const window = recent[recent.len -| penalty_window..];
        for (window, 0..) |token, i| {
            if (std.mem.findScalar(i32, window[0..i], token) != null) continue;
            const logit = logits[@intCast(token)];
            edits.set(logits, token, if (logit <= 0) logit * penalty else logit / penalty);
        }
    }

    fn drawFrom(f: *FreeSampler, logits: [*]const f32, grammar: ?*Grammar, d: *Diagnostic) diagnostic.Error!i32 {
        const n_tokens = f.model.n_tokens;
        if (f.candidates.len == 0) f.candidates = gpa.alloc(TokenData, n_tokens) catch return d.outOfMemory();
        for (f.candidates, logits[0..n_tokens], 0..) |*candidate, logit, i| {
            candidate.* = .{ .id = @intCast(i), .logit = logit, .p = 0 };
        }
        if (grammar) |g| {
            g.restrict(f.candidates);
            const best = f.mostLikely();
            if (best.logit == -std.math.inf(f32)) return d.fail(.ffi_fault, "the grammar allows no token of the vocabulary here", .{});
            if (f.isGreedy()) return best.id;
        }
        try f.makeChain(d);
        var array: api_module.TokenDataArray = .{ .data = f.candidates.ptr, .size = n_tokens, .selected = -1, .sorted = false };
        for (f.chain) |sampler| if (sampler) |one| f.model.api().llama_sampler_apply(one, &array);
        if (array.selected < 0 or array.selected >= array.size) return d.fail(.ffi_fault, "llama.cpp's samplers selected no token", .{});
        return array.data[@intCast(array.selected)].id;
    }

    fn mostLikely(f: *const FreeSampler) TokenData {
        var best: TokenData = .{ .id = 0, .logit = -std.math.inf(f32), .p = 0 };
        for (f.candidates) |candidate| {
            if (candidate.logit > best.logit) best = candidate;
        }
        return best;
    }

    const nucleus = 1;
    const heat = 2;
    const draw = 3;

    fn makeChain(f: *FreeSampler, d: *Diagnostic) diagnostic.Error!void {
        const api = f.model.api();
        const s = f.settings;
        if (f.chain[0] == null and s.top_k > 0) f.chain[0] = try made(api.llama_sampler_init_top_k(s.top_k), d);
        if (f.chain[nucleus] == null and s.top_p > 0 and s.top_p < 1) {
            f.chain[nucleus] = try made(api.llama_sampler_init_top_p(s.top_p, 1), d);
        }
        if (f.chain[heat] == null) f.chain[heat] = try made(api.llama_sampler_init_temp(s.temperature), d);
        if (f.chain[draw] == null) f.chain[draw] = try made(api.llama_sampler_init_dist(shortSeed(s.seed)), d);
    }

    fn made(sampler: ?*api_module.Sampler, d: *Diagnostic) diagnostic.Error!*api_module.Sampler {
        return sampler orelse d.fail(.ffi_fault, "libllama made no sampler", .{});
    }

    fn drop(f: *FreeSampler, sampler: *?*api_module.Sampler) void {
        if (sampler.*) |one| f.model.api().llama_sampler_free(one);
        sampler.* = null;
    }
};

/// llama.cpp takes 32 bits, all ones meaning a seed of its own choice.
fn shortSeed(seed: u64) u32 {
    const folded: u32 = @truncate(seed ^ (seed >> 32));
    return @min(folded, std.math.maxInt(u32) - 1);
}

/// Logits changed in place for one choice, and put back afterwards.
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
