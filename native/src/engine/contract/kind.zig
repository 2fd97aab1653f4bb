//! The one list of what a constraint can be.

/// ELIZA_CONSTRAINT_* of the header, which files hold too.
pub const Kind = enum(u32) {
    token_trie = 0,
    choices = 1,
    regex = 2,
    grammar = 3,
};
