//! Which of the valid documents are meant, and how they are written: what a schema leaves open.

const Policy = @import("space.zig").Policy;

pub const Form = struct {
    space: Policy = .loose,
    /// If given, there may be so much of any kind at each place within a document instead.
    space_max: ?u8 = null,
    order: Order = .declared,
    numbers: Numbers = .any,
    /// An integer may be spelled 1.0.
    integer_fraction: bool = false,
};

/// How long numbers may be.
pub const Numbers = enum(u1) {
    any,
    /// As the text of a double or of an integer of 64 bits.
    double,
};

/// In which order the members of an object come: ELIZA_JSON_ORDER_* of the header.
pub const Order = enum(i32) {
    /// The keys that `properties` name in the order of the schema, then other required ones, then the rest.
    declared = 0,
    any = 1,
};
