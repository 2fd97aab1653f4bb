//! The union of bitmaps for processors with AVX2. Wider vectors are no faster: the second-level cache is the
//! limit.

const unite = @import("unite");

/// As `unite.blocks`, for lengths that are a multiple of 64.
pub fn blocks(to: []align(unite.alignment) u32, sources: []const []align(unite.alignment) const u32) void {
    unite.blocks(64, to, sources);
}
