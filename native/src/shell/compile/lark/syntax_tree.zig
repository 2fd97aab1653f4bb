//! What a grammar's text says, definition by definition, before names are looked up: the notation's abstract syntax tree.

const bnf = @import("../bnf.zig");
const Place = bnf.Place;
const Pattern = @import("patterns.zig").Pattern;

/// A name or a string of the text that stands for one symbol.
pub const Reference = union(enum) {
    /// Index of `SyntaxTree.names`.
    name: u32,
    /// Index of `SyntaxTree.patterns`.
    pattern: u32,
};

pub const Expression = union(enum) {
    reference: Reference,
    sequence: []const Expression,
    alternatives: *List,
    /// Of a terminal: what matches all of them.
    intersection: *const List,
    /// Of a terminal: what the one that is there does not match.
    complement: *const List,
    repeat: *const Repeat,

    pub const nothing: Expression = .{ .sequence = &.{} };
};

pub const List = struct {
    items: []const Expression,
    place: Place,
    /// Alternatives as written, with the parentheses around it; "" without them.
    text: []const u8 = "",
};

pub const Repeat = struct {
    expression: Expression,
    min: u32,
    /// null: without end.
    max: ?u32,
    place: Place,
    /// As written: what is repeated, and all.
    text: []const u8,
    whole: []const u8,
};

pub const Name = struct {
    text: []const u8,
    /// Where a rule or a terminal uses it first; where it stands first, if none does.
    place: Place,
    is_terminal: bool,
    /// Index of `SyntaxTree.rules` or `SyntaxTree.terminals`.
    definition: ?u32 = null,
    /// Used by a rule, a terminal or %ignore.
    is_symbol: bool = false,
    /// Used by %prec.
    is_precedence: bool = false,
};

pub const Rule = struct {
    name: []const u8,
    place: Place,
    alternatives: []const Alternative,
};

/// Of a rule, not within parentheses.
pub const Alternative = struct {
    expression: Expression,
    place: Place,
    /// Declared with %prec, and where.
    precedence: ?Mention = null,
};

pub const Mention = struct { reference: Reference, place: Place };

pub const Terminal = struct {
    name: []const u8,
    place: Place,
    priority: i32 = 0,
    expression: Expression,
};

pub const Precedence = struct { mention: Mention, precedence: bnf.Precedence };

pub const SyntaxTree = struct {
    names: []const Name,
    patterns: []const Pattern,
    rules: []const Rule,
    terminals: []const Terminal,
    /// By %ignore: names, strings, regexes.
    ignored: []const Mention,
    /// By %ignore: what else it spells out, named by its text.
    ignored_expressions: []const Terminal,
    soft: []const Mention,
    precedences: []const Precedence,
};
