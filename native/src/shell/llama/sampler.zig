//! A constraint as a llama_sampler, for hosts that own their chain. It belongs first in the chain, and is
//! correct anywhere.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
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
const InUse = @import("engine").in_use.InUse;
const Refusal = @import("engine").in_use.Refusal;
const gpa = @import("engine").memory.gpa;

/// What constrains a sampler.
pub const Source = union(enum) {
    payload: []const u8,
    constraint: struct { of: *const Constraint, config: span.Config },
};

/// A sampler for the vocabulary of the host's model. The host frees it, as it does any other; `runtime` is the
/// libllama of that model.
pub fn create(runtime: *const Runtime, vocab: *const api_module.Vocab, source: Source, mode: Mode, d: *Diagnostic) Error!*Sampler {
    const n_tokens = runtime.api.llama_vocab_n_tokens(vocab);
    const s = gpa.create(GuideSampler) catch return d.outOfMemory();
    errdefer s.destroy();
    s.* = .{ .runtime = runtime, .n_tokens = @intCast(n_tokens) };
    try s.set(source, mode, d);
    return runtime.api.llama_sampler_init(&interface, s) orelse d.fail(.ffi_fault, "llama_sampler_init made no sampler", .{});
}

/// The state after a sampler that `create` made, lent by it; null for any other.
pub fn stateOf(sampler: *const Sampler) ?*GuideSampler {
    if (sampler.iface != &interface) return null;
    return @ptrCast(@alignCast(sampler.ctx.?));
}

/// The state after a sampler. Belongs to one thread.
pub const GuideSampler = struct {
    runtime: *const Runtime,
    n_tokens: u32,
    guide: ?Guide = null,
    mode: Mode = .greedy,
    /// The candidates that replace an array with no legal one left.
    substitute: ArrayList(TokenData) = .empty,
    /// Calls of the chain and of the C boundary begin and end it.
    in_use: InUse = .{},
    logged_illegal: bool = false,
    logged_substitute: bool = false,
    logged_failure: bool = false,

    /// Replaces the constraint. If it fails, the old one stays.
    pub fn set(s: *GuideSampler, source: Source, mode: Mode, d: *Diagnostic) Error!void {
        switch (source) {
            .payload => |payload| try s.setPayload(payload, d),
            .constraint => |c| try s.setConstraint(c.of, c.config, d),
        }
        s.mode = mode;
    }

    fn setPayload(s: *GuideSampler, payload: []const u8, d: *Diagnostic) Error!void {
        const trie = try compilePayload(gpa, payload, .{ .n_tokens = s.n_tokens, .spelling = null }, d);
        defer trie.release();
        if (trie.parts.len > 0) return d.fail(
            .invalid_arg,
            "descriptors[{d}]: a sampler of a payload knows no bytes, which a language needs: make a constraint of the payload, " ++
                "and a sampler of that",
            .{trie.parts[0].descriptor},
        );
        return s.constrainBy(.{ .token_trie = trie }, .{}, d);
    }

    fn setConstraint(s: *GuideSampler, c: *const Constraint, config: span.Config, d: *Diagnostic) Error!void {
        if (c.vocabulary.tokens.n != s.n_tokens) {
            return d.fail(
                .model_mismatch,
                "the constraint is for a vocabulary of {d} tokens, the model has {d}",
                .{ c.vocabulary.tokens.n, s.n_tokens },
            );
        }
        return s.constrainBy(c.compiled, config, d);
    }

    /// The text before ends first: a recognizer drops what texts have left only where none continues.
    fn constrainBy(s: *GuideSampler, compiled: Compiled, config: span.Config, d: *Diagnostic) Error!void {
        try compiled.checkSpan(config, span.timeout_default, d);
        s.substitute.ensureTotalCapacity(gpa, compiled.listMax()) catch return d.outOfMemory();
        const own = config.owned(gpa) catch return d.outOfMemory();
        s.clear();
        s.guide = .init(gpa, compiled, own);
    }

    /// Removes the constraint.
    pub fn clear(s: *GuideSampler) void {
        if (s.guide) |*guide| guide.deinit();
        s.guide = null;
    }

    /// Opens a span by its path. An open span ends.
    pub fn activate(s: *GuideSampler, path: []const u8, d: *Diagnostic) Error!void {
        const guide = if (s.guide) |*guide| guide else {
            return d.fail(.state, "nothing constrains the output: set a token trie or a constraint first", .{});
        };
        try guide.state.activate(path, d);
    }

    /// Where the text stands.
    pub fn report(s: *GuideSampler) span.Error!span.Report {
        return if (s.guide) |*guide| guide.state.report() else .{};
    }

    fn destroy(s: *GuideSampler) void {
        s.clearAll();
        gpa.destroy(s);
    }

    fn clearAll(s: *GuideSampler) void {
        s.clear();
        s.substitute.deinit(gpa);
    }

    fn clone(s: *GuideSampler) !*GuideSampler {
        try s.in_use.begin();
        defer s.in_use.end();
        const copy = try gpa.create(GuideSampler);
        errdefer gpa.destroy(copy);
        copy.* = s.*;
        copy.in_use = .{};
        copy.substitute = try .initCapacity(gpa, s.substitute.capacity);
        errdefer copy.substitute.deinit(gpa);
        copy.guide = if (s.guide) |*guide| try guide.clone() else null;
        return copy;
    }

    fn accept(s: *GuideSampler, token: i32) void {
        if (token < 0 or token >= s.n_tokens) return;
        s.beginInChain() catch return;
        defer s.in_use.end();
        const guide = if (s.guide) |*guide| guide else return;
        const before = guide.state.nIllegal();
        _ = guide.accept(token, span.timeout_default) catch |e| {
            s.logFailure(e);
            s.clear();
            return;
        };
        if (guide.state.nIllegal() == before or s.logged_illegal) return;
        s.logged_illegal = true;
        log.write(.warn, "token {d} was accepted, which the constraint does not allow here: its span has ended", .{token});
    }

    fn apply(s: *GuideSampler, array: *TokenDataArray) void {
        s.beginInChain() catch return;
        defer s.in_use.end();
        s.restrict(array) catch |e| s.logFailure(e);
    }

    fn reset(s: *GuideSampler) void {
        s.beginInChain() catch return;
        defer s.in_use.end();
        if (s.guide) |*guide| guide.state.reset();
    }

    /// Calls of a chain have no status.
    fn beginInChain(s: *GuideSampler) Refusal!void {
        s.in_use.begin() catch |refusal| {
            if (refusal == error.OtherThread) log.write(.err, "a call on a sampler does nothing: another thread is using it", .{});
            return refusal;
        };
    }

    fn restrict(s: *GuideSampler, array: *TokenDataArray) span.Error!void {
        const guide = if (s.guide) |*guide| guide else return;
        var legal = try guide.state.allowed() orelse return;
        // Where no token of the vocabulary continues the text, the generation ends.
        if (legal.len() == 0) legal = .{ .list = guide.state.endTokens() };
        if (legal.len() == 0) return;
        const kept = keepLegal(array, legal, s.n_tokens);
        if (anyLikely(array.data[0..kept])) {
            array.size = kept;
            excludeNan(array.data[0..kept]);
        } else {
            try s.substituteAll(array, legal);
        }
        switch (s.mode) {
            .sampled => array.selected = -1,
            .greedy => selectBest(array),
        }
    }

    fn substituteAll(s: *GuideSampler, array: *TokenDataArray, legal: Legal) error{OutOfMemory}!void {
        try s.substitute.ensureTotalCapacity(gpa, legal.len());
        s.substitute.items.len = legal.len();
        switch (legal) {
            .list => |list| fillEqual(s.substitute.items, ListIds{ .list = list }),
            .bitmap => |bitmap| fillEqual(s.substitute.items, BitmapIds{ .words = bitmap.words, .rest = bitmap.words[0] }),
            .all => unreachable, // nothing is restricted then
        }
        array.data = s.substitute.items.ptr;
        array.size = legal.len();
        array.sorted = false;
        if (s.logged_substitute) return;
        s.logged_substitute = true;
        log.write(.warn, "no legal candidate was left for the constraint, so that all count as equal: put it first in the chain", .{});
    }

    fn logFailure(s: *GuideSampler, reason: span.Error) void {
        if (s.logged_failure) return;
        s.logged_failure = true;
        var d: Diagnostic = .{};
        const told: Error!void = d.notToldAfter(reason, s.guide.?.state.stopped());
        told catch {};
        log.write(.err, "the candidates are not constrained: {s}", .{@as([]const u8, d.message())});
    }
};

/// Iterates over the ids of a list.
const ListIds = struct {
    list: []const i32,

    inline fn next(ids: *ListIds) ?i32 {
        if (ids.list.len == 0) return null;
        defer ids.list = ids.list[1..];
        return ids.list[0];
    }
};

/// Iterates over the ids of a bitmap, ascending.
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

/// Moves the legal candidates to the front, in their order, and returns their number. Writes to no entry beyond
/// `size`.
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

/// `keepLegal` for an array that lists the vocabulary, in O(legal); null for any other. In an array as long as the
/// vocabulary, with each legal id at its own index, there are no further legal ones, whatever the order of the rest.
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

/// NaN counts as -inf, as in matchers and streams: otherwise a softmax would make all of them NaN.
fn excludeNan(candidates: []TokenData) void {
    for (candidates) |*candidate| {
        if (std.math.isNan(candidate.logit)) candidate.logit = -std.math.inf(f32);
    }
}

/// Leaves the candidate with the highest logit alone; of equal ones the smallest id.
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

/// Writable: builds differ in whether they declare it const.
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
        state(sampler).reset();
    }

    fn clone(sampler: *const Sampler) callconv(.c) ?*Sampler {
        const copy = state(sampler).clone() catch return null;
        return copy.runtime.api.llama_sampler_init(&interface, copy) orelse {
            copy.destroy();
            return null;
        };
    }

    /// libllama frees the sampler itself. The state of one that is in use stays, since a call continues with it.
    fn free(sampler: *Sampler) callconv(.c) void {
        const s = state(sampler);
        s.beginInChain() catch return;
        s.destroy();
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
    var s: GuideSampler = .{ .runtime = undefined, .n_tokens = 6 };
    var d: Diagnostic = .{};
    try s.set(.{ .payload = payload }, mode, &d);
    return s;
}

const two_names =
    \\{"modelId":"m","descriptors":[{"path":"a","leaves":[
    \\{"name":"X","tokens":[1,2]},{"name":"Y","tokens":[4]}]}]}
;

test "a whole vocabulary is cut to the legal candidates" {
    var s = try testSampler(two_names, .sampled);
    defer s.clearAll();
    var data: [6]TokenData = undefined;
    for (&data, 0..) |*candidate, i| candidate.* = .{ .id = @intCast(i), .logit = @floatFromInt(i), .p = 0 };
    var array = arrayOf(&data, true);
    s.apply(&array);
    s.apply(&array); // again, on what is left
    try testing.expectEqual(2, array.size);
    try testing.expectEqual(-1, array.selected);
    try testing.expect(!array.sorted);
    try testing.expectEqual(TokenData{ .id = 1, .logit = 1, .p = 0 }, array.data[0]);
    try testing.expectEqual(TokenData{ .id = 4, .logit = 4, .p = 0 }, array.data[1]);
}

test "any other array keeps its order, and what is illegal gets -inf" {
    var s = try testSampler(two_names, .sampled);
    defer s.clearAll();
    var data = [_]TokenData{
        .{ .id = 5, .logit = 9, .p = 0 }, .{ .id = 4, .logit = 8, .p = 0 }, .{ .id = 0, .logit = 7, .p = 0 },
        .{ .id = 1, .logit = 6, .p = 0 }, .{ .id = 3, .logit = 5, .p = 0 }, .{ .id = 2, .logit = 4, .p = 0 },
    };
    var array = arrayOf(&data, true);
    s.apply(&array);
    try testing.expectEqual(2, array.size);
    try testing.expect(array.sorted);
    try testing.expectEqual(4, data[0].id);
    try testing.expectEqual(8, data[0].logit);
    try testing.expectEqual(1, data[1].id);
    for (data[2..]) |candidate| try testing.expectEqual(-std.math.inf(f32), candidate.logit);
}

test "an array that begins and is as long as the vocabulary, but is not it, keeps its order too" {
    var s = try testSampler(two_names, .sampled);
    defer s.clearAll();
    for ([_][6]i32{ .{ 0, 1, 2, 5, 4, 3 }, .{ 3, 1, 2, 0, 4, 5 }, .{ 0, 4, 2, 3, 1, 5 } }) |ids| {
        var data: [6]TokenData = undefined;
        for (&data, ids, 0..) |*candidate, id, i| candidate.* = .{ .id = id, .logit = -@as(f32, @floatFromInt(i)), .p = 0 };
        var array = arrayOf(&data, true);
        s.apply(&array);
        try testing.expectEqual(2, array.size);
        try testing.expect(array.sorted and data[0].logit == -1 and data[1].logit == -4);
        for (data[2..]) |candidate| try testing.expectEqual(-std.math.inf(f32), candidate.logit);
    }
}

test "greedy selects the best legal candidate and keeps the others after it" {
    var s = try testSampler(two_names, .greedy);
    defer s.clearAll();
    var data = [_]TokenData{ .{ .id = 1, .logit = 4, .p = 0 }, .{ .id = 4, .logit = 5, .p = 0 }, .{ .id = 3, .logit = 6, .p = 0 } };
    var array = arrayOf(&data, false);
    s.apply(&array);
    try testing.expect(array.size == 1 and array.selected == 0 and array.sorted);
    try testing.expectEqual(4, data[0].id);
    try testing.expectEqual(TokenData{ .id = 1, .logit = 4, .p = 0 }, data[1]);
    try testing.expectEqual(-std.math.inf(f32), data[2].logit);
}

test "where nothing legal is left, all that is legal counts as equal" {
    var s = try testSampler(two_names, .sampled);
    defer s.clearAll();
    var data = [_]TokenData{ .{ .id = 3, .logit = 6, .p = 0 }, .{ .id = 1, .logit = std.math.nan(f32), .p = 0 } };
    for ([_]usize{ 0, 1, 2 }) |size| {
        var array = arrayOf(data[0..size], false);
        s.apply(&array);
        try testing.expectEqual(2, array.size);
        try testing.expectEqual(TokenData{ .id = 1, .logit = 0, .p = 0 }, array.data[0]);
        try testing.expectEqual(TokenData{ .id = 4, .logit = 0, .p = 0 }, array.data[1]);
    }
}

test "an illegal token ends the span, and is counted" {
    var s = try testSampler(two_names, .sampled);
    defer s.clearAll();
    s.accept(1);
    s.accept(5);
    try testing.expectEqual(1, s.guide.?.state.nIllegal());
    var data = [_]TokenData{.{ .id = 5, .logit = 1, .p = 0 }};
    var array = arrayOf(&data, false);
    s.apply(&array);
    try testing.expectEqual(3, array.selected); // no span, no change
}
