//! Chooses one of the legal tokens from the logits: the highest, or a draw with temperature and top-p. The
//! exponential is computed here, by additions and multiplications in a fixed order, so that a seed gives the
//! same tokens on every platform.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const SplitMix64 = @import("rng.zig").SplitMix64;
const rank = @import("rank.zig");

/// ELIZA_MODE_* of the header.
pub const Mode = enum(c_int) { greedy = 0, sampled = 1 };

/// The chosen token.
pub const Choice = struct {
    token: i32,
    /// No legal token had a logit above -inf: all counted as equal.
    fallback: bool = false,
};

/// The legal tokens: ascending ids, a bitmap, or the whole vocabulary. Lends them.
pub const Legal = union(enum) {
    list: []const i32,
    /// Bit i % 32 of word i / 32 is token i.
    bitmap: struct { words: []const u32, n_tokens: u32 },
    all: u32,

    /// Number of legal tokens.
    pub fn len(legal: Legal) usize {
        return switch (legal) {
            .list => |ids| ids.len,
            .bitmap => |bitmap| bitmap.n_tokens,
            .all => |n| n,
        };
    }

    pub fn has(legal: Legal, token: i32) bool {
        return switch (legal) {
            .list => |ids| std.mem.findScalar(i32, ids, token) != null,
            .bitmap => |bitmap| bitmap.words[@intCast(@divTrunc(token, 32))] >> @intCast(@mod(token, 32)) & 1 != 0,
            .all => true,
        };
    }

    fn id(legal: Legal, i: usize) i32 {
        return switch (legal) {
            .list => |ids| ids[i],
            .bitmap => |bitmap| nth(bitmap.words, i),
            .all => @intCast(i),
        };
    }
};

/// Token number `i` of a bitmap.
fn nth(words: []const u32, i: usize) i32 {
    var before: usize = 0;
    for (words, 0..) |word, w| {
        const n = @popCount(word);
        if (i < before + n) {
            var rest = word;
            for (before..i) |_| rest &= rest - 1;
            return @intCast(32 * w + @ctz(rest));
        }
        before += n;
    }
    unreachable;
}

/// The legal token with the highest logit; of equal ones the smallest id. NaN counts as -inf. At least one
/// token is legal.
pub fn greedy(logits: [*]const f32, legal: Legal) Choice {
    return switch (legal) {
        .list => |ids| highest(logits, ids),
        .bitmap => |bitmap| highestOfBitmap(logits, bitmap.words),
        .all => |n| highestOfAll(logits[0..n]),
    };
}

fn highest(logits: [*]const f32, ids: []const i32) Choice {
    var best = ids[0];
    var best_logit = -std.math.inf(f32);
    for (ids) |id| {
        const logit = logits[@intCast(id)];
        if (logit > best_logit) {
            best = id;
            best_logit = logit;
        }
    }
    return .{ .token = best, .fallback = best_logit == -std.math.inf(f32) };
}

fn highestOfBitmap(logits: [*]const f32, words: []const u32) Choice {
    var best: ?usize = null;
    var best_logit = -std.math.inf(f32);
    for (words, 0..) |word, i| {
        var rest = word;
        while (rest != 0) : (rest &= rest - 1) {
            const id = 32 * i + @ctz(rest);
            if (best == null) best = id;
            if (logits[id] > best_logit) {
                best = id;
                best_logit = logits[id];
            }
        }
    }
    return .{ .token = @intCast(best.?), .fallback = best_logit == -std.math.inf(f32) };
}

fn highestOfAll(logits: []const f32) Choice {
    var best: usize = 0;
    var best_logit = -std.math.inf(f32);
    for (logits, 0..) |logit, id| if (logit > best_logit) {
        best = id;
        best_logit = logit;
    };
    return .{ .token = @intCast(best), .fallback = best_logit == -std.math.inf(f32) };
}

/// Draws with temperature and top-p. Belongs to one thread. Owns scratch memory for the largest set so far;
/// small sets use the stack, which is in the cache when nothing else is.
pub const Sampler = struct {
    rng: SplitMix64 = .{},
    temperature: f32 = 1,
    top_p: f32 = 1,
    weights: ArrayList(f32) = .empty,
    order: ArrayList(u32) = .empty,

    /// `gpa` is the one that `reserve` was given.
    pub fn deinit(s: *Sampler, gpa: Allocator) void {
        s.weights.deinit(gpa);
        s.order.deinit(gpa);
    }

    /// Makes room for a `draw` among `n` tokens.
    pub fn reserve(s: *Sampler, gpa: Allocator, n: usize) Allocator.Error!void {
        if (n <= rank.few_max) return;
        try s.weights.ensureTotalCapacity(gpa, std.mem.alignForward(usize, n, lanes));
        try s.order.ensureTotalCapacity(gpa, n);
    }

    /// Draws a token, after `reserve`. Does not allocate or fail. With one legal token, or a temperature of 0
    /// or less, it takes the highest and draws no number.
    pub fn draw(s: *Sampler, logits: [*]const f32, legal: Legal) Choice {
        if (s.temperature <= 0 or std.math.isNan(s.temperature) or legal.len() == 1) return greedy(logits, legal);
        const n = legal.len();
        var few_weights: [rank.few_max]f32 = undefined;
        var few_order: [rank.few_max]u32 = undefined;
        const padded = s.roomForWeights(n, &few_weights);
        const order = if (n <= rank.few_max) few_order[0..n] else s.order.allocatedSlice()[0..n];

        const fallback = s.weigh(logits, legal, padded);
        const weights = padded[0..n];
        const total = sum(weights);
        const target = s.rng.unit();
        const i = if (s.top_p < 1) s.pickNucleus(weights, order, total, target) else pick(weights, target * total);
        return .{ .token = legal.id(i), .fallback = fallback };
    }

    /// The probability of the most likely token, after `reserve`.
    pub fn highestProbability(s: *Sampler, logits: [*]const f32, legal: Legal) f64 {
        var few: [rank.few_max]f32 = undefined;
        const padded = s.roomForWeights(legal.len(), &few);
        _ = s.weigh(logits, legal, padded);
        return 1 / sum(padded[0..legal.len()]);
    }

    fn roomForWeights(s: *Sampler, n: usize, few: *[rank.few_max]f32) []f32 {
        const whole_vectors = std.mem.alignForward(usize, n, lanes);
        return if (n <= rank.few_max) few[0..whole_vectors] else s.weights.allocatedSlice()[0..whole_vectors];
    }

    /// Weights relative to the most likely token, in whole vectors. True if no logit was above -inf.
    fn weigh(s: *const Sampler, logits: [*]const f32, legal: Legal, weights: []f32) bool {
        const n = legal.len();
        switch (legal) {
            .list => |ids| for (weights[0..n], ids) |*weight, id| {
                weight.* = logits[@intCast(id)];
            },
            .bitmap => |bitmap| gather(weights, logits, bitmap.words),
            .all => @memcpy(weights[0..n], logits[0..n]),
        }
        @memset(weights[n..], -std.math.inf(f32));
        const top = highestFinite(weights);
        if (top == -std.math.inf(f32)) {
            @memset(weights[0..n], 1);
            return true;
        }
        const scale: Vector = @splat(1 / s.temperature);
        var i: usize = 0;
        while (i < weights.len) : (i += lanes) {
            const chunk: Vector = weights[i..][0..lanes].*;
            weights[i..][0..lanes].* = exp((chunk - @as(Vector, @splat(top))) * scale);
        }
        return false;
    }

    fn gather(weights: []f32, logits: [*]const f32, words: []const u32) void {
        var n: usize = 0;
        for (words, 0..) |word, i| {
            var rest = word;
            while (rest != 0) : (rest &= rest - 1) {
                weights[n] = logits[32 * i + @ctz(rest)];
                n += 1;
            }
        }
    }

    /// Turns NaN into -inf and +inf into the largest number; returns the highest logit. Whole vectors.
    fn highestFinite(logits: []f32) f32 {
        const lowest: Vector = @splat(-std.math.inf(f32));
        const largest: Vector = @splat(std.math.floatMax(f32));
        var top = lowest;
        var i: usize = 0;
        while (i < logits.len) : (i += lanes) {
            const raw: Vector = logits[i..][0..lanes].*;
            const number = @select(f32, raw == raw, raw, lowest);
            const chunk = @select(f32, number > largest, largest, number);
            logits[i..][0..lanes].* = chunk;
            top = @select(f32, chunk > top, chunk, top);
        }
        return @reduce(.Max, top);
    }

    /// Draws from the nucleus (Holtzman et al., "The curious case of neural text degeneration", 2020): the fewest
    /// most likely tokens that have `top_p` of the whole weight; of equal weights the smaller index first.
    fn pickNucleus(s: *const Sampler, weights: []const f32, order: []u32, total: f64, target: f64) usize {
        const wanted = total * @max(s.top_p, 0);
        const nucleus: Nucleus = if (weights.len <= rank.few_max) .ofFew(weights, order, wanted) else .ofMany(weights, order, wanted);
        var left = target * nucleus.mass;
        for (nucleus.indices) |i| {
            left -= weights[i];
            if (left < 0) return i;
        }
        return nucleus.indices[nucleus.indices.len - 1];
    }
};

/// The fewest tokens, most likely first, that reach the wanted mass.
const Nucleus = struct {
    indices: []const u32,
    mass: f64,

    fn ofFew(weights: []const f32, order: []u32, wanted: f64) Nucleus {
        rank.sortFew(weights, order);
        var mass: f64 = 0;
        for (order, 1..) |i, count| {
            mass += weights[i];
            if (mass >= wanted) return .{ .indices = order[0..count], .mass = mass };
        }
        return .{ .indices = order, .mass = mass };
    }

    /// A heap yields them in order without sorting the rest.
    fn ofMany(weights: []const f32, order: []u32, wanted: f64) Nucleus {
        var heap: Heap = .init(order, weights);
        var mass: f64 = 0;
        while (heap.len > 0) {
            mass += weights[heap.pop()];
            if (mass >= wanted) break;
        }
        std.mem.reverse(u32, heap.popped());
        return .{ .indices = heap.popped(), .mass = mass };
    }
};

/// A maximum heap of indices (Williams 1964). Popped indices gather after the heap, the last one first.
const Heap = struct {
    indices: []u32,
    len: usize,
    weights: []const f32,

    fn init(indices: []u32, weights: []const f32) Heap {
        for (indices, 0..) |*index, i| index.* = @intCast(i);
        var heap: Heap = .{ .indices = indices, .len = indices.len, .weights = weights };
        var i = indices.len / 2;
        while (i > 0) {
            i -= 1;
            heap.siftDown(i);
        }
        return heap;
    }

    fn pop(heap: *Heap) u32 {
        heap.len -= 1;
        std.mem.swap(u32, &heap.indices[0], &heap.indices[heap.len]);
        heap.siftDown(0);
        return heap.indices[heap.len];
    }

    fn popped(heap: *const Heap) []u32 {
        return heap.indices[heap.len..];
    }

    fn siftDown(heap: *Heap, from: usize) void {
        var i = from;
        while (2 * i + 1 < heap.len) {
            var larger = 2 * i + 1;
            if (larger + 1 < heap.len and heap.before(larger + 1, larger)) larger += 1;
            if (!heap.before(larger, i)) return;
            std.mem.swap(u32, &heap.indices[i], &heap.indices[larger]);
            i = larger;
        }
    }

    fn before(heap: *const Heap, a: usize, b: usize) bool {
        const x = heap.indices[a];
        const y = heap.indices[b];
        return heap.weights[x] > heap.weights[y] or (heap.weights[x] == heap.weights[y] and x < y);
    }
};

fn pick(weights: []const f32, target: f64) usize {
    var left = target;
    for (weights, 0..) |weight, i| {
        left -= weight;
        if (left < 0) return i;
    }
    // Rounding took the target past the end: take the last token that has any weight.
    var i = weights.len - 1;
    while (i > 0 and weights[i] == 0) i -= 1;
    return i;
}

fn sum(weights: []const f32) f64 {
    var total: f64 = 0;
    for (weights) |weight| total += weight;
    return total;
}

const lanes = 8;
const Vector = @Vector(lanes, f32);

/// e^x for x <= 0, within 2 units in the last place; 0 below -87. Splits x into n ln 2 + r, |r| <= ln 2 / 2, with
/// ln 2 in two parts (Cody, Waite 1980); e^r is its Taylor polynomial of degree 7.
fn exp(x: Vector) Vector {
    const low: Vector = @splat(-87);
    const clamped = @max(x, low);
    const n = nearest(clamped * @as(Vector, @splat(std.math.log2e)));
    const r = (clamped - n * @as(Vector, @splat(0.693145751953125))) - n * @as(Vector, @splat(1.42860682030941723212e-6));
    var e: Vector = @splat(1.0 / 5040.0);
    inline for (.{ 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 1.0 / 2.0, 1.0, 1.0 }) |coefficient| {
        e = e * r + @as(Vector, @splat(coefficient));
    }
    const exponent: @Vector(lanes, u32) = @bitCast(@as(@Vector(lanes, i32), @intFromFloat(n)) + @as(@Vector(lanes, i32), @splat(127)));
    const power: Vector = @bitCast(exponent << @splat(23));
    return @select(f32, x < low, @as(Vector, @splat(0)), e * power);
}

/// The nearest integer of a number far below 2^22: a float near 1.5 * 2^23 has no fraction. The baseline
/// processor has no instruction for it.
fn nearest(x: Vector) Vector {
    const no_fraction: Vector = @splat(0x1.8p23);
    return (x + no_fraction) - no_fraction;
}

const testing = std.testing;

test "exp agrees with the library" {
    var x: f32 = 0;
    while (x > -86) : (x -= 0.37) {
        const expected = @exp(@as(f64, x));
        const found: f64 = exp(@splat(x))[0];
        try testing.expect(@abs(found - expected) <= expected * 3e-7);
    }
    try testing.expectEqual(1, exp(@splat(0))[3]);
    try testing.expectEqual(0, exp(@splat(-std.math.inf(f32)))[0]);
}

test "draws follow the probabilities" {
    var s: Sampler = .{ .temperature = 0.5 };
    defer s.deinit(testing.allocator);
    try s.reserve(testing.allocator, 4);
    const logits = [_]f32{ 0, 0.5 * @log(3.0), -std.math.inf(f32), 0, std.math.nan(f32) };
    var counts: [5]u32 = @splat(0);
    for (0..40_000) |_| counts[@intCast(s.draw(&logits, .{ .list = &.{ 0, 1, 2, 4 } }).token)] += 1;
    try testing.expectEqual(0, counts[2] + counts[3] + counts[4]);
    try testing.expectApproxEqAbs(0.75, @as(f64, @floatFromInt(counts[1])) / 40_000, 0.01);
}

test "the probability of the most likely token" {
    var s: Sampler = .{};
    const logits = [_]f32{ @log(0.2), @log(0.5), @log(0.3), -std.math.inf(f32) };
    try testing.expectApproxEqAbs(0.5, s.highestProbability(&logits, .{ .all = 4 }), 1e-6);
    try testing.expectApproxEqAbs(0.6, s.highestProbability(&logits, .{ .list = &.{ 0, 2 } }), 1e-6);
    try testing.expectEqual(1, s.highestProbability(&logits, .{ .list = &.{3} }));
}

test "top-p keeps the shortest prefix that reaches it" {
    var s: Sampler = .{ .top_p = 0.6 };
    defer s.deinit(testing.allocator);
    try s.reserve(testing.allocator, 4);
    const logits = [_]f32{ @log(0.2), @log(0.4), @log(0.3), @log(0.1) };
    var counts: [4]u32 = @splat(0);
    for (0..10_000) |_| counts[@intCast(s.draw(&logits, .{ .all = 4 }).token)] += 1;
    try testing.expectEqual(0, counts[0] + counts[3]);
    try testing.expectApproxEqAbs(4.0 / 7.0, @as(f64, @floatFromInt(counts[1])) / 10_000, 0.02);
}

test "a nucleus ends with the token that reaches what is wanted" {
    const weights = [_]f32{ 0.25, 1, 0.25, 0.5 };
    for ([_]f64{ 0, 1, 1.5, 1.75, 2 }, [_]f64{ 1, 1, 1.5, 1.75, 2 }, [_]usize{ 1, 1, 2, 3, 4 }) |wanted, mass, count| {
        var orders: [2][weights.len]u32 = undefined;
        const few: Nucleus = .ofFew(&weights, &orders[0], wanted);
        const many: Nucleus = .ofMany(&weights, &orders[1], wanted);
        try testing.expectEqualSlices(u32, ([_]u32{ 1, 3, 0, 2 })[0..count], few.indices);
        try testing.expectEqualSlices(u32, few.indices, many.indices);
        try testing.expectEqual(mass, few.mass);
        try testing.expectEqual(mass, many.mass);
    }
}

test "+inf is the largest logit, and several of it are equal" {
    const inf = std.math.inf(f32);
    const nan = std.math.nan(f32);
    const logits = [_]f32{ 3, inf, nan, -inf, inf, std.math.floatMax(f32) };
    var s: Sampler = .{};
    try testing.expectEqual(1, s.highestProbability(&logits, .{ .list = &.{ 0, 1, 2, 3 } }));
    try testing.expectEqual(0.5, s.highestProbability(&logits, .{ .list = &.{ 0, 1, 2, 3, 4 } }));
    try testing.expectEqual(1.0 / 3.0, s.highestProbability(&logits, .{ .all = 6 }));
    for ([_]f32{ 0.5, 1 }) |top_p| {
        s.top_p = top_p;
        for (0..20) |_| {
            const drawn = s.draw(&logits, .{ .list = &.{ 0, 2, 3, 4 } });
            try testing.expect(drawn.token == 4 and !drawn.fallback);
        }
    }
}

test "few tokens and many give the same nucleus" {
    var random: std.Random.DefaultPrng = .init(2);
    var weights: [rank.few_max]f32 = undefined;
    var orders: [2][rank.few_max]u32 = undefined;
    for (1..rank.few_max + 1) |n| {
        for (weights[0..n]) |*weight| weight.* = @floatFromInt(random.random().uintLessThan(u8, 9));
        const wanted = sum(weights[0..n]) * random.random().float(f64);
        const few: Nucleus = .ofFew(weights[0..n], orders[0][0..n], wanted);
        const many: Nucleus = .ofMany(weights[0..n], orders[1][0..n], wanted);
        try testing.expectEqual(many.mass, few.mass);
        try testing.expectEqualSlices(u32, many.indices, few.indices);
    }
}

test "nothing above -inf: legal tokens count as equal" {
    const logits = [_]f32{ 1, -std.math.inf(f32), std.math.nan(f32) };
    const choice = greedy(&logits, .{ .list = &.{ 1, 2 } });
    try testing.expect(choice.token == 1 and choice.fallback);
    var s: Sampler = .{};
    defer s.deinit(testing.allocator);
    try s.reserve(testing.allocator, 2);
    var seen: [3]bool = @splat(false);
    for (0..100) |_| {
        const drawn = s.draw(&logits, .{ .list = &.{ 1, 2 } });
        try testing.expect(drawn.fallback);
        seen[@intCast(drawn.token)] = true;
    }
    try testing.expect(!seen[0] and seen[1] and seen[2]);
}

test "where rounding leads past the end, the last token with a weight is taken" {
    try testing.expectEqual(0, pick(&.{ 1, 0, 0 }, 1));
    try testing.expectEqual(1, pick(&.{ 1, 2, 0 }, 3));
    try testing.expectEqual(2, pick(&.{ 0, 0, 1 }, 1));
}
