//! What a set of strings is given by.

const schema_module = @import("schema.zig");
const Bounds = schema_module.Bounds;
const unbounded = schema_module.unbounded;
const Dfa = @import("../language/dfa.zig").Dfa;

/// What holds together. All slices are lent for the life of the automaton.
pub const Spec = struct {
    /// In characters.
    length: Bounds = .{},
    matches: []const *const Dfa = &.{},
    mismatches: []const *const Dfa = &.{},
    /// Contents that are not in the set.
    excluded: []const []const u8 = &.{},
    /// What is excluded may be left to who knows the whole text, where no beginning tells.
    as_key: bool = false,
    /// The same of an item that must be another one than those before it.
    as_item: bool = false,
    /// If given, the set is of these contents; nothing else is asked.
    listed: ?[]const []const u8 = null,

    pub fn isFree(spec: *const Spec) bool {
        return spec.length.min == 0 and spec.length.max == unbounded and spec.matches.len == 0 and
            spec.mismatches.len == 0 and spec.excluded.len == 0 and spec.listed == null;
    }
};
