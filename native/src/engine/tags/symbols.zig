//! What texts around parts are read as: bytes, and tokens that stand for themselves, whatever they spell.

const std = @import("std");
const Allocator = std.mem.Allocator;

/// A byte, or `first_token` and the number of a named token.
pub const Symbol = u16;
pub const first_token: Symbol = 256;
/// More named tokens are refused.
pub const named_max = 256;

/// The tokens that stand for themselves. Immutable.
pub const NamedTokens = struct {
    /// Ascending.
    ids: []const u32 = &.{},
    /// Of each of them.
    symbols: []const Symbol = &.{},

    pub fn deinit(named: *NamedTokens, gpa: Allocator) void {
        gpa.free(named.ids);
        gpa.free(named.symbols);
        named.* = undefined;
    }

    /// Null: the token is what it spells.
    pub fn symbolOf(named: *const NamedTokens, token: u32) ?Symbol {
        var low: usize = 0;
        var high = named.ids.len;
        while (low < high) {
            const middle = low + (high - low) / 2;
            if (named.ids[middle] == token) return named.symbols[middle];
            if (named.ids[middle] < token) low = middle + 1 else high = middle;
        }
        return null;
    }
};
