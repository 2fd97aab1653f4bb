//! Slot files: the tokens of a sequence and llama.cpp's state of it, with what they belong to.
//!
//! Header, tokens (i32 each), state (the bytes of llama_state_seq_get_data). Numbers are as in memory: a file
//! is for the machine that wrote it. The checksum detects corruption, not tampering.

const std = @import("std");
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const file = @import("engine").file;
const gpa = @import("engine").memory.gpa;

/// A state fits only where all of this is equal.
pub const Identity = extern struct {
    /// Hash of the model's description.
    model: u64,
    /// Hash of libllama's version, since the state is in its own format.
    library: u64,
    n_ctx: u32,
    n_tokens: u32,
    type_k: u32,
    type_v: u32,
};

/// Of a version, for `Identity.library`.
pub fn hash(text: []const u8) u64 {
    return std.hash.Wyhash.hash(0, text);
}

const Header = extern struct {
    magic: [8]u8 = magic_bytes,
    identity: Identity,
    n_tokens: u64,
    state_bytes: u64,
    /// Of everything after the header.
    checksum: u64,
};

const magic_bytes = "ELIZSLT1".*;

/// Writes a slot file. An interrupted write leaves the old file.
pub fn write(path: [:0]const u8, identity: Identity, tokens: []const i32, state: []const u8, d: *Diagnostic) diagnostic.Error!void {
    const header: Header = .{
        .identity = identity,
        .n_tokens = tokens.len,
        .state_bytes = state.len,
        .checksum = checksumOf(std.mem.sliceAsBytes(tokens), state),
    };
    file.writeAll(gpa, path, &.{ std.mem.asBytes(&header), std.mem.sliceAsBytes(tokens), state }) catch |e| return switch (e) {
        error.OutOfMemory => d.outOfMemory(),
        error.Unwritable => d.fail(.io, "{s}: the slot file cannot be written", .{path}),
    };
}

/// A slot file in memory.
pub const Slot = struct {
    content: []u8,
    n_tokens: usize,

    /// Frees the content.
    pub fn deinit(slot: *const Slot) void {
        gpa.free(slot.content);
    }

    /// Copies the `n_tokens` tokens, which need not be aligned in the file.
    pub fn copyTokens(slot: *const Slot, out: []i32) void {
        @memcpy(std.mem.sliceAsBytes(out), slot.content[@sizeOf(Header)..][0 .. slot.n_tokens * @sizeOf(i32)]);
    }

    /// llama.cpp's state. Lent by the slot.
    pub fn state(slot: *const Slot) []const u8 {
        return slot.content[@sizeOf(Header) + slot.n_tokens * @sizeOf(i32) ..];
    }
};

/// Reads a slot file. Fails if it is damaged, or was written for another identity: the message says what
/// differs. The caller frees the slot.
pub fn read(path: [:0]const u8, identity: Identity, d: *Diagnostic) diagnostic.Error!Slot {
    const content = file.readAll(gpa, path) catch |e| return switch (e) {
        error.OutOfMemory => d.outOfMemory(),
        error.Unreadable => d.fail(.io, "{s}: the slot file cannot be opened", .{path}),
    };
    errdefer gpa.free(content);
    const header = try checkedHeader(path, content, d);
    try checkIdentity(path, header.identity, identity, d);
    return .{ .content = content, .n_tokens = @intCast(header.n_tokens) };
}

fn checkedHeader(path: []const u8, content: []const u8, d: *Diagnostic) diagnostic.Error!Header {
    if (content.len < @sizeOf(Header)) return d.fail(.io, "{s} is not a slot file", .{path});
    var header: Header = undefined;
    @memcpy(std.mem.asBytes(&header), content[0..@sizeOf(Header)]);
    if (!std.mem.eql(u8, &header.magic, &magic_bytes)) return d.fail(.io, "{s} is not a slot file", .{path});
    const body = content[@sizeOf(Header)..];
    const most = std.math.maxInt(u64) / 8;
    if (header.n_tokens == 0 or header.n_tokens > most or header.state_bytes > most or
        header.n_tokens * @sizeOf(i32) + header.state_bytes != body.len)
    {
        return d.fail(.io, "{s}: the slot file is damaged: its length is wrong", .{path});
    }
    const tokens_end: usize = @intCast(header.n_tokens * @sizeOf(i32));
    if (checksumOf(body[0..tokens_end], body[tokens_end..]) != header.checksum) {
        return d.fail(.io, "{s}: the slot file is damaged: its checksum is wrong", .{path});
    }
    return header;
}

fn checkIdentity(path: []const u8, found: Identity, wanted: Identity, d: *Diagnostic) diagnostic.Error!void {
    if (found.model != wanted.model or found.n_tokens != wanted.n_tokens)
        return d.fail(.model_mismatch, "{s}: the slot was saved with another model", .{path});
    if (found.library != wanted.library)
        return d.fail(.model_mismatch, "{s}: the slot was saved with another version of libllama", .{path});
    if (found.n_ctx != wanted.n_ctx)
        return d.fail(
            .model_mismatch,
            "{s}: the slot was saved with a context of {d} tokens, the stream has {d}",
            .{ path, found.n_ctx, wanted.n_ctx },
        );
    if (found.type_k != wanted.type_k or found.type_v != wanted.type_v)
        return d.fail(.model_mismatch, "{s}: the slot was saved with other types of KV cache", .{path});
}

fn checksumOf(tokens: []const u8, state: []const u8) u64 {
    var hasher: std.hash.Wyhash = .init(0);
    hasher.update(tokens);
    hasher.update(state);
    return hasher.final();
}

const test_identity: Identity = .{ .model = 1, .library = 2, .n_ctx = 64, .n_tokens = 100, .type_k = 1, .type_v = 1 };

fn testPath(folder: *const std.testing.TmpDir, buffer: []u8) ![:0]u8 {
    return std.fmt.bufPrintSentinel(buffer, ".zig-cache/tmp/{s}/slot", .{folder.sub_path}, 0);
}

test "a slot is read back as written, and only where it belongs" {
    var folder = std.testing.tmpDir(.{});
    defer folder.cleanup();
    var buffer: [256]u8 = undefined;
    const path = try testPath(&folder, &buffer);
    var d: Diagnostic = .{};
    try write(path, test_identity, &.{ 7, 8, 9 }, "state", &d);

    const slot = try read(path, test_identity, &d);
    defer slot.deinit();
    var tokens: [3]i32 = undefined;
    slot.copyTokens(&tokens);
    try std.testing.expectEqualSlices(i32, &.{ 7, 8, 9 }, &tokens);
    try std.testing.expectEqualStrings("state", slot.state());

    inline for (comptime std.meta.fieldNames(Identity)) |name| {
        var other = test_identity;
        @field(other, name) += 1;
        d = .{};
        try std.testing.expectError(error.Failed, read(path, other, &d));
        try std.testing.expectEqual(.model_mismatch, d.status);
    }
}

test "counts of a slot file that only seem to fit its length are refused" {
    var folder = std.testing.tmpDir(.{});
    defer folder.cleanup();
    var buffer: [256]u8 = undefined;
    const path = try testPath(&folder, &buffer);
    const body = [_]u8{ 7, 0, 0, 0, 's', 't', 'a', 't', 'e' };
    const quarter = 1 << 62; // so many tokens have 2^64 bytes
    const wrapped = 0 -% @as(u64, 3);
    const pairs = [_][2]u64{ .{ 0, 9 }, .{ quarter, 9 }, .{ quarter + 1, 5 }, .{ 2 * quarter + 1, 5 }, .{ 2, 1 }, .{ 3, wrapped } };
    for (pairs) |pair| for (0..body.len + 1) |cut| {
        const header: Header = .{
            .identity = test_identity,
            .n_tokens = pair[0],
            .state_bytes = pair[1],
            .checksum = checksumOf(body[0..cut], body[cut..]),
        };
        try file.writeAll(gpa, path, &.{ std.mem.asBytes(&header), &body });
        var d: Diagnostic = .{};
        const slot = read(path, test_identity, &d) catch {
            try std.testing.expectEqual(.io, d.status);
            continue;
        };
        defer slot.deinit();
        try std.testing.expectEqual([2]u64{ 2, 1 }, pair);
    };
}

test "a damaged slot file is refused wherever it is cut or changed" {
    var folder = std.testing.tmpDir(.{});
    defer folder.cleanup();
    var buffer: [256]u8 = undefined;
    const path = try testPath(&folder, &buffer);
    var d: Diagnostic = .{};
    try write(path, test_identity, &.{7}, "state", &d);
    const whole = try file.readAll(gpa, path);
    defer gpa.free(whole);
    for (0..whole.len) |length| {
        try file.writeAll(gpa, path, &.{whole[0..length]});
        try std.testing.expectError(error.Failed, read(path, test_identity, &d));
    }
    for (whole) |*byte| {
        byte.* ^= 0x10;
        defer byte.* ^= 0x10;
        try file.writeAll(gpa, path, &.{whole});
        try std.testing.expectError(error.Failed, read(path, test_identity, &d));
    }
}
