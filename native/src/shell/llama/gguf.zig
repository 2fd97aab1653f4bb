//! What can be known of a GGUF file before libllama gets it, which ends the process on some that are damaged: that the counts
//! of its head fit the file, and that the tensors lie in it. Models are trusted all the same: what their numbers mean is not
//! checked. The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md

const std = @import("std");

/// Why libllama should not get it; null if nothing is wrong with it. `bytes` is the whole file, which begins with "GGUF".
/// `n_files` becomes the number of files that the model is in, if the head says so.
pub fn damage(bytes: []const u8, n_files: *u16) ?[]const u8 {
    var head: Head = .{ .bytes = bytes, .at = 4 };
    defer n_files.* = head.n_files;
    return head.check() catch "it ends within its head, or a number in it is too large";
}

/// The name of one of `n` files, counted from 1, of which `first` is the first; in `buffer`. Null if libllama would not take
/// `first` for that, or the name is too long.
pub fn nameOfFile(first: []const u8, number: u16, n: u16, buffer: []u8) ?[:0]const u8 {
    var suffix: [32]u8 = undefined;
    const own = std.fmt.bufPrint(&suffix, "-{d:0>5}-of-{d:0>5}.gguf", .{ 1, n }) catch unreachable;
    if (!std.mem.endsWith(u8, first, own)) return null;
    const prefix = first[0 .. first.len - own.len];
    return std.fmt.bufPrintSentinel(buffer, "{s}-{d:0>5}-of-{d:0>5}.gguf", .{ prefix, number, n }, 0) catch null;
}

test "the files of a model have the name of the first with another number" {
    var buffer: [64]u8 = undefined;
    try std.testing.expectEqualStrings("/m/x-00012-of-00013.gguf", nameOfFile("/m/x-00001-of-00013.gguf", 12, 13, &buffer).?);
    try std.testing.expectEqual(null, nameOfFile("/m/x-00002-of-00013.gguf", 12, 13, &buffer));
    try std.testing.expectEqual(null, nameOfFile("/m/x.gguf", 2, 2, &buffer));
    try std.testing.expectEqual(null, nameOfFile("/m/x-00001-of-00013.gguf", 12, 13, buffer[0..24]));
}

/// Of files without a key for it.
const alignment_default = 32;

const Type = enum(u32) { u8, i8, u16, i16, u32, i32, f32, bool, string, array, u64, i64, f64 };

fn bytesOf(of: Type) ?u64 {
    return switch (of) {
        .u8, .i8, .bool => 1,
        .u16, .i16 => 2,
        .u32, .i32, .f32 => 4,
        .u64, .i64, .f64 => 8,
        .string, .array => null,
    };
}

/// Numbers of a block of a tensor, and its bytes, by ggml_type. Of types that are not here, the offset alone is checked.
const Block = struct { n: u64, bytes: u64 };
const blocks = [_]?Block{
    .{ .n = 1, .bytes = 4 },     .{ .n = 1, .bytes = 2 },     .{ .n = 32, .bytes = 18 },   .{ .n = 32, .bytes = 20 },
    null,                        null,                        .{ .n = 32, .bytes = 22 },   .{ .n = 32, .bytes = 24 },
    .{ .n = 32, .bytes = 34 },   .{ .n = 32, .bytes = 36 },   .{ .n = 256, .bytes = 84 },  .{ .n = 256, .bytes = 110 },
    .{ .n = 256, .bytes = 144 }, .{ .n = 256, .bytes = 176 }, .{ .n = 256, .bytes = 210 }, .{ .n = 256, .bytes = 292 },
    .{ .n = 256, .bytes = 66 },  .{ .n = 256, .bytes = 74 },  .{ .n = 256, .bytes = 98 },  .{ .n = 256, .bytes = 50 },
    .{ .n = 32, .bytes = 18 },   .{ .n = 256, .bytes = 110 }, .{ .n = 256, .bytes = 82 },  .{ .n = 256, .bytes = 136 },
    .{ .n = 1, .bytes = 1 },     .{ .n = 1, .bytes = 2 },     .{ .n = 1, .bytes = 4 },     .{ .n = 1, .bytes = 8 },
    .{ .n = 1, .bytes = 8 },     .{ .n = 256, .bytes = 56 },  .{ .n = 1, .bytes = 2 },
};

const Head = struct {
    bytes: []const u8,
    at: usize,
    n_files: u16 = 1,

    const Error = error{Short};

    fn check(h: *Head) Error!?[]const u8 {
        const version = try h.number(u32);
        if (version != 2 and version != 3) return "its version is neither 2 nor 3, or it is for machines with the other order of bytes";
        const n_tensors = try h.number(u64);
        const n_pairs = try h.number(u64);
        var alignment: u64 = alignment_default;
        for (0..try h.count(n_pairs, 8 + 4 + 1)) |_| {
            const key = try h.string();
            const of = std.enums.fromInt(Type, try h.number(u32)) orelse return "a value has a type that is not known";
            if (std.mem.eql(u8, key, "general.alignment")) {
                if (of != .u32) return "general.alignment is no 32-bit integer";
                alignment = std.mem.readInt(u32, (try h.take(4))[0..4], .little);
                if (alignment == 0 or !std.math.isPowerOfTwo(alignment)) return "general.alignment is no power of two";
                continue;
            }
            if (of == .u16 and std.mem.eql(u8, key, "split.count")) {
                h.n_files = try h.number(u16);
                continue;
            }
            if (try h.skipValue(of)) |wrong| return wrong;
        }
        const n = try h.count(n_tensors, 8 + 4 + 4 + 8);
        const infos = h.at;
        for (0..n) |_| _ = try h.tensor();
        const data = std.math.cast(usize, std.mem.alignForward(u64, h.at, alignment)) orelse return error.Short;
        if (n > 0 and data > h.bytes.len) return error.Short;
        const n_data = h.bytes.len -| data;
        h.at = infos;
        for (0..n) |_| {
            const one = try h.tensor();
            if (one.offset % alignment != 0) return "a tensor is not aligned";
            if (one.offset > n_data or one.bytes > n_data - one.offset) return "a tensor ends after the file";
        }
        return null;
    }

    fn skipValue(h: *Head, of: Type) Error!?[]const u8 {
        if (bytesOf(of)) |n| {
            _ = try h.take(n);
            return null;
        }
        if (of == .string) {
            _ = try h.string();
            return null;
        }
        const item = std.enums.fromInt(Type, try h.number(u32)) orelse return "an array's items have a type that is not known";
        if (item == .array) return "an array has arrays in it";
        const n = try h.number(u64);
        if (bytesOf(item)) |each| {
            _ = try h.take(std.math.mul(u64, n, each) catch return error.Short);
        } else for (0..try h.count(n, 8)) |_| _ = try h.string();
        return null;
    }

    const Tensor = struct { offset: u64, bytes: u64 };

    fn tensor(h: *Head) Error!Tensor {
        _ = try h.string();
        const n_dimensions = try h.number(u32);
        if (n_dimensions > dimensions_max) return error.Short;
        var n: u64 = 1;
        var row: u64 = 1;
        for (0..n_dimensions) |i| {
            const size = try h.number(u64);
            if (size > std.math.maxInt(i64)) return error.Short;
            if (i == 0) row = size;
            n = std.math.mul(u64, n, size) catch return error.Short;
        }
        const of = try h.number(u32);
        const offset = try h.number(u64);
        const block = (if (of < blocks.len) blocks[of] else null) orelse return .{ .offset = offset, .bytes = 0 };
        if (row % block.n != 0) return error.Short;
        return .{ .offset = offset, .bytes = std.math.mul(u64, n / block.n, block.bytes) catch return error.Short };
    }

    const dimensions_max = 4;

    fn string(h: *Head) Error![]const u8 {
        return h.take(try h.number(u64));
    }

    fn number(h: *Head, comptime T: type) Error!T {
        const bytes = try h.take(@sizeOf(T));
        return std.mem.readInt(T, bytes[0..@sizeOf(T)], .little);
    }

    /// A number of items, of so many bytes at least.
    fn count(h: *const Head, n: u64, each: u64) Error!usize {
        return if (n <= (h.bytes.len - h.at) / each) @intCast(n) else error.Short;
    }

    fn take(h: *Head, n: u64) Error![]const u8 {
        if (n > h.bytes.len - h.at) return error.Short;
        defer h.at += @intCast(n);
        return h.bytes[h.at..][0..@intCast(n)];
    }
};

test "a file is sound, and not if it is cut anywhere or a count is larger" {
    var bytes: [4096]u8 = undefined;
    var w: std.Io.Writer = .fixed(&bytes);
    try w.writeAll("GGUF");
    try w.writeInt(u32, 3, .little);
    try w.writeInt(u64, 1, .little); // tensors
    try w.writeInt(u64, 4, .little); // pairs
    for ([_][]const u8{ "general.alignment", "a", "b", "split.count" }, 0..) |key, i| {
        try w.writeInt(u64, key.len, .little);
        try w.writeAll(key);
        try w.writeInt(u32, @backingInt(([_]Type{ .u32, .array, .string, .u16 })[i]), .little);
        switch (i) {
            0 => try w.writeInt(u32, 64, .little),
            1 => {
                try w.writeInt(u32, @backingInt(Type.string), .little);
                try w.writeInt(u64, 1, .little);
                try w.writeInt(u64, 2, .little);
                try w.writeAll("xy");
            },
            2 => {
                try w.writeInt(u64, 1, .little);
                try w.writeAll("z");
            },
            else => try w.writeInt(u16, 7, .little),
        }
    }
    try w.writeInt(u64, 1, .little);
    try w.writeAll("t");
    try w.writeInt(u32, 2, .little);
    try w.writeInt(u64, 64, .little);
    try w.writeInt(u64, 2, .little);
    const tensor_type = w.end;
    try w.writeInt(u32, 2, .little); // Q4_0: 4 blocks of 18 bytes
    try w.writeInt(u64, 64, .little);
    const head_end = w.end;
    const data = std.mem.alignForward(usize, head_end, 64);
    const end = data + 64 + 4 * 18;
    @memset(bytes[w.end..end], 0);
    var n_files: u16 = 0;
    try std.testing.expectEqual(null, damage(bytes[0..end], &n_files));
    try std.testing.expectEqual(7, n_files);
    for (4..end) |n| try std.testing.expect(damage(bytes[0..n], &n_files) != null);
    bytes[tensor_type] = 4; // of a size that is not known, at the start of the data
    bytes[head_end - 8] = 0;
    for (4..data) |n| try std.testing.expect(damage(bytes[0..n], &n_files) != null);
    try std.testing.expectEqual(null, damage(bytes[0..data], &n_files));
    bytes[tensor_type] = 2;
    bytes[head_end - 8] = 64;
    const alignment = std.mem.find(u8, &bytes, "general.alignment").? + "general.alignment".len + 4;
    bytes[alignment] = 0; // 64
    try std.testing.expectEqualStrings("general.alignment is no power of two", damage(bytes[0..end], &n_files).?);
    bytes[alignment] = 64;
    for ([_]usize{ 4, 8, 16, 24 }) |at| {
        bytes[at + 3] ^= 0x40;
        defer bytes[at + 3] ^= 0x40;
        try std.testing.expect(damage(bytes[0..end], &n_files) != null);
    }
}
