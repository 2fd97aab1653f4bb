//! The syntax tree of a grammar's text: what it says definition by definition, before names are looked up. It lives in the
//! arena that the parser was given, and its texts are slices of the grammar's.

const bnf = @import("../bnf.zig");
const TokenClasses = @import("../cfg/token_classes.zig").TokenClasses;
const Place = bnf.Place;
const Pattern = @import("patterns.zig").Pattern;

/// A name, string or regex in the text that stands for one symbol.
pub const Reference = union(enum) {
    /// Index of `SyntaxTree.names`.
    name: u32,
    /// Index of `SyntaxTree.patterns`.
    pattern: u32,
};

/// The right side of a definition, or a part of it.
pub const Expression = union(enum) {
    reference: Reference,
    sequence: []const Expression,
    alternatives: *List,
    /// Only of terminals: the texts that match all of them.
    intersection: *const List,
    /// Only of terminals: the texts that the only item does not match.
    complement: *const List,
    /// Only of terminals: the texts that the only item matches, and none of whose proper beginnings it matches.
    shortest: *const List,
    repeat: *const Repeat,
};

/// The operands of alternatives, an intersection or a complement.
pub const List = struct {
    items: []const Expression,
    place: Place,
    /// Alternatives as written, with their parentheses; "" if they have none.
    text: []const u8 = "",
};

/// `x?`, `[x]`, `x*`, `x+`, `x~n..m` or `x{n,m}`.
pub const Repeat = struct {
    expression: Expression,
    min: u32,
    /// null: no limit.
    max: ?u32,
    place: Place,
    /// What is repeated, as written.
    text: []const u8,
    /// The same with its operator.
    whole: []const u8,
};

/// The name of a rule, a terminal, or a precedence alone.
pub const Name = struct {
    text: []const u8,
    /// Where a rule or terminal uses it first; its first place, if none does.
    place: Place,
    is_terminal: bool,
    /// The grammar that it is a name of: `SyntaxTree.grammars`.
    grammar: u32,
    /// Index of `SyntaxTree.rules` or `SyntaxTree.terminals`.
    definition: ?u32 = null,
    /// An imported name is another name for this one of `SyntaxTree.names`.
    stands_for: ?u32 = null,
    /// Used by a rule, a terminal or %ignore.
    is_symbol: bool = false,
    /// Used by %prec.
    is_precedence: bool = false,
};

/// The definition of a rule.
pub const Rule = struct {
    name: []const u8,
    place: Place,
    alternatives: []const Alternative,
    /// 0: any number.
    tokens_max: u32 = 0,
    limit_place: Place = .{},
};

/// One alternative of a rule; those within parentheses are expressions.
pub const Alternative = struct {
    expression: Expression,
    place: Place,
    /// What its %prec names, and where.
    precedence: ?Mention = null,
};

/// A symbol that a directive names, and the grammar whose directive that is.
pub const Mention = struct { reference: Reference, place: Place, grammar: u32 = 0 };

/// The definition of a terminal.
pub const Terminal = struct {
    name: []const u8,
    place: Place,
    priority: i32 = 0,
    expression: Expression,
    /// Its lexeme ends where it matches first, whatever else could continue.
    lazy: bool = false,
    /// 0: any number.
    tokens_max: u32 = 0,
    /// If it has no name: the grammar that skips it.
    grammar: u32 = 0,
};

/// One symbol of a %left, %right or %nonassoc.
pub const Precedence = struct { mention: Mention, precedence: bnf.Precedence };

/// Lists are in the order of the text. `names` and `patterns` have each name and pattern once.
pub const SyntaxTree = struct {
    names: []const Name,
    patterns: []const Pattern,
    rules: []const Rule,
    terminals: []const Terminal,
    /// The names, strings and regexes of %ignore.
    ignored: []const Mention,
    /// The other expressions of %ignore, each named by its text.
    ignored_expressions: []const Terminal,
    soft: []const Mention,
    precedences: []const Precedence,
    /// Whether what is ignored may come before the first lexeme.
    skips_first: bool,
    /// [grammar]: of the lexemes that it skips, only one may stand between two others.
    skips_once: []const bool,
    /// Of `names`: the rule that derives whole texts.
    start: u32,
    /// What %lexing and %conflicts say.
    reading: bnf.Reading,
    /// The JSON documents that its terminals are, by number.
    parts: []const bnf.Part,
    /// Of the tokens that are named.
    tokens: *const TokenClasses,
};
