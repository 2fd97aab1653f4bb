//! A token trie as a llama_sampler, for hosts that own their chain. It belongs first in the chain,
//! and is right anywhere.

const std = @import("std");
const api_module = @import("api.zig");
const Sampler = api_module.Sampler;
const TokenData = api_module.TokenData;
const TokenDataArray = api_module.TokenDataArray;
const Runtime = @import("loader.zig").Runtime;
const constraint = @import("../constraint.zig");
const matcher = @import("../matcher.zig");
const TokenTrie = @import("../trie/trie.zig").TokenTrie;
const Span = @import("../trie/span.zig").Span;
const Mode = @import("../sampling/sampling.zig").Mode;
const diagnostic = @import("../diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const Error = diagnostic.Error;
const log = @import("../platform/log.zig");
const gpa = @import("../platform/memory.zig").gpa;

/// A sampler for the vocabulary of the host's model.
pub fn create(runtime: *const Runtime, vocab: *const api_module.Vocab, payload: []const u8, mode: Mode, d: *Diagnostic) Error!*Sampler {
    const n_tokens = runtime.api.llama_vocab_n_tokens(vocab);
    const t = gpa.create(TrieSampler) catch return d.outOfMemory();
    errdefer t.destroy();
    t.* = .{ .runtime = runtime, .n_tokens = @intCast(n_tokens) };
    try t.set(payload, mode, d);
    return runtime.api.llama_sampler_init(&interface, t) orelse d.fail(.ffi_fault, "llama_sampler_init made no sampler", .{});
}

/// The state behind a sampler that `create` made; null for any other.
pub fn stateOf(sampler: *const Sampler) ?*TrieSampler {
    if (sampler.iface != &interface) return null;
    return @ptrCast(@alignCast(sampler.ctx.?));
}

pub const TrieSampler = struct {
    runtime: *const Runtime,
    n_tokens: u32,
    trie: ?*TokenTrie = null,
    span: Span = .{},
    mode: Mode = .greedy,
    /// Room for the widest node: what a candidate array is pointed at if nothing legal is left in it.
    substitute: []TokenData = &.{},
    logged_illegal: bool = false,
    logged_substitute: bool = false,

    /// Nothing has changed if it fails.
    pub fn set(t: *TrieSampler, payload: []const u8, mode: Mode, d: *Diagnostic) Error!void {
        const trie = try constraint.compile(gpa, payload, t.n_tokens, "", d);
        errdefer trie.release();
        try constraint.checkTimeout(trie, constraint.span_timeout_default, d);
        const substitute = gpa.alloc(TokenData, trie.widest) catch return d.outOfMemory();
        t.clear();
        t.trie = trie;
        t.substitute = substitute;
        t.span = .init(trie);
        t.mode = mode;
    }

    pub fn clear(t: *TrieSampler) void {
        const trie = t.trie orelse return;
        trie.release();
        gpa.free(t.substitute);
        t.trie = null;
        t.substitute = &.{};
        t.span = .{};
    }

    pub fn activate(t: *TrieSampler, path: []const u8, d: *Diagnostic) Error!void {
        const trie = t.trie orelse return d.fail(.state, "no token trie is set", .{});
        t.span.activate(trie, try matcher.findPath(trie, path, d));
    }

    fn destroy(t: *TrieSampler) void {
        t.clear();
        gpa.destroy(t);
    }

    fn clone(t: *const TrieSampler) error{OutOfMemory}!*TrieSampler {
        const copy = try gpa.create(TrieSampler);
        errdefer gpa.destroy(copy);
        copy.* = t.*;
        copy.substitute = try gpa.alloc(TokenData, t.substitute.len);
        if (t.trie) |trie| _ = trie.retain();
        return copy;
    }

    fn accept(t: *TrieSampler, token: i32) void {
        const trie = t.trie orelse return;
        const before = t.span.illegal;
        const step = t.span.accept(trie, token, constraint.span_timeout_default, .end_span);
        if (step.timed_out) matcher.logTimeout(constraint.span_timeout_default);
        if (t.span.illegal == before or t.logged_illegal) return;
        t.logged_illegal = true;
        log.write(.warn, "token {d} was accepted, which the token trie does not allow here: its span has ended", .{token});
    }

    fn apply(t: *TrieSampler, array: *TokenDataArray) void {
        const trie = t.trie orelse return;
        const legal = t.span.allowed(trie) orelse return;
        const kept = keepLegal(array, legal, t.n_tokens);
        if (kept > 0 and anyLikely(array.data[0..kept])) {
            array.size = kept;
            excludeNan(array.data[0..kept]);
        } else {
            t.substituteAll(array, legal);
        }
        switch (t.mode) {
            .sampled => array.selected = -1,
            .greedy => selectBest(array),
        }
    }

    fn substituteAll(t: *TrieSampler, array: *TokenDataArray, legal: []const i32) void {
        for (t.substitute[0..legal.len], legal) |*candidate, id| candidate.* = .{ .id = id, .logit = 0, .p = 0 };
        array.data = t.substitute.ptr;
        array.size = legal.len;
        array.sorted = false;
        if (t.logged_substitute) return;
        t.logged_substitute = true;
        log.write(.warn, "no legal candidate was left for the token trie, so that all count as equal: put it first in the chain", .{});
    }
};

/// Moves the legal candidates to the front, in the order that they had, and returns how many there
/// are. Writes to no entry behind `size`.
fn keepLegal(array: *TokenDataArray, legal: []const i32, n_tokens: u32) usize {
    const candidates = array.data[0..array.size];
    if (listsVocabulary(candidates, legal, n_tokens)) {
        // Ids ascend, so each entry is read before its place is written. O(legal).
        for (legal, 0..) |id, i| candidates[i] = candidates[@intCast(id)];
        array.sorted = false;
        return legal.len;
    }
    var kept: usize = 0;
    for (candidates) |*candidate| {
        if (std.sort.binarySearch(i32, legal, candidate.id, order) != null) {
            std.mem.swap(TokenData, &candidates[kept], candidate);
            kept += 1;
        } else candidate.logit = -std.math.inf(f32);
    }
    return kept;
}

/// Whether each legal id is at its own index in an array as long as the vocabulary: then they are
/// all of them, whatever the order of the rest.
fn listsVocabulary(candidates: []const TokenData, legal: []const i32, n_tokens: u32) bool {
    if (candidates.len != n_tokens) return false;
    if (candidates[0].id != 0 or candidates[candidates.len - 1].id != candidates.len - 1) return false;
    for (legal) |id| if (candidates[@intCast(id)].id != id) return false;
    return true;
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
        const t = state(sampler);
        if (t.trie) |trie| t.span = .init(trie);
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

    fn state(sampler: *const Sampler) *TrieSampler {
        return @ptrCast(@alignCast(sampler.ctx.?));
    }
};

const testing = std.testing;

fn arrayOf(data: []TokenData, sorted: bool) TokenDataArray {
    return .{ .data = data.ptr, .size = data.len, .selected = 3, .sorted = sorted };
}

fn testSampler(payload: []const u8, mode: Mode) !TrieSampler {
    @import("../trie/cache.zig").shared.setLimit(0); // else it would hold a trie beyond the test
    var t: TrieSampler = .{ .runtime = undefined, .n_tokens = 6 };
    var d: Diagnostic = .{};
    try t.set(payload, mode, &d);
    return t;
}

const two_names =
    \\{"modelId":"m","descriptors":[{"path":"a","leaves":[
    \\{"name":"X","tokens":[1,2]},{"name":"Y","tokens":[4]}]}]}
;

test "a whole vocabulary is cut to the legal candidates" {
    var t = try testSampler(two_names, .sampled);
    defer t.clear();
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
    defer t.clear();
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
    defer t.clear();
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
    defer t.clear();
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
    defer t.clear();
    t.accept(1);
    t.accept(5);
    try testing.expectEqual(1, t.span.illegal);
    var data = [_]TokenData{.{ .id = 5, .logit = 1, .p = 0 }};
    var array = arrayOf(&data, false);
    t.apply(&array);
    try testing.expectEqual(3, array.selected); // no span, no change
}
