//! A TokenTreePayload in flat arrays, in the payload's order, as JSON or MessagePack gave it. What depends on a
//! vocabulary is not checked here.

const std = @import("std");
const ArrayList = @import("../base/array_list.zig").ArrayList;
const message = @import("message");

/// A run of elements in an array.
pub const Range = packed struct(u64) {
    start: u32,
    len: u32,

    /// The elements of the run. `items` is the array that the range is about.
    pub fn of(range: Range, items: anytype) @TypeOf(items[0..]) {
        return items[range.start..][0..range.len];
    }
};

/// One constraint of the payload: its leaves or the language of its text, the token sequences that open its span, and
/// the tokens that end it.
pub const Descriptor = struct {
    path: Text,
    /// In `names` and in `sequences`.
    leaves: Range,
    /// In `triggers`.
    triggers: Range,
    /// In `tokens`. Sorted, without duplicates; empty if the descriptor has no `end`.
    end: Range,
    /// Where one with a language stands in `source`, for whoever compiles that. Empty: it has leaves.
    part: Range,
};

/// Where a token stands in the payload, for messages.
pub const Place = struct {
    descriptor: u32 = 0,
    list: enum { leaves, trigger, end } = .leaves,
    item: u32 = 0,
    token: u32 = 0,

    /// Prints `descriptors[2].leaves[7].tokens[1]`.
    pub fn format(place: Place, writer: *std.Io.Writer) std.Io.Writer.Error!void {
        try message.write(writer, "descriptors[{d}].", .{place.descriptor});
        switch (place.list) {
            .leaves => try message.write(writer, "leaves[{d}].tokens[{d}]", .{ place.item, place.token }),
            .trigger => try message.write(writer, "trigger[{d}][{d}]", .{ place.item, place.token }),
            .end => try message.write(writer, "end[{d}]", .{place.token}),
        }
    }
};

/// A string of a payload: in the payload's own bytes or, if it had escapes, in `unescaped`, counted from the
/// end of those bytes.
pub const Text = packed struct(u64) {
    start: u32 = 0,
    len: u32 = 0,

    /// The string, lent by `source` or `unescaped`.
    pub fn of(text: Text, source: []const u8, unescaped: []const u8) []const u8 {
        if (text.start < source.len) return source[text.start..][0..text.len];
        return unescaped[text.start - source.len ..][0..text.len];
    }
};

/// A decoded payload. Owns its arrays and lends `source`.
pub const Payload = struct {
    /// The bytes that were decoded. The caller's.
    source: []const u8,
    /// Strings that had escapes, one after another.
    unescaped: ArrayList(u8) = .empty,
    tokens: ArrayList(i32) = .empty,
    /// The name of each leaf.
    names: ArrayList(Text) = .empty,
    /// The tokens of each leaf, in `tokens`.
    sequences: ArrayList(Range) = .empty,
    /// Ranges of `tokens`.
    triggers: ArrayList(Range) = .empty,
    descriptors: ArrayList(Descriptor) = .empty,
    model_id: Text = .{},
    has_labels: bool = false,
    largest: struct { token: i32 = -1, place: Place = .{} } = .{},
    longest: struct { tokens: u32 = 0, place: Place = .{} } = .{},

    /// A string of this payload. Lent until the payload changes.
    pub fn textOf(p: *const Payload, text: Text) []const u8 {
        return text.of(p.source, p.unescaped.items);
    }

    /// Frees the arrays, not `source`.
    pub fn deinit(p: *Payload, gpa: std.mem.Allocator) void {
        p.unescaped.deinit(gpa);
        p.tokens.deinit(gpa);
        p.names.deinit(gpa);
        p.sequences.deinit(gpa);
        p.triggers.deinit(gpa);
        p.descriptors.deinit(gpa);
        p.* = undefined;
    }
};
