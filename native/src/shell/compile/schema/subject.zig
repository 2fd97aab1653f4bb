//! A schema object that is being read.

const std = @import("std");
const json = @import("json.zig");
const references = @import("references.zig");
const Value = json.Value;
const Object = json.Object;
const keywords = @import("keywords.zig");
const Keyword = keywords.Keyword;

/// Where a schema stands: what `$ref` means in it, and what `$dynamicRef`.
pub const Place = struct {
    resource: references.ResourceId,
    scope: references.Scope,
    closing: Closing = .open,
};

/// Which members an object may have that its schema does not name: closed.zig says when.
pub const Closing = enum(u2) {
    /// As the schema says, in all that is within it, too.
    open,
    /// None, here and in what is within it.
    whole,
    /// None in what is within it. Of this object another schema names members too.
    part,
};

/// A schema object and what it says.
pub const Subject = struct {
    object: Object,
    place: Place,
    /// By keyword; those of the draft that are present.
    values: std.EnumArray(Keyword, *const Value),
    present: keywords.Set,
    /// Members that are none.
    n_unread: u32,

    pub fn hasAny(s: *const Subject, wanted: keywords.Set) bool {
        return !s.present.intersectWith(wanted).eql(.empty);
    }

    pub inline fn get(s: *const Subject, keyword: Keyword) ?*const Value {
        return if (s.present.contains(keyword)) s.values.getPtrConst(keyword).* else null; // `get` would copy all of them
    }
};
