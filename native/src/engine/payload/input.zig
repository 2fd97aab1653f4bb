//! What json.zig and msgpack.zig read from: the bytes, how far they were read, and the problem found there.

/// What a value is, told by its first bytes.
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
    /// No value: the input is malformed.
    nothing,

    /// For messages: "expected an object". Not for `nothing`.
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
            .nothing => unreachable,
        };
    }
};

/// A map or an array that is being read.
pub const Container = struct {
    kind: Kind,
    /// MessagePack: elements still to come.
    remaining: u32 = 0,
    /// JSON: no element was read yet.
    first: bool = true,
    ended: bool = false,
};

/// An integer, as far as 64 bits hold it.
pub const Integer = struct {
    value: i64,
    /// The number needs more than 64 bits; `value` is the nearest one that fits.
    saturated: bool = false,
};

/// `Malformed`: `Input.problem` says what is wrong, and where.
pub const Error = error{ Malformed, TooDeep, OutOfMemory };

/// What is wrong, as static text, and at which byte.
pub const Problem = struct { what: []const u8 = "", at: usize = 0 };

/// The bytes of a payload, and the reading position. Lends the bytes.
pub const Input = struct {
    bytes: []const u8,
    at: usize = 0,
    problem: Problem = .{},

    /// Records that the bytes end too early.
    pub fn ended(in: *Input) Error {
        return in.malformed("the payload ends too early", in.bytes.len);
    }

    /// Records a problem.
    pub fn malformed(in: *Input, what: []const u8, at: usize) Error {
        @branchHint(.cold);
        in.problem = .{ .what = what, .at = at };
        return error.Malformed;
    }
};
