//! Sets of terminals of a width that the compiler knows.

const narrow = @import("program.zig").set_widths[0];

/// `width`: words of a set. Narrow ones stay in registers; wide ones are rare, and the code for them is
/// there once.
pub fn Sets(comptime width: usize) type {
    return struct {
        pub const Set = [width]u64;
        const Vector = @Vector(width, u64);
        const call: @import("std").lang.CallModifier = if (width == narrow) .always_inline else .never_inline;

        /// Set i of many that stand one after the other.
        pub inline fn at(sets: []const u64, i: usize) *const Set {
            return sets[i * width ..][0..width];
        }

        /// `to` may be one of them.
        pub inline fn meet(to: *Set, a: *const Set, b: *const Set) void {
            @call(call, meetVectors, .{ to, a, b });
        }

        /// Adds what is in `from`.
        pub inline fn unite(to: *Set, from: *const Set) void {
            @call(call, uniteVectors, .{ to, from });
        }

        pub inline fn isEmpty(a: *const Set) bool {
            return !intersects(a, a);
        }

        pub inline fn intersects(a: *const Set, b: *const Set) bool {
            return @call(call, intersectVectors, .{ a, b });
        }

        fn meetVectors(to: *Set, a: *const Set, b: *const Set) void {
            to.* = @as(Vector, a.*) & @as(Vector, b.*);
        }

        fn uniteVectors(to: *Set, from: *const Set) void {
            to.* = @as(Vector, to.*) | @as(Vector, from.*);
        }

        fn intersectVectors(a: *const Set, b: *const Set) bool {
            return @reduce(.Or, @as(Vector, a.*) & @as(Vector, b.*)) != 0;
        }
    };
}
