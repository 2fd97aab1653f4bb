//! Sizes that callers may ask for.

const Kind = @import("kind.zig").Kind;

/// Of a compiled constraint: eliza_recognizer_info_t of the header. 0 where a kind has no such thing.
pub const Info = struct {
    kind: Kind,
    n_states: u32 = 0,
    n_parser_states: u32 = 0,
    n_terminals: u32 = 0,
    n_productions: u32 = 0,
    n_tables: u32 = 0,
    n_masks: u32 = 0,
    automaton_bytes: u64 = 0,
    table_bytes: u64 = 0,
};

/// Of the state of one text: eliza_matcher_info_t of the header. The history comes on top.
pub const Usage = struct {
    /// Bytes, beside the state itself.
    retained: u64 = 0,
    stacks: u64 = 0,
    mask_hits: u64 = 0,
    mask_misses: u64 = 0,
};
