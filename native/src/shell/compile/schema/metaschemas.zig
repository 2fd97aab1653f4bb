//! The drafts' own meta-schemas, and those of their vocabularies. metaschemas.json has what they assert, by
//! "JSON Schema Specification Authors" (THIRD_PARTY.md); annotations are left out.
//!
//! They say much the same, so they are kept as copies of what came before (Ziv and Lempel, *A universal algorithm
//! for sequential data compression*, 1977): 3 kB in place of 17.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;

/// Whether a document with this URI may be among them.
pub fn hasHost(uri: []const u8) bool {
    const host = "://json-schema.org/draft";
    return std.mem.startsWith(u8, uri, "http" ++ host) or std.mem.startsWith(u8, uri, "https" ++ host);
}

/// All of them: an array of documents.
pub fn text(arena: Allocator) Allocator.Error![]const u8 {
    var out: ArrayList(u8) = try .initCapacity(arena, plain.len);
    var at: usize = 0;
    while (at < pack.bytes.len) {
        const head = pack.bytes[at];
        if (head < copy) {
            out.appendSliceAssumeCapacity(pack.bytes[at + 1 ..][0 .. head + 1]);
            at += head + 2;
        } else {
            const from = pack.bytes[at + 1] + @as(usize, pack.bytes[at + 2]) * 256;
            for (from..from + head - copy + copied_min) |i| out.appendAssumeCapacity(out.items[i]);
            at += 3;
        }
    }
    return out.items;
}

/// A head below this is followed by as many bytes and one more; any other by where the copy begins.
const copy = 0x80;
/// Shorter copies are not worth their three bytes.
const copied_min = 8;
const copied_max = copied_min + 0xff - copy;

/// Without white space, which stands in no string of it.
const plain: []const u8 = plain: {
    @setEvalBranchQuota(1_000_000);
    const file = @embedFile("metaschemas.json");
    var bytes: [file.len]u8 = undefined;
    var n: usize = 0;
    for (file) |byte| if (byte > ' ') {
        bytes[n] = byte;
        n += 1;
    };
    const exact = bytes[0..n].*;
    break :plain &exact;
};

const pack = struct {
    const bytes: []const u8 = bytes: {
        @setEvalBranchQuota(10_000_000);
        var out: [plain.len]u8 = undefined;
        var n: usize = 0;
        // Where a text of `copied_min` bytes was seen last, by its hash.
        var seen: [1 << 12]u16 = @splat(0);
        var last: u16 = 0;
        var at: usize = 0;
        var literals: usize = 0;
        while (at < plain.len) {
            const place = if (at + copied_min <= plain.len) &seen[hash(at)] else &last;
            const from = place.*;
            place.* = at;
            const length = common(from, at);
            if (length < copied_min) {
                if (literals == 0) n += 1;
                out[n] = plain[at];
                n += 1;
                out[n - literals - 2] = literals;
                literals = (literals + 1) % copy;
                at += 1;
            } else {
                out[n..][0..3].* = .{ copy + length - copied_min, from % 256, from / 256 };
                n += 3;
                literals = 0;
                at += length;
            }
        }
        const exact = out[0..n].*;
        break :bytes &exact;
    };

    fn hash(at: usize) u12 {
        const value: u64 = @bitCast(plain[at..][0..copied_min].*);
        return @truncate(value *% 0x9e3779b97f4a7c15 >> 52);
    }

    /// How many bytes are the same from both places on.
    fn common(from: usize, at: usize) usize {
        var length: usize = 0;
        while (length < copied_max and at + length < plain.len and plain[from + length] == plain[at + length]) length += 1;
        return if (from < at) length else 0;
    }
};

test "what is unpacked is the file without its white space" {
    var arena_state: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena_state.deinit();
    try std.testing.expectEqualStrings(plain, try text(arena_state.allocator()));
    try std.testing.expect(pack.bytes.len < 3500);
}
