//! The tokens of a vocabulary as arrays: what each spells and what it is for.

/// ELIZA_TOKEN_* of the header.
pub const Flags = packed struct(u8) {
    special: bool = false,
    end_of_generation: bool = false,
    unused: bool = false,
    _: u5 = 0,
};

/// All tokens. Lends its arrays from a vocabulary or a mapped file.
pub const Tokens = struct {
    n: u32,
    /// The bytes of all tokens, one after another.
    bytes: []const u8 = "",
    /// Token t is `bytes[offsets[t]..offsets[t + 1]]`; empty if the bytes are not known.
    offsets: []const u64 = &.{},
    /// By token; empty if all are 0.
    flags: []const Flags = &.{},

    /// "" if the bytes are not known. `token` is below `n`.
    pub fn bytesOf(t: *const Tokens, token: u32) []const u8 {
        if (t.offsets.len == 0) return "";
        return t.bytes[@intCast(t.offsets[token])..@intCast(t.offsets[token + 1])];
    }

    /// Whether a text can contain the token: it has bytes and is no control token.
    pub fn isText(t: *const Tokens, token: u32) bool {
        const flags = t.flagsOf(token);
        return t.bytesOf(token).len > 0 and !flags.special and !flags.end_of_generation and !flags.unused;
    }

    /// `token` is below `n`.
    pub fn flagsOf(t: *const Tokens, token: u32) Flags {
        return if (t.flags.len == 0) .{} else t.flags[token];
    }
};
