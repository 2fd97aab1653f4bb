//! Header, section 7: libllama.

const boundary = @import("boundary.zig");
const loader = @import("../llama/loader.zig");
const native_log = @import("../llama/native_log.zig");

const invalid_arg = boundary.Status.invalid_arg.code();

/// eliza_llama_info_t.
pub const Info = extern struct {
    struct_size: u32 = @sizeOf(Info),
    reserved: u32 = 0,
    path: ?[*:0]const u8,
    version: ?[*:0]const u8,
    layout: ?[*:0]const u8,

    pub const first_size = if (@sizeOf(usize) == 8) 32 else 20;
};

export fn eliza_inference_llama_load(path: ?[*]const u8, path_len: usize, out_error: ?*boundary.Message) c_int {
    boundary.begin(out_error);
    const text = boundary.slice(u8, path, path_len) orelse return boundary.reject(out_error, "path is NULL");
    var diag: boundary.Diagnostic = .init();
    _ = loader.load(text, &diag) catch return boundary.fail(out_error, &diag);
    return 0;
}

export fn eliza_inference_llama_info(out_info: ?*Info) c_int {
    var diag: boundary.Diagnostic = .init();
    native_log.refuseWithin(&diag) catch return diag.status.code();
    const runtime = loader.bound() orelse return boundary.Status.state.code();
    const info: Info = .{ .path = runtime.path, .version = runtime.version, .layout = runtime.layout.name };
    return if (boundary.fill(Info, out_info, info)) 0 else invalid_arg;
}
