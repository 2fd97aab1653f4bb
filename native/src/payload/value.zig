//! What the JSON and the MessagePack reader have in common: both offer the same calls, so that one
//! decoder serves both formats and gives the same messages.
//!
//! A reader pulls values from left to right:
//!
//!     kind()                          what comes next, without taking it
//!     open(.map) / open(.array)       enters a container
//!     more(&container)                true if another element (for maps: another key) follows
//!     key(scratch, gpa)               a key, lent until the next call
//!     text(list, gpa)                 a string, as valid UTF-8: lent from the payload; null if it
//!                                     had escapes and its bytes were appended to the list
//!     integer()                       takes an integer
//!     plainKey(&container, name)      takes this key if it is next, in its usual spelling
//!     plainToken(&container)          takes an array element that is a token id in its usual
//!                                     spelling; null, and nothing taken, for anything else
//!     skip()                          takes any value with what it holds
//!     end()                           checks that nothing follows
//!
//! Failures are `error.Malformed` (the reader's `problem` says what, and where) or `error.TooDeep`.

pub const Kind = enum {
    map,
    array,
    string,
    integer,
    float,
    boolean,
    null,
    binary,
    extension,

    pub fn phrase(kind: Kind) []const u8 {
        return switch (kind) {
            .map => "an object",
            .array => "an array",
            .string => "a string",
            .integer => "an integer",
            .float => "a float",
            .boolean => "a boolean",
            .null => "null",
            .binary => "binary data",
            .extension => "an extension",
        };
    }
};

pub const Container = struct {
    kind: Kind,
    /// Elements still to come, where the format says so beforehand.
    remaining: u32 = 0,
    first: bool = true,
};

/// An integer as far as 64 bits hold it.
pub const Integer = struct {
    value: i64,
    /// The number is beyond 64 bits; `value` is the nearest one.
    saturated: bool = false,
};

pub const Error = error{ Malformed, TooDeep, OutOfMemory };

/// A static description and the byte that it is about.
pub const Problem = struct { what: []const u8 = "", at: usize = 0 };
