//! What json.zig and msgpack.zig read from: the bytes, the place reached, and the problem found there.

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
    /// No value: malformed.
    nothing,

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

pub const Container = struct {
    kind: Kind,
    /// Elements still to come, where the format says so beforehand.
    remaining: u32 = 0,
    first: bool = true,
    ended: bool = false,
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

pub const Input = struct {
    bytes: []const u8,
    at: usize = 0,
    problem: Problem = .{},

    pub fn ended(in: *Input) Error {
        return in.malformed("the payload ends too early", in.bytes.len);
    }

    pub fn malformed(in: *Input, what: []const u8, at: usize) Error {
        @branchHint(.cold);
        in.problem = .{ .what = what, .at = at };
        return error.Malformed;
    }
};
