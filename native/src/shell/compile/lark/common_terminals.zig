//! The terminals of `%import common.NAME`: those of Lark's common.lark, as regexes of one piece.

const std = @import("std");

/// With its slashes.
pub fn find(name: []const u8) ?[]const u8 {
    var lines = std.mem.splitScalar(u8, terminals, '\n');
    while (lines.next()) |line| {
        const end = std.mem.findScalar(u8, line, ':').?;
        if (std.mem.eql(u8, line[0..end], name)) return line[end + ": ".len ..];
    }
    return null;
}

// One text: a table of texts would be twice as large in a library that can lie at any address.
const terminals =
    \\DIGIT: /[0-9]/
    \\HEXDIGIT: /[a-fA-F0-9]/
    \\INT: /[0-9]+/
    \\SIGNED_INT: /[+-]?[0-9]+/
    \\DECIMAL: /[0-9]+\.[0-9]*|\.[0-9]+/
    \\_EXP: /[eE][+-]?[0-9]+/
    \\FLOAT: /[0-9]+[eE][+-]?[0-9]+|([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?/
    \\SIGNED_FLOAT: /[+-]?([0-9]+[eE][+-]?[0-9]+|([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)/
    \\NUMBER: /[0-9]+[eE][+-]?[0-9]+|([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[0-9]+/
    \\SIGNED_NUMBER: /[+-]?([0-9]+[eE][+-]?[0-9]+|([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[0-9]+)/
    \\ESCAPED_STRING: /"([^"\\\n]|\\[^\n])*"/
    \\LCASE_LETTER: /[a-z]/
    \\UCASE_LETTER: /[A-Z]/
    \\LETTER: /[A-Za-z]/
    \\WORD: /[A-Za-z]+/
    \\CNAME: /[_A-Za-z][_A-Za-z0-9]*/
    \\WS_INLINE: /[ \t]+/
    \\WS: /[ \t\f\r\n]+/
    \\CR: /\r/
    \\LF: /\n/
    \\NEWLINE: /(\r?\n)+/
    \\SH_COMMENT: /#[^\n]*/
    \\CPP_COMMENT: /\/\/[^\n]*/
    \\C_COMMENT: /\/\*([^*]|\*+[^*\/])*\*+\//
    \\SQL_COMMENT: /--[^\n]*/
;
