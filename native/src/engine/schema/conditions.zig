//! Conditions of an object that are left as they stand, where alternatives of them all would be too many: each way to
//! meet one condition would be multiplied by each way to meet another.
//!
//! A condition is a formula over what members tell: whether a key came, and whether a *rule*, an assertion about
//! members or their names, was broken. Both are bits of a thread's progress, and exactly one way to set them is true of
//! each member: where a rule depends on its value, the goal of the value is split into those that satisfy the rule's
//! schema and those that do not. So one thread follows all conditions.
//!
//! Conditions that tell of no common member are *components*, each with bits of its own: the conditions can be met if
//! those of each component can. Whether a component's can is a search (a tableau): it makes the formulas true by what
//! members are still to come, to stay away, or to satisfy. What it finds is kept by the bits: up to which of the
//! component's keys members may be passed over, which is harder the more are passed. Bounds of the count, names and
//! rules for all members couple what they tell of, and so make one component.

const std = @import("std");
const NumberMap = @import("../base/number_map.zig").NumberMap;
const schema_module = @import("schema.zig");
const Schema = schema_module.Schema;
const NodeId = schema_module.NodeId;
const Range = schema_module.Range;
const goals_module = @import("goals.zig");
const Literal = goals_module.Literal;

/// Schemas on which one member can decide, each of which doubles the ways to continue.
pub const splits_max = 64;
pub const ways_max = 1 << 10;
/// Formulas within each other, which are on the stack.
pub const depth_max = 256;

/// In place of a number.
pub const none = std.math.maxInt(u32);

pub const Conditions = struct {
    /// Formulas that hold, component after component.
    roots: []const Literal,
    /// `object_members` and `object_names` in them.
    rules: []const Rule,
    /// By node: of `rules`.
    rule_of: NumberMap = .{},
    /// By key: of the known keys of the plan.
    known_of: NumberMap = .{},
    components: []const Component,
    /// By known key, the component that has it, or none; and where it stands there.
    component_of: []u32,
    place_of: []u32,
    /// By known key: the bit that says that it came, if something asks.
    came_bits: []u32,
    /// Of the state.
    n_words: u32,
    /// Bounds of the count matter.
    is_counted: bool,

    /// The bits of the rule and, where it tells of all members, whether it does.
    pub const Rule = struct { node: NodeId, bit: u32, component: u32, is_wide: bool };

    pub const Component = struct {
        roots: Range,
        /// Of the known keys, ascending.
        known: []const u32,
        /// Of `rules`.
        rules: []const u32,
        /// Of the words of a state.
        words: Range,
        /// It tells of extra members.
        is_wide: bool,
    };
};

/// Where an object is, as far as its conditions ask.
pub const At = struct {
    alternative: u32,
    /// Of the known keys in order, the first that may still come.
    next: u32,
    count: u32,
    n_came: u32,
    /// The bits.
    state: []const u32,
};

pub fn hasBit(words: []const u32, bit: u32) bool {
    return words.len > 0 and bit != none and words[bit / 32] >> @intCast(bit % 32) & 1 != 0;
}

pub fn setBit(words: []u32, bit: u32) void {
    if (bit == none) return;
    words[bit / 32] |= @as(u32, 1) << @intCast(bit % 32);
}

/// Whether it tells of members that it does not name.
pub fn isWide(schema: *const Schema, node: NodeId) bool {
    return switch (schema.nodes[node]) {
        .object_members => |atom| atom.matching.len > 0 or schema.nodes[atom.rest] != .always,
        else => true,
    };
}
