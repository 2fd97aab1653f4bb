//! White space between the tokens of a JSON text.

/// How much of it there may be: ELIZA_JSON_SPACE_* of the header.
pub const Policy = enum(i32) {
    /// At each place nothing, one space, or one newline and up to 32 spaces or tabs.
    loose = 0,
    /// None.
    compact = 1,
    /// One space after each comma and colon, as Python's json.dumps writes.
    spaced = 2,
    /// Any.
    any = 3,
};

/// What a place is behind.
pub const Place = enum { comma_or_colon, other };

/// How much has come at this place; 0 at first.
pub const State = u8;

const one = 1;
const newline = 2;
const indent_max = 32;

/// The state after a byte; null if it is no white space, or too much. `most`: as `Form.space_max`.
pub fn next(policy: Policy, most: ?u8, place: Place, state: State, byte: u8) ?State {
    switch (byte) {
        ' ', '\n', '\r', '\t' => {},
        else => return null,
    }
    if (most) |n| return if (state < n) state + 1 else null;
    switch (policy) {
        .compact => return null,
        .spaced => return if (place == .comma_or_colon and state == 0 and byte == ' ') one else null,
        .any => return 0,
        .loose => {
            if (state == 0) return if (byte == '\n') newline else if (byte == ' ') one else null;
            if (state == one or byte == '\n' or byte == '\r') return null;
            return if (state < newline + indent_max) state + 1 else null;
        },
    }
}

/// Whether what is after the white space may come.
pub fn isDone(policy: Policy, place: Place, state: State) bool {
    return policy != .spaced or place != .comma_or_colon or state == one;
}
