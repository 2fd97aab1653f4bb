//! The tokens that may come while the end of a prompt, which was taken back, is spelled again, and the text begins
//! after it ("token healing", as guidance and llguidance have it).

const std = @import("std");
const Allocator = std.mem.Allocator;
const span = @import("../contract/span.zig");
const Position = @import("../language/position.zig").Position;
const Pool = @import("../language/position.zig").Pool;
const Mask = @import("../mask/mask.zig").Mask;
const Scratch = @import("../mask/scratch.zig").Scratch;
const Recognizer = @import("recognizer.zig").Recognizer;

/// Computes `scratch.mask`: the tokens that `left` begins with, and those that begin with `left` and continue with what the
/// language takes at `at`. Walks all tokens that begin with `left`; their masks are not cached, since there are few.
pub fn computeMask(r: *Recognizer, pool: *Pool, at: Position, left: []const u8, scratch: *Scratch) span.Error!*const Mask {
    const n_nodes = pool.nodes.items.len;
    defer pool.nodes.shrinkRetainingCapacity(n_nodes);
    const places = try r.gpa.alloc(Place, scratch.states.len);
    defer r.gpa.free(places);
    places[0] = .{ .position = at, .n_nodes = n_nodes };
    var walker: Walker = .{ .recognizer = r, .pool = pool, .left = left, .places = places };
    r.maskContext().computeByWalk(&walker, false, scratch, &pool.watch) catch |e| return walker.failure orelse e;
    if (walker.failure) |failed| return failed;
    return &scratch.mask;
}

const Place = struct {
    position: Position,
    /// Of the pool, with those that it needs.
    n_nodes: usize,
};

/// What mask/walk.zig walks with.
const Walker = struct {
    recognizer: *const Recognizer,
    pool: *Pool,
    left: []const u8,
    places: []Place,
    depth: usize = 0,
    /// A walk cannot fail. Once a step has, every byte is refused.
    failure: ?span.Error = null,

    pub fn tryPushByte(w: *Walker, byte: u8) bool {
        var place = w.places[w.depth];
        if (w.depth < w.left.len) {
            if (byte != w.left[w.depth]) return false;
        } else place = w.after(place, byte) orelse return false;
        w.depth += 1;
        w.places[w.depth] = place;
        return true;
    }

    pub fn popBytes(w: *Walker, n: usize) void {
        w.depth -= n;
    }

    fn after(w: *Walker, place: Place, byte: u8) ?Place {
        if (w.failure != null) return null;
        w.pool.watch.steps(1) catch |e| {
            w.failure = e;
            return null;
        };
        w.pool.nodes.shrinkRetainingCapacity(place.n_nodes);
        const next = w.recognizer.advance(w.pool, place.position, &.{byte}) catch |e| {
            w.failure = e;
            return null;
        };
        return .{ .position = next orelse return null, .n_nodes = w.pool.nodes.items.len };
    }
};
