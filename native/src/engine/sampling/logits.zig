//! Logits of every float type where the caller has them: what is not legal becomes -inf.

const std = @import("std");
const exclude = @import("../base/exclude.zig");
const Legal = @import("sampling.zig").Legal;

/// ELIZA_LOGITS_* of the header.
pub const Type = enum(c_int) {
    f32 = 0,
    f16 = 1,
    bf16 = 2,
    f64 = 3,

    /// Of a float, whose alignment is as large.
    pub fn byteSize(t: Type) usize {
        return switch (t) {
            inline else => |each| @sizeOf(each.Bits()),
        };
    }

    fn Bits(comptime t: Type) type {
        return switch (t) {
            .f32 => u32,
            .f16, .bf16 => u16,
            .f64 => u64,
        };
    }

    fn minusInfinity(comptime t: Type) t.Bits() {
        return switch (t) {
            .f32 => @bitCast(-std.math.inf(f32)),
            .f16 => @bitCast(-std.math.inf(f16)),
            .bf16 => 0xff80, // the upper half of that of 32 bits
            .f64 => @bitCast(-std.math.inf(f64)),
        };
    }
};

/// Masks a row of `n_logits`, at least as many as the vocabulary's `n_tokens`: what is beyond the vocabulary, too.
pub fn mask(t: Type, row: *anyopaque, n_logits: usize, legal: Legal, n_tokens: usize) void {
    switch (t) {
        inline else => |each| {
            const numbers: [*]each.Bits() = @ptrCast(@alignCast(row));
            maskBits(each.Bits(), numbers[0..n_logits], legal, n_tokens, each.minusInfinity());
        },
    }
}

fn maskBits(comptime T: type, logits: []T, legal: Legal, n_tokens: usize, lowest: T) void {
    switch (legal) {
        .all => {},
        .list => |ids| {
            var from: usize = 0;
            for (ids) |id| {
                exclude.all(T, logits[from..@intCast(id)], lowest);
                from = @as(usize, @intCast(id)) + 1;
            }
            exclude.all(T, logits[from..n_tokens], lowest);
        },
        .bitmap => |bitmap| exclude.others(T, logits[0..n_tokens], bitmap.words, lowest),
    }
    exclude.all(T, logits[n_tokens..], lowest);
}

test "rows of every type" {
    inline for (.{ f32, f16, f64 }, .{ .f32, .f16, .f64 }) |Float, t| {
        var row: [40]Float = @splat(1);
        const words = [_]u32{ 0b101, 0 };
        for ([_]Legal{ .{ .list = &.{ 0, 2 } }, .{ .bitmap = .{ .words = &words, .n_tokens = 2 } }, .{ .all = 35 } }, 0..) |legal, at| {
            row = @splat(1);
            mask(t, &row, row.len, legal, 35);
            for (row, 0..) |logit, i| {
                const is_legal = if (at == 2) i < 35 else i == 0 or i == 2;
                try std.testing.expectEqual(if (is_legal) 1 else -std.math.inf(Float), logit);
            }
        }
    }
    var row = [_]u16{ 0x3f80, 0x3f80 };
    mask(.bf16, &row, 2, .{ .list = &.{1} }, 2);
    try std.testing.expectEqual([_]u16{ 0xff80, 0x3f80 }, row);
}
