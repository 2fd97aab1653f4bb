//! Tokens in a grammar: `<[12]>`, `<text>`, `!<[12]>`, `!<text>`.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Texts = @import("engine").texts.Texts;
const diagnostic = @import("engine").diagnostic;
const Vocabulary = @import("engine").vocabulary.Vocabulary;
const quoted = diagnostic.quoted;
const token_set = @import("../token_set.zig");
const Cursor = @import("cursor.zig").Cursor;

const Error = Allocator.Error || diagnostic.Error;

/// Finds tokens by their text, and remembers what it found.
pub const Tokens = struct {
    arena: Allocator,
    vocabulary: *const Vocabulary,
    texts: Texts = .{},
    /// [text]: its token.
    known: ArrayList(u32) = .empty,

    /// `<` or `!` is next.
    pub fn read(t: *Tokens, cursor: *Cursor) Error!token_set.TokenSet {
        const negated = cursor.take("!");
        const token = if (cursor.startsWith("<[")) try t.byNumber(cursor) else try t.byText(cursor);
        return .{ .ranges = try t.arena.dupe(token_set.Range, &.{.{ .first = token, .last = token }}), .negated = negated };
    }

    fn byNumber(t: *const Tokens, cursor: *Cursor) Error!u32 {
        _ = cursor.take("<[");
        const token = try t.number(cursor);
        return if (cursor.take("]>")) token else cursor.expected("\"]>\"");
    }

    /// A token by its number.
    pub fn number(t: *const Tokens, cursor: *Cursor) Error!u32 {
        const place = cursor.here();
        const token = try cursor.number(std.math.maxInt(u32) - 1);
        if (token < t.vocabulary.tokens.n) return token;
        return cursor.fail(place, "there is no token {d}: the vocabulary has {d}", .{ token, t.vocabulary.tokens.n });
    }

    fn byText(t: *Tokens, cursor: *Cursor) Error!u32 {
        const place = cursor.here();
        const first = cursor.at;
        if (cursor.peek() != '<') return cursor.expected("\"<\"");
        while (!cursor.take(">")) {
            if (cursor.peek() == 0) return cursor.fail(place, "the token is not closed by \">\"", .{});
            _ = cursor.character();
        }
        const text = cursor.text[first..cursor.at];
        const index = try t.texts.put(t.arena, text);
        if (index == t.known.items.len) {
            const token = token_set.find(&t.vocabulary.tokens, text) orelse
                return cursor.fail(place, "no token of the vocabulary is {f}", .{quoted(text)});
            try t.known.append(t.arena, token);
        }
        return t.known.items[index];
    }
};
