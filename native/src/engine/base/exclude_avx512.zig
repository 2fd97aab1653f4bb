//! `exclude.others` for processors with AVX-512, which write the lanes of a vector that a register of bits names: every line of the
//! cache in one step, and none that stays as it is. It takes half of the time of single stores.

const std = @import("std");

/// In whole blocks of the bitmap; returns how many numbers that were.
pub fn others(comptime T: type, numbers: []T, words: []const u32, value: T) usize {
    const per_line = line_bytes / @sizeOf(T);
    const Part = @Int(.unsigned, per_line);
    const per_block = line_bytes / @sizeOf(Part);
    const values: @Vector(per_line, T) = @splat(value);
    const parts: [*]const Part = @ptrCast(words.ptr);
    const n_parts = numbers.len / per_line;
    var from: usize = 0;
    while (from + per_block <= n_parts) : (from += per_block) {
        const block: @Vector(per_block, Part) = parts[from..][0..per_block].*;
        var left: @Int(.unsigned, per_block) = @bitCast(block != @as(@Vector(per_block, Part), @splat(std.math.maxInt(Part))));
        while (left != 0) : (left &= left - 1) {
            const at = from + @ctz(left);
            const is_kept: @Vector(per_line, bool) = @bitCast(parts[at]);
            const line = numbers[per_line * at ..][0..per_line];
            line.* = @select(T, is_kept, @as(@Vector(per_line, T), line.*), values);
        }
    }
    return per_line * from;
}

const line_bytes = 64;
