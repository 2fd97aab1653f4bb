//! Schemas of which it is evident that something satisfies them, and those next to them of which it is not.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const Arena = @import("engine").arena.Arena;
const Diagnostic = @import("engine").diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const Evident = @import("engine").schema_evident.Evident;
const compile = @import("compile.zig").compile;

fn isEvident(schema_text: []const u8) !bool {
    const gpa = std.testing.allocator;
    var arena: Arena = .init(gpa);
    defer arena.deinit();
    var warnings: ArrayList([]const u8) = .empty;
    var budget: Budget = .{};
    var diag: Diagnostic = .{};
    const schema = try compile(gpa, arena.allocator(), schema_text, &.{}, null, &warnings, &budget, &diag);
    defer schema.deinit(gpa);
    var evident: Evident = .{ .schema = schema };
    defer evident.deinit(gpa);
    try evident.find(gpa);
    return evident.has(schema.root);
}

fn expect(expected: bool, schemas: []const []const u8) !void {
    for (schemas) |schema| {
        errdefer std.debug.print("of {s}\n", .{schema});
        try std.testing.expectEqual(expected, try isEvident(schema));
    }
}

test "something satisfies them" {
    try expect(true, &.{
        "true",
        \\{"properties": {"a": {"type": "string"}, "b": false}, "required": ["a"], "additionalProperties": false, "type": "object"}
        ,
        \\{"type": "object", "required": ["a", "a", "b"], "additionalProperties": {"type": "integer"}, "minProperties": 2}
        ,
        \\{"type": "array", "prefixItems": [{"type": "null"}], "items": {"const": 1.5}, "minItems": 2}
        ,
        \\{"type": "array", "items": {"$ref": "#"}}
        ,
        \\{"anyOf": [{"type": "string", "minLength": 3, "maxLength": 3}, {"type": "integer", "minimum": 4, "maximum": 4}]}
        ,
        \\{"oneOf": [{"type": "string", "pattern": "^a+$"}, {"type": "null"}, {"type": "object", "properties": {"a": {"$ref": "#"}}}]}
        ,
        \\{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
        ,
        \\{"type": "integer", "exclusiveMinimum": 0, "maximum": 1}
        ,
        \\{"type": "integer", "enum": ["a", 1.5, -2]}
        ,
    });
}

test "nothing satisfies them" {
    try expect(false, &.{
        "false",
        \\{"type": "object", "required": ["a"], "properties": {"a": false}}
        ,
        \\{"type": "object", "required": ["a"], "additionalProperties": false}
        ,
        \\{"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}
        ,
        \\{"type": "object", "required": ["a", "b"], "maxProperties": 1}
        ,
        \\{"type": "object", "required": ["ab"], "propertyNames": {"maxLength": 1}}
        ,
        \\{"type": "object", "required": ["a"], "patternProperties": {"^a": false}}
        ,
        \\{"type": "object", "required": ["a"], "allOf": [{"properties": {"a": {"const": 1}}}, {"properties": {"a": {"const": 2}}}]}
        ,
        \\{"type": "array", "minItems": 2, "maxItems": 1}
        ,
        \\{"type": "array", "prefixItems": [true, false], "minItems": 2}
        ,
        \\{"type": "array", "items": false, "minItems": 1}
        ,
        \\{"type": "array", "items": false, "minItems": 100}
        ,
        \\{"type": "string", "minLength": 2, "maxLength": 1}
        ,
        \\{"type": "string", "pattern": "a(?!a)(?=a)"}
        ,
        \\{"type": "string", "pattern": "^a$", "minLength": 2}
        ,
        \\{"type": "string", "enum": ["a"], "minLength": 2}
        ,
        \\{"type": "string", "enum": [1, null]}
        ,
        \\{"type": "integer", "const": 1.5}
        ,
        \\{"type": "integer", "minimum": 2, "maximum": 1}
        ,
        \\{"type": "integer", "minimum": 1, "exclusiveMaximum": 1}
        ,
        \\{"type": "integer", "minimum": 1.2, "maximum": 1.8}
        ,
        \\{"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2}
        ,
        \\{"type": "number", "exclusiveMinimum": 1, "maximum": 1}
        ,
        \\{"type": "integer", "minimum": 1, "maximum": 3, "multipleOf": 5}
        ,
        \\{"oneOf": [{"type": "integer"}, {"type": "integer"}]}
        ,
        \\{"allOf": [{"type": "string"}, {"type": "object"}]}
        ,
        \\{"type": "string", "not": {"type": "string"}}
        ,
    });
}

test "something satisfies them, but a text could lead to what is too much, or takes long" {
    try expect(false, &.{
        \\{"type": "string", "pattern": "^.{1,255}$"}
        ,
        \\{"type": "object", "patternProperties": {"^.{1,255}$": {"type": "string"}}}
        ,
        \\{"type": "object", "properties": {"a": {"not": {"const": 1}}}}
        ,
        \\{"type": "array", "items": {"type": "array", "items": {"anyOf": [{"multipleOf": 3}, {"type": "null"}]}}}
        ,
        \\{"type": "array", "prefixItems": [{"uniqueItems": true}]}
        ,
        \\{"type": "object", "additionalProperties": {"properties": {"a": {"$ref": "#/$defs/a"}}}, "$defs": {"a": {"contains": true}}}
        ,
        \\{"type": "object", "patternProperties": {"a": {"if": {"const": 1}, "then": {"const": 2}}}}
        ,
        \\{"type": "object", "propertyNames": {"pattern": "a", "format": "email"}}
        ,
        \\{"type": "object", "required": ["a"], "oneOf": [{"required": ["b"]}, {"required": ["c"]}]}
        ,
    });
}
