//! What a JavaScript program needs besides the header to call the library as a WebAssembly module: memory for what it passes, and
//! callbacks. JavaScript cannot make a C function pointer, but it can give the module functions when it is loaded: these are the callbacks
//! of the header, one of each type, and `user_data` says for whom they are called.

const std = @import("std");
const boundary = @import("boundary.zig");
const budget = @import("engine").budget;
const log = @import("engine").log;
const vocabulary = @import("engine").vocabulary;
const documents = @import("../compile/schema/documents.zig");

/// Of every block: no type of the header needs more.
const alignment: std.mem.Alignment = .@"16";

/// Null if there is no memory for it.
export fn eliza_webassembly_allocate(n_bytes: usize) ?[*]align(alignment.toByteUnits()) u8 {
    const block = boundary.gpa.alignedAlloc(u8, alignment, n_bytes) catch return null;
    return block.ptr;
}

/// Frees a block with the length that it was allocated with.
export fn eliza_webassembly_free(block: [*]align(alignment.toByteUnits()) u8, n_bytes: usize) void {
    boundary.gpa.free(block[0..n_bytes]);
}

/// What is imported, in the types of the header.
const host = struct {
    extern "host" fn cancel(user_data: ?*anyopaque) c_int;
    extern "host" fn tokenize(text: [*]const u8, text_len: usize, out: [*]i32, cap: usize, user_data: ?*anyopaque) i32;
    extern "host" fn document(uri: [*]const u8, uri_len: usize, out: *?[*]const u8, out_len: *usize, user_data: ?*anyopaque) c_int;
    extern "host" fn log(level: i32, message: [*:0]const u8, length: usize, user_data: ?*anyopaque) void;
};

export fn eliza_webassembly_cancel_callback() *const budget.Cancel {
    return &host.cancel;
}

export fn eliza_webassembly_tokenize_callback() *const vocabulary.Tokenizer.Callback {
    return &host.tokenize;
}

export fn eliza_webassembly_document_callback() *const documents.Callback {
    return &host.document;
}

export fn eliza_webassembly_log_callback() *const log.Callback {
    return &host.log;
}
