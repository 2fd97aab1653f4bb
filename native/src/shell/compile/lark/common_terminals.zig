//! The terminals that `%import common.NAME` can name: those of Lark's common.lark, each as one regex.

const std = @import("std");

/// The regex of a terminal, with its slashes; static. null: common has no such terminal.
pub fn find(name: []const u8) ?[]const u8 {
    var lines = std.mem.splitScalar(u8, terminals, '\n');
    while (lines.next()) |line| {
        const end = std.mem.findScalar(u8, line, ':').?;
        if (std.mem.eql(u8, line[0..end], name)) return line[end + ": ".len ..];
    }
    return null;
}

// One text, since a table of pointers to texts needs a relocation for each, which makes it twice as large.
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
    \\_STRING_INNER: /.*?/
    \\_STRING_ESC_INNER: /.*?(?<!\\)(\\\\)*?/
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
