//! Header, sections 1 and 2: version, strings, log.

const config = @import("config");
const boundary = @import("boundary.zig");
const environment = @import("engine").environment;
const log = @import("engine").log;
const std = @import("std");

pub const abi_version = 15;

/// A caller of ABI 13 has a shorter stream config, and no way to say so: its environment does.
pub fn isForAbi13() bool {
    var buffer: [16]u8 = undefined;
    const value = environment.get("ELIZA_INFERENCE_ABI", &buffer) orelse return false;
    return std.mem.eql(u8, value, "13");
}

export fn eliza_inference_abi_version() [*:0]const u8 {
    return if (isForAbi13()) "13" else std.fmt.comptimePrint("{d}", .{abi_version});
}

export fn eliza_inference_version() [*:0]const u8 {
    return config.version ++ "";
}

export fn eliza_inference_free_string(string: boundary.Message) void {
    boundary.freeMessage(string);
}

export fn eliza_inference_error_status(message: ?[*:0]const u8) c_int {
    return boundary.statusOf(message);
}

export fn eliza_inference_status_name(status: c_int) [*:0]const u8 {
    return boundary.Status.nameOf(status);
}

export fn eliza_inference_set_log_callback(callback: ?*const log.Callback, user_data: ?*anyopaque) void {
    log.setReceiver(callback, user_data);
}
