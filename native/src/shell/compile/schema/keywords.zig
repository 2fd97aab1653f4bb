//! The keywords of JSON Schema: which drafts have them, and where schemas stand within them.

const std = @import("std");

pub const Draft = enum {
    draft4,
    draft6,
    draft7,
    draft2019_09,
    draft2020_12,

    /// By `$schema`; null if it is none that is known.
    pub fn of(uri: []const u8) ?Draft {
        const names = [_][]const u8{
            "draft-04/schema",
            "draft-06/schema",
            "draft-07/schema",
            "draft/2019-09/schema",
            "draft/2020-12/schema",
        };
        const trimmed = std.mem.trimEnd(u8, uri, "#");
        const at = std.mem.find(u8, trimmed, "://json-schema.org/") orelse return null;
        for (names, 0..) |name, i| if (std.mem.eql(
            u8,
            trimmed[at + "://json-schema.org/".len ..],
            name,
        )) return @fromBackingInt(@intCast(i));
        return null;
    }

    /// For messages.
    pub fn title(draft: Draft) []const u8 {
        return switch (draft) {
            .draft4 => "draft 4",
            .draft6 => "draft 6",
            .draft7 => "draft 7",
            .draft2019_09 => "draft 2019-09",
            .draft2020_12 => "draft 2020-12",
        };
    }

    /// Whether what stands beside a `$ref` counts.
    pub fn hasSiblings(draft: Draft) bool {
        return @backingInt(draft) >= @backingInt(Draft.draft2019_09);
    }

    pub fn isAtLeast(draft: Draft, other: Draft) bool {
        return @backingInt(draft) >= @backingInt(other);
    }
};

pub const Keyword = enum {
    @"$schema",
    @"$id",
    id,
    @"$anchor",
    @"$dynamicAnchor",
    @"$recursiveAnchor",
    @"$ref",
    @"$dynamicRef",
    @"$recursiveRef",
    @"$defs",
    definitions,
    type,
    nullable,
    @"enum",
    @"const",
    allOf,
    anyOf,
    oneOf,
    not,
    @"if",
    then,
    @"else",
    dependentSchemas,
    dependentRequired,
    dependencies,
    properties,
    patternProperties,
    additionalProperties,
    propertyNames,
    unevaluatedProperties,
    minProperties,
    maxProperties,
    required,
    prefixItems,
    items,
    additionalItems,
    contains,
    minContains,
    maxContains,
    unevaluatedItems,
    minItems,
    maxItems,
    uniqueItems,
    multipleOf,
    minimum,
    maximum,
    exclusiveMinimum,
    exclusiveMaximum,
    minLength,
    maxLength,
    pattern,
    format,

    pub fn of(name: []const u8) ?Keyword {
        if (name.len < 2) return null;
        const keyword = by_name[slotOf(name)] orelse return null;
        return if (std.mem.eql(u8, @tagName(keyword), name)) keyword else null;
    }

    pub fn isOf(keyword: Keyword, draft: Draft) bool {
        return switch (keyword) {
            .id => draft == .draft4,
            .@"$id", .@"const", .contains, .propertyNames => draft.isAtLeast(.draft6),
            .@"if", .then, .@"else" => draft.isAtLeast(.draft7),
            .@"$anchor",
            .@"$defs",
            .dependentSchemas,
            .dependentRequired,
            .unevaluatedProperties,
            .unevaluatedItems,
            .minContains,
            .maxContains,
            => draft.isAtLeast(.draft2019_09),
            .@"$recursiveAnchor", .@"$recursiveRef" => draft == .draft2019_09,
            .@"$dynamicAnchor", .@"$dynamicRef", .prefixItems => draft == .draft2020_12,
            // The last drafts leave the old names to those who still know them.
            else => true,
        };
    }

    pub const Children = enum { none, schema, list, map, schema_or_list, dependencies };

    /// Where schemas stand in the value.
    pub fn children(keyword: Keyword) Children {
        return switch (keyword) {
            .allOf, .anyOf, .oneOf, .prefixItems => .list,
            .items => .schema_or_list,
            .@"$defs", .definitions, .properties, .patternProperties, .dependentSchemas => .map,
            .dependencies => .dependencies,
            .not,
            .@"if",
            .then,
            .@"else",
            .additionalProperties,
            .propertyNames,
            .unevaluatedProperties,
            .additionalItems,
            .contains,
            .unevaluatedItems,
            => .schema,
            else => .none,
        };
    }
};

pub const Set = std.EnumSet(Keyword);

/// The vocabularies of 2019-09 and 2020-12 whose keywords are read. Core, and what older drafts have, is always.
pub const Vocabularies = packed struct {
    applicator: bool = false,
    unevaluated: bool = false,
    validation: bool = false,
    format: bool = false,

    pub const all: Vocabularies = .{ .applicator = true, .unevaluated = true, .validation = true, .format = true };

    /// Adds one by its URI; false if it is not known.
    pub fn add(vocabularies: *Vocabularies, uri: []const u8) bool {
        const at = std.mem.find(u8, uri, "://json-schema.org/draft/20") orelse return false;
        const name = uri[(std.mem.findPos(u8, uri, at, "/vocab/") orelse return false) + "/vocab/".len ..];
        const is_2019_09 = std.mem.find(u8, uri, "2019-09") != null;
        for (known, 0..) |one, i| if (std.mem.eql(u8, name, one)) {
            switch (i) {
                0...2 => {},
                3 => {
                    vocabularies.applicator = true;
                    // It was a part of this one.
                    if (is_2019_09) vocabularies.unevaluated = true;
                },
                4 => vocabularies.unevaluated = true,
                5 => vocabularies.validation = true,
                else => vocabularies.format = true,
            }
            return true;
        };
        return false;
    }

    const known = [_][]const u8{
        "core",             "meta-data",  "content", "applicator",
        "unevaluated",      "validation", "format",  "format-annotation",
        "format-assertion",
    };

    pub fn has(vocabularies: Vocabularies, keyword: Keyword) bool {
        return switch (keyword) {
            .allOf,
            .anyOf,
            .oneOf,
            .not,
            .@"if",
            .then,
            .@"else",
            .dependentSchemas,
            .properties,
            .patternProperties,
            .additionalProperties,
            .propertyNames,
            .prefixItems,
            .items,
            .additionalItems,
            .contains,
            => vocabularies.applicator,
            .unevaluatedProperties, .unevaluatedItems => vocabularies.unevaluated,
            .type,
            .nullable,
            .@"enum",
            .@"const",
            .dependentRequired,
            .minProperties,
            .maxProperties,
            .required,
            .minContains,
            .maxContains,
            .minItems,
            .maxItems,
            .uniqueItems,
            .multipleOf,
            .minimum,
            .maximum,
            .exclusiveMinimum,
            .exclusiveMaximum,
            .minLength,
            .maxLength,
            .pattern,
            => vocabularies.validation,
            .format => vocabularies.format,
            else => true,
        };
    }
};

/// Each keyword in a slot of its own.
const by_name: [256]?Keyword = slots: {
    @setEvalBranchQuota(10_000);
    var slots: [256]?Keyword = @splat(null);
    for (std.enums.values(Keyword)) |keyword| {
        const slot = &slots[slotOf(@tagName(keyword))];
        if (slot.* != null) @compileError("another multiplier is needed");
        slot.* = keyword;
    }
    break :slots slots;
};

/// Found by trying; it depends on the keywords.
const multiplier = 0x57e54acd;

fn slotOf(name: []const u8) u8 {
    const some: u32 = @bitCast([_]u8{ name[0], name[1], name[name.len * 2 / 3], @truncate(name.len) });
    return @intCast(some *% multiplier >> 24);
}

test "drafts by $schema" {
    try std.testing.expectEqual(.draft4, Draft.of("http://json-schema.org/draft-04/schema#"));
    try std.testing.expectEqual(.draft7, Draft.of("https://json-schema.org/draft-07/schema"));
    try std.testing.expectEqual(.draft2020_12, Draft.of("https://json-schema.org/draft/2020-12/schema"));
    try std.testing.expectEqual(null, Draft.of("http://json-schema.org/schema#"));
}
