//! Documents of a descriptor, to which the references of a tag's schema lead.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const Documents = @import("../schema/documents.zig").Documents;

/// Must outlive the compiling.
pub const GivenDocuments = struct {
    list: ArrayList(Document) = .empty,

    pub const Document = struct { uri: []const u8, text: []const u8 };

    pub fn documents(given: *GivenDocuments) Documents {
        return .{ .callback = &find, .user_data = given };
    }

    fn find(uri: [*]const u8, uri_len: usize, out_text: *?[*]const u8, out_len: *usize, user_data: ?*anyopaque) callconv(.c) c_int {
        const given: *const GivenDocuments = @ptrCast(@alignCast(user_data));
        for (given.list.items) |document| if (std.mem.eql(u8, document.uri, uri[0..uri_len])) {
            out_text.* = document.text.ptr;
            out_len.* = document.text.len;
        };
        return 0;
    }
};
