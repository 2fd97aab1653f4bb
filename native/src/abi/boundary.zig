//! What every exported function needs at the C boundary: turning a Diagnostic into a status and a
//! message, and checking what callers pass.

const std = @import("std");
const diagnostic = @import("../diagnostic.zig");
pub const Diagnostic = diagnostic.Diagnostic;
pub const Error = diagnostic.Error;
pub const Status = @import("../status.zig").Status;
pub const gpa = @import("../platform/memory.zig").gpa;

/// A message for the caller to free, or null if memory is short too.
pub const Message = ?[*:0]u8;

/// Success so far: no message.
pub fn begin(out_error: ?*Message) void {
    if (out_error) |out| out.* = null;
}

/// The failure in `diag`, with its message handed out.
pub fn fail(out_error: ?*Message, diag: *const Diagnostic) c_int {
    if (out_error) |out| out.* = if (gpa.dupeSentinel(u8, diag.message(), 0)) |text| text.ptr else |_| null;
    return diag.status.code();
}

/// A failure that is found at the boundary itself.
pub fn reject(out_error: ?*Message, comptime message: []const u8) c_int {
    var diag: Diagnostic = .{};
    diag.fail(.invalid_arg, message, .{}) catch {};
    return fail(out_error, &diag);
}

pub fn freeMessage(message: Message) void {
    if (message) |text| gpa.free(std.mem.span(text));
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
