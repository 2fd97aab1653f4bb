//! What every exported function needs at the C boundary: turning a Diagnostic into a status and a
//! message, and checking what callers pass.

const std = @import("std");
const builtin = @import("builtin");
const diagnostic = @import("engine").diagnostic;
pub const Diagnostic = diagnostic.Diagnostic;
pub const Error = diagnostic.Error;
pub const Status = @import("engine").status.Status;
pub const gpa = @import("engine").memory.gpa;

/// A message for the caller to free, or null if memory is short too. Its status stands before it.
pub const Message = ?[*:0]u8;

const status_bytes = @sizeOf(c_int);

/// Success so far: no message.
pub fn begin(out_error: ?*Message) void {
    if (out_error) |out| out.* = null;
}

/// The failure in `diag`, with its message handed out.
pub fn fail(out_error: ?*Message, diag: *const Diagnostic) c_int {
    if (out_error) |out| out.* = messageOf(diag);
    return diag.status.code();
}

/// A failure that is found at the boundary itself.
pub fn reject(out_error: ?*Message, comptime message: []const u8) c_int {
    var diag: Diagnostic = .{};
    diag.fail(.invalid_arg, message, .{}) catch {};
    return fail(out_error, &diag);
}

pub fn freeMessage(message: Message) void {
    const text = message orelse return;
    const block = text - status_bytes;
    gpa.free(block[0 .. status_bytes + std.mem.span(text).len + 1]);
}

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

/// Text of the caller; null if a length comes without a pointer.
pub fn slice(comptime T: type, pointer: ?[*]const T, length: usize) ?[]const T {
    if (length == 0) return &.{};
    return if (pointer) |p| p[0..length] else null;
}

/// Fills an output struct of the header as far as the caller's `struct_size` reaches; false if the
/// struct is missing or smaller than its first version.
pub fn fill(comptime T: type, out: ?*T, value: T) bool {
    const to = out orelse return false;
    if (to.struct_size < @sizeOf(T)) return false;
    const size = to.struct_size;
    to.* = value;
    to.struct_size = size;
    return true;
}
