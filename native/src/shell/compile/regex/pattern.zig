//! One of the patterns that a DFA tells apart.

const ast = @import("ast.zig");

/// Patterns are listed by priority: of those that match, the first one wins.
pub const Pattern = struct {
    node: *const ast.Node,
    /// Wins only where whoever uses the DFA says so: the patterns after it stay in the match list.
    soft: bool = false,
    /// Also matches all texts that begin with one that matches. Not for soft ones.
    open: bool = false,
};
