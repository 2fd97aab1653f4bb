//! A constraint as a llama_sampler, for hosts that own their chain. It belongs first in the chain,
//! and is right anywhere.

const std = @import("std");
const api_module = @import("api.zig");
const Sampler = api_module.Sampler;
const TokenData = api_module.TokenData;
const TokenDataArray = api_module.TokenDataArray;
const Runtime = @import("loader.zig").Runtime;
const compilePayload = @import("engine").constraint.compilePayload;
const Constraint = @import("engine").constraint.Constraint;
const Compiled = @import("engine").kinds.Compiled;
const span = @import("engine").span;
const Guide = @import("engine").guide.Guide;
const Legal = @import("engine").sampling.Legal;
const Mode = @import("engine").sampling.Mode;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Error = diagnostic.Error;
const log = @import("engine").log;
const gpa = @import("engine").memory.gpa;

/// What a sampler is made with.
pub const Source = union(enum) {
    payload: []const u8,
    constraint: struct { of: *const Constraint, config: span.Config },
};

/// A sampler for the vocabulary of the host's model.
pub fn create(runtime: *const Runtime, vocab: *const api_module.Vocab, source: Source, mode: Mode, d: *Diagnostic) Error!*Sampler {
    const n_tokens = runtime.api.llama_vocab_n_tokens(vocab);
    const t = gpa.create(GuideSampler) catch return d.outOfMemory();
    errdefer t.destroy();
    t.* = .{ .runtime = runtime, .n_tokens = @intCast(n_tokens) };
    try t.set(source, mode, d);
    return runtime.api.llama_sampler_init(&interface, t) orelse d.fail(.ffi_fault, "llama_sampler_init made no sampler", .{});
}

/// The state behind a sampler that `create` made; null for any other.
pub fn stateOf(sampler: *const Sampler) ?*GuideSampler {
    if (sampler.iface != &interface) return null;
    return @ptrCast(@alignCast(sampler.ctx.?));
}

pub const GuideSampler = struct {
    runtime: *const Runtime,
    n_tokens: u32,
    guide: ?Guide = null,
    mode: Mode = .greedy,
    /// What a candidate array is pointed at if nothing legal is left in it.
    substitute: std.ArrayList(TokenData) = .empty,
    logged_illegal: bool = false,
    logged_substitute: bool = false,
    logged_failure: bool = false,

    /// Nothing has changed if it fails.
    pub fn set(t: *GuideSampler, source: Source, mode: Mode, d: *Diagnostic) Error!void {
        const guide = switch (source) {
            .payload => |payload| try t.guideOfPayload(payload, d),
            .constraint => |c| try t.guideOfConstraint(c.of, c.config, d),
        };
        t.clear();
        t.guide = guide;
        t.mode = mode;
    }

    fn guideOfPayload(t: *GuideSampler, payload: []const u8, d: *Diagnostic) Error!Guide {
        const trie = try compilePayload(gpa, payload, t.n_tokens, "", d);
        defer trie.release();
        return t.guideOf(.{ .token_trie = trie }, .{}, d);
    }

    fn guideOfConstraint(t: *GuideSampler, c: *const Constraint, config: span.Config, d: *Diagnostic) Error!Guide {
        if (c.vocabulary.tokens.n != t.n_tokens) {
            return d.fail(
                .model_mismatch,
                "the constraint is for a vocabulary of {d} tokens, the model has {d}",
                .{ c.vocabulary.tokens.n, t.n_tokens },
            );
        }
        return t.guideOf(c.compiled, config, d);
    }

    fn guideOf(t: *GuideSampler, compiled: Compiled, config: span.Config, d: *Diagnostic) Error!Guide {
        try compiled.checkSpan(config, span.timeout_default, d);
        t.substitute.ensureTotalCapacity(gpa, compiled.listMax()) catch return d.outOfMemory();
        return .init(gpa, compiled, config);
    }

    pub fn clear(t: *GuideSampler) void {
        if (t.guide) |*guide| guide.deinit();
        t.guide = null;
    }

    pub fn activate(t: *GuideSampler, path: []const u8, d: *Diagnostic) Error!void {
        const guide = if (t.guide) |*guide| guide else {
            return d.fail(.state, "nothing constrains the output: set a token trie or a constraint first", .{});
        };
        try guide.state.activate(path, d);
    }

    pub fn report(t: *GuideSampler) error{OutOfMemory}!span.Report {
        return if (t.guide) |*guide| guide.state.report() else .{};
    }

    fn destroy(t: *GuideSampler) void {
        t.clearAll();
        gpa.destroy(t);
    }

    fn clearAll(t: *GuideSampler) void {
        t.clear();
        t.substitute.deinit(gpa);
    }

    fn clone(t: *const GuideSampler) error{OutOfMemory}!*GuideSampler {
        const copy = try gpa.create(GuideSampler);
        errdefer gpa.destroy(copy);
        copy.* = t.*;
        copy.substitute = try .initCapacity(gpa, t.substitute.capacity);
        errdefer copy.substitute.deinit(gpa);
        copy.guide = if (t.guide) |*guide| try guide.clone() else null;
        return copy;
    }

    fn accept(t: *GuideSampler, token: i32) void {
        if (token < 0 or token >= t.n_tokens) return;
        const guide = if (t.guide) |*guide| guide else return;
        const before = guide.state.nIllegal();
        _ = guide.accept(token, span.timeout_default) catch {
            t.logFailure();
            t.clear();
            return;
        };
        if (guide.state.nIllegal() == before or t.logged_illegal) return;
        t.logged_illegal = true;
        log.write(.warn, "token {d} was accepted, which the constraint does not allow here: its span has ended", .{token});
    }

    fn apply(t: *GuideSampler, array: *TokenDataArray) void {
        t.restrict(array) catch t.logFailure();
    }

    fn restrict(t: *GuideSampler, array: *TokenDataArray) error{OutOfMemory}!void {
        const guide = if (t.guide) |*guide| guide else return;
        var legal = try guide.state.allowed() orelse return;
        // Where the vocabulary cannot go on with the text, the generation ends.
        if (legal.len() == 0) legal = .{ .list = guide.state.endTokens() };
        if (legal.len() == 0) return;
        const kept = keepLegal(array, legal, t.n_tokens);
        if (kept > 0 and anyLikely(array.data[0..kept])) {
            array.size = kept;
            excludeNan(array.data[0..kept]);
        } else {
            try t.substituteAll(array, legal);
        }
        switch (t.mode) {
            .sampled => array.selected = -1,
            .greedy => selectBest(array),
        }
    }

    fn substituteAll(t: *GuideSampler, array: *TokenDataArray, legal: Legal) error{OutOfMemory}!void {
        try t.substitute.ensureTotalCapacity(gpa, legal.len());
        t.substitute.items.len = legal.len();
        switch (legal) {
            .list => |list| fillEqual(t.substitute.items, ListIds{ .list = list }),
            .bitmap => |bitmap| fillEqual(t.substitute.items, BitmapIds{ .words = bitmap.words, .rest = bitmap.words[0] }),
            .all => unreachable, // nothing is restricted then
        }
        array.data = t.substitute.items.ptr;
        array.size = legal.len();
        array.sorted = false;
        if (t.logged_substitute) return;
        t.logged_substitute = true;
        log.write(.warn, "no legal candidate was left for the constraint, so that all count as equal: put it first in the chain", .{});
    }

    fn logFailure(t: *GuideSampler) void {
        if (t.logged_failure) return;
        t.logged_failure = true;
        log.write(.err, "out of memory: the candidates are not constrained", .{});
    }
};

/// Ids of a list or of a bitmap, ascending.
const ListIds = struct {
    list: []const i32,

    inline fn next(ids: *ListIds) ?i32 {
        if (ids.list.len == 0) return null;
        defer ids.list = ids.list[1..];
        return ids.list[0];
    }
};

const BitmapIds = struct {
    words: []const u32,
    i: usize = 0,
    rest: u32,

    inline fn next(ids: *BitmapIds) ?i32 {
        while (ids.rest == 0) {
            ids.i += 1;
            if (ids.i == ids.words.len) return null;
            ids.rest = ids.words[ids.i];
        }
        const id = 32 * ids.i + @ctz(ids.rest);
        ids.rest &= ids.rest - 1;
        return @intCast(id);
    }
};

/// Moves the legal candidates to the front, in the order that they had, and returns how many there
/// are. Writes to no entry behind `size`.
fn keepLegal(array: *TokenDataArray, legal: Legal, n_tokens: u32) usize {
    const candidates = array.data[0..array.size];
    const gathered = switch (legal) {
        .list => |list| gather(candidates, ListIds{ .list = list }, n_tokens),
        .bitmap => |bitmap| gather(candidates, BitmapIds{ .words = bitmap.words, .rest = bitmap.words[0] }, n_tokens),
        .all => unreachable, // nothing is restricted then
    };
    if (gathered) |n| {
        array.sorted = false;
        return n;
    }
    var kept: usize = 0;
    for (candidates) |*candidate| {
        if (isLegal(legal, candidate.id)) {
            std.mem.swap(TokenData, &candidates[kept], candidate);
            kept += 1;
        } else candidate.logit = -std.math.inf(f32);
    }
    return kept;
}

/// Moves the legal candidates of an array that lists the vocabulary to the front, in O(legal); null for
/// any other array. Each legal id is at its own index in an array as long as the vocabulary: then they
/// are all of them, whatever the order of the rest.
fn gather(candidates: []TokenData, ids: anytype, n_tokens: u32) ?usize {
    if (candidates.len != n_tokens) return null;
    if (candidates[0].id != 0 or candidates[candidates.len - 1].id != candidates.len - 1) return null;
    var checked = ids;
    while (checked.next()) |id| if (candidates[@intCast(id)].id != id) return null;
    // Ids ascend, so each entry is read before its place is written.
    var kept = ids;
    var n: usize = 0;
    while (kept.next()) |id| : (n += 1) candidates[n] = candidates[@intCast(id)];
    return n;
}

fn fillEqual(candidates: []TokenData, ids: anytype) void {
    var rest = ids;
    for (candidates) |*candidate| candidate.* = .{ .id = rest.next().?, .logit = 0, .p = 0 };
}

fn isLegal(legal: Legal, id: i32) bool {
    switch (legal) {
        .list => |ids| return std.sort.binarySearch(i32, ids, id, order) != null,
        .bitmap => |bitmap| {
            if (id < 0 or id >= 32 * bitmap.words.len) return false;
            const token: u32 = @intCast(id);
            return bitmap.words[token / 32] >> @truncate(token) & 1 != 0;
        },
        .all => return true,
    }
}

fn order(token: i32, id: i32) std.math.Order {
    return std.math.order(token, id);
}

/// False if all logits are -inf or NaN.
fn anyLikely(candidates: []const TokenData) bool {
    for (candidates) |candidate| if (candidate.logit > -std.math.inf(f32)) return true;
    return false;
}

/// A softmax over NaN is NaN for all: it counts as -inf, as in a matcher and in a stream.
fn excludeNan(candidates: []TokenData) void {
    for (candidates) |*candidate| {
        if (std.math.isNan(candidate.logit)) candidate.logit = -std.math.inf(f32);
    }
}

/// The highest logit, of equal ones the smallest id, comes to the front and stays alone.
fn selectBest(array: *TokenDataArray) void {
    const candidates = array.data[0..array.size];
    var best: usize = 0;
    for (candidates, 0..) |candidate, i| {
        if (isBetter(candidate, candidates[best])) best = i;
    }
    const chosen = candidates[best];
    std.mem.copyBackwards(TokenData, candidates[1 .. best + 1], candidates[0..best]);
    candidates[0] = chosen;
    array.size = 1;
    array.selected = 0;
    array.sorted = true;
}

fn isBetter(a: TokenData, b: TokenData) bool {
    return a.logit > b.logit or (a.logit == b.logit and a.id < b.id);
}

/// Writable, since builds differ in what they declare it to be.
var interface: api_module.SamplerInterface = .{
    .name = callbacks.name,
    .accept = callbacks.accept,
    .apply = callbacks.apply,
    .reset = callbacks.reset,
    .clone = callbacks.clone,
    .free = callbacks.free,
};

const callbacks = struct {
    fn name(_: *const Sampler) callconv(.c) [*:0]const u8 {
        return "token-trie";
    }

    fn accept(sampler: *Sampler, token: i32) callconv(.c) void {
        state(sampler).accept(token);
    }

    fn apply(sampler: *Sampler, array: *TokenDataArray) callconv(.c) void {
        state(sampler).apply(array);
    }

    fn reset(sampler: *Sampler) callconv(.c) void {
        if (state(sampler).guide) |*guide| guide.state.reset();
    }

    fn clone(sampler: *const Sampler) callconv(.c) ?*Sampler {
        const copy = state(sampler).clone() catch return null;
        return copy.runtime.api.llama_sampler_init(&interface, copy) orelse {
            copy.destroy();
            return null;
        };
    }

    /// libllama frees the sampler itself.
    fn free(sampler: *Sampler) callconv(.c) void {
        state(sampler).destroy();
    }

    fn state(sampler: *const Sampler) *GuideSampler {
        return @ptrCast(@alignCast(sampler.ctx.?));
    }
};

const testing = std.testing;

fn arrayOf(data: []TokenData, sorted: bool) TokenDataArray {
    return .{ .data = data.ptr, .size = data.len, .selected = 3, .sorted = sorted };
}

fn testSampler(payload: []const u8, mode: Mode) !GuideSampler {
    @import("engine").trie_cache.shared.setLimit(0); // else it would hold a trie beyond the test
    var t: GuideSampler = .{ .runtime = undefined, .n_tokens = 6 };
    var d: Diagnostic = .{};
    try t.set(.{ .payload = payload }, mode, &d);
    return t;
}

const two_names =
    \\{"modelId":"m","descriptors":[{"path":"a","leaves":[
    \\{"name":"X","tokens":[1,2]},{"name":"Y","tokens":[4]}]}]}
;

test "a whole vocabulary is cut to the legal candidates" {
    var t = try testSampler(two_names, .sampled);
    defer t.clearAll();
    var data: [6]TokenData = undefined;
    for (&data, 0..) |*candidate, i| candidate.* = .{ .id = @intCast(i), .logit = @floatFromInt(i), .p = 0 };
    var array = arrayOf(&data, true);
    t.apply(&array);
    t.apply(&array); // again, on what is left
    try testing.expectEqual(2, array.size);
    try testing.expectEqual(-1, array.selected);
    try testing.expect(!array.sorted);
    try testing.expectEqual(TokenData{ .id = 1, .logit = 1, .p = 0 }, array.data[0]);
    try testing.expectEqual(TokenData{ .id = 4, .logit = 4, .p = 0 }, array.data[1]);
}

test "any other array keeps its order, and what is illegal gets -inf" {
    var t = try testSampler(two_names, .sampled);
    defer t.clearAll();
    var data = [_]TokenData{
        .{ .id = 5, .logit = 9, .p = 0 }, .{ .id = 4, .logit = 8, .p = 0 }, .{ .id = 0, .logit = 7, .p = 0 },
        .{ .id = 1, .logit = 6, .p = 0 }, .{ .id = 3, .logit = 5, .p = 0 }, .{ .id = 2, .logit = 4, .p = 0 },
    };
    var array = arrayOf(&data, true);
    t.apply(&array);
    try testing.expectEqual(2, array.size);
    try testing.expect(array.sorted);
    try testing.expectEqual(4, data[0].id);
    try testing.expectEqual(8, data[0].logit);
    try testing.expectEqual(1, data[1].id);
    for (data[2..]) |candidate| try testing.expectEqual(-std.math.inf(f32), candidate.logit);
}

test "greedy selects the best legal candidate and keeps the others behind it" {
    var t = try testSampler(two_names, .greedy);
    defer t.clearAll();
    var data = [_]TokenData{ .{ .id = 1, .logit = 4, .p = 0 }, .{ .id = 4, .logit = 5, .p = 0 }, .{ .id = 3, .logit = 6, .p = 0 } };
    var array = arrayOf(&data, false);
    t.apply(&array);
    try testing.expect(array.size == 1 and array.selected == 0 and array.sorted);
    try testing.expectEqual(4, data[0].id);
    try testing.expectEqual(TokenData{ .id = 1, .logit = 4, .p = 0 }, data[1]);
    try testing.expectEqual(-std.math.inf(f32), data[2].logit);
}

test "where nothing legal is left, all that is legal counts as equal" {
    var t = try testSampler(two_names, .sampled);
    defer t.clearAll();
    var data = [_]TokenData{ .{ .id = 3, .logit = 6, .p = 0 }, .{ .id = 1, .logit = std.math.nan(f32), .p = 0 } };
    for ([_]usize{ 0, 1, 2 }) |size| {
        var array = arrayOf(data[0..size], false);
        t.apply(&array);
        try testing.expectEqual(2, array.size);
        try testing.expectEqual(TokenData{ .id = 1, .logit = 0, .p = 0 }, array.data[0]);
        try testing.expectEqual(TokenData{ .id = 4, .logit = 0, .p = 0 }, array.data[1]);
    }
}

test "an illegal token ends the span, and is counted" {
    var t = try testSampler(two_names, .sampled);
    defer t.clearAll();
    t.accept(1);
    t.accept(5);
    try testing.expectEqual(1, t.guide.?.state.nIllegal());
    var data = [_]TokenData{.{ .id = 5, .logit = 1, .p = 0 }};
    var array = arrayOf(&data, false);
    t.apply(&array);
    try testing.expectEqual(3, array.selected); // no span, no change
}
