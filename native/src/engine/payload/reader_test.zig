//! The reader, in both formats.

const std = @import("std");
const ArrayList = @import("../base/array_list.zig").ArrayList;
const testing = std.testing;
const Reader = @import("reader.zig").Reader;

// ---- JSON

fn expectText(json: []const u8, expected: []const u8) !void {
    var list: ArrayList(u8) = .empty;
    defer list.deinit(testing.allocator);
    var r: Reader = .init(.json, json, 4);
    try testing.expectEqual(.string, r.kind());
    var found: []const u8 = undefined;
    try r.text(&list, testing.allocator, &found);
    try r.end();
    try testing.expectEqualStrings(expected, found);
}

test "escapes become UTF-8" {
    try expectText("\"\"", "");
    try expectText("\"plain \u{e9}\"", "plain \u{e9}");
    try expectText("\"a\\n\\\"\\u00e9\\ud83d\\ude00/\\/\"", "a\n\"\u{e9}\u{1f600}//");
}

fn expectProblem(json: []const u8, what: []const u8, at: usize) !void {
    var list: ArrayList(u8) = .empty;
    defer list.deinit(testing.allocator);
    var r: Reader = .init(.json, json, 4);
    const result = if (r.skip(&list, testing.allocator)) r.end() else |e| e;
    try testing.expectError(error.Malformed, result);
    try testing.expectEqualStrings(what, r.in.problem.what);
    try testing.expectEqual(at, r.in.problem.at);
}

test "problems name the byte" {
    try expectProblem("{\"a\":1,}", "expected a key", 7);
    try expectProblem("[1,]", "expected a value", 3);
    try expectProblem("[1 2]", "expected ',' or ']'", 3);
    try expectProblem("[01]", "number with a leading zero", 1);
    try expectProblem("[1.]", "expected a digit", 3);
    try expectProblem("\"\\ud800x\"", "lone surrogate in a string", 1);
    try expectProblem("\"\\x\"", "unknown escape in a string", 1);
    try expectProblem("\"a\nb\"", "control character in a string", 2);
    try expectProblem("\"\xff\"", "string is not valid UTF-8", 0);
    try expectProblem("[true,nul]", "expected a value", 6);
    try expectProblem("{\"a\"", "the payload ends too early", 4);
    try expectProblem("[] x", "trailing bytes", 3);
    try expectProblem("", "the payload ends too early", 0);
}

test "integers saturate at 64 bits" {
    var r: Reader = .init(.json, "-9223372036854775809", 4);
    const low = try r.integer();
    try testing.expect(low.saturated and low.value == std.math.minInt(i64));
    r = .init(.json, "9223372036854775807", 4);
    const high = try r.integer();
    try testing.expect(!high.saturated and high.value == std.math.maxInt(i64));
}

test "nesting is bounded" {
    var list: ArrayList(u8) = .empty;
    defer list.deinit(testing.allocator);
    var fits: Reader = .init(.json, "[[[[1]]]]", 4);
    try fits.skip(&list, testing.allocator);
    var deep: Reader = .init(.json, "[[[[[1]]]]]", 4);
    try testing.expectError(error.TooDeep, deep.skip(&list, testing.allocator));
}

// ---- MessagePack

test "every form of an integer" {
    const cases = .{
        .{ "\x07", 7 },                                                    .{ "\xff", -1 },
        .{ "\xcc\xff", 255 },                                              .{ "\xcd\x01\x00", 256 },
        .{ "\xce\x80\x00\x00\x00", 2147483648 },                           .{ "\xcf\x00\x00\x00\x01\x00\x00\x00\x00", 4294967296 },
        .{ "\xd0\x80", -128 },                                             .{ "\xd1\x80\x00", -32768 },
        .{ "\xd2\x80\x00\x00\x00", -2147483648 },                          .{ "\xd3\xff\xff\xff\xff\xff\xff\xff\xff", -1 },
        .{ "\xcf\x7f\xff\xff\xff\xff\xff\xff\xff", std.math.maxInt(i64) },
    };
    inline for (cases) |case| {
        var r: Reader = .init(.msgpack, case[0], 4);
        try testing.expectEqual(.integer, r.kind());
        const found = try r.integer();
        try r.end();
        try testing.expectEqual(@as(i64, case[1]), found.value);
        try testing.expect(!found.saturated);
    }
    var huge: Reader = .init(.msgpack, "\xcf\x80\x00\x00\x00\x00\x00\x00\x00", 4);
    try testing.expect((try huge.integer()).saturated);
}

test "skip takes exactly one value of every form" {
    const sixteen: [16]u8 = @splat(0xff);
    const values = [_][]const u8{
        "\xc0",                  "\xc2",                          "\xca\x00\x00\x00\x00",     "\xcb\x00\x00\x00\x00\x00\x00\x00\x00",
        "\xa1x",                 "\xd9\x01x",                     "\xda\x00\x01x",            "\xdb\x00\x00\x00\x01x",
        "\xc4\x01\xff",          "\xc5\x00\x01\xff",              "\xc6\x00\x00\x00\x01\xff", "\xd4\x01\xff",
        "\xd8\x01" ++ sixteen,   "\xc7\x02\x01\xff\xff",          "\xc8\x00\x01\x01\xff",     "\xc9\x00\x00\x00\x01\x01\xff",
        "\x92\x01\x91\xc3",      "\xdc\x00\x01\x05",              "\xdd\x00\x00\x00\x01\x05", "\x81\xa1k\x80",
        "\xde\x00\x01\xa1k\x01", "\xdf\x00\x00\x00\x01\xa1k\x01",
    };
    var list: ArrayList(u8) = .empty;
    defer list.deinit(testing.allocator);
    for (values) |bytes| {
        var r: Reader = .init(.msgpack, bytes, 4);
        try r.skip(&list, testing.allocator);
        try r.end();
        for (0..bytes.len) |cut| {
            var short: Reader = .init(.msgpack, bytes[0..cut], 4);
            try testing.expectError(error.Malformed, short.skip(&list, testing.allocator));
        }
    }
}
