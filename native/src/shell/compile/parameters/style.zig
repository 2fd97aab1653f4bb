//! How models write the parameters of a call between tags like those of XML, under XGrammar's names: native/TAGS.md.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Tokens = @import("engine").vocabulary.Tokens;
const Symbol = @import("engine").tag_symbols.Symbol;
const Markers = @import("../tags/markers.zig").Markers;

pub const Style = enum(u3) {
    qwen_xml,
    minimax_xml,
    deepseek_xml,
    glm_xml,
    deepseek_v4_1_xml,
    kimi_k3_xml,

    pub fn texts(style: Style) *const Texts {
        return of.getPtrConst(style);
    }

    /// The control tokens that stand in its texts.
    pub fn tokens(style: Style, arena: Allocator, vocabulary: *const Tokens) Allocator.Error![]const u32 {
        var markers: Markers = .{ .arena = arena, .tokens = vocabulary };
        for (style.texts().all()) |text| _ = try symbolsOf(&markers, text);
        return markers.ids.items;
    }

    const of: std.EnumArray(Style, Texts) = .init(.{
        .qwen_xml = .{
            .before_name = "\n<parameter=",
            .before_string = ">",
            .before_other = ">\n",
            .close = "</parameter>",
            .close_other = "\n</parameter>",
            .has_lines = true,
        },
        .minimax_xml = .{
            .before_name = "\n<parameter name=\"",
            .before_string = "\">",
            .close = "</parameter>",
        },
        .deepseek_xml = .{
            .before_name = "\n<\u{ff5c}DSML\u{ff5c}parameter name=\"",
            .before_string = "\" string=\"true\">",
            .before_other = "\" string=\"false\">",
            .close = "</\u{ff5c}DSML\u{ff5c}parameter>",
            .says_which = true,
        },
        .deepseek_v4_1_xml = .{
            .before_name = "\n<\u{ff5c}DSML\u{ff5c} parameter name=\"",
            .before_string = "\" string=\"true\">",
            .before_other = "\" string=\"false\">",
            .close = "</\u{ff5c}DSML\u{ff5c} parameter>",
            .says_which = true,
        },
        .glm_xml = .{
            .before_name = "\n<arg_key>",
            .before_string = "</arg_key>\n<arg_value>",
            .close = "</arg_value>",
        },
        .kimi_k3_xml = .{
            .before_name = "\n<|open|>argument key=\"",
            .before_string = "\" type=\"string\"<|sep|>",
            .before_other = "\" type=\"" ++ Texts.type_place ++ "\"<|sep|>",
            .close = "<|close|>argument<|sep|>",
            .says_which = true,
            .names_types = true,
        },
    });
};

/// Line ends in them may be left out.
pub const Texts = struct {
    before_name: []const u8,
    /// Between the name and the value, and behind that; other values are JSON. Null: as for strings.
    before_string: []const u8,
    before_other: ?[]const u8 = null,
    close: []const u8,
    close_other: ?[]const u8 = null,
    /// A string stands on lines of its own, unless it is no longer the same then.
    has_lines: bool = false,
    /// The texts tell strings from other values. Where they do not, no string is spelt as another value may be.
    says_which: bool = false,
    /// They tell all types: there is a `type_place` before other values.
    names_types: bool = false,

    pub const type_place = "TYPE";

    pub fn all(texts: *const Texts) [5][]const u8 {
        return .{ texts.before_name, texts.before_string, texts.before_other orelse "", texts.close, texts.close_other orelse "" };
    }
};

/// A text of a style.
pub fn symbolsOf(markers: *Markers, text: []const u8) Allocator.Error![]const Symbol {
    const marker = markers.ofText(text) catch |e| switch (e) {
        error.OutOfMemory => return error.OutOfMemory,
        error.TooMany => unreachable, // a style has few
    };
    return marker.symbols;
}
