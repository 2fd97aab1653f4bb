//! The union of bitmaps for processors with AVX2. Wider vectors were measured: the second-level cache is
//! not faster for them.

const unite = @import("unite");

pub fn blocks(to: []align(unite.alignment) u32, sources: []const []align(unite.alignment) const u32) void {
    unite.blocks(64, to, sources);
}
