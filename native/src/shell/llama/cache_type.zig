//! Types of the KV cache, by the names that the stream's config uses.

const std = @import("std");
const log = @import("engine").log;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;

/// The ggml_type of a name; for "" that of llama.cpp's default. `field` is for the message.
pub fn parse(field: []const u8, name: []const u8, d: *Diagnostic) diagnostic.Error!u32 {
    if (name.len == 0) return f16_type;
    for (types) |each| if (std.mem.eql(u8, each.name, name)) return each.ggml_type;
    for (of_host) |each| if (std.mem.eql(u8, each, name)) {
        log.write(.warn, "{s}: llama.cpp has no {s}: the cache is q4_0", .{ field, name });
        return q4_0_type;
    };
    return d.fail(.invalid_arg, "{s}: {f} is none of f32, f16, bf16, q8_0, q4_0, q4_1, iq4_nl, q5_0, q5_1", .{ field, quoted(name) });
}

const f16_type = 1;
const q4_0_type = 2;

/// Types of the host's own llama.cpp. It asks for them whenever it may quantize; q4_0 is the smallest that every
/// llama.cpp has.
const of_host = [_][]const u8{ "qjl1_256", "q4_polar" };

const types = [_]struct { name: []const u8, ggml_type: u32 }{
    .{ .name = "f32", .ggml_type = 0 },
    .{ .name = "f16", .ggml_type = f16_type },
    .{ .name = "q4_0", .ggml_type = q4_0_type },
    .{ .name = "q4_1", .ggml_type = 3 },
    .{ .name = "q5_0", .ggml_type = 6 },
    .{ .name = "q5_1", .ggml_type = 7 },
    .{ .name = "q8_0", .ggml_type = 8 },
    .{ .name = "iq4_nl", .ggml_type = 20 },
    .{ .name = "bf16", .ggml_type = 30 },
};

test "names and their types" {
    var d: Diagnostic = .{};
    try std.testing.expectEqual(8, try parse("cache_type_k", "q8_0", &d));
    try std.testing.expectEqual(1, try parse("cache_type_k", "", &d));
    try std.testing.expectEqual(2, try parse("cache_type_k", "qjl1_256", &d));
    try std.testing.expectError(error.Failed, parse("cache_type_v", "q9", &d));
    try std.testing.expect(std.mem.startsWith(u8, d.message(), "cache_type_v: \"q9\" is none of"));
}
