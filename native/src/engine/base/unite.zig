//! The union of bitmaps, for vectors of any width. A module of its own: it is compiled for the baseline
//! processor, and again for each processor that is chosen at run time.

pub const alignment = 64;

/// Adds the sources to `to`. All have the same length, a multiple of `lanes`. A block of `to` stays in
/// registers while the sources go by, so that it is read and written once.
pub inline fn blocks(comptime lanes: usize, to: []align(alignment) u32, sources: []const []align(alignment) const u32) void {
    const Block = @Vector(lanes, u32);
    var i: usize = 0;
    while (i < to.len) : (i += lanes) {
        const place: *align(alignment) Block = @ptrCast(@alignCast(to.ptr + i));
        var block = place.*;
        for (sources) |source| block |= @as(*align(alignment) const Block, @ptrCast(@alignCast(source.ptr + i))).*;
        place.* = block;
    }
}
