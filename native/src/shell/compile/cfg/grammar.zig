//! A grammar as its notation has it: rules of expressions, with groups and repetition, over regular expressions.
//! Front ends make it; lower.zig makes terminals and productions of it. A text is in the language if and only
//! if some derivation has it: nothing is said about lexemes. Everything lives in the arena of whoever made it.

const ast = @import("../regex/ast.zig");
const Place = @import("../bnf.zig").Place;
const TokenSet = @import("../token_set.zig").TokenSet;

pub const Expression = union(enum) {
    /// Of characters and texts.
    pattern: *const ast.Node,
    /// Index of `Grammar.rules`.
    rule: u32,
    /// One after the other; none is the empty text.
    sequence: []const Expression,
    /// One of them; there is at least one.
    choice: []const Expression,
    repeat: *const Repeat,
    tokens: TokenSet,

    pub const empty: Expression = .{ .sequence = &.{} };
};

/// `min` to `max` times `expression`, one after the other.
pub const Repeat = struct {
    expression: Expression,
    min: u32,
    /// null: no limit.
    max: ?u32,
};

/// Rules may lead to themselves in any way.
pub const Rule = struct {
    /// As messages show it.
    name: []const u8,
    place: Place = .{},
    expression: Expression,
    attributes: Attributes = .{},
};

/// Of a rule that must be regular.
pub const Attributes = struct {
    /// Only its texts of which no proper beginning is one.
    lazy: bool = false,
    /// Null: no limit.
    characters_max: ?u32 = null,

    pub fn isEmpty(attributes: Attributes) bool {
        return !attributes.lazy and attributes.characters_max == null;
    }
};

pub const Grammar = struct {
    rules: []const Rule,
    /// The rule that derives whole texts.
    start: u32,
};
