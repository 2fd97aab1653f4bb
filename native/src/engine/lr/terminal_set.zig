//! Sets of terminals, of a width that the compiler knows.

const narrow = @import("program.zig").set_widths[0];

/// `width`: words of a set. Operations on narrow sets are inlined and stay in registers; wide ones are rare,
/// and have one copy of the code.
pub fn Sets(comptime width: usize) type {
    return struct {
        /// Bit i % 64 of word i / 64 is terminal i.
        pub const Set = [width]u64;
        const Vector = @Vector(width, u64);
        const call: @import("std").lang.CallModifier = if (width == narrow) .always_inline else .never_inline;

        /// Set number i of many in a row.
        pub inline fn at(sets: []const u64, i: usize) *const Set {
            return sets[i * width ..][0..width];
        }

        /// `to` becomes the intersection. It may be `a` or `b`.
        pub inline fn meet(to: *Set, a: *const Set, b: *const Set) void {
            @call(call, meetVectors, .{ to, a, b });
        }

        /// Adds `from` to `to`.
        pub inline fn unite(to: *Set, from: *const Set) void {
            @call(call, uniteVectors, .{ to, from });
        }

        /// Whether the set has no terminal.
        pub inline fn isEmpty(a: *const Set) bool {
            return !intersects(a, a);
        }

        /// Whether the sets have a common terminal.
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
