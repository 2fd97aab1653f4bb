//! How models write the parameters of a call between tags like those of XML, under XGrammar's names: docs/reference/tags.md.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Tokens = @import("engine").vocabulary.Tokens;
const Symbol = @import("engine").tag_symbols.Symbol;
const Types = @import("engine").schema.Types;
const Markers = @import("../tags/markers.zig").Markers;

pub const Style = enum(u3) {
    qwen_xml,
    minimax_xml,
    deepseek_xml,
    glm_xml,
    deepseek_v4_1_xml,
    kimi_k3_xml,
    cohere_xml,
    minimax_m3_xml,

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
            .types = &.{
                .{ .name = "null", .of = .{ .null = true } },
                .{ .name = "boolean", .of = .{ .boolean = true } },
                .{ .name = "number", .of = .number },
                .{ .name = "array", .of = .{ .array = true } },
                .{ .name = "object", .of = .{ .object = true } },
            },
        },
        .cohere_xml = .{
            .before_name = "\n<cofl:value name=\"",
            .after_name = "\"",
            .before_string = " type=\"raw\">",
            .before_other = " type=\"" ++ Texts.type_place ++ "\">",
            .close = "</cofl:value>",
            .close_other = "\n</cofl:value>",
            .not_in_names = Texts.usually_not_in_names ++ "&",
            .says_which = true,
            .types = &.{
                .{ .name = "json", .of = scalars },
                .{ .name = "dict", .of = .{ .object = true } },
                .{ .name = "list", .of = .{ .array = true } },
            },
            .items = .{ .before = "\n<cofl:value" },
        },
        .minimax_m3_xml = .{
            .before_name = "\n]<]minimax[>[<",
            .before_string = ">",
            .close = "]<]minimax[>[</" ++ Texts.name_place ++ ">",
            .close_other = "\n]<]minimax[>[</" ++ Texts.name_place ++ ">",
            .not_in_names = Texts.usually_not_in_names ++ "/",
            .not_in_strings = "]<]minimax[>[",
            .types = &.{
                .{ .of = scalars },
                .{ .of = .{ .object = true } },
                .{ .of = .{ .array = true } },
            },
            .items = .{ .before = "\n]<]minimax[>[<item", .name = "item" },
        },
    });

    const scalars: Types = .{ .null = true, .boolean = true, .integer = true, .fraction = true };
};

/// Line ends in them may be left out.
pub const Texts = struct {
    before_name: []const u8,
    after_name: []const u8 = "",
    /// Between the name and the value, and after that; other values are JSON. Null: as for strings.
    before_string: []const u8,
    before_other: ?[]const u8 = null,
    /// There may be a `name_place` in them.
    close: []const u8,
    close_other: ?[]const u8 = null,
    /// Characters of names, besides control characters and white space.
    not_in_names: []const u8 = usually_not_in_names,
    /// Null: `close`.
    not_in_strings: ?[]const u8 = null,
    /// A string stands on lines of its own, unless it is no longer the same then.
    has_lines: bool = false,
    /// The texts tell strings from other values. Where they do not, no string is spelled as another value may be.
    says_which: bool = false,
    /// What the texts tell of others: each has its name where `before_other` has a `type_place`.
    types: []const Named = &.{.{ .of = not_strings }},
    /// Objects and arrays are elements within each other, and not JSON: items are as members are but for these.
    items: ?Items = null,

    pub const Named = struct { name: []const u8 = "", of: Types };
    /// In place of what is around a name and it; the name that closes an item.
    pub const Items = struct { before: []const u8, name: []const u8 = "" };

    pub const name_place = "NAME";
    pub const type_place = "TYPE";
    const usually_not_in_names = "<>\"";
    const not_strings: Types = .{ .null = true, .boolean = true, .integer = true, .fraction = true, .array = true, .object = true };

    pub fn closesByName(texts: *const Texts) bool {
        return std.mem.find(u8, texts.close, name_place) != null;
    }

    pub fn all(texts: *const Texts) [6][]const u8 {
        return .{
            texts.before_name,
            texts.before_string,
            texts.before_other orelse "",
            texts.close,
            texts.close_other orelse "",
            if (texts.items) |items| items.before else "",
        };
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
