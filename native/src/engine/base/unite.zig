//! The union of bitmaps, for any width of vectors. A module of its own, since it is compiled once for the
//! baseline processor and once for each kind of processor that it is chosen for at run time.

pub const alignment = 64;

/// `to` and the sources have the same length, a multiple of `lanes`. A block of `to` is kept in registers
/// while the sources go by, so that it is read and written once.
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
