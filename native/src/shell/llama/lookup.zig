//! Prompt lookup: what follows now is what followed the last time that the text went so (Saxena, "Prompt Lookup Decoding",
//! 2023). Costs no model, and is right where an answer repeats the prompt or itself: names, keys, quotations.

const std = @import("std");

/// Fewer equal tokens are chance.
pub const match_tokens_min = 2;
/// Places with as many equal tokens before them are equally good; the last one counts.
pub const match_tokens_max = 8;

/// One draft.
pub const Lookup = struct {
    /// The place of the last guess.
    place: ?usize = null,

    /// A guess at the token behind `text`, which is not empty. Continues from the last guess as long as that was right; otherwise
    /// a scan of the text.
    pub fn guess(lookup: *Lookup, text: []const i32) ?i32 {
        const last = text.len - 1;
        lookup.place = if (lookup.place) |place|
            if (text[place] == text[last]) place + 1 else find(text)
        else
            find(text);
        return text[lookup.place orelse return null];
    }
};

/// The place after the longest earlier occurrence of the last tokens; of equally long ones the last.
fn find(text: []const i32) ?usize {
    const last = text.len - 1;
    var best: ?usize = null;
    var best_length: usize = match_tokens_min - 1;
    var place = text.len;
    while (place > match_tokens_min) {
        place -= 1;
        if (text[place - 1] != text[last]) continue;
        const length = matchLength(text[0..place], text);
        if (length <= best_length) continue;
        best = place;
        best_length = length;
        if (length == match_tokens_max) break;
    }
    return best;
}

/// How many tokens both end with, at most `match_tokens_max`.
fn matchLength(a: []const i32, b: []const i32) usize {
    const most = @min(a.len, b.len, match_tokens_max);
    var n: usize = 0;
    while (n < most and a[a.len - 1 - n] == b[b.len - 1 - n]) n += 1;
    return n;
}

fn expectGuesses(expected: []const i32, text: []const i32) !void {
    var buffer: [64]i32 = undefined;
    @memcpy(buffer[0..text.len], text);
    var lookup: Lookup = .{};
    for (expected, text.len..) |token, len| {
        buffer[len] = lookup.guess(buffer[0..len]) orelse return error.NoGuess;
        try std.testing.expectEqual(token, buffer[len]);
    }
}

test "a guess continues as it did the last time" {
    try expectGuesses(&.{ 3, 4, 9, 1, 2, 3 }, &.{ 1, 2, 3, 4, 9, 1, 2 });
    try expectGuesses(&.{ 7, 7, 7 }, &.{ 7, 7, 7 });
}

test "the longest match counts, of equal ones the last" {
    try expectGuesses(&.{5}, &.{ 8, 1, 2, 5, 9, 1, 2, 6, 8, 1, 2 });
    try expectGuesses(&.{6}, &.{ 8, 1, 2, 5, 9, 1, 2, 6, 7, 1, 2 });
}

test "one equal token, or none, is no match" {
    for ([_][]const i32{ &.{1}, &.{ 1, 1 }, &.{ 1, 2, 3 }, &.{ 2, 5, 1, 2 } }) |text| {
        var lookup: Lookup = .{};
        try std.testing.expectEqual(null, lookup.guess(text));
    }
}

test "a wrong guess is looked up again" {
    var lookup: Lookup = .{};
    const text = [_]i32{ 1, 2, 3, 4, 2, 5, 6, 1, 2 };
    try std.testing.expectEqual(3, lookup.guess(&text));
    try std.testing.expectEqual(6, lookup.guess(&(text ++ .{5})));
}
