//! The formats of JSON Schema 2020-12, and those that Pydantic and Zod write, as automata. Each follows its RFC, or what
//! the two check; where no automaton of a sensible size can, it says so below.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Arena = @import("engine").arena.Arena;
const engine = @import("engine");
const message = @import("message");
const diagnostic = engine.diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = engine.budget.Budget;
const Range = @import("../regex/ast.zig").Range;
const CharacterSet = @import("../regex/character_set.zig").CharacterSet;
const unicode = @import("../regex/unicode.zig");
const patterns = @import("patterns.zig");

pub const Dfa = patterns.Dfa;
pub const Error = Allocator.Error || diagnostic.Error;

pub const Format = enum {
    @"date-time",
    date,
    time,
    duration,
    email,
    @"idn-email",
    hostname,
    @"idn-hostname",
    ipv4,
    ipv6,
    uri,
    @"uri-reference",
    iri,
    @"iri-reference",
    @"uri-template",
    uuid,
    @"json-pointer",
    @"relative-json-pointer",
    regex,
    // Of Pydantic and Zod.
    uuid1,
    uuid3,
    uuid4,
    uuid5,
    uuid6,
    uuid7,
    uuid8,
    ipv4interface,
    ipv4network,
    ipv6interface,
    ipv6network,
    ipvanyaddress,
    ipvanyinterface,
    ipvanynetwork,
    cidrv4,
    cidrv6,
    mac,
    @"multi-host-uri",
    @"name-email",
    base64,
    base64url,
    jwt,
    nanoid,
    cuid,
    cuid2,
    ulid,
    xid,
    ksuid,
    e164,
    emoji,
    hex,
    iban,
    credit_card,
    currency_code,
    fraction,
    color,
    md5_hex,
    md5_base64,
    md5_base64url,
    sha1_hex,
    sha1_base64,
    sha1_base64url,
    sha256_hex,
    sha256_base64,
    sha256_base64url,
    sha384_hex,
    sha384_base64,
    sha384_base64url,
    sha512_hex,
    sha512_base64,
    sha512_base64url,
};

/// Null if no format that can be asserted has this name.
pub fn find(name: []const u8) ?Format {
    @setEvalBranchQuota(20_000);
    return std.meta.stringToEnum(Format, name);
}

/// Whether a format asserts nothing of a string's text.
pub fn isAnnotation(name: []const u8) bool {
    for ([_][]const u8{ "password", "binary", "path", "file-path", "directory-path" }) |one| {
        if (std.mem.eql(u8, one, name)) return true;
    }
    return false;
}

/// Characters that a string of the format may have at most, which its automaton does not count.
pub fn lengthMax(format: Format) ?u32 {
    return switch (format) {
        .hostname, .@"idn-hostname" => 253,
        else => null,
    };
}

/// `arena` is for what is needed on the way.
pub fn compile(gpa: Allocator, arena: Allocator, format: Format, budget: *Budget, diag: *Diagnostic) Error!Dfa {
    const expression = switch (format) {
        .@"date-time" => try join(arena, &.{ date, "[Tt]", try time(arena) }),
        .date => date,
        .time => try time(arena),
        .duration => duration,
        .email => email,
        .@"idn-email" => idn_email,
        .hostname => hostname,
        .@"idn-hostname" => try idnHostname(arena),
        .ipv4 => ipv4,
        .ipv6 => ipv6,
        .uri => try resource(arena, .ascii, false),
        .@"uri-reference" => try resource(arena, .ascii, true),
        .iri => try resource(arena, .unicode, false),
        .@"iri-reference" => try resource(arena, .unicode, true),
        .@"uri-template" => uri_template,
        .uuid => "[\\da-fA-F]{8}(?:-[\\da-fA-F]{4}){3}-[\\da-fA-F]{12}",
        inline .uuid1, .uuid3, .uuid4, .uuid5, .uuid6, .uuid7, .uuid8 => |one| uuidOf(@tagName(one)[4..]),
        .ipv4interface => ipv4 ++ "(?:/" ++ ipv4_prefix ++ ")?",
        .ipv4network => try ipv4Network(arena),
        .ipv6interface => ipv6 ++ "(?:/" ++ ipv6_prefix ++ ")?",
        .ipv6network => try ipv6Network(arena),
        .ipvanyaddress => ipv4 ++ "|" ++ ipv6,
        .ipvanyinterface => ipv4 ++ "(?:/" ++ ipv4_prefix ++ ")?|" ++ ipv6 ++ "(?:/" ++ ipv6_prefix ++ ")?",
        .ipvanynetwork => try join(arena, &.{ try ipv4Network(arena), "|", try ipv6Network(arena) }),
        .cidrv4 => ipv4 ++ "/" ++ ipv4_prefix,
        .cidrv6 => ipv6 ++ "/" ++ ipv6_prefix,
        .mac => "(?:[\\dA-F]{2}:){5}[\\dA-F]{2}|(?:[\\da-f]{2}:){5}[\\da-f]{2}",
        .@"multi-host-uri" => try multiHost(arena),
        .@"name-email" => "[\\p{L}\\p{M}\\p{N}_ ]+ <" ++ email ++ ">|" ++ email,
        .base64 => "(?:" ++ sextet ++ "{4})*(?:" ++ sextet ++ "{2}==|" ++ sextet ++ "{3}=)?",
        // RFC 4648 lets its padding be left out.
        .base64url => "(?:" ++ url_sextet ++ "{4})*(?:" ++ url_sextet ++ "{2}(?:==)?|" ++ url_sextet ++ "{3}=?)?",
        .jwt => url_bytes ++ "\\." ++ url_bytes ++ "\\.(?:" ++ url_bytes ++ ")?",
        .nanoid => url_sextet ++ "{21}",
        .cuid => "[cC][\\da-z]{6,}",
        .cuid2 => "[\\da-z]+",
        .ulid => "[0-7][\\dA-HJKMNP-TV-Za-hjkmnp-tv-z]{25}",
        .xid => "[\\da-vA-V]{20}",
        .ksuid => "[\\da-zA-Z]{27}",
        .e164 => "\\+[1-9]\\d{6,14}",
        .emoji => "(?=[^]*[\\p{Extended_Pictographic}\\p{Regional_Indicator}\\u20e3])[\\p{Extended_Pictographic}\\p{Emoji_Component}]+",
        .hex => "[\\da-fA-F]*",
        .iban => "[A-Z]{2}(?!00|01|99)\\d{2}[A-Z\\d]{11,30}",
        .credit_card => "\\d(?:[ -]?\\d){11,18}",
        .currency_code => "[A-Z]{3}",
        .fraction => "[+-]?\\d+(?:/\\d*[1-9]\\d*|\\.\\d+)?",
        .color => "#(?:[\\da-fA-F]{3,4}|[\\da-fA-F]{6}|[\\da-fA-F]{8})",
        inline .md5_hex, .sha1_hex, .sha256_hex, .sha384_hex, .sha512_hex => |one| comptime hash(@tagName(one)),
        inline .md5_base64, .sha1_base64, .sha256_base64, .sha384_base64, .sha512_base64 => |one| comptime hash(@tagName(one)),
        inline .md5_base64url, .sha1_base64url, .sha256_base64url, .sha384_base64url, .sha512_base64url => |one| comptime hash(
            @tagName(one),
        ),
        .@"json-pointer" => json_pointer,
        .@"relative-json-pointer" => "(?:0|[1-9]\\d*)(?:#|" ++ json_pointer ++ ")",
        .regex => try regularExpression(arena),
    };
    const whole = try join(arena, &.{ "^(?:", expression, ")$" });
    return patterns.compile(gpa, arena, whole, budget, diag);
}

// ---- Date and time: RFC 3339

const date = "(?:\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])" ++
    "|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))" ++
    "|(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)";

const fraction = "(?:\\.\\d+)?";

/// A leap second is the last one of a day of UTC, so that it goes with the offset: 23:59:60Z is 05:29:60+05:30.
/// It is taken with the offsets that are in use, multiples of a quarter of an hour.
fn time(arena: Allocator) Allocator.Error![]const u8 {
    var text: ArrayList(u8) = .empty;
    try text.appendSlice(arena, "(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d" ++ fraction ++
        "(?:[Zz]|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)" ++
        "|23:59:60" ++ fraction ++ "[Zz]");
    for (0..24) |hour| for (0..4) |quarter| {
        const minute = quarter * 15 + 14;
        const after = (hour * 60 + minute + 1) % (24 * 60); // midnight of UTC
        const before = 23 * 60 + 59 - (hour * 60 + minute);
        try text.appendSlice(arena, "|");
        try appendTime(arena, &text, hour * 60 + minute);
        try text.appendSlice(arena, ":60" ++ fraction ++ "(?:\\+");
        try appendTime(arena, &text, after);
        try text.appendSlice(arena, "|-");
        try appendTime(arena, &text, before);
        try text.appendSlice(arena, ")");
    };
    try text.appendSlice(arena, ")");
    return text.items;
}

fn appendTime(arena: Allocator, text: *ArrayList(u8), minutes: usize) Allocator.Error!void {
    for ([_]usize{ minutes / 60, minutes % 60 }, [_][]const u8{ ":", "" }) |number, between| {
        try text.appendSlice(arena, &.{ '0' + @as(u8, @intCast(number / 10)), '0' + @as(u8, @intCast(number % 10)) });
        try text.appendSlice(arena, between);
    }
}

/// Appendix A: no unit is left out between two others.
const duration = "P(?:" ++ days ++ "(?:T" ++ hours ++ ")?|T" ++ hours ++ "|\\d+W)";
const days = "(?:\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D)";
const hours = "(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)";

// ---- Hosts and addresses

const ipv4 = octet ++ "(?:\\." ++ octet ++ "){3}";
const octet = "(?:\\d|[1-9]\\d|1\\d\\d|2[0-4]\\d|25[0-5])";

/// RFC 3986: `::` stands for one group or more.
const ipv6 = blk: {
    const h16 = "[\\da-fA-F]{1,4}";
    const ls32 = "(?:" ++ h16 ++ ":" ++ h16 ++ "|" ++ ipv4 ++ ")";
    break :blk "(?:(?:(?:" ++ h16 ++ ":){6}" ++
        "|::(?:" ++ h16 ++ ":){5}" ++
        "|(?:" ++ h16 ++ ")?::(?:" ++ h16 ++ ":){4}" ++
        "|(?:" ++ h16 ++ "(?::" ++ h16 ++ "){0,1})?::(?:" ++ h16 ++ ":){3}" ++
        "|(?:" ++ h16 ++ "(?::" ++ h16 ++ "){0,2})?::(?:" ++ h16 ++ ":){2}" ++
        "|(?:" ++ h16 ++ "(?::" ++ h16 ++ "){0,3})?::" ++ h16 ++ ":" ++
        "|(?:" ++ h16 ++ "(?::" ++ h16 ++ "){0,4})?::)" ++ ls32 ++
        "|(?:" ++ h16 ++ "(?::" ++ h16 ++ "){0,5})?::" ++ h16 ++
        "|(?:" ++ h16 ++ "(?::" ++ h16 ++ "){0,6})?::)";
};

const ipv4_prefix = "(?:[12]?\\d|3[0-2])";
const ipv6_prefix = "(?:[1-9]?\\d|1[01]\\d|12[0-8])";

/// All bits after the prefix are 0, as Python demands; alone it is an address.
fn ipv4Network(arena: Allocator) Allocator.Error![]const u8 {
    var text: ArrayList(u8) = .empty;
    try text.appendSlice(arena, "(?:" ++ ipv4 ++ "(?:/32)?");
    for (0..32) |prefix| {
        try text.appendSlice(arena, "|");
        for (0..4) |i| {
            if (i > 0) try text.appendSlice(arena, "\\.");
            const bits = @min(prefix -| 8 * i, 8);
            if (bits == 8) {
                try text.appendSlice(arena, octet);
                continue;
            }
            const step = @as(usize, 256) >> @intCast(bits);
            try text.appendSlice(arena, "(?:0");
            for (1..@as(usize, 1) << @intCast(bits)) |n| try appendNumber(arena, &text, "|", n * step);
            try text.appendSlice(arena, ")");
        }
        try appendNumber(arena, &text, "/", prefix);
    }
    try text.appendSlice(arena, ")");
    return text.items;
}

/// The same, where groups are left out by `::` at the end, and all digits of a group in which the prefix ends are written.
fn ipv6Network(arena: Allocator) Allocator.Error![]const u8 {
    var text: ArrayList(u8) = .empty;
    try text.appendSlice(arena, "(?:" ++ ipv6 ++ "(?:/128)?|::/0");
    for (1..128) |prefix| {
        const groups = (prefix + 15) / 16;
        if (groups == 8) break;
        try text.appendSlice(arena, "|");
        for (1..groups) |_| try text.appendSlice(arena, "[\\da-fA-F]{1,4}:");
        if (prefix % 16 == 0) {
            try text.appendSlice(arena, "[\\da-fA-F]{1,4}");
        } else for (0..4) |i| try text.appendSlice(arena, switch ((prefix - 1) % 16 + 1 -| 4 * i) {
            0 => "0",
            1 => "[08]",
            2 => "[048cC]",
            3 => "[02468aceACE]",
            else => "[\\da-fA-F]",
        });
        try appendNumber(arena, &text, "::/", prefix);
    }
    try text.appendSlice(arena, ")");
    return text.items;
}

fn appendNumber(arena: Allocator, text: *ArrayList(u8), before: []const u8, number: usize) Allocator.Error!void {
    var buffer: [24]u8 = undefined;
    try text.appendSlice(arena, message.print(&buffer, "{s}{d}", .{ before, number }));
}

// ---- Numbers and bytes as text

fn uuidOf(comptime version: []const u8) []const u8 {
    return "[\\da-fA-F]{8}-[\\da-fA-F]{4}-" ++ version ++ "[\\da-fA-F]{3}-[89abAB][\\da-fA-F]{3}-[\\da-fA-F]{12}";
}

const sextet = "[\\da-zA-Z+/]";
const url_sextet = "[\\w-]";
const url_bytes = "(?:" ++ url_sextet ++ "{4})*(?:" ++ url_sextet ++ "{2,4})";

/// Of a name such as `sha256_base64url`.
fn hash(comptime name: []const u8) []const u8 {
    const at = std.mem.findScalar(u8, name, '_').?;
    const n = if (name[0] == 'm') 16 else if (at == 4) 20 else (std.fmt.parseInt(usize, name[3..at], 10) catch unreachable) / 8;
    const padding = (3 - n % 3) % 3;
    const sextets = std.fmt.comptimePrint("{{{d}}}", .{(n * 8 + 5) / 6});
    if (std.mem.endsWith(u8, name, "_hex")) return std.fmt.comptimePrint("[\\da-fA-F]{{{d}}}", .{2 * n});
    return if (std.mem.endsWith(u8, name, "url")) url_sextet ++ sextets else sextet ++ sextets ++ "=="[0..padding];
}

/// RFC 1123, with labels of 63 characters at most.
const hostname = label ++ "(?:\\." ++ label ++ ")*";
const label = "[\\da-zA-Z](?:[\\da-zA-Z-]{0,61}[\\da-zA-Z])?";

/// RFC 5890 to 5892: which characters a label may have, and what must stand beside some of them.
/// Not enforced: the length of a label, which is that of its Punycode; that normalisation leaves a label as it is;
/// RFC 5893, on the direction of writing; and of Punycode that is written out, all but that its first number is
/// complete. Refused though valid: two hyphens side by side, which only the third and fourth place forbid; labels of
/// several scripts with a Katakana middle dot or with digits of Arabic; joiners that follow no virama, but between
/// letters of Arabic.
fn idnHostname(arena: Allocator) Allocator.Error![]const u8 {
    const letters = try idnCharacters(arena, &.{ "Ll", "Lo", "Lm", "Nd" });
    const marks = try idnCharacters(arena, &.{ "Mn", "Mc" });
    const any_label = try join(arena, &.{
        "(?:[" ++ idn_exceptions,
        letters,
        "]" ++ idn_in_context ++ ")(?:-?(?:[" ++ idn_exceptions,
        letters,
        marks,
        "]",
        "|" ++ virama ++ "[\u{200c}\u{200d}]" ++ idn_in_context ++ "))*",
    });
    const label_of_any = try join(arena, &.{ "(?:", any_label, idn_other_labels ++ ")" });
    return join(arena, &.{ label_of_any, "(?:[.\u{3002}\u{ff0e}\u{ff61}]", label_of_any, ")*" });
}

const idn_exceptions = "\\da-zA-Z\u{6fd}\u{6fe}\u{f0b}\u{3007}";
const virama = "[\u{94d}\u{9cd}\u{a4d}\u{acd}\u{b4d}\u{bcd}\u{c4d}\u{ccd}\u{d4d}\u{dca}\u{e3a}\u{f84}\u{1039}]";
const idn_in_context = "|(?:l\u{b7})+l|\u{375}[\u{3ac}-\u{3ce}]|[\u{5d0}-\u{5ea}][\u{5f3}\u{5f4}]+" ++
    "|" ++ arabic ++ "(?:\\p{Mn}*\u{200c}\\p{Mn}*" ++ arabic ++ ")+";
const arabic = "[\u{620}-\u{63f}\u{641}-\u{64a}]";

/// With a Katakana middle dot; with either digits of Arabic; and in Punycode: `xn--`, the ASCII characters of the
/// label, and numbers in base 36, each of which ends with a small digit.
const idn_other_labels = blk: {
    const kana = "\u{3005}\u{3007}\u{3041}-\u{3096}\u{309d}\u{309e}\u{30a1}-\u{30fa}\u{30fc}-\u{30fe}" ++
        "\u{3400}-\u{4dbf}\u{4e00}-\u{9fff}";
    const letter = "\u{620}-\u{63f}\u{641}-\u{64a}\u{66e}-\u{6d3}";
    const mark = "\u{64b}-\u{65f}";
    break :blk "|(?:[\\da-zA-Z\u{30fb}]+-?)*[" ++ kana ++ "](?:-?[\\da-zA-Z\u{30fb}" ++ kana ++ "])*" ++
        "|[" ++ letter ++ "\u{660}-\u{669}](?:-?[" ++ letter ++ mark ++ "\u{660}-\u{669}])*" ++
        "|[\\d" ++ letter ++ "\u{6f0}-\u{6f9}](?:-?[\\d" ++ letter ++ mark ++ "\u{6f0}-\u{6f9}])*" ++
        "|[xX][nN]--(?:[\\da-zA-Z]+-)*(?:[aA]|[b-zB-Z\\d](?:[aA]|[b-zB-Z\\d]\\d*[a-zA-Z]))[\\da-zA-Z]*";
};

/// Of these general categories, but for ASCII, as the inside of a class.
fn idnCharacters(arena: Allocator, categories: []const []const u8) Allocator.Error![]const u8 {
    var mask: u32 = 0;
    for (categories) |name| mask |= unicode.find(name).?.categories;
    var set: CharacterSet = .{};
    try unicode.append(arena, &set.ranges, (unicode.Property{ .categories = mask }).complement());
    try set.ranges.appendSlice(arena, &idn_disallowed);
    set.normalise();
    try set.negate(arena);
    var text: ArrayList(u8) = .empty;
    for (set.ranges.items) |range| {
        var buffer: [32]u8 = undefined;
        try text.appendSlice(arena, std.fmt.bufPrint(&buffer, "\\u{{{x}}}-\\u{{{x}}}", .{ range.first, range.last }) catch unreachable);
    }
    return text.items;
}

/// RFC 5892: exceptions, old Hangul, what is ignorable, symbols of music; and those in blocks of letters that all
/// have another normalisation.
const idn_disallowed = [_]Range{
    .{ .first = 0, .last = 0x7f },
    .{ .first = 0xaa, .last = 0xba },
    .{ .first = 0x2b0, .last = 0x2b8 },
    .{ .first = 0x34f, .last = 0x34f },
    .{ .first = 0x640, .last = 0x640 },
    .{ .first = 0x660, .last = 0x669 },
    .{ .first = 0x6f0, .last = 0x6f9 },
    .{ .first = 0x7fa, .last = 0x7fa },
    .{ .first = 0x1100, .last = 0x11ff },
    .{ .first = 0x17b4, .last = 0x17b5 },
    .{ .first = 0x180b, .last = 0x180f },
    .{ .first = 0x20d0, .last = 0x214f },
    .{ .first = 0x302e, .last = 0x302f },
    .{ .first = 0x3031, .last = 0x3035 },
    .{ .first = 0x303b, .last = 0x303b },
    .{ .first = 0x3131, .last = 0x318e },
    .{ .first = 0xa960, .last = 0xa97f },
    .{ .first = 0xd7b0, .last = 0xd7ff },
    .{ .first = 0xf900, .last = 0xfdff },
    .{ .first = 0xfe00, .last = 0xfe1f },
    .{ .first = 0xfe70, .last = 0xffef },
    .{ .first = 0x1d100, .last = 0x1d7ff },
    .{ .first = 0x1ee00, .last = 0x1eeff },
    .{ .first = 0x2f800, .last = 0x2fa1f },
    .{ .first = 0xe0000, .last = 0x10ffff },
};

/// RFC 5321; RFC 6531 adds what is not ASCII.
const email = mailbox("");
const idn_email = mailbox("\\u{80}-\\u{10ffff}");

fn mailbox(comptime more: []const u8) []const u8 {
    const atom = "[\\w!#$%&'*+/=?^`{|}~" ++ more ++ "-]+";
    const quoted = "\"(?:[ !#-\\[\\]-~" ++ more ++ "]|\\\\[ -~])*\"";
    const part = "[\\da-zA-Z" ++ more ++ "](?:[\\da-zA-Z" ++ more ++ "-]*[\\da-zA-Z" ++ more ++ "])?";
    const literal = "\\[(?:" ++ ipv4 ++ "|[iI][pP][vV]6:" ++ ipv6 ++ ")\\]";
    return "(?:" ++ atom ++ "(?:\\." ++ atom ++ ")*|" ++ quoted ++ ")@(?:" ++ part ++ "(?:\\." ++ part ++ ")*|" ++ literal ++ ")";
}

// ---- Resources: RFC 3986, 3987, 6570

const percent = "%[\\da-fA-F]{2}";
const ucs = "\\u{a0}-\\u{d7ff}\\u{f900}-\\u{fdcf}\\u{fdf0}-\\u{ffef}" ++ blk: {
    var ranges: []const u8 = "";
    for (1..15) |plane| {
        const first = if (plane == 14) "1000" else "0000";
        ranges = ranges ++ std.fmt.comptimePrint("\\u{{{x}{s}}}-\\u{{{x}fffd}}", .{ plane, first, plane });
    }
    break :blk ranges;
};
const private = "\\u{e000}-\\u{f8ff}\\u{f0000}-\\u{ffffd}\\u{100000}-\\u{10fffd}";

/// The parts are put together when they are asked for: all together they are some kilobytes long.
fn resource(arena: Allocator, characters: enum { ascii, unicode }, relative: bool) Allocator.Error![]const u8 {
    const more = if (characters == .unicode) ucs else "";
    const more_of_query = if (characters == .unicode) private else "";
    const plain = try join(arena, &.{ "\\w.~!$&'()*+,;=", more }); // unreserved and sub-delims, but for the hyphen
    const character = try join(arena, &.{ "(?:[", plain, ":@-]|" ++ percent ++ ")" });
    const segments = try join(arena, &.{ "(?:/", character, "*)*" });
    const user = try join(arena, &.{ "(?:(?:[", plain, ":-]|" ++ percent ++ ")*@)?" });
    const name = try join(arena, &.{ "(?:[", plain, "-]|" ++ percent ++ ")*" });
    const future = "[vV][\\da-fA-F]+\\.[\\w.~!$&'()*+,;=:-]+";
    const authority = try join(arena, &.{ user, "(?:\\[(?:" ++ ipv6 ++ "|" ++ future ++ ")\\]|", name, ")(?::\\d*)?" });
    const rooted = try join(arena, &.{ "(?://", authority, segments, "|/(?:", character, "+", segments, ")?|" });
    const scheme = "[a-zA-Z][\\da-zA-Z+.-]*:";
    const absolute = try join(arena, &.{ scheme, rooted, character, "+", segments, ")?" });
    // A colon in the first segment would end a scheme.
    const either = try join(arena, &.{ "(?:", absolute, "|", rooted, "(?:[", plain, "@-]|" ++ percent ++ ")+", segments, ")?)" });
    const rest = try join(
        arena,
        &.{ "(?:[", plain, ":@/?", more_of_query, "-]|" ++ percent ++ ")*)?(?:#(?:[", plain, ":@/?-]|" ++ percent ++ ")*)?" },
    );
    return join(arena, &.{ if (relative) either else absolute, "(?:\\?", rest });
}

/// A URI of several hosts, each with its own port, as databases have them.
fn multiHost(arena: Allocator) Allocator.Error![]const u8 {
    const plain = "\\w.~!$&'()*+;="; // without the comma and the hyphen
    const user = "(?:(?:[" ++ plain ++ ",:-]|" ++ percent ++ ")*@)?";
    const host = "(?:\\[(?:" ++ ipv6 ++ ")\\]|(?:[" ++ plain ++ "-]|" ++ percent ++ ")+)(?::\\d+)?";
    const character = "(?:[" ++ plain ++ ",:@-]|" ++ percent ++ ")";
    const after = "(?:[" ++ plain ++ ",:@/?-]|" ++ percent ++ ")*";
    return join(arena, &.{
        "[a-zA-Z][\\da-zA-Z+.-]*://" ++ user ++ host ++ "(?:,",         user ++ host ++ ")*(?:/",
        character ++ "*)*(?:\\?" ++ after ++ ")?(?:#" ++ after ++ ")?",
    });
}

fn join(arena: Allocator, parts: []const []const u8) Allocator.Error![]const u8 {
    return std.mem.concat(arena, u8, parts);
}

const uri_template = blk: {
    const literal = "[!#$&(-;=?-\\[\\]_a-z~" ++ ucs ++ private ++ "]";
    const letter = "(?:\\w|" ++ percent ++ ")";
    const variable = letter ++ "(?:\\.?" ++ letter ++ ")*(?::[1-9]\\d{0,3}|\\*)?";
    break :blk "(?:" ++ literal ++ "|" ++ percent ++ "|\\{[+#./;?&=,!@|]?" ++ variable ++ "(?:," ++ variable ++ ")*\\})*";
};

// ---- JSON pointers: RFC 6901

const json_pointer = "(?:/(?:[^~/]|~[01])*)*";

// ---- Regular expressions: ECMA-262

/// Groups within groups.
const regex_nesting_max = 8;

/// Enforced: groups and classes are closed, what is repeated is there, and escapes are known. Not enforced: that
/// bounds and the ends of ranges are the right way round, that the group of a back-reference is there, and that no
/// look-behind is repeated. Refused though valid: groups that are nested deeper, `\0`, `\k`, and a lone opening brace.
fn regularExpression(arena: Allocator) Allocator.Error![]const u8 {
    const repeat = "(?:(?:[*+?]|\\{\\d+(?:,\\d*)?\\})\\??)?";
    const escape = "\\\\(?:[dDwWsSfnrtv1-9!-/:-@\\[-`{-~]|c[a-zA-Z]|x[\\da-fA-F]{2}|u[\\da-fA-F]{4}" ++
        "|u\\{[\\da-fA-F]{1,6}\\}|[pP]\\{[\\w=]+\\})";
    const class = "\\[\\^?(?:[^\\\\\\]]|\\\\b|" ++ escape ++ ")*\\]";
    const simple = "\\||\\^|\\$|\\\\[bB]|(?:[^\\\\^$*+?()\\[{|]|" ++ escape ++ "|" ++ class ++ ")" ++ repeat;
    const open = "(?:" ++ simple ++ "|\\((?:\\?(?:<?[=!]|:|<[a-zA-Z_$][\\w$]*>))?";
    var all: []const u8 = "(?:" ++ simple ++ ")*";
    for (0..regex_nesting_max) |_| all = try join(arena, &.{ open, all, "\\)" ++ repeat ++ ")*" });
    return all;
}

const Case = struct { format: Format, valid: []const []const u8, invalid: []const []const u8 };

fn expectCase(case: Case) !void {
    const gpa = std.testing.allocator;
    var arena: Arena = .init(gpa);
    defer arena.deinit();
    var budget: Budget = .{};
    var diag: Diagnostic = .{};
    var dfa = try compile(gpa, arena.allocator(), case.format, &budget, &diag);
    defer dfa.deinit(gpa);
    for ([_][]const []const u8{ case.invalid, case.valid }, [_]bool{ false, true }) |texts, expected| for (texts) |text| {
        errdefer std.debug.print("{t}: {s}\n", .{ case.format, text });
        try std.testing.expectEqual(expected, patterns.accepts(&dfa, text));
    };
}

test "formats take what their RFCs say" {
    for ([_]Case{
        .{
            .format = .@"date-time",
            .valid = &.{ "1963-06-19T08:30:06.283185Z", "2020-02-29t00:00:00z", "1998-12-31T15:59:60.123-08:00" },
            .invalid = &.{ "1998-12-31T22:59:60Z", "1990-02-31T15:59:59Z", "2013-350T01:01:01", "1963-06-11T0\u{9ea}:00:00Z" },
        },
        .{
            .format = .date,
            .valid = &.{ "1963-06-19", "2000-02-29", "2024-02-29", "0000-01-01" },
            .invalid = &.{ "1900-02-29", "2023-02-29", "2020-04-31", "2020-00-01", "1998-1-20", "20230328", "" },
        },
        .{
            .format = .time,
            .valid = &.{ "08:30:06Z", "08:30:06-08:00", "23:59:60Z", "01:29:60+01:30", "05:44:60+05:45", "00:29:60-23:30" },
            .invalid = &.{ "23:59:60+01:00", "22:59:60Z", "24:00:00Z", "12:00:00", "01:02:03+24:00", "08:30:06 PST" },
        },
        .{
            .format = .duration,
            .valid = &.{ "P4DT12H30M5S", "P2W", "PT36H", "P1Y2M3D" },
            .invalid = &.{ "P", "PT", "P1YT", "P1D2H", "P1Y2W", "PT1D", "P1" },
        },
        .{
            .format = .email,
            .valid = &.{ "te.s~t@example.com", "\"joe@ \\\" bloggs\"@a-b.c", "joe@[127.0.0.1]", "joe@[IPv6:::1]" },
            .invalid = &.{ "2962", ".a@b", "a.@b", "a..b@c", "a@-b", "a@b-", "a@b=c", "a@[127.0.0.300]", "\u{e9}@b" },
        },
        .{ .format = .@"idn-email", .valid = &.{"\u{c2e4}\u{b840}@\u{c2e4}.\u{d14c}"}, .invalid = &.{ "2962", "\u{e9}@" } },
        .{
            .format = .hostname,
            .valid = &.{ "www.example.com", "1host", &@as([63]u8, @splat('a')) },
            .invalid = &.{ "", ".", "a.", "-a", "a-", "a_b", &@as([64]u8, @splat('a')) },
        },
        .{
            .format = .@"idn-hostname",
            .valid = &.{
                "\u{c2e4}\u{b840}\u{3002}a-b",
                "l\u{b7}l",
                "\u{5d0}\u{5f3}\u{5d1}",
                "\u{30fb}\u{3041}",
                "\u{915}\u{94d}\u{200d}\u{937}",
                "xn--ihqwcrb4cv8a8dqg056pqjye",
            },
            .invalid = &.{
                "",
                "\u{3002}",
                "-a",
                "a-",
                "\u{300}a",
                "a\u{b7}l",
                "\u{5f3}\u{5d1}",
                "a\u{30fb}b",
                "\u{915}\u{200d}\u{937}",
                "\u{628}\u{660}\u{6f0}",
                "xn--X",
            },
        },
        .{ .format = .ipv4, .valid = &.{ "192.168.0.1", "255.0.10.99" }, .invalid = &.{ "256.0.0.1", "087.0.0.1", "1.2.3", "1.2.3.4.5" } },
        .{
            .format = .ipv6,
            .valid = &.{ "::", "::1", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6::8", "1::d6:192.168.0.1", "::ffff:1.2.3.4" },
            .invalid = &.{ "1", "12345::", "1:2:3:4:5:6:7", "1::2::3", ":1:2:3:4:5:6:7", "::1:2:3:4:5:6:7:8", "::1%eth0", "1.2.3.4" },
        },
        .{
            .format = .uri,
            .valid = &.{ "http://[::1]:80/?q#f", "a:", "tel:+1-816-555-1212", "http://-.~_!$&'()*+,;=:%40:80%2f::::::@example.com" },
            .invalid = &.{ "", "abc", "//a", "http:// a", "http://a:b", "bar,baz:foo", "a:%zz", "a:\\" },
        },
        .{ .format = .@"uri-reference", .valid = &.{ "", "#a", "?q", "./a:b", "//h/p", "a:b" }, .invalid = &.{ "1:b", "\\\\a", "#a\\b" } },
        .{ .format = .iri, .valid = &.{"http://\u{192}\u{f8}.com/?\u{e000}#\u{e9}"}, .invalid = &.{ "\u{e2}", "a:#\u{e000}" } },
        .{ .format = .@"iri-reference", .valid = &.{ "\u{e2}\u{3c0}", "#\u{e4}" }, .invalid = &.{"#\u{e4}\\"} },
        .{ .format = .@"uri-template", .valid = &.{ "", "a/{term:1}/{?x,y*}" }, .invalid = &.{ "{", "{}", "{a:0}", "a b", "%2" } },
        .{
            .format = .uuid,
            .valid = &.{"2EB8AA08-aa98-11ea-B4AA-73b441d16380"},
            .invalid = &.{ "2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4ga-73b441d16380" },
        },
        .{ .format = .@"json-pointer", .valid = &.{ "", "/", "/a~0b/~1\n" }, .invalid = &.{ "a", "#", "/~", "/~2" } },
        .{ .format = .@"relative-json-pointer", .valid = &.{ "0", "10/a", "0#" }, .invalid = &.{ "", "/a", "01", "-1", "0##" } },
        .{
            .format = .regex,
            .valid = &.{ "", "^(a|[^]b-]{2,3}?)+$", "(?<n>\\p{L})\\u{1f600}", "(?!x)" },
            .invalid = &.{ "(", "a)", "[a", "*", "a**", "a{", "\\a", "(?x)", "\\" },
        },
    }) |case| try expectCase(case);
}

test "formats of Pydantic and Zod" {
    const md5: []const u8 = "d41d8cd98f00b204e9800998ecf8427e";
    for ([_]Case{
        .{
            .format = .uuid4,
            .valid = &.{"2EB8AA08-aa98-41ea-B4AA-73b441d16380"},
            .invalid = &.{ "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2eb8aa08-aa98-41ea-c4aa-73b441d16380" },
        },
        .{ .format = .ipv4interface, .valid = &.{ "1.2.3.4", "1.2.3.4/0", "1.2.3.4/32" }, .invalid = &.{ "1.2.3.4/33", "1.2.3/8", "::1" } },
        .{
            .format = .ipv4network,
            .valid = &.{ "10.0.0.0/8", "1.2.3.4", "1.2.3.4/32", "192.168.128.0/17", "0.0.0.0/0" },
            .invalid = &.{ "10.0.0.1/8", "192.168.64.0/17", "1.2.3.5/31", "1.0.0.0/0" },
        },
        .{
            .format = .ipv6network,
            .valid = &.{ "2001:db8::/32", "::/0", "::1", "::1/128", "fe80::/10", "2001:db8:8000::/33", "1:2:3:4:5:6:7::/112" },
            .invalid = &.{ "2001:db8::/31", "fe81::/10", "2001:db8:c000::/33", "::1/127", "1.2.3.0/24" },
        },
        .{ .format = .ipvanynetwork, .valid = &.{ "10.0.0.0/8", "::/0" }, .invalid = &.{ "10.0.0.1/8", "" } },
        .{ .format = .cidrv4, .valid = &.{"10.0.0.1/8"}, .invalid = &.{ "10.0.0.1", "10.0.0.1/08" } },
        .{ .format = .cidrv6, .valid = &.{ "::1/0", "1::/128" }, .invalid = &.{ "::1", "::1/129" } },
        .{ .format = .mac, .valid = &.{ "00:1a:2b:3c:4d:5e", "00:1A:2B:3C:4D:5E" }, .invalid = &.{ "00:1A:2b:3c:4d:5e", "00-1a" } },
        .{
            .format = .@"multi-host-uri",
            .valid = &.{ "postgres://u:p@a:1,b:2/db?x=1", "mongodb://h", "x://[::1]:5,h/" },
            .invalid = &.{ "postgres:", "x://", "x://a,,b", "x://a:b" },
        },
        .{ .format = .@"name-email", .valid = &.{ "J\u{f6}rg X <a@b.c>", "a@b.c" }, .invalid = &.{ "<a@b.c", "a <b>" } },
        .{ .format = .base64, .valid = &.{ "", "QQ==", "QUE=", "QUFB" }, .invalid = &.{ "Q", "QQ", "QQ=", "Q-==" } },
        .{ .format = .base64url, .valid = &.{ "", "Q-", "Q_E", "QQ==", "QUE=" }, .invalid = &.{ "Q", "QQ=", "Q+" } },
        .{ .format = .jwt, .valid = &.{ "eyJhbGciOiJub25lIn0.eyJhIjoxfQ.c2ln", "QQ.QQ." }, .invalid = &.{ "a.b.c", "QQ.QQ", "QQ..QQ" } },
        .{ .format = .e164, .valid = &.{"+4912345678"}, .invalid = &.{ "+0123456789", "4912345678", "+123" } },
        .{ .format = .iban, .valid = &.{"DE89370400440532013000"}, .invalid = &.{ "DE00370400440532013000", "de89370400440532013000" } },
        .{ .format = .credit_card, .valid = &.{ "4111 1111 1111 1111", "411111111111" }, .invalid = &.{ "41111111111", "4111  11111111" } },
        .{ .format = .fraction, .valid = &.{ "1/3", "-2", "1.5" }, .invalid = &.{ "1/0", "1/", "/2", ".5" } },
        .{ .format = .color, .valid = &.{ "#fff", "#00112233" }, .invalid = &.{ "fff", "#ff", "#fffff" } },
        .{ .format = .md5_hex, .valid = &.{md5}, .invalid = &.{ md5 ++ "0", md5[1..] } },
        .{ .format = .md5_base64, .valid = &.{"1B2M2Y8AsgTpgAmY7PhCfg=="}, .invalid = &.{"1B2M2Y8AsgTpgAmY7PhCfg"} },
        .{ .format = .sha1_base64url, .valid = &.{"2jmj7l5rSw0yVb_vlWAYkK_YBwk"}, .invalid = &.{"2jmj7l5rSw0yVb_vlWAYkK_YBwk="} },
    }) |case| try expectCase(case);
}

test "formats have names" {
    try std.testing.expect(isAnnotation("password"));
    try std.testing.expect(!isAnnotation("zoneinfo"));
    try std.testing.expectEqual(.@"date-time", find("date-time"));
    try std.testing.expectEqual(null, find("datetime"));
}
