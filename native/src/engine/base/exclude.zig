//! Writes one value, such as -inf, to the numbers that a bitmap does not have. Numbers are given by their bits: u16, u32, u64.

const std = @import("std");
const builtin = @import("builtin");
const processor = @import("../platform/processor.zig");

/// Zig's own backend, of debug builds, does not align its stack for such vectors.
const has_avx512_code = builtin.cpu.arch == .x86_64 and builtin.zig_backend == .stage2_llvm;
const lanes = 16;

/// Writes `value` to all numbers. In whole vectors: the compiler would write numbers one by one.
pub fn all(comptime T: type, numbers: []T, value: T) void {
    if (builtin.cpu.arch == .x86_64 and numbers.len * @sizeOf(T) >= string_bytes_min) return string(T, numbers, value);
    var i: usize = 0;
    while (i + lanes <= numbers.len) : (i += lanes) numbers[i..][0..lanes].* = @as(@Vector(lanes, T), @splat(value));
    for (numbers[i..]) |*number| number.* = value;
}

/// For fewer, the processor's string instruction takes longer to begin.
const string_bytes_min = 2048;

/// Writes whole lines of the cache without reading them first.
fn string(comptime T: type, numbers: []T, value: T) void {
    const instruction = switch (T) {
        u16 => "rep stosw",
        u32 => "rep stosl",
        u64 => "rep stosq",
        else => comptime unreachable,
    };
    asm volatile (instruction
        :
        : [to] "{rdi}" (numbers.ptr),
          [n] "{rcx}" (numbers.len),
          [value] "{rax}" (@as(u64, value)),
        : .{ .rdi = true, .rcx = true, .memory = true });
}

/// Writes `value` to the numbers whose bit is 0. There are words for all of them, and may be more.
pub fn others(comptime T: type, numbers: []T, words: []const u32, value: T) void {
    const n_done = if (has_avx512_code and processor.hasAvx512())
        @import("exclude_avx512").others(T, numbers, words, value)
    else
        othersBaseline(T, numbers, words, value);
    for (numbers[n_done..], n_done..) |*number, i| {
        if (words[i / 32] >> @truncate(i) & 1 == 0) number.* = value;
    }
}

/// In whole words; returns how many numbers that were. Most words of most masks are all legal or all illegal, or nearly so: of the
/// numbers, which take many times the memory of the bitmap, only illegal ones are written then, and none is read.
fn othersBaseline(comptime T: type, numbers: []T, words: []const u32, value: T) usize {
    const n_whole = numbers.len / 32;
    var at: usize = 0;
    while (at < n_whole) {
        const word = words[at];
        const from = at;
        at += 1;
        if (word == std.math.maxInt(u32)) continue;
        if (word == 0) {
            while (at < n_whole and words[at] == 0) at += 1;
            all(T, numbers[32 * from .. 32 * at], value);
        } else excludeSome(T, numbers[32 * from ..][0..32], ~word, value);
    }
    return 32 * n_whole;
}

/// `illegal` is not 0.
fn excludeSome(comptime T: type, numbers: *[32]T, illegal: u32, value: T) void {
    var left = illegal;
    for (0..few_illegal) |_| {
        numbers[@ctz(left)] = value;
        left &= left - 1;
        if (left == 0) return;
    }
    keepBits(T, numbers, ~illegal, value);
}

/// As many single stores take less time than 32 reads and writes.
const few_illegal = 10;

fn keepBits(comptime T: type, numbers: *[32]T, word: u32, value: T) void {
    const places = @Vector(8, u8){ 1, 2, 4, 8, 16, 32, 64, 128 };
    inline for (0..4) |at| {
        const byte: u8 = @truncate(word >> 8 * at);
        const is_legal = @as(@Vector(8, u8), @splat(byte)) & places != @as(@Vector(8, u8), @splat(0));
        const chunk: @Vector(8, T) = numbers[8 * at ..][0..8].*;
        numbers[8 * at ..][0..8].* = @select(T, is_legal, chunk, @as(@Vector(8, T), @splat(value)));
    }
}

test "only what is not in the bitmap is written, whatever the words are" {
    inline for (.{ u16, u32, u64 }) |T| {
        var random: std.Random.DefaultPrng = .init(7);
        // The last word has 5 numbers, and there may be more words than numbers need. Vectors begin at any number.
        var memory: [32 * 150 + 5 + 1]T = undefined;
        const numbers = memory[1..];
        var words: [154]u32 = undefined;
        for (0..100) |round| {
            for (&words) |*word| {
                const bits = random.random().int(u32);
                word.* = switch (random.random().int(u3)) {
                    0 => 0,
                    1 => std.math.maxInt(u32),
                    2 => @as(u32, 1) << @truncate(bits),
                    3 => ~(@as(u32, 1) << @truncate(bits)),
                    4 => bits | random.random().int(u32) | random.random().int(u32),
                    else => bits,
                };
            }
            // As long a run as a string instruction is used for.
            if (random.random().boolean()) @memset(words[random.random().uintLessThan(usize, 80)..][0..40], 0);
            for (numbers, 0..) |*number, i| number.* = @intCast(i);
            if (round % 2 == 0) {
                others(T, numbers, &words, std.math.maxInt(T));
            } else {
                const n_done = othersBaseline(T, numbers, &words, std.math.maxInt(T));
                try std.testing.expectEqual(numbers.len - 5, n_done);
                @memset(words[words.len - 4 ..], std.math.maxInt(u32));
            }
            for (numbers, 0..) |number, i| {
                const is_kept = words[i / 32] >> @truncate(i) & 1 == 1;
                try std.testing.expectEqual(if (is_kept) @as(T, @intCast(i)) else std.math.maxInt(T), number);
            }
        }
    }
}
