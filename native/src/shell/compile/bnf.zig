//! A context-free grammar over terminals, as the parser's construction needs it: no repetition, no
//! groups. Everything lives in the arena of whoever made it.

const ast = @import("regex/ast.zig");

/// Where something stands in the grammar's text; both from 1, columns in characters. 0: nowhere.
pub const Place = struct { line: u32 = 0, column: u32 = 0 };

pub const Associativity = enum { left, right, none };

/// Higher levels bind tighter.
pub const Precedence = struct { level: u32, associativity: Associativity };

/// In the order of their priority: if several match the same lexeme, the first one wins.
pub const Terminal = struct {
    /// As messages show it: `NAME`, or `"literal"` with the quotes.
    name: []const u8,
    pattern: *const ast.Node,
    /// Wins only where the parser can take it, else the next matching terminal does.
    soft: bool = false,
    /// White space, comments: dropped before the parser.
    skip: bool = false,
    precedence: ?Precedence = null,
    place: Place = .{},
};

pub const Symbol = union(enum) {
    terminal: u16,
    rule: u16,
};

pub const Rule = struct {
    /// As messages show it. A rule that the notation's repetition made is named after where it stands.
    name: []const u8,
    place: Place = .{},
};

pub const Production = struct {
    rule: u16,
    symbols: []const Symbol,
    /// Declared for it, or that of its last terminal.
    precedence: ?Precedence = null,
    place: Place = .{},
};

pub const Bnf = struct {
    terminals: []const Terminal,
    rules: []const Rule,
    productions: []const Production,
    start: u16,
};
