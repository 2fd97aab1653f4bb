//! The Zig side against the header, through translate-c: struct sizes, field offsets, constants.

const std = @import("std");
const Arena = @import("engine").arena.Arena;
const header = @import("header");
const limits = @import("engine").limits;

const budget = @import("engine").budget;
const recognizer_state = @import("engine").recognizer_state;
const span = @import("engine").span;

const pairs = .{
    .{ @import("vocabulary.zig").Config, header.eliza_vocab_config_t },
    .{ @import("constraint.zig").Info, header.eliza_constraint_info_t },
    .{ @import("constraint.zig").CacheStats, header.eliza_trie_cache_stats_t },
    .{ @import("vocabulary.zig").Info, header.eliza_vocab_info_t },
    .{ @import("recognizer.zig").CompileConfig, header.eliza_compile_config_t },
    .{ @import("recognizer.zig").Info, header.eliza_recognizer_info_t },
    .{ @import("recognizer.zig").LarkOptions, header.eliza_lark_options_t },
    .{ @import("recognizer.zig").JsonSchemaOptions, header.eliza_json_schema_options_t },
    .{ @import("matcher.zig").SpanSettings, header.eliza_span_config_t },
    .{ @import("matcher.zig").Info, header.eliza_matcher_info_t },
    .{ @import("matcher.zig").SpanState, header.eliza_span_state_t },
    .{ @import("matcher.zig").Sampling, header.eliza_sampling_t },
    .{ @import("llama.zig").Info, header.eliza_llama_info_t },
    .{ @import("stream.zig").Config, header.eliza_llm_stream_config_t },
    .{ @import("stream.zig").Stats, header.eliza_llm_stream_stats_t },
    .{ @import("../llama/verifier.zig").Event, header.EliVerifierEvent },
};

test "structs have the layout of the header" {
    inline for (pairs) |pair| {
        try std.testing.expectEqual(@sizeOf(pair[1]), @sizeOf(pair[0]));
        inline for (comptime std.meta.fieldNames(pair[1])) |field| {
            try std.testing.expectEqual(@offsetOf(pair[1], field), @offsetOf(pair[0], field));
            try std.testing.expectEqual(@sizeOf(@FieldType(pair[1], field)), @sizeOf(@FieldType(pair[0], field)));
        }
    }
}

/// What the manifest says of a struct; a key is the number of bits of a pointer.
const Recorded = struct {
    name: []const u8,
    first_size: ?struct { @"32": u32, @"64": u32 } = null,
};

test "structs know the size of their first version" {
    var arena: Arena = .init(std.testing.allocator);
    defer arena.deinit();
    const Manifest = struct { structs: []Recorded };
    const manifest = try std.json.parseFromSliceLeaky(
        Manifest,
        arena.allocator(),
        @embedFile("abi_manifest"),
        .{ .ignore_unknown_fields = true },
    );
    try std.testing.expectEqual(pairs.len, manifest.structs.len);
    inline for (pairs) |pair| {
        const recorded = for (manifest.structs) |recorded| {
            if (std.mem.endsWith(u8, @typeName(pair[1]), recorded.name)) break recorded;
        } else return error.NotInTheManifest;
        const first_size: ?u32 = if (recorded.first_size) |size| (if (@sizeOf(usize) == 8) size.@"64" else size.@"32") else null;
        try std.testing.expectEqual(first_size, if (@hasDecl(pair[0], "first_size")) pair[0].first_size else null);
    }
}

test "limits are those of the header" {
    try std.testing.expectEqual(header.ELIZA_INFERENCE_ABI_VERSION, @import("library.zig").abi_version);
    try std.testing.expectEqual(header.ELIZA_PAYLOAD_BYTES_MAX, limits.payload_bytes_max);
    try std.testing.expectEqual(header.ELIZA_PAYLOAD_DEPTH_MAX, limits.depth_max);
    try std.testing.expectEqual(header.ELIZA_DESCRIPTORS_MAX, limits.descriptors_max);
    try std.testing.expectEqual(header.ELIZA_LEAVES_MAX, limits.leaves_max);
    try std.testing.expectEqual(header.ELIZA_LEAF_TOKENS_MAX, limits.leaf_tokens_max);
    try std.testing.expectEqual(header.ELIZA_TOKENS_MAX, limits.tokens_max);
    try std.testing.expectEqual(header.ELIZA_TRIGGERS_MAX, limits.triggers_max);
    try std.testing.expectEqual(header.ELIZA_TRIGGER_TOKENS_MAX, limits.trigger_tokens_max);
    try std.testing.expectEqual(header.ELIZA_END_TOKENS_MAX, limits.end_tokens_max);
    try std.testing.expectEqual(header.ELIZA_NAME_BYTES_MAX, limits.name_bytes_max);
    try std.testing.expectEqual(header.ELIZA_END_TOKENS_MAX, span.end_tokens_max);
    try std.testing.expectEqual(header.ELIZA_PREFILL_BYTES_MAX, span.prefill_bytes_max);
    try std.testing.expectEqual(header.ELIZA_FORCED_BYTES_MAX, recognizer_state.forced_bytes_max);
    try std.testing.expectEqual(header.ELIZA_REGEX_BYTES_MAX, @import("../compile/compile.zig").regex_bytes_max);
    try std.testing.expectEqual(header.ELIZA_GRAMMAR_BYTES_MAX, @import("../compile/source_text.zig").bytes_max);
    try std.testing.expectEqual(header.ELIZA_TERMINALS_MAX, @import("engine").program.terminals_max);
    try std.testing.expectEqual(header.ELIZA_CHOICES_MAX, @import("engine").choices.choices_max);
    try std.testing.expectEqual(header.ELIZA_CHOICES_BYTES_MAX, @import("engine").choices.bytes_max);
    const tags = @import("../compile/tags/descriptor.zig");
    try std.testing.expectEqual(header.ELIZA_TAGS_DESCRIPTOR_BYTES_MAX, tags.descriptor_bytes_max);
    try std.testing.expectEqual(header.ELIZA_TAGS_MAX, tags.tags_max);
    try std.testing.expectEqual(header.ELIZA_TAGS_COUNT_MAX, tags.count_max);
    try std.testing.expectEqual(header.ELIZA_TAGS_TEXT_BYTES_MAX, @import("../compile/tags/automaton.zig").text_bytes_max);
    try std.testing.expectEqual(header.ELIZA_TAGS_BEGIN_BYTES_MAX, @import("../compile/tags/automaton.zig").begin_bytes_max);
    try std.testing.expectEqual(header.ELIZA_TAGS_END_BYTES_MAX, @import("engine").end_text.end_bytes_max);
    try std.testing.expectEqual(header.ELIZA_COMPILE_STATES, budget.states_most);
    try std.testing.expectEqual(header.ELIZA_COMPILE_BYTES, budget.bytes_default);
    try std.testing.expectEqual(header.ELIZA_MASK_BYTES, budget.mask_bytes_default);
    try std.testing.expectEqual(header.ELIZA_SPAN_TIMEOUT_TOKENS, span.timeout_default);
    try std.testing.expectEqual(header.ELIZA_ROLLBACK_TOKENS_MAX, @import("engine").history.rollback_tokens_max);
    try std.testing.expectEqual(header.ELIZA_HANDLES_MAX, @import("handles.zig").handles_max);
    try std.testing.expectEqual(header.ELIZA_TRIE_CACHE_ENTRIES, @import("engine").trie_cache.entries_max);
    try std.testing.expectEqual(header.ELIZA_TRIE_CACHE_BYTES, @import("engine").trie_cache.bytes_max_default);
}

test "status codes are those of the header" {
    const Status = @import("engine").status.Status;
    inline for (comptime std.meta.fieldNames(Status)) |name| {
        const status = @field(Status, name);
        const in_header = @field(header, Status.nameOf(status.code()));
        try std.testing.expectEqual(@as(c_int, in_header), status.code());
    }
}

test "enumerations and bits have the numbers of the header" {
    try expectNumbers("ELIZA_CONSTRAINT_", @import("engine").kind.Kind);
    try expectNumbers("ELIZA_MODE_", @import("engine").sampling.Mode);
    try expectNumbers("ELIZA_STOP_", @import("../llama/stream.zig").Stop);
    try expectNumbers("ELIZA_STEP_", span.Step);
    try expectNumbers("ELIZA_TOKEN_", @import("engine").vocabulary.Flags);
}

fn expectNumbers(comptime prefix: []const u8, comptime T: type) !void {
    inline for (comptime std.meta.fieldNames(T)) |name| {
        if (comptime std.mem.eql(u8, name, "_")) continue;
        const number = if (@typeInfo(T) == .@"enum") @backingInt(@field(T, name)) else 1 << @bitOffsetOf(T, name);
        comptime var upper: [name.len]u8 = undefined;
        _ = comptime std.ascii.upperString(&upper, name);
        try std.testing.expectEqual(@as(c_int, @field(header, prefix ++ upper)), @as(c_int, number));
    }
}
