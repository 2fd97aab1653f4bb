//! The version gate. llama.cpp passes its parameter structs by value and changes them without notice: a caller
//! compiled for another build misbehaves silently. So before any struct crosses the border, the library is
//! asked for its default parameters. What it writes (how many bytes, which values at which offsets) must be one
//! of the layouts below. Each was verified on a real build; offsets are those of 64-bit pointers.

const std = @import("std");
const builtin = @import("builtin");

/// The parameter structs of a range of builds. Sizes and offsets are in bytes.
pub const Layout = struct {
    /// The first build verified to have it.
    name: [:0]const u8,
    model_params_bytes: usize,
    context_params_bytes: usize,
    /// Offset, in the context parameters, of the limit on rows of logits; null for older builds, which have none.
    n_outputs_max: ?usize,
    /// Default context parameters in 32-bit words, up to the booleans.
    context_defaults: []const u32,
    /// Offsets in the context parameters.
    pooling: usize,
    type_k: usize,
    type_v: usize,

    // Offsets that all layouts share.
    pub const n_gpu_layers = 16;
    pub const n_ctx = 0;
    pub const n_batch = 4;
    pub const n_ubatch = 8;
};

/// All layouts that are known.
pub const known = [_]Layout{
    .{
        .name = "b7347",
        .model_params_bytes = 72,
        .context_params_bytes = 120,
        .n_outputs_max = null,
        .context_defaults = &sizes ++ &tail,
        .pooling = 28,
        .type_k = 88,
        .type_v = 92,
    },
    .{
        .name = "b8390",
        .model_params_bytes = 72,
        .context_params_bytes = 136,
        .n_outputs_max = null,
        .context_defaults = &sizes ++ &tail,
        .pooling = 28,
        .type_k = 88,
        .type_v = 92,
    },
    .{
        .name = "b10361",
        .model_params_bytes = 72,
        .context_params_bytes = 160,
        .n_outputs_max = 20,
        .context_defaults = &sizes_with_outputs ++ &tail,
        .pooling = 44,
        .type_k = 104,
        .type_v = 108,
    },
    .{
        .name = "v0.4.0",
        .model_params_bytes = 80,
        .context_params_bytes = 160,
        .n_outputs_max = 20,
        .context_defaults = &sizes_with_outputs ++ &tail,
        .pooling = 44,
        .type_k = 104,
        .type_v = 108,
    },
};

/// Their names, for messages.
pub const known_names = "b7347, b8390, b10361, v0.4.0 (also v0.5.0)";

/// Whether the probe and the table hold for this target's pointers and calling convention.
pub const supported = @sizeOf(usize) == 8 and switch (builtin.cpu.arch) {
    .x86_64, .aarch64 => true,
    else => false,
};

// n_ctx, n_batch, n_ubatch, n_seq_max, then n_threads and n_threads_batch.
const sizes = [_]u32{ 512, 2048, 512, 1, 4, 4 };
// n_rs_seq, n_outputs_max, n_outputs_max_per_seq come before the threads, ctx_type after them.
const sizes_with_outputs = [_]u32{ 512, 2048, 512, 1, 0, 0, 1, 4, 4, 0 };

const unspecified: u32 = @bitCast(@as(i32, -1));
const from_model: u32 = @bitCast(@as(f32, -1));
const f16_type = 1;

const tail = [_]u32{
    unspecified, unspecified, unspecified, unspecified, // rope scaling, pooling, attention, flash attention
    0, 0, from_model, from_model, // rope base and scale, yarn factors
    from_model, from_model, 0, from_model, // yarn betas, original context, defrag
    0, 0, 0, 0, // evaluation callback
    f16_type, f16_type, // KV cache
    0, 0, 0, 0, // abort callback
};

/// The default parameters that a library writes.
pub const Probe = struct {
    model: Written,
    context: Written,

    /// The layout that these are the defaults of; null if it is unknown.
    pub fn match(p: *const Probe) ?*const Layout {
        for (&known) |*layout| {
            if (layout.model_params_bytes == p.model.len and
                layout.context_params_bytes == p.context.len and
                modelDefaultsMatch(&p.model) and
                std.mem.startsWith(u32, p.context.words[0..], layout.context_defaults)) return layout;
        }
        return null;
    }

    fn modelDefaultsMatch(model: *const Written) bool {
        const words = &model.words;
        // Two null pointers, the number of layers (all of them, in two ways), splitting by layer.
        return std.mem.allEqual(u32, words[0..4], 0) and (words[4] == 999 or words[4] == unspecified) and words[5] == 1;
    }
};

/// The bytes that a function wrote through the pointer for its result.
pub const Written = struct {
    words: [probe_bytes / 4]u32 align(16) = @splat(0),
    /// Rounded up to 8.
    len: usize = 0,
};

/// Larger than any parameter struct may become.
const probe_bytes = 1024;

/// Calls a function without parameters that returns a struct of more than 16 bytes. Calls it twice, over two
/// patterns: bytes that differ were not written. `supported` must be true.
pub fn probe(default_params: *const anyopaque) Written {
    var first: Written = .{ .words = @splat(0xaaaaaaaa) };
    var second: Written = .{ .words = @splat(0x55555555) };
    callWithResultAt(default_params, &first.words);
    callWithResultAt(default_params, &second.words);
    const a = std.mem.asBytes(&first.words);
    const b = std.mem.asBytes(&second.words);
    var len: usize = probe_bytes;
    while (len > 0 and a[len - 1] != b[len - 1]) len -= 1;
    for (a[0..len], b[0..len]) |*byte, other| {
        if (byte.* != other) byte.* = 0; // padding
    }
    first.len = std.mem.alignForward(usize, len, 8);
    return first;
}

const x18_is_reserved = builtin.os.tag != .linux or builtin.abi.isAndroid();

/// Every 64-bit convention passes the pointer for such a result as the first argument; AArch64 alone has a register
/// for it.
fn callWithResultAt(function: *const anyopaque, result: *anyopaque) void {
    switch (builtin.cpu.arch) {
        .x86_64 => {
            const call: *const fn (*anyopaque) callconv(.c) void = @ptrCast(function);
            call(result);
        },
        // zig fmt: off
        .aarch64 => asm volatile ("blr %[function]"
            :
            : [function] "r" (function),
              [result] "{x8}" (result),
            : .{
                .x0 = true, .x1 = true, .x2 = true, .x3 = true, .x4 = true, .x5 = true, .x6 = true, .x7 = true,
                .x8 = true, .x9 = true, .x10 = true, .x11 = true, .x12 = true, .x13 = true, .x14 = true, .x15 = true,
                .x16 = true, .x17 = true, .x18 = !x18_is_reserved, .x30 = true,
                .v0 = true, .v1 = true, .v2 = true, .v3 = true, .v4 = true, .v5 = true, .v6 = true, .v7 = true,
                .v8 = true, .v9 = true, .v10 = true, .v11 = true, .v12 = true, .v13 = true, .v14 = true, .v15 = true,
                .v16 = true, .v17 = true, .v18 = true, .v19 = true, .v20 = true, .v21 = true, .v22 = true, .v23 = true,
                .v24 = true, .v25 = true, .v26 = true, .v27 = true, .v28 = true, .v29 = true, .v30 = true, .v31 = true,
                .nzcv = true, .memory = true,
            }),
        // zig fmt: on
        else => unreachable, // callers check `supported`
    }
}

test "a probe tells what was written" {
    if (!supported) return error.SkipZigTest;
    const Struct = extern struct { first: u64 = 7, second: u32 = 9, padding: u32 = 0, last: [4]u64 = @splat(3) };
    const probed = probe(&struct {
        fn default() callconv(.c) Struct {
            return .{};
        }
    }.default);
    try std.testing.expectEqual(@sizeOf(Struct), probed.len);
    try std.testing.expectEqual(7, probed.words[0]);
    try std.testing.expectEqual(9, probed.words[2]);
}

test "every layout matches its own defaults, and no others" {
    for (&known) |*layout| {
        var p: Probe = .{ .model = .{ .len = layout.model_params_bytes }, .context = .{ .len = layout.context_params_bytes } };
        p.model.words[4] = unspecified;
        p.model.words[5] = 1;
        @memcpy(p.context.words[0..layout.context_defaults.len], layout.context_defaults);
        try std.testing.expectEqual(layout, p.match().?);
        try std.testing.expectEqual(unspecified, p.context.words[layout.pooling / 4]);
        try std.testing.expectEqual(f16_type, p.context.words[layout.type_k / 4]);
        try std.testing.expectEqual(f16_type, p.context.words[layout.type_v / 4]);
        p.context.words[1] = 4096;
        try std.testing.expectEqual(null, p.match());
        p.context.words[1] = 2048;
        p.context.len += 8;
        try std.testing.expectEqual(null, p.match());
    }
}
