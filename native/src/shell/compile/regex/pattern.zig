//! One of the patterns that an automaton tells apart.

const ast = @import("ast.zig");

/// In the order of their priority: of those that match, the first one wins.
pub const Pattern = struct {
    node: *const ast.Node,
    /// Wins only where its user says so; what it hides is in the match list behind it.
    soft: bool = false,
};
