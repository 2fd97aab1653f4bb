//! Sets of tokens of the vocabulary that a grammar names.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Tokens = @import("engine").vocabulary.Tokens;

/// Of tokens, both ends included.
pub const Range = struct { first: u32, last: u32 };

/// One token, whatever it spells: one in the ranges, which are in any order, or any but those.
pub const TokenSet = struct {
    ranges: []const Range,
    negated: bool = false,

    pub fn one(arena: Allocator, token: u32) Allocator.Error!TokenSet {
        return .{ .ranges = try arena.dupe(Range, &.{.{ .first = token, .last = token }}) };
    }

    /// Null: a token that is in no list.
    pub fn has(set: TokenSet, token: ?u32) bool {
        const id = token orelse return set.negated;
        return set.lists(id) != set.negated;
    }

    /// Whether the token is in the ranges.
    pub fn lists(set: TokenSet, token: u32) bool {
        for (set.ranges) |range| if (range.first <= token and token <= range.last) return true;
        return false;
    }
};

/// The token with this text: a special one before any other.
pub fn find(tokens: *const Tokens, text: []const u8) ?u32 {
    var found: ?u32 = null;
    for (0..tokens.n) |i| {
        const token: u32 = @intCast(i);
        if (!std.mem.eql(u8, tokens.bytesOf(token), text)) continue;
        if (tokens.flagsOf(token).special) return token;
        found = found orelse token;
    }
    return found;
}

test "what a set has" {
    const some: TokenSet = .{ .ranges = &.{ .{ .first = 3, .last = 5 }, .{ .first = 0, .last = 0 } } };
    const others: TokenSet = .{ .ranges = some.ranges, .negated = true };
    for ([_]?u32{ 0, 1, 3, 5, 6, null }, [_]bool{ true, false, true, true, false, false }) |token, is_in| {
        try std.testing.expectEqual(is_in, some.has(token));
        try std.testing.expectEqual(!is_in, others.has(token));
    }
}
