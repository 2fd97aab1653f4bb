/// Whose the arrays of a compiled language are.
pub const Arrays = enum {
    /// Its own.
    owned,
    /// In a file that is mapped.
    mapped,
};
