//! SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014). Eight bytes of
//! state, so that a cloned matcher draws the same numbers.

/// A pseudorandom generator; `state` is the seed. Not for cryptography.
pub const SplitMix64 = struct {
    state: u64 = 0,

    /// 64 random bits.
    pub fn next(rng: *SplitMix64) u64 {
        rng.state +%= 0x9e3779b97f4a7c15;
        var z = rng.state;
        z = (z ^ (z >> 30)) *% 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) *% 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

    /// Uniform in [0, 1).
    pub fn unit(rng: *SplitMix64) f64 {
        return @as(f64, @floatFromInt(rng.next() >> 11)) * 0x1p-53;
    }
};

const std = @import("std");

test "the published sequence from seed 1234567" {
    var rng: SplitMix64 = .{ .state = 1234567 };
    for ([_]u64{ 6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821 }) |expected| {
        try std.testing.expectEqual(expected, rng.next());
    }
}
