//! What a schema may say, and seldom means: keywords that have no effect where they stand. A warning each, with contextual lexing.
//! `c` is the compiler, which imports this file.

const std = @import("std");
const quoted = @import("engine").diagnostic.quoted;
const Types = @import("engine").schema.Types;
const decimal = @import("engine").decimal;
const json = @import("json.zig");
const keywords = @import("keywords.zig");
const Keyword = keywords.Keyword;
const Subject = @import("subject.zig").Subject;
const Error = json.Error;

const Set = keywords.Set;

/// Of a schema whose types are known to be some, unless null.
pub fn review(c: anytype, s: *const Subject, types: ?Types) Error!void {
    if (s.n_unread > 0) for (s.object.members(), 1..) |*member, n| {
        if (n % 64 == 0) try c.checkBudget();
        if (Keyword.of(member.key)) |keyword| {
            if (s.present.contains(keyword) or harmless.contains(keyword) or keyword.isOf(c.draftOf(s))) continue;
            try c.warn(s.object, member.key, "{s} has no such keyword: it has no effect", .{c.draftOf(s).title()});
        } else if (misspelt(member.key)) |keyword| {
            try c.warn(s.object, member.key, "this is not a keyword and has no effect: {f} may be meant", .{quoted(@tagName(keyword))});
        }
    };
    if (s.hasAny(dependents)) try reviewPartners(c, s);
    if (s.hasAny(bounds)) try reviewBounds(c, s);
    const known = types orelse return;
    for (scoped) |of| {
        if (!s.hasAny(of.keywords) or !known.intersectWith(of.types).isEmpty()) continue;
        var without = s.present.intersectWith(of.keywords).iterator();
        while (without.next()) |keyword| try c.warn(s.object, @tagName(keyword), "it has no effect: the type is not {s}", .{of.name});
    }
    if (s.get(.@"enum")) |value| if (value.* == .array) for (value.array, 0..) |*item, i| {
        if (isOf(item, known)) continue;
        try c.warn(s.object, "enum", "value {d} is not of the type beside it and has no effect", .{i});
    };
}

/// Beside a `$ref` that stands alone in its draft.
pub fn reviewSiblings(c: anytype, s: *const Subject) Error!void {
    var names: [300]u8 = undefined;
    var writer: std.Io.Writer = .fixed(&names);
    var siblings = s.present.differenceWith(harmless).iterator();
    while (siblings.next()) |keyword| {
        if (keyword == .@"$ref") continue;
        const between = if (writer.end == 0) "" else ", ";
        for ([_][]const u8{ between, @tagName(keyword) }) |text| writer.writeAll(text) catch break;
    }
    if (writer.end == 0) return;
    const format = "in {s} what stands beside it has no effect: put it into an allOf ({s})";
    try c.warn(s.object, "$ref", format, .{ c.draftOf(s).title(), writer.buffered() });
}

/// Those that assert nothing.
const harmless: Set = .initMany(&.{
    .@"$schema", .@"$id", .id, .@"$anchor", .@"$dynamicAnchor", .@"$recursiveAnchor", .@"$defs", .definitions,
});

/// Those that mean nothing without another.
const dependents: Set = .initMany(&.{
    .then, .@"else", .minContains, .maxContains, .additionalItems, .nullable, .exclusiveMinimum, .exclusiveMaximum,
});

fn reviewPartners(c: anytype, s: *const Subject) Error!void {
    const partners = [_]struct { Keyword, Keyword }{
        .{ .then, .@"if" },
        .{ .@"else", .@"if" },
        .{ .minContains, .contains },
        .{ .maxContains, .contains },
        .{ .nullable, .type },
        .{ .exclusiveMinimum, .minimum },
        .{ .exclusiveMaximum, .maximum },
    };
    for (partners) |pair| {
        const value = s.get(pair[0]) orelse continue;
        if (s.get(pair[1]) != null) continue;
        switch (pair[0]) {
            // A number asserts something; so does `true` of draft 4 beside a bound.
            .nullable, .exclusiveMinimum, .exclusiveMaximum => if (value.* != .boolean or !value.boolean) continue,
            else => {},
        }
        try c.warn(s.object, @tagName(pair[0]), "it has no effect without {f}", .{quoted(@tagName(pair[1]))});
    }
    if (s.get(.additionalItems) == null) return;
    const items = s.get(.items);
    if (items != null and items.?.* == .array) return;
    const why = if (s.get(.prefixItems) == null) " without an array as \"items\"" else ": write \"items\"";
    try c.warn(s.object, "additionalItems", "it has no effect{s}", .{why});
}

const bounds: Set = .initMany(&.{ .maxLength, .maxItems, .maxProperties, .maximum, .exclusiveMaximum, .additionalProperties });

/// What contradicts another keyword.
fn reviewBounds(c: anytype, s: *const Subject) Error!void {
    const counts = [_]struct { Keyword, Keyword, []const u8 }{
        .{ .minLength, .maxLength, "string" },
        .{ .minItems, .maxItems, "array" },
        .{ .minProperties, .maxProperties, "object" },
    };
    for (counts) |pair| {
        if (s.get(pair[0]) == null) continue;
        const max = try c.count(s, pair[1]) orelse continue;
        if ((try c.count(s, pair[0])).? > max) try warnOfContradiction(c, s, pair[1], @tagName(pair[0]), pair[2]);
    }
    for ([_]Keyword{ .minimum, .exclusiveMinimum }) |low| for ([_]Keyword{ .maximum, .exclusiveMaximum }) |high| {
        const min = s.get(low) orelse continue;
        const max = s.get(high) orelse continue;
        if (min.* != .number or max.* != .number) continue;
        const order = decimal.compare(try c.number(s, low, min), try c.number(s, high, max));
        const is_strict = low == .exclusiveMinimum or high == .exclusiveMaximum;
        if (order == .gt or order == .eq and is_strict) try warnOfContradiction(c, s, high, @tagName(low), "number");
    };
    const rest = s.get(.additionalProperties) orelse return;
    const required = s.get(.required) orelse return;
    if (rest.* != .boolean or rest.boolean or s.get(.patternProperties) != null or required.* != .array) return;
    for (required.array) |name| {
        if (name != .string) continue;
        if (s.get(.properties)) |named| if (named.* != .object or named.object.get(name.string) != null) continue;
        try c.warn(s.object, "required", "no object has {f}: additionalProperties forbids it", .{quoted(name.string)});
    }
}

fn warnOfContradiction(c: anytype, s: *const Subject, at: Keyword, other: []const u8, what: []const u8) Error!void {
    try c.warn(s.object, @tagName(at), "no {s} satisfies it and {f}", .{ what, quoted(other) });
}

/// Those that say nothing of values of other types.
const scoped = [_]struct { name: []const u8, types: Types, keywords: Set }{
    .{ .name = "string", .types = .{ .string = true }, .keywords = .initMany(&.{ .minLength, .maxLength, .pattern }) },
    .{
        .name = "number",
        .types = .number,
        .keywords = .initMany(&.{ .multipleOf, .minimum, .maximum, .exclusiveMinimum, .exclusiveMaximum }),
    },
    .{
        .name = "array",
        .types = .{ .array = true },
        .keywords = .initMany(&.{ .items, .prefixItems, .contains, .minItems, .maxItems, .uniqueItems }),
    },
    .{
        .name = "object",
        .types = .{ .object = true },
        .keywords = .initMany(&.{
            .properties,    .patternProperties, .additionalProperties, .propertyNames,     .required,
            .minProperties, .maxProperties,     .dependencies,         .dependentRequired,
        }),
    },
};

/// As far as its first byte tells.
fn isOf(value: *const json.Value, types: Types) bool {
    return switch (value.*) {
        .null => types.null,
        .boolean => types.boolean,
        .number => types.integer or types.fraction,
        .string => types.string,
        .array => types.array,
        .object => types.object,
    };
}

// ---- Misspelt keywords

const name_bytes_max = 32;

/// The keyword that a name seems to be meant as.
fn misspelt(name: []const u8) ?Keyword {
    const known = [_][]const u8{ "example", "examples", "title", "default", "deprecated", "description", "readOnly", "writeOnly" };
    for (known) |one| if (std.mem.eql(u8, one, name)) return null;
    var buffer: [name_bytes_max]u8 = undefined;
    const plain = simplify(&buffer, name) orelse return null;
    var best: ?Keyword = null;
    var best_distance: usize = 3;
    for (std.enums.values(Keyword)) |keyword| {
        const tag = std.mem.trimStart(u8, @tagName(keyword), "$");
        const most: usize = if (tag.len <= 3) 0 else if (tag.len <= 7) 1 else 2;
        if (tag[0] != plain[0] or @max(plain.len, tag.len) - @min(plain.len, tag.len) > most) continue;
        var other_buffer: [name_bytes_max]u8 = undefined;
        const other = simplify(&other_buffer, tag).?;
        const distance = distanceOf(plain, other);
        if (distance > most or distance >= best_distance) continue;
        best = keyword;
        best_distance = distance;
    }
    return best;
}

/// Without case, `_`, `-`, `$` and spaces. Null: nothing is left, or it is longer than any keyword.
fn simplify(buffer: *[name_bytes_max]u8, name: []const u8) ?[]const u8 {
    var n: usize = 0;
    for (name) |byte| {
        if (std.mem.findScalar(u8, "_-$ ", byte) != null) continue;
        if (n == buffer.len) return null;
        buffer[n] = std.ascii.toLower(byte);
        n += 1;
    }
    return if (n == 0) null else buffer[0..n];
}

/// Letters that are wrong, missing, too many, or swapped with the next: optimal string alignment.
fn distanceOf(a: []const u8, b: []const u8) usize {
    var rows: [3][name_bytes_max + 1]usize = undefined;
    for (&rows[0], 0..) |*cell, i| cell.* = i;
    for (a, 1..) |letter, i| {
        const row = &rows[i % 3];
        const above = &rows[(i - 1) % 3];
        row[0] = i;
        for (b, 1..) |other, j| {
            row[j] = @min(@min(row[j - 1], above[j]) + 1, above[j - 1] + @intFromBool(letter != other));
            if (i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other) row[j] = @min(row[j], rows[(i - 2) % 3][j - 2] + 1);
        }
    }
    return rows[a.len % 3][b.len];
}

test "misspelt keywords are told from other names" {
    for ([_]struct { []const u8, ?Keyword }{
        .{ "propertes", .properties },
        .{ "requred", .required },
        .{ "Required", .required },
        .{ "require", .required },
        .{ "additional_properties", .additionalProperties },
        .{ "additionalProperty", null },
        .{ "minlength", .minLength },
        .{ "tpye", .type },
        .{ "types", .type },
        .{ "item", .items },
        .{ "ref", .@"$ref" },
        .{ "oneof", .oneOf },
        .{ "note", null },
        .{ "when", null },
        .{ "example", null },
        .{ "x-order", null },
        .{ "$", null },
        .{ "a name that is longer than any keyword is", null },
    }) |case| try std.testing.expectEqual(case[1], misspelt(case[0]));
}
