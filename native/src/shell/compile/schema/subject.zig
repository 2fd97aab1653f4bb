//! A schema object that is being read.

const std = @import("std");
const json = @import("json.zig");
const references = @import("references.zig");
const Value = json.Value;
const Object = json.Object;
const Keyword = @import("keywords.zig").Keyword;

/// Where a schema stands: what `$ref` means in it, and what `$dynamicRef`.
pub const Place = struct {
    resource: references.ResourceId,
    scope: references.Scope,
};

/// A schema object and what it says.
pub const Subject = struct {
    object: Object,
    place: Place,
    /// By keyword; those of the draft.
    found: std.EnumArray(Keyword, ?*const Value),
    present: std.EnumSet(Keyword),
    /// Members that are none.
    n_unread: u32,

    pub fn get(s: *const Subject, keyword: Keyword) ?*const Value {
        return s.found.getPtrConst(keyword).*; // `get` would copy all of them
    }
};
