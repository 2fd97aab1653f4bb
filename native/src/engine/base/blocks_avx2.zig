//! Loops over bitmaps for processors with AVX2. Wider vectors are no faster: the second-level cache is the limit.

const blocks = @import("blocks");

/// As `blocks.unite`, for lengths that are a multiple of 64.
pub fn unite(to: []align(blocks.alignment) u32, sources: []const []align(blocks.alignment) const u32) void {
    blocks.unite(64, to, sources);
}

/// As `blocks.count`, for lengths that are a multiple of 64.
pub fn count(words: []align(blocks.alignment) const u32) u32 {
    return blocks.count(8, words);
}
