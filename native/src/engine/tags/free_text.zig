//! Free text around parts as an automaton ("Efficient string matching: an aid to bibliographic search", A. Aho and
//! M. Corasick, 1975): its states know how much of a trigger, or of a text that is excluded, was read last.
//! shell/compile/tags makes it.

const std = @import("std");
const Allocator = std.mem.Allocator;
const symbols = @import("symbols.zig");
const Symbol = symbols.Symbol;

/// Immutable. Owns its arrays.
pub const FreeText = struct {
    /// The column of each byte.
    classes: [256]u8,
    /// The column of each named token.
    token_classes: []const u16,
    n_classes: u32,
    /// [state * n_classes + class]: the state after it, `dead`, or `n_states` and the number of the part that begins;
    /// with the number of parts instead, the text is finished.
    next: []const u16,
    n_states: u32,
    /// States from here on are behind the last part of a row of parts, whose end text must follow.
    first_closing: u32,
    /// States from here on are behind a trigger, or within a row: begin texts decide what follows.
    first_behind_trigger: u32,
    /// Of the empty text.
    initial: u32,
    /// Behind a part.
    outside: u32,
    /// [state]: whether a part can begin in some text that goes on from here.
    may_begin: []const bool,

    /// In place of a state: no text goes on like that.
    pub const dead = std.math.maxInt(u16);

    pub fn deinit(f: *FreeText, gpa: Allocator) void {
        gpa.free(f.next);
        gpa.free(f.token_classes);
        gpa.free(f.may_begin);
        f.* = undefined;
    }

    /// What follows a state.
    pub inline fn after(f: *const FreeText, state: u32, byte: u8) u16 {
        return f.next[state * f.n_classes + f.classes[byte]];
    }

    /// As `after`, for a named token too.
    pub fn afterSymbol(f: *const FreeText, state: u32, symbol: Symbol) u16 {
        const class = if (symbol < symbols.first_token) f.classes[symbol] else f.token_classes[symbol - symbols.first_token];
        return f.next[state * f.n_classes + class];
    }

    pub fn bytes(f: *const FreeText) usize {
        return 2 * (f.next.len + f.token_classes.len) + f.may_begin.len;
    }
};
