//! A TokenTreePayload in flat arrays, as JSON or MessagePack gave it, in the payload's order. What
//! depends on a vocabulary is not checked here.

const std = @import("std");
const message = @import("message");

/// A run of elements in one of the arrays.
pub const Range = packed struct(u64) {
    start: u32,
    len: u32,

    pub fn of(range: Range, items: anytype) @TypeOf(items[0..]) {
        return items[range.start..][0..range.len];
    }
};

pub const Descriptor = struct {
    path: Text,
    /// Of `names` and of `sequences`.
    leaves: Range,
    triggers: Range,
    /// Sorted, without repetitions; empty if the descriptor has no `end`.
    end: Range,
};

/// Where a token stands in the payload.
pub const Place = struct {
    descriptor: u32 = 0,
    list: enum { leaves, trigger, end } = .leaves,
    item: u32 = 0,
    token: u32 = 0,

    pub fn format(place: Place, writer: *std.Io.Writer) std.Io.Writer.Error!void {
        try message.write(writer, "descriptors[{d}].", .{place.descriptor});
        switch (place.list) {
            .leaves => try message.write(writer, "leaves[{d}].tokens[{d}]", .{ place.item, place.token }),
            .trigger => try message.write(writer, "trigger[{d}][{d}]", .{ place.item, place.token }),
            .end => try message.write(writer, "end[{d}]", .{place.token}),
        }
    }
};

/// A string of a payload: in the payload's own bytes, or, if it had escapes, behind them in `text`.
pub const Text = packed struct(u64) {
    start: u32 = 0,
    len: u32 = 0,

    pub fn of(text: Text, source: []const u8, unescaped: []const u8) []const u8 {
        if (text.start < source.len) return source[text.start..][0..text.len];
        return unescaped[text.start - source.len ..][0..text.len];
    }
};

pub const Payload = struct {
    /// The bytes that were decoded; the caller's.
    source: []const u8,
    /// Strings that had escapes, one after the other.
    unescaped: std.ArrayList(u8) = .empty,
    tokens: std.ArrayList(i32) = .empty,
    /// The name of each leaf.
    names: std.ArrayList(Text) = .empty,
    /// The tokens of each leaf, in `tokens`.
    sequences: std.ArrayList(Range) = .empty,
    /// Ranges of `tokens`.
    triggers: std.ArrayList(Range) = .empty,
    descriptors: std.ArrayList(Descriptor) = .empty,
    model_id: Text = .{},
    largest: struct { token: i32 = -1, place: Place = .{} } = .{},
    longest: struct { tokens: u32 = 0, place: Place = .{} } = .{},

    pub fn textOf(p: *const Payload, text: Text) []const u8 {
        return text.of(p.source, p.unescaped.items);
    }

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
