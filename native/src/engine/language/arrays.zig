/// Who owns the arrays of a compiled language.
pub const Arrays = enum {
    /// The language: `deinit` frees them.
    owned,
    /// A mapped file.
    mapped,
};
