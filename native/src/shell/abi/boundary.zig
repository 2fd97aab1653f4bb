//! What every exported function needs at the C boundary: turning a Diagnostic into a status and a
//! message, and checking what callers pass.

const std = @import("std");
const builtin = @import("builtin");
const diagnostic = @import("engine").diagnostic;
pub const Diagnostic = diagnostic.Diagnostic;
pub const Error = diagnostic.Error;
pub const Status = @import("engine").status.Status;
pub const gpa = @import("engine").memory.gpa;

/// A message that the caller frees. Null if there is none, or if memory is too short for it. Its status stands
/// before it in memory.
pub const Message = ?[*:0]u8;

const status_bytes = @sizeOf(c_int);

/// No message so far. Every function with an `out_error` calls it first.
pub fn begin(out_error: ?*Message) void {
    if (out_error) |out| out.* = null;
}

/// Hands out the message of `diag`, and returns its status.
pub fn fail(out_error: ?*Message, diag: *const Diagnostic) c_int {
    if (out_error) |out| out.* = messageOf(diag);
    return diag.status.code();
}

/// Fails with `invalid_arg` and a message that needs no argument.
pub fn reject(out_error: ?*Message, comptime message: []const u8) c_int {
    var diag: Diagnostic = .init();
    diag.fail(.invalid_arg, message, .{}) catch {};
    return fail(out_error, &diag);
}

/// Null is allowed.
pub fn freeMessage(message: Message) void {
    const text = message orelse return;
    const block = text - status_bytes;
    gpa.free(block[0 .. status_bytes + std.mem.span(text).len + 1]);
}

/// The status that came with a message; that of success for null.
pub fn statusOf(message: ?[*:0]const u8) c_int {
    const block = (message orelse return Status.ok.code()) - status_bytes;
    return std.mem.readInt(c_int, block[0..status_bytes], builtin.cpu.arch.endian());
}

fn messageOf(diag: *const Diagnostic) Message {
    const text = diag.message();
    const block = gpa.alloc(u8, status_bytes + text.len + 1) catch return null;
    std.mem.writeInt(c_int, block[0..status_bytes], diag.status.code(), builtin.cpu.arch.endian());
    @memcpy(block[status_bytes..][0 .. text.len + 1], text[0 .. text.len + 1]);
    return block[status_bytes .. status_bytes + text.len :0].ptr;
}

/// A caller's array; null if it has a length but no pointer.
pub fn slice(comptime T: type, pointer: ?[*]const T, length: usize) ?[]const T {
    if (length == 0) return &.{};
    return if (pointer) |p| p[0..length] else null;
}

// ---- Structs that know their size ------------------------------------------------------------------------------------
//
// A caller may be older than this library, and its struct shorter, or newer, and its struct longer. Both sides share
// the fields that both know. `T.first_size` is the size of the struct's first version: it never changes.

/// Reads the caller's struct; fields that it lacks are 0. `name` is what messages call it. Inline, since a struct is
/// read for each sampled token: of one that is as large as ours, only the fields in use are read.
pub inline fn read(comptime T: type, comptime name: []const u8, given: *const T, diag: *Diagnostic) Error!T {
    const size = given.struct_size;
    if (size < T.first_size) {
        return diag.fail(.invalid_arg, name ++ ".struct_size: {d} is less than {d}", .{ size, T.first_size });
    }
    var value = std.mem.zeroes(T);
    copyKnown(T, &value, given, size);
    return value;
}

/// Fills the caller's struct with the fields that it has; false if it is missing or shorter than the first version.
pub fn fill(comptime T: type, out: ?*T, value: T) bool {
    const to = out orelse return false;
    const size = to.struct_size;
    if (size < T.first_size) return false;
    copyKnown(T, to, &value, size);
    to.struct_size = size;
    return true;
}

/// One of the two structs is the caller's and has `size` bytes, whatever its type says.
fn copyKnown(comptime T: type, to: *T, from: *const T, size: u32) void {
    comptime std.debug.assert(T.first_size <= @sizeOf(T));
    comptime std.debug.assert(@offsetOf(T, "struct_size") == 0);
    const known = @min(size, @sizeOf(T));
    @memcpy(std.mem.asBytes(to)[0..known], std.mem.asBytes(from)[0..known]);
}

/// A struct that has grown by a field.
const Grown = extern struct {
    struct_size: u32,
    first: u32,
    added: u64,

    const first_size = 8;
};

/// What a caller passes: a struct of any size, and after it memory that is none of the library's business.
const Given = struct {
    bytes: [32]u8 align(@alignOf(Grown)) = @splat(0xaa),

    fn init(size: u32) Given {
        var given: Given = .{};
        given.pointer().struct_size = size;
        return given;
    }

    fn pointer(given: *Given) *Grown {
        return @ptrCast(&given.bytes);
    }
};

test "a struct is read as far as the caller knows it" {
    var diag: Diagnostic = .{};
    const everywhere: u64 = 0xaaaaaaaaaaaaaaaa;
    for ([_]struct { u32, u64 }{ .{ 8, 0 }, .{ 16, everywhere }, .{ 24, everywhere } }) |case| {
        const size, const added = case;
        var given: Given = .init(size);
        const value = try read(Grown, "config", given.pointer(), &diag);
        try std.testing.expectEqual(@as(u32, 0xaaaaaaaa), value.first);
        try std.testing.expectEqual(added, value.added);
    }
}

test "a struct is filled as far as the caller knows it" {
    for ([_]struct { u32, usize }{ .{ 8, 8 }, .{ 16, 16 }, .{ 24, 16 } }) |case| {
        const size, const written = case;
        var given: Given = .init(size);
        try std.testing.expect(fill(Grown, given.pointer(), .{ .struct_size = 16, .first = 1, .added = 2 }));
        try std.testing.expectEqual(size, given.pointer().struct_size);
        try std.testing.expectEqual(@as(u32, 1), given.pointer().first);
        if (written == 16) try std.testing.expectEqual(@as(u64, 2), given.pointer().added);
        for (given.bytes[written..]) |byte| try std.testing.expectEqual(@as(u8, 0xaa), byte);
    }
}

test "a struct shorter than its first version is refused, and stays as it is" {
    var diag: Diagnostic = .{};
    for ([_]u32{ 0, 7 }) |size| {
        var given: Given = .init(size);
        const before = given;
        try std.testing.expectError(error.Failed, read(Grown, "config", given.pointer(), &diag));
        try std.testing.expect(!fill(Grown, given.pointer(), .{ .struct_size = 16, .first = 1, .added = 2 }));
        try std.testing.expectEqual(before, given);
    }
    try std.testing.expectEqualStrings("config.struct_size: 7 is less than 8", diag.message());
}
