//! A grammar in BNF: terminals, rules and productions, with no groups and no repetition. It is what the notation's front end
//! hands to the lexer's and the parser's construction. Everything lives in the arena of whoever made it.

const Writer = @import("std").Io.Writer;
const message = @import("message");
const ast = @import("regex/ast.zig");
const Bytes = @import("engine").parts.Bytes;
const Seen = @import("engine").any_order.Seen;
const Lexing = @import("engine").ambiguous.Lexing;
const SchemaOptions = @import("schema/compile.zig").Options;
const NamedTokens = @import("engine").named_tokens.NamedTokens;

/// A position in a grammar's text; both from 1, columns in characters. Line 0: none, and messages leave it out.
pub const Place = struct {
    line: u32 = 0,
    column: u32 = 0,
    /// If the text is not the caller's own grammar, but one that is imported.
    within: ?*const Import = null,

    /// For {f}: "line:column", after the place and the name of each import that leads there.
    pub fn format(place: Place, writer: *Writer) Writer.Error!void {
        if (place.within) |outer| try message.write(writer, "{f}: in {s}: ", .{ outer.place, outer.name });
        try message.write(writer, "{d}:{d}", .{ place.line, place.column });
    }
};

/// Where a grammar is first asked for, and its name.
pub const Import = struct { place: Place, name: []const u8 };

/// What an operator does next to one of its own level; `none` refuses that.
pub const Associativity = enum { left, right, none };

/// As yacc's %left, %right and %nonassoc declare it. Higher levels bind tighter.
pub const Precedence = struct { level: u32, associativity: Associativity };

/// Terminals are listed by priority: if several match the same lexeme, the first one wins.
pub const Terminal = struct {
    /// As messages show it: `NAME`, or `"literal"` with the quotes.
    name: []const u8,
    pattern: *const ast.Node,
    /// Wins only where the parser can shift it; otherwise the next terminal that matches does.
    soft: bool = false,
    /// Dropped before the parser, as white space and comments are.
    skip: bool = false,
    /// If it is ignored: also before the first lexeme.
    leads: bool = true,
    /// If it is ignored: of those of which this is so, one at most between two other lexemes.
    once: bool = false,
    /// No text matches, whatever other terminals there are.
    matches_nothing: bool = false,
    /// Where it matches first its lexeme ends, and is no other.
    lazy: bool = false,
    /// The most tokens that its lexeme may have; 0: any number.
    tokens_max: u32 = 0,
    /// Its pattern has look-around, or lazy repeats (cfg/contexts.zig).
    looks: bool = false,
    /// It is one string.
    literal: bool = false,
    /// It was skipped: what can come between two lexemes.
    separates: bool = false,
    precedence: ?Precedence = null,
    /// No text has it: after it comes what comes after the empty text.
    marks: bool = false,
    /// It is a JSON document: the bytes that one can begin with.
    firsts: ?Bytes = null,
    place: Place = .{},
};

/// An index into the grammar's terminals or rules.
pub const Symbol = union(enum) {
    terminal: u16,
    rule: u16,
};

/// A nonterminal. Its alternatives are the productions that name it.
pub const Rule = struct {
    /// As messages show it. A helper rule is named after the text that it comes from.
    name: []const u8,
    place: Place = .{},
    /// If it is a member of a list in any order (engine/glr/any_order.zig): its number there, or `AnyOrder.repeated`.
    member: ?u8 = null,
};

/// One alternative of a rule. Without symbols it derives the empty text.
pub const Production = struct {
    rule: u16,
    symbols: []const Symbol,
    /// Declared with %prec, or that of its last terminal.
    precedence: ?Precedence = null,
    place: Place = .{},
    /// The number of what a list must have had, in `Bnf.needed`, and one; 0: nothing.
    needs: u16 = 0,
};

/// A rule of which a text may have so many tokens. Its only production has the terminals `begin` and `end` around it, which
/// no text has.
pub const CountedRule = struct { begin: u16, end: u16, tokens_max: u16 };

/// A terminal of which a text has a bounded number of characters. The node says nothing of it.
pub const BoundedText = struct { terminal: u16, node: *const ast.Node, min: u32, max: u32 };

/// The whole grammar. Productions need not be grouped by rule.
pub const Bnf = struct {
    terminals: []const Terminal,
    rules: []const Rule,
    productions: []const Production,
    /// The rule that derives whole texts.
    start: u16,
    counted: []const CountedRule = &.{},
    texts: []const BoundedText = &.{},
    /// Sets of members of lists in any order.
    needed: []const Seen = &.{},
};

/// What becomes of conflicts that no precedence resolves.
pub const Conflicts = enum {
    /// Every parse is followed, and a warning names the first conflict.
    follow,
    /// The parser reads on. Two ways to end an alternative are an error.
    shift,
    /// An error.
    refuse,
};

/// A JSON Schema in the grammar.
pub const Part = struct { text: []const u8, options: SchemaOptions, place: Place };

/// How texts are read by a grammar.
pub const Reading = struct {
    lexing: Lexing,
    conflicts: Conflicts = .follow,
    /// The tokens that its terminals name.
    tokens: *const NamedTokens = &.{},
    /// How many JSON documents its terminals are.
    n_parts: usize = 0,
    /// Of the vocabulary, where there are texts of bounded length.
    token_bytes_max: usize = 0,
    /// Terminals were cut by what is around them.
    is_split: bool = false,

    /// Whether lexemes are all that there is, and each is one terminal's.
    pub fn isPlain(reading: Reading) bool {
        return reading.tokens.isEmpty() and reading.n_parts == 0 and !reading.is_split;
    }
};
