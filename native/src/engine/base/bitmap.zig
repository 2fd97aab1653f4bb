//! Sets of tokens: bit i % 32 of word i / 32 is token i, as in llguidance and XGrammar. A bitmap is made of
//! whole vectors, so that no loop needs a remainder.

const std = @import("std");
const builtin = @import("builtin");
const Allocator = std.mem.Allocator;
const processor = @import("../platform/processor.zig");

const has_avx2_code = builtin.cpu.arch == .x86_64;

const lanes = 8;
const Vector = @Vector(lanes, u32);
pub const alignment: std.mem.Alignment = .@"64";
/// A bitmap of `wordsFor` words, as `alloc` returns it.
pub const Words = []align(alignment.toByteUnits()) u32;

comptime {
    std.debug.assert(alignment.toByteUnits() == @import("blocks").alignment);
}

/// Words of a bitmap for the tokens 0 .. n_tokens-1: whole blocks of the widest code.
pub fn wordsFor(n_tokens: u32) usize {
    return std.mem.alignForward(usize, n_tokens / 32 + 1, 64);
}

/// Undefined content; the caller frees it. `n_words` is a result of `wordsFor`, or a multiple of it.
pub fn alloc(gpa: Allocator, n_words: usize) Allocator.Error!Words {
    return gpa.alignedAlloc(u32, alignment, n_words);
}

/// Removes all tokens.
pub noinline fn clear(words: Words) void {
    var i: usize = 0;
    while (i < words.len) : (i += lanes) at(words, i).* = @splat(0);
}

/// `to` and `from` have the same length.
pub noinline fn copy(to: Words, from: Words) void {
    var i: usize = 0;
    while (i < to.len) : (i += lanes) at(to, i).* = at(from, i).*;
}

/// Whether both, of the same length, have the same tokens. A difference is looked for once in a block: WebAssembly takes long to
/// tell whether a vector is zero.
pub noinline fn equal(a: Words, b: Words) bool {
    const Block = @Vector(32, u32);
    var i: usize = 0;
    while (i < a.len) : (i += 32) {
        const x: Block = a[i..][0..32].*;
        const y: Block = b[i..][0..32].*;
        if (@reduce(.Or, x ^ y) != 0) return false;
    }
    return true;
}

/// Equal for sets that are `equal`. Wyhash, but where a product of 128 bits is a function call: there the lanes of a vector are
/// hashed side by side, as FNV-1a does it, and their hashes by Wyhash.
pub fn hash(words: Words, seed: u64) u64 {
    if (!builtin.cpu.arch.isWasm()) return std.hash.Wyhash.hash(seed, std.mem.sliceAsBytes(words));
    var hashes: Vector = @splat(0x811c9dc5);
    var i: usize = 0;
    while (i < words.len) : (i += lanes) hashes = (hashes ^ at(words, i).*) *% @as(Vector, @splat(0x01000193));
    return std.hash.Wyhash.hash(seed, std.mem.asBytes(&hashes));
}

/// The most sources that callers hand to `unite` at once.
pub const sources_max = 16;

/// Adds the tokens of all sources to `to`. All have the same length.
pub fn unite(to: Words, sources: []const Words) void {
    if (has_avx2_code and processor.hasAvx2()) return @import("blocks_avx2").unite(to, sources);
    uniteBaseline(to, sources);
}

noinline fn uniteBaseline(to: Words, sources: []const Words) void {
    @import("blocks").unite(32, to, sources);
}

/// Adds a token.
pub inline fn set(words: []u32, token: u32) void {
    words[token >> 5] |= @as(u32, 1) << @truncate(token);
}

/// Removes a token.
pub inline fn unset(words: []u32, token: u32) void {
    words[token >> 5] &= ~(@as(u32, 1) << @truncate(token));
}

/// Whether the token is in the set.
pub inline fn has(words: []const u32, token: u32) bool {
    return words[token >> 5] >> @truncate(token) & 1 != 0;
}

/// Number of tokens.
pub fn count(words: Words) u32 {
    if (has_avx2_code and processor.hasAvx2()) return @import("blocks_avx2").count(words);
    return countBaseline(words);
}

noinline fn countBaseline(words: Words) u32 {
    return @import("blocks").count(lanes, words);
}

/// Writes the ids, ascending, as far as they fit; returns how many were written.
pub noinline fn list(words: []const u32, ids: []i32) usize {
    var n: usize = 0;
    for (words, 0..) |word, i| {
        var rest = word;
        while (rest != 0) : (rest &= rest - 1) {
            if (n == ids.len) return n;
            ids[n] = @intCast(32 * i + @ctz(rest));
            n += 1;
        }
    }
    return n;
}

inline fn at(words: Words, i: usize) *Vector {
    return @ptrCast(@alignCast(words.ptr + i));
}

test "sets agree with single bits" {
    const gpa = std.testing.allocator;
    var random: std.Random.DefaultPrng = .init(1);
    const n_tokens = 5000;
    var sets: [4]Words = undefined;
    for (&sets) |*words| {
        words.* = try alloc(gpa, wordsFor(n_tokens));
        clear(words.*);
        for (0..400) |_| set(words.*, random.random().uintLessThan(u32, n_tokens));
    }
    defer for (sets) |words| gpa.free(words);
    const c = try alloc(gpa, wordsFor(n_tokens));
    defer gpa.free(c);
    inline for (.{ unite, uniteBaseline }) |uniting| for (0..sets.len) |n_sources| {
        copy(c, sets[0]);
        uniting(c, sets[1..][0..n_sources]);
        var expected: u32 = 0;
        for (0..n_tokens) |token| {
            const in_any = for (sets[0 .. n_sources + 1]) |words| {
                if (has(words, @intCast(token))) break true;
            } else false;
            try std.testing.expectEqual(in_any, has(c, @intCast(token)));
            expected += @intFromBool(in_any);
        }
        try std.testing.expectEqual(expected, count(c));
        try std.testing.expectEqual(expected, countBaseline(c));
        var ids: [n_tokens]i32 = undefined;
        try std.testing.expectEqual(expected, list(c, &ids));
        for (ids[0..expected]) |id| unset(c, @intCast(id));
        try std.testing.expectEqual(0, count(c));
    };
}
