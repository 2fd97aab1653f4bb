//! Free text around parts as an automaton ("Efficient string matching: an aid to bibliographic search", A. Aho and
//! M. Corasick, 1975): its states know how much of a trigger, or of a text that is excluded, was read last.
//! shell/compile/tags makes it.

const std = @import("std");
const Allocator = std.mem.Allocator;
const symbols = @import("symbols.zig");
const Symbol = symbols.Symbol;

/// Immutable. Owns its arrays. States are numbered in this order: those of free text; those within the end texts of rows,
/// and within what follows triggers, where only one symbol continues; and those behind triggers where several do.
pub const FreeText = struct {
    /// The column of each byte.
    classes: [256]u8,
    /// The column of each named token.
    token_classes: []const u16,
    n_classes: u32,
    /// [row * n_classes + class]: the state after it, `dead`, or `n_states` and the number of the part that begins;
    /// with the number of parts instead, the text is finished. First the rows of free text, then those behind triggers.
    next: []const u32,
    /// [state - n_text]: the only symbol that continues, to the next state; or with `chain_end`, to what the two elements
    /// after it say, the lower half first.
    chains: []const Symbol,
    /// States below are those of free text.
    n_text: u32,
    /// States from here on have rows.
    first_branch: u32,
    /// [state - first_pending]: the part that begins unless the text continues as a longer begin text does.
    pending: []const u32,
    first_pending: u32,
    n_states: u32,
    /// States from here on are after the last part of a row of parts, whose end text must follow.
    first_closing: u32,
    /// States from here on are after a trigger, or within a row: begin texts decide what follows.
    first_behind_trigger: u32,
    /// Of the empty text.
    initial: u32,
    /// After a part.
    outside: u32,
    /// [state of free text]: whether a part can begin in some text that continues from here. Behind triggers one can.
    may_begin: []const bool,

    /// In place of a state: no text continues like that.
    pub const dead = std.math.maxInt(u32);
    pub const chain_end = 0x8000;

    pub fn deinit(f: *FreeText, gpa: Allocator) void {
        gpa.free(f.next);
        gpa.free(f.chains);
        gpa.free(f.pending);
        gpa.free(f.token_classes);
        gpa.free(f.may_begin);
        f.* = undefined;
    }

    /// What follows a state.
    pub inline fn after(f: *const FreeText, state: u32, byte: u8) u32 {
        if (state < f.n_text) return f.next[state * f.n_classes + f.classes[byte]];
        return f.afterSymbol(state, byte);
    }

    /// As `after`, for a named token too.
    pub noinline fn afterSymbol(f: *const FreeText, state: u32, symbol: Symbol) u32 {
        if (state >= f.n_text and state < f.first_branch) {
            const chain = f.chains[state - f.n_text ..];
            if (chain[0] & ~@as(Symbol, chain_end) != symbol) return dead;
            if (chain[0] & chain_end == 0) return state + 1;
            return chain[1] | @as(u32, chain[2]) << 16;
        }
        const row = if (state < f.n_text) state else f.n_text + (state - f.first_branch);
        return f.next[row * f.n_classes + f.classOf(symbol)];
    }

    pub fn classOf(f: *const FreeText, symbol: Symbol) u16 {
        return if (symbol < symbols.first_token) f.classes[symbol] else f.token_classes[symbol - symbols.first_token];
    }

    /// The part that begins before whatever does not continue from here as a longer begin text does.
    pub fn pendingAt(f: *const FreeText, state: u32) ?u32 {
        return if (state >= f.first_pending and state < f.n_states) f.pending[state - f.first_pending] else null;
    }

    pub fn mayBegin(f: *const FreeText, state: u32) bool {
        return state >= f.n_text or f.may_begin[state];
    }

    pub fn bytes(f: *const FreeText) usize {
        return 4 * (f.next.len + f.pending.len) + 2 * (f.chains.len + f.token_classes.len) + f.may_begin.len;
    }
};
