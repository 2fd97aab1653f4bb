//! Lists whose members come in any order, each at most once, such as the parameters of a call. A list is a rule that leads
//! to itself at the right, with an alternative for each member; so the members that a text has had are on the stack, above
//! each other, and no parser's state is needed for each set of them. What a member begins with is not shifted above the
//! same member, and the list is not reduced before it has the members that it needs.

const std = @import("std");
const Allocator = std.mem.Allocator;
const program_module = @import("../lr/program.zig");
const Program = program_module.Program;

/// The members of a list that a text has had.
pub const Seen = std.bit_set.IntegerBitSet(AnyOrder.members_max);

/// Immutable.
pub const AnyOrder = struct {
    /// [parser's state]: the number of the member that leads there, and one; 0: none does. Empty without lists.
    members: []const u16 = &.{},
    /// [member]: its number in its list; `repeated` if it may come again.
    numbers: []const u8 = &.{},
    /// [member * width]: the terminals that it begins with.
    firsts: []const u64 = &.{},
    /// Sets of members that a list needs, as bytes. A reduction has the number of one, and one; 0: it needs none.
    needed: []const u8 = &.{},

    /// Of one list.
    pub const members_max = 128;
    pub const repeated = members_max;
    const set_bytes = members_max / 8;

    pub fn deinit(a: *AnyOrder, gpa: Allocator) void {
        inline for (comptime std.meta.fieldNames(AnyOrder)) |name| gpa.free(@field(a, name));
        a.* = undefined;
    }

    pub fn isEmpty(a: *const AnyOrder) bool {
        return a.members.len == 0;
    }

    /// Whether no operation reads beyond the arrays. The program is sound.
    pub fn isSound(a: *const AnyOrder, program: *const Program) bool {
        if (a.needed.len % set_bytes != 0) return false;
        for (program.reductions) |reduction| if (reduction.needs > a.needed.len / set_bytes) return false;
        if (a.isEmpty()) return true;
        if (a.members.len != program.nParserStates() or a.firsts.len != a.numbers.len * program.width) return false;
        for (a.members) |member| if (member > a.numbers.len) return false;
        return true;
    }

    /// The member that leads to a state.
    pub fn memberOf(a: *const AnyOrder, state: u16) ?u16 {
        return if (a.isEmpty() or a.members[state] == 0) null else a.members[state] - 1;
    }

    pub fn firstsOf(a: *const AnyOrder, member: u16, width: usize) []const u64 {
        return a.firsts[member * width ..][0..width];
    }

    /// Whether a list that has had these members may end so.
    pub fn has(a: *const AnyOrder, needs: u16, seen: Seen) bool {
        const set: Seen = .{ .mask = std.mem.readInt(Seen.MaskInt, a.needed[(needs - 1) * set_bytes ..][0..set_bytes], .little) };
        return set.subsetOf(seen);
    }

    pub fn bytesOf(set: Seen) [set_bytes]u8 {
        return std.mem.toBytes(std.mem.nativeToLittle(Seen.MaskInt, set.mask));
    }
};
