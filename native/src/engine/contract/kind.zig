//! The kinds of constraint.

/// ELIZA_CONSTRAINT_* of the header. Saved files hold the numbers too.
pub const Kind = enum(u32) {
    token_trie = 0,
    choices = 1,
    regex = 2,
    grammar = 3,
    json_schema = 4,
    tags = 5,
};
