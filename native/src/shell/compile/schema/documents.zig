//! The documents of the caller that references of a schema lead to, or imports of a grammar.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const Source = @import("engine").schema.Source;
const Budget = @import("engine").budget.Budget;

/// eliza_json_document_callback.
pub const Callback = fn (
    uri: [*]const u8,
    uri_len: usize,
    out_text: *?[*]const u8,
    out_len: *usize,
    user_data: ?*anyopaque,
) callconv(.c) c_int;

pub const Documents = struct {
    /// Null: there are none.
    callback: ?*const Callback = null,
    user_data: ?*anyopaque = null,

    /// A copy of a document's text; null if there is none with this URI.
    pub fn find(
        d: *const Documents,
        arena: Allocator,
        uri: []const u8,
        budget: *Budget,
        diag: *Diagnostic,
    ) (Allocator.Error || diagnostic.Error)!?[]const u8 {
        const callback = d.callback orelse return null;
        var text: ?[*]const u8 = null;
        var length: usize = 0;
        if (callback(uri.ptr, uri.len, &text, &length, d.user_data) != 0) {
            return diag.fail(.cancelled, "the callback failed for {f}", .{quoted(uri)});
        }
        const found = text orelse return null;
        try budget.take(length, "the documents", diag);
        return try arena.dupe(u8, found[0..length]);
    }

    /// Those of a file, which must outlive them. Null: it cannot have been written like this.
    pub fn of(source: *const Source) ?Documents {
        var from: u64 = 0;
        for (source.ends) |end| {
            if (end < from) return null;
            from = end;
        }
        if (from != source.documents.len or source.ends.len % 2 != 0) return null;
        return .{ .callback = &findSaved, .user_data = @constCast(source) };
    }

    fn findSaved(
        uri: [*]const u8,
        uri_len: usize,
        out_text: *?[*]const u8,
        out_len: *usize,
        user_data: ?*anyopaque,
    ) callconv(.c) c_int {
        const source: *const Source = @ptrCast(@alignCast(user_data));
        var from: usize = 0;
        var i: usize = 0;
        while (i < source.ends.len) : (i += 2) {
            const middle: usize = @intCast(source.ends[i]);
            const end: usize = @intCast(source.ends[i + 1]);
            if (std.mem.eql(u8, source.documents[from..middle], uri[0..uri_len])) {
                const text = source.documents[middle..end];
                out_text.* = text.ptr;
                out_len.* = text.len;
                break;
            }
            from = end;
        }
        return 0;
    }
};
