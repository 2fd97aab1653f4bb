//! The terminals of `%import common.NAME`: those of Lark's common.lark, as regexes of one piece.

const std = @import("std");

/// With its slashes.
pub fn find(name: []const u8) ?[]const u8 {
    for (terminals) |one| {
        if (std.mem.eql(u8, one[0], name)) return one[1];
    }
    return null;
}

const terminals = [_][2][]const u8{
    .{ "DIGIT", "/[0-9]/" },
    .{ "HEXDIGIT", "/[a-fA-F0-9]/" },
    .{ "INT", "/[0-9]+/" },
    .{ "SIGNED_INT", "/[+-]?[0-9]+/" },
    .{ "DECIMAL", "/[0-9]+\\.[0-9]*|\\.[0-9]+/" },
    .{ "_EXP", "/[eE][+-]?[0-9]+/" },
    .{ "FLOAT", "/" ++ float ++ "/" },
    .{ "SIGNED_FLOAT", "/[+-]?(" ++ float ++ ")/" },
    .{ "NUMBER", "/" ++ float ++ "|[0-9]+/" },
    .{ "SIGNED_NUMBER", "/[+-]?(" ++ float ++ "|[0-9]+)/" },
    .{ "ESCAPED_STRING", "/\"([^\"\\\\\\n]|\\\\[^\\n])*\"/" },
    .{ "LCASE_LETTER", "/[a-z]/" },
    .{ "UCASE_LETTER", "/[A-Z]/" },
    .{ "LETTER", "/[A-Za-z]/" },
    .{ "WORD", "/[A-Za-z]+/" },
    .{ "CNAME", "/[_A-Za-z][_A-Za-z0-9]*/" },
    .{ "WS_INLINE", "/[ \\t]+/" },
    .{ "WS", "/[ \\t\\f\\r\\n]+/" },
    .{ "CR", "/\\r/" },
    .{ "LF", "/\\n/" },
    .{ "NEWLINE", "/(\\r?\\n)+/" },
    .{ "SH_COMMENT", "/#[^\\n]*/" },
    .{ "CPP_COMMENT", "/\\/\\/[^\\n]*/" },
    .{ "C_COMMENT", "/\\/\\*([^*]|\\*+[^*\\/])*\\*+\\//" },
    .{ "SQL_COMMENT", "/--[^\\n]*/" },
};

const float = "[0-9]+[eE][+-]?[0-9]+|([0-9]+\\.[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?";
