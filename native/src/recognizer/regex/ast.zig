//! Regular expressions as trees. Made by the parsers of regular expressions and of grammars, in an
//! arena; read by the automaton's construction.

/// Code points, both ends included.
pub const Range = struct { first: u21, last: u21 };

pub const Node = union(enum) {
    /// The empty text.
    empty,
    /// Exactly these bytes; valid UTF-8, or single bytes that a grammar names.
    bytes: []const u8,
    /// One character of the ranges, which are ascending and do not touch. No range: nothing matches.
    class: []const Range,
    concat: []const *const Node,
    alternate: []const *const Node,
    repeat: Repeat,

    pub const Repeat = struct {
        node: *const Node,
        min: u32,
        /// null: without end.
        max: ?u32,
    };
};
