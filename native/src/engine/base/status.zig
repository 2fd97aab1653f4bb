//! The status codes of the header, section 2. A test compares them.

/// How a call of the C interface ended: ELIZA_OK and ELIZA_ERR_* of the header.
pub const Status = enum(c_int) {
    ok = 0,
    unsupported = -1,
    invalid_arg = -2,
    bundle_invalid = -3,
    ffi_fault = -4,
    oom = -5,
    abi_mismatch = -6,
    cancelled = -7,
    busy = -8,
    closed = -9,
    payload = -10,
    limit = -11,
    model_mismatch = -12,
    unknown_path = -13,
    context_full = -14,
    io = -15,
    state = -16,
    grammar = -17,
    file_invalid = -18,

    /// The number that C callers see.
    pub fn code(status: Status) c_int {
        return @backingInt(status);
    }

    /// The header's name for a number: "ELIZA_ERR_UNKNOWN" if it has none.
    pub fn nameOf(value: c_int) [:0]const u8 {
        if (value == 0) return "ELIZA_OK";
        inline for (@typeInfo(Status).@"enum".field_names) |name| {
            if (value == @field(Status, name).code()) return comptime headerName(name);
        }
        return "ELIZA_ERR_UNKNOWN";
    }

    fn headerName(comptime name: []const u8) [:0]const u8 {
        comptime {
            var upper: [name.len]u8 = undefined;
            return "ELIZA_ERR_" ++ std.ascii.upperString(&upper, name);
        }
    }
};

const std = @import("std");

test "names follow the header" {
    try std.testing.expectEqualStrings("ELIZA_OK", Status.nameOf(0));
    try std.testing.expectEqualStrings("ELIZA_ERR_INVALID_ARG", Status.nameOf(-2));
    try std.testing.expectEqualStrings("ELIZA_ERR_STATE", Status.nameOf(-16));
    try std.testing.expectEqualStrings("ELIZA_ERR_UNKNOWN", Status.nameOf(1));
    try std.testing.expectEqualStrings("ELIZA_ERR_UNKNOWN", Status.nameOf(-19));
}
