//! Schemas and the formulas that they become, printed.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Arena = @import("engine").arena.Arena;
const Writer = std.Io.Writer;
const Diagnostic = @import("engine").diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const engine = @import("engine").schema;
const Schema = engine.Schema;
const NodeId = engine.NodeId;
const compile = @import("compile.zig").compile;
const Options = @import("compile.zig").Options;

const Case = struct { schema: []const u8, formula: []const u8, options: Options = .{}, warnings: []const u8 = "" };

fn expectFormula(case: Case) !void {
    const gpa = std.testing.allocator;
    var arena_state: Arena = .init(gpa);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    var out: std.Io.Writer.Allocating = .init(arena);
    var warnings: ArrayList([]const u8) = .empty;
    var budget: Budget = .{};
    var diag: Diagnostic = .{};
    if (compile(gpa, arena, case.schema, &case.options, null, &warnings, &budget, &diag)) |schema| {
        defer schema.deinit(gpa);
        var printer: Printer = .{ .schema = schema, .arena = arena, .out = &out.writer };
        try printer.print(schema.root);
    } else |_| try out.writer.writeAll(diag.message());
    errdefer std.debug.print("of {s}\n", .{case.schema});
    try std.testing.expectEqualStrings(case.formula, out.written());
    try std.testing.expectEqualStrings(case.warnings, try std.mem.join(arena, "\n", warnings.items));
}

/// A node that is within itself is printed as the number of its first place, counted from the root.
const Printer = struct {
    schema: *const Schema,
    arena: Allocator,
    out: *Writer,
    seen: ArrayList(NodeId) = .empty,

    fn print(p: *Printer, id: NodeId) anyerror!void {
        const s = p.schema;
        const out = p.out;
        if (std.mem.findScalar(NodeId, p.seen.items, id)) |at| return out.print("^{d}", .{at});
        try p.seen.append(p.arena, id);
        defer _ = p.seen.pop();
        switch (s.nodes[id]) {
            .always => try out.writeAll("true"),
            .never => try out.writeAll("false"),
            .all => |range| try p.list("all", range),
            .any => |range| try p.list("any", range),
            .one => |range| try p.list("one", range),
            .not => |node| try p.unary("not", node),
            .conditional => |c| {
                try p.unary("if", c.when);
                try p.unary(" then", c.then);
                try p.unary(" else", c.otherwise);
            },
            .types => |types| try p.typeNames(types),
            .listed => |range| {
                try out.writeByte('{');
                for (s.values[range.from..][0..range.len], 0..) |text, i| try out.print("{s}{s}", .{ if (i == 0) "" else ",", text });
                try out.writeByte('}');
            },
            .string_length => |bounds| try p.count("characters", bounds),
            .string_matches => |dfa| try out.print("match{d}", .{dfa}),
            .number_limit => |i| {
                const sides: []const u8 = switch (s.limits[i].side) {
                    .at_least => ">=",
                    .above => ">",
                    .at_most => "<=",
                    .below => "<",
                };
                try out.writeAll(sides);
                try p.decimal(s.limits[i].decimal);
            },
            .number_multiple => |i| {
                try out.writeByte('%');
                try p.decimal(i);
            },
            .array_length => |bounds| try p.count("items", bounds),
            .array_items => |items| {
                try out.writeByte('[');
                for (s.children[items.prefix.from..][0..items.prefix.len]) |item| {
                    try p.print(item);
                    try out.writeByte(' ');
                }
                try out.writeAll("..");
                try p.print(items.rest);
                try out.writeByte(']');
            },
            .array_contains => |contains| {
                try p.count("contains", contains.count);
                try p.unary("", contains.item);
            },
            .array_unique => try out.writeAll("unique"),
            .object_count => |bounds| try p.count("members", bounds),
            .object_has => |key| try out.print("has {s}", .{s.keys[key]}),
            .object_names => |node| try p.unary("names", node),
            .object_members => |members| {
                try out.writeByte('{');
                for (s.members[members.named.from..][0..members.named.len]) |member| {
                    try out.print("{s}:", .{s.keys[member.key]});
                    try p.print(member.value);
                    try out.writeByte(' ');
                }
                for (s.matching[members.matching.from..][0..members.matching.len]) |one| {
                    try out.print("match{d}:", .{one.dfa});
                    try p.print(one.value);
                    try out.writeByte(' ');
                }
                try out.writeAll("..");
                try p.print(members.rest);
                try out.writeByte('}');
            },
        }
    }

    fn list(p: *Printer, name: []const u8, range: engine.Range) !void {
        try p.out.print("{s}(", .{name});
        for (p.schema.children[range.from..][0..range.len], 0..) |node, i| {
            if (i > 0) try p.out.writeByte(' ');
            try p.print(node);
        }
        try p.out.writeByte(')');
    }

    fn unary(p: *Printer, name: []const u8, node: NodeId) !void {
        try p.out.print("{s}(", .{name});
        try p.print(node);
        try p.out.writeByte(')');
    }

    fn typeNames(p: *Printer, of: engine.Types) !void {
        var is_first = true;
        inline for (.{ "null", "boolean", "integer", "fraction", "string", "array", "object" }) |name| {
            if (@field(of, name)) {
                try p.out.print("{s}{s}", .{ if (is_first) "" else "|", name });
                is_first = false;
            }
        }
    }

    fn count(p: *Printer, name: []const u8, bounds: engine.Bounds) !void {
        try p.out.print("{s}{d}-", .{ name, bounds.min });
        if (bounds.max != engine.unbounded) try p.out.print("{d}", .{bounds.max});
    }

    fn decimal(p: *Printer, i: u32) !void {
        const d = p.schema.decimals[i];
        try p.out.print("{s}{s}", .{ if (d.negative) "-" else "", d.digits });
        if (d.exponent != 0) try p.out.print("e{d}", .{d.exponent});
    }
};

test "assertions about scalars" {
    for ([_]Case{
        .{ .schema = "true", .formula = "true" },
        .{ .schema = "false", .formula = "false" },
        .{ .schema = "{}", .formula = "true" },
        .{ .schema = "{\"title\":3,\"x-other\":{}}", .formula = "true" },
        .{ .schema = "{\"type\":\"string\"}", .formula = "string" },
        .{ .schema = "{\"type\":[\"number\",\"null\"]}", .formula = "null|integer|fraction" },
        .{ .schema = "{\"type\":\"integer\",\"nullable\":true}", .formula = "null|integer" },
        .{ .schema = "{\"nullable\":true}", .formula = "true", .warnings = "at #/nullable: it has no effect without \"type\"" },
        .{ .schema = "{\"enum\":[\"b\",1.50,\"a\",null,true,\"b\",1e2,-0.0]}", .formula = "{\"a\",\"b\",0,1.5,100,null,true}" },
        .{ .schema = "{\"enum\":[]}", .formula = "false" },
        .{ .schema = "{\"const\":\"\\u0041\\u000a\\/\\u00e9\\u0001\"}", .formula = "{\"A\\n/\u{e9}\\u0001\"}" },
        .{
            .schema = "{\"const\":[1,{\"a\":null}]}",
            .formula = "all(array items2-2 [{1} all(object members1-1 {a:{null} ..true} has a) ..true])",
        },
        .{ .schema = "{\"enum\":[[],2,{}]}", .formula = "any(all(array items0-0 [..true]) all(object members0-0 {..true}) {2})" },
        .{ .schema = "{\"minLength\":2.0,\"maxLength\":99999999999}", .formula = "characters2-" },
        .{ .schema = "{\"pattern\":\"^a\",\"maxLength\":3}", .formula = "all(characters0-3 match0)" },
        .{ .schema = "{\"minimum\":-1.5,\"exclusiveMaximum\":1e3,\"multipleOf\":0.01}", .formula = "all(>=-15e-1 <1e3 %1e-2)" },
        .{
            .schema = "{\"minimum\":1,\"exclusiveMinimum\":true,\"maximum\":2,\"exclusiveMaximum\":false}",
            .formula = "all(>1 <=2)",
            .options = .{ .draft = .draft4 },
        },
        .{
            .schema = "{\"const\":1,\"if\":false,\"else\":false,\"contains\":false}",
            .formula = "true",
            .options = .{ .draft = .draft4 },
            .warnings = "at #/const: " ++ outside ++ "\nat #/if: " ++ outside ++
                "\nat #/else: " ++ outside ++ "\nat #/contains: " ++ outside,
        },
    }) |case| try expectFormula(case);
}

const outside = "draft 4 has no such keyword: it has no effect";

test "arrays and objects" {
    for ([_]Case{
        .{ .schema = "{\"items\":{\"type\":\"null\"},\"minItems\":1}", .formula = "all(items1- [..null])" },
        .{ .schema = "{\"prefixItems\":[true,{\"type\":\"null\"}],\"items\":false}", .formula = "[true null ..false]" },
        .{ .schema = "{\"items\":[{\"type\":\"null\"}],\"additionalItems\":false}", .formula = "[null ..false]" },
        .{
            .schema = "{\"items\":{\"type\":\"null\"},\"additionalItems\":false}",
            .formula = "[..null]",
            .warnings = "at #/additionalItems: it has no effect without an array as \"items\"",
        },
        .{ .schema = "{\"contains\":{\"const\":1}}", .formula = "contains1-({1})" },
        .{ .schema = "{\"contains\":{\"const\":1},\"minContains\":0,\"maxContains\":4}", .formula = "contains0-4({1})" },
        .{ .schema = "{\"maxContains\":4}", .formula = "true", .warnings = "at #/maxContains: it has no effect without \"contains\"" },
        .{
            .schema = "{\"properties\":{\"b\":{\"type\":\"null\"},\"a\":true},\"required\":[\"c\"],\"additionalProperties\":false}",
            .formula = "all({b:null a:true ..false} has c)",
            .warnings = "at #/required: no object has \"c\": additionalProperties forbids it",
        },
        .{
            .schema = "{\"patternProperties\":{\"^x\":{\"type\":\"null\"},\"y$\":false},\"maxProperties\":3}",
            .formula = "all(members0-3 {match0:null match1:false ..true})",
        },
        .{ .schema = "{\"propertyNames\":{\"maxLength\":2}}", .formula = "names(characters0-2)" },
        .{ .schema = "{\"dependentRequired\":{\"a\":[\"b\",\"c\"],\"d\":[]}}", .formula = "any(not(has a) all(has b has c))" },
        .{ .schema = "{\"dependentSchemas\":{\"a\":false}}", .formula = "any(not(has a) null|boolean|integer|fraction|string|array)" },
        .{
            .schema = "{\"dependencies\":{\"a\":[\"b\"],\"c\":{\"type\":\"null\"}}}",
            .formula = "all(any(not(has a) has b) any(not(has c) null|boolean|integer|fraction|string|array null))",
        },
    }) |case| try expectFormula(case);
}

test "formulas are folded" {
    for ([_]Case{
        .{ .schema = "{\"allOf\":[{\"type\":\"null\"},true,{}]}", .formula = "null" },
        .{ .schema = "{\"allOf\":[{\"type\":\"null\"},{\"not\":{}}]}", .formula = "false" },
        .{
            .schema = "{\"anyOf\":[{\"type\":\"null\"},{\"const\":1}],\"oneOf\":[{\"const\":1},false]}",
            .formula = "all(any(null {1}) {1})",
        },
        .{ .schema = "{\"oneOf\":[{\"const\":1},{\"minimum\":2}]}", .formula = "one({1} >=2)" },
        .{ .schema = "{\"not\":{\"not\":{\"type\":\"null\"}}}", .formula = "null" },
        .{ .schema = "{\"if\":{\"type\":\"null\"},\"then\":false}", .formula = "if(null) then(false) else(true)" },
        .{ .schema = "{\"if\":true,\"then\":{\"const\":1},\"else\":false}", .formula = "{1}" },
        .{ .schema = "{\"then\":false}", .formula = "true", .warnings = "at #/then: it has no effect without \"if\"" },
        .{ .schema = "{\"type\":[\"null\",\"boolean\",\"number\",\"string\",\"array\",\"object\"]}", .formula = "true" },
        .{ .schema = "{\"items\":{\"anyOf\":[{\"type\":\"null\"}]}}", .formula = "[..null]" },
    }) |case| try expectFormula(case);
}

test "branches that exclude each other are any of them" {
    for ([_]Case{
        .{ .schema = "{\"oneOf\":[{\"const\":1},{\"const\":2},{\"type\":\"string\"}]}", .formula = "any({1} {2} string)" },
        .{ .schema = "{\"oneOf\":[{\"const\":1},{\"enum\":[2,1]}]}", .formula = "one({1} {1,2})" },
        .{ .schema = "{\"oneOf\":[{\"const\":1},{\"type\":\"integer\"}]}", .formula = "one({1} integer)" },
    }) |case| try expectFormula(case);
    const t1 = "{\"required\":[\"t\"],\"properties\":{\"t\":{\"const\":1}}}";
    const t23 = "{\"required\":[\"t\"],\"properties\":{\"t\":{\"enum\":[2,3]}}}";
    const perhaps_2 = "{\"properties\":{\"t\":{\"const\":2}}}";
    const is_1 = "all(has t {t:{1} ..true})";
    const is_23 = "all(has t {t:{2,3} ..true})";
    const objects = "{\"type\":\"object\",\"oneOf\":[";
    for ([_]Case{
        .{ .schema = objects ++ t1 ++ "," ++ t23 ++ "]}", .formula = "all(object any(" ++ is_1 ++ " " ++ is_23 ++ "))" },
        .{ .schema = objects ++ t1 ++ "," ++ t1 ++ "]}", .formula = "all(object one(" ++ is_1 ++ " " ++ is_1 ++ "))" },
        .{ .schema = objects ++ t1 ++ "," ++ perhaps_2 ++ "]}", .formula = "all(object one(" ++ is_1 ++ " {t:{2} ..true}))" },
        // They say nothing of what is no object.
        .{ .schema = "{\"oneOf\":[" ++ t1 ++ "," ++ t23 ++ "]}", .formula = "one(" ++ is_1 ++ " " ++ is_23 ++ ")" },
    }) |case| try expectFormula(case);
}

test "so many values are looked at, wherever they are listed" {
    const gpa = std.testing.allocator;
    var arena_state: Arena = .init(gpa);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    var text: std.Io.Writer.Allocating = .init(arena);
    try text.writer.writeAll("{\"$defs\":{\"e\":{\"enum\":[0");
    for (1..60_000) |number| try text.writer.print(",{d}", .{number});
    try text.writer.writeAll("]}},\"prefixItems\":[true");
    for (0..10) |_| try text.writer.writeAll(",{\"oneOf\":[{\"$ref\":\"#/$defs/e\"},{\"type\":\"null\"}]}");
    try text.writer.writeAll("]}");
    var warnings: ArrayList([]const u8) = .empty;
    var budget: Budget = .{};
    var diag: Diagnostic = .{};
    const schema = try compile(gpa, arena, text.written(), &.{}, null, &warnings, &budget, &diag);
    defer schema.deinit(gpa);
    var n = [2]u32{ 0, 0 };
    for (schema.nodes) |node| switch (node) {
        .any => n[0] += 1,
        .one => n[1] += 1,
        else => {},
    };
    try std.testing.expectEqual([2]u32{ 4, 6 }, n);
}

test "references" {
    for ([_]Case{
        .{ .schema = "{\"properties\":{\"a\":{\"$ref\":\"#\"}},\"required\":[\"a\"]}", .formula = "all({a:^0 ..true} has a)" },
        .{ .schema = "{\"$ref\":\"#/$defs/a~1b%25~0\",\"$defs\":{\"a/b%~\":{\"const\":1}},\"type\":\"null\"}", .formula = "all(null {1})" },
        .{
            .schema = "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"$ref\":\"#/definitions/a\"," ++
                "\"definitions\":{\"a\":{\"const\":1}},\"type\":\"null\"}",
            .formula = "{1}",
            .warnings = "at #/$ref: in draft 7 what stands beside it has no effect: put it into an allOf (type)",
        },
        .{ .schema = "{\"$ref\":\"#a\",\"$defs\":{\"x\":{\"$anchor\":\"a\",\"const\":1}}}", .formula = "{1}" },
        .{ .schema = "{\"$id\":\"http://h/d/root\",\"items\":{\"$ref\":\"item.json\"},\"$defs\":{\"x\":{\"$id\":\"item.json\"," ++
            "\"$ref\":\"#/$defs/y\",\"$defs\":{\"y\":{\"const\":1}}}}}", .formula = "[..{1}]" },
        .{ .schema = "{\"$id\":\"http://h/r\",\"$ref\":\"http://h/r#/$defs/0\",\"$defs\":[{\"const\":1}]}", .formula = "{1}" },
        .{
            .schema = "{\"id\":\"http://h/r\",\"items\":{\"$ref\":\"#a\"},\"definitions\":{\"x\":{\"id\":\"#a\",\"enum\":[1]}}}",
            .formula = "[..{1}]",
            .options = .{ .draft = .draft4 },
        },
        // A list of strings, by name, in the manner of generics.
        .{
            .schema = "{\"$id\":\"http://h/strings\",\"$ref\":\"list\",\"$defs\":{\"s\":{\"$dynamicAnchor\":\"T\",\"type\":\"string\"}," ++
                "\"l\":{\"$id\":\"list\",\"items\":{\"$dynamicRef\":\"#T\"},\"$defs\":{\"t\":{\"$dynamicAnchor\":\"T\"," ++
                "\"type\":\"null\"}}}}}",
            .formula = "[..string]",
        },
        .{
            .schema = "{\"$schema\":\"https://json-schema.org/draft/2019-09/schema\",\"$id\":\"http://h/r\"," ++
                "\"$recursiveAnchor\":true,\"$ref\":\"t\",\"maxProperties\":1," ++
                "\"$defs\":{\"t\":{\"$id\":\"t\",\"$recursiveAnchor\":true,\"additionalProperties\":{\"$recursiveRef\":\"#\"}}}}",
            .formula = "all(members0-1 {..^0})",
        },
        .{ .schema = "{\"$ref\":\"#/$defs/a\"}", .formula = "at #/$ref: there is no \"#/$defs/a\"" },
        .{
            .schema = "{\"items\":{\"$ref\":\"other.json#/a\"}}",
            .formula = "at #/items/$ref: there is no \"other.json#/a\": pass other documents with documents, in a grammar with imports",
        },
        .{ .schema = "{\"items\":{\"$ref\":\"#x\"}}", .formula = "at #/items/$ref: there is no \"#x\"" },
        .{ .schema = "{\"$ref\":\"#/title\",\"title\":\"x\"}", .formula = "at #/$ref: this leads to what is no schema" },
        .{
            .schema = "{\"properties\":{\"a/b\":{\"allOf\":[{\"$ref\":\"#/properties/a~1b\"}]}}}",
            .formula = "at #/properties/a~1b: this schema refers to itself without a member or an item in between",
        },
        .{ .schema = "{\"$ref\":\"#\"}", .formula = "at #: this schema refers to itself without a member or an item in between" },
        .{
            .schema = "{\"$schema\":\"http://example.com/mine\"}",
            .formula = "true",
            .warnings = "\"http://example.com/mine\" is no draft that is known: the schema is read as one of draft2020_12",
        },
    }) |case| try expectFormula(case);
}

test "what is not evaluated" {
    for ([_]Case{
        .{ .schema = "{\"unevaluatedProperties\":false}", .formula = "{..false}" },
        .{ .schema = "{\"unevaluatedProperties\":false,\"additionalProperties\":true}", .formula = "true" },
        .{
            .schema = "{\"$ref\":\"#/$defs/a\",\"properties\":{\"b\":true},\"allOf\":[{\"patternProperties\":{\"c\":true}}]," ++
                "\"unevaluatedProperties\":{\"type\":\"null\"},\"$defs\":{\"a\":{\"properties\":{\"x\":{\"const\":1}}}}}",
            .formula = "all({x:{1} ..true} {b:true ..true} {match0:true ..true} {b:true x:true match0:true ..null})",
        },
        .{
            .schema = "{\"anyOf\":[{\"required\":[\"a\"]},{\"properties\":{\"b\":{\"const\":1}}}],\"unevaluatedProperties\":false}",
            .formula = "all(any(has a {b:{1} ..true}) if({b:{1} ..true}) then({b:true ..false}) else({..false}))",
        },
        .{
            .schema = "{\"oneOf\":[{\"properties\":{\"a\":{\"const\":1}}},{\"properties\":{\"b\":{\"const\":1}}}]," ++
                "\"unevaluatedProperties\":false}",
            .formula = "all(one({a:{1} ..true} {b:{1} ..true}) if({a:{1} ..true}) then({a:true ..false}) else({b:true ..false}))",
        },
        .{
            .schema = "{\"if\":{\"required\":[\"a\"]},\"then\":{\"properties\":{\"a\":true}}," ++
                "\"else\":{\"unevaluatedProperties\":true},\"unevaluatedProperties\":false}",
            .formula = "all(if(has a) then({a:true ..true}) else(true) if(has a) then({a:true ..false}) else(true))",
        },
        .{
            .schema = "{\"dependentSchemas\":{\"a\":{\"properties\":{\"b\":true}}},\"unevaluatedProperties\":false}",
            .formula = "all(any(not(has a) null|boolean|integer|fraction|string|array {b:true ..true}) if(has a) " ++
                "then({b:true ..false}) else({..false}))",
        },
        .{
            .schema = "{\"not\":{\"properties\":{\"a\":true}},\"unevaluatedProperties\":false}",
            .formula = "all(not({a:true ..true}) {..false})",
        },
        .{
            .schema = "{\"prefixItems\":[true],\"allOf\":[{\"prefixItems\":[true,true]}],\"unevaluatedItems\":false}",
            .formula = "all([true ..true] [true true ..true] [true true ..false])",
        },
        .{
            .schema = "{\"contains\":{\"const\":1},\"unevaluatedItems\":{\"type\":\"null\"}}",
            .formula = "all(contains1-({1}) [..any({1} null)])",
        },
        .{ .schema = "{\"items\":true,\"unevaluatedItems\":false}", .formula = "true" },
    }) |case| try expectFormula(case);
}

fn findOther(uri: [*]const u8, uri_len: usize, out_text: *?[*]const u8, out_len: *usize, _: ?*anyopaque) callconv(.c) c_int {
    const pairs = [_][2][]const u8{
        .{ "http://h/other", "{\"$defs\":{\"a\":{\"const\":1},\"b\":{\"type\":3}}}" },
        .{ "http://h/broken", "{\"const\":}" },
        .{ "http://h/loop", "{\"$schema\":\"http://h/loop\",\"const\":2}" },
        .{ "http://h/old", "{\"definitions\":{\"a\":{\"dependentRequired\":{\"b\":[\"c\"]}}}}" },
    };
    const wanted = uri[0..uri_len];
    for (pairs) |pair| if (std.mem.eql(u8, pair[0], wanted)) {
        out_text.* = pair[1].ptr;
        out_len.* = pair[1].len;
    };
    return if (std.mem.eql(u8, wanted, "http://h/stop")) 1 else 0;
}

/// Each has the next one as its meta-schema.
fn findNext(uri: [*]const u8, uri_len: usize, out_text: *?[*]const u8, out_len: *usize, user_data: ?*anyopaque) callconv(.c) c_int {
    const buffer: *[200]u8 = @ptrCast(user_data);
    const text = std.fmt.bufPrint(buffer, "{{\"$schema\":\"{s}x\"}}", .{uri[0..uri_len]}) catch return 1;
    out_text.* = text.ptr;
    out_len.* = text.len;
    return 0;
}

test "other documents come from the caller" {
    const options: Options = .{ .documents = .{ .callback = findOther } };
    var buffer: [200]u8 = undefined;
    for ([_]Case{
        .{ .schema = "{\"$id\":\"http://h/this\",\"$ref\":\"other#/$defs/a\"}", .formula = "{1}", .options = options },
        .{
            .schema = "{\"$ref\":\"http://h/other#/$defs/b\"}",
            .formula = "at http://h/other#/$defs/b/type: must be a string, or an array of strings",
            .options = options,
        },
        .{
            .schema = "{\"$ref\":\"http://h/another\"}",
            .formula = "at #/$ref: there is no \"http://h/another\": pass other documents with documents, in a grammar with imports",
            .options = options,
        },
        .{
            .schema = "{\"$ref\":\"http://h/broken\"}",
            .formula = "in \"http://h/broken\": the schema is not JSON: at byte 9: a value is missing here",
            .options = options,
        },
        .{
            .schema = "{\"$ref\":\"http://h/stop\"}",
            .formula = "the callback failed for \"http://h/stop\"",
            .options = options,
        },
        .{
            .schema = "{\"$ref\":\"http://h/loop\"}",
            .formula = "{2}",
            .options = options,
        },
        .{
            .schema = "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"$ref\":\"http://h/old#/definitions/a\"}",
            .formula = "true",
            .options = options,
            .warnings = "at http://h/old#/definitions/a/dependentRequired: draft 7 has no such keyword: it has no effect",
        },
        .{
            .schema = "{\"$schema\":\"x\"}",
            .formula = "at xxxxxxxxxxxxxxxx#/$schema: too many meta-schemas have another one as theirs",
            .options = .{ .documents = .{ .callback = findNext, .user_data = &buffer } },
        },
    }) |case| try expectFormula(case);
}

test "what cannot be supported is an error, or with `lenient` a warning" {
    const nine = "{\"properties\":{\"a\":true}}" ++ ",{\"properties\":{\"a\":true}}";
    const schema = "{\"unevaluatedProperties\":false,\"allOf\":[" ++
        ("{\"anyOf\":[" ++ nine ++ "," ++ nine ++ "," ++ nine ++ "," ++ nine ++ "," ++ nine ++ "]}") ++ "]}";
    try expectFormula(
        .{ .schema = schema, .formula = "at #/unevaluatedProperties: what the schemas beside it evaluate has too many cases" },
    );
    try expectFormula(.{
        .schema = "{\"unevaluatedItems\":false,\"items\":" ++ schema ++ "}",
        .formula = "at #/items/unevaluatedProperties: what the schemas beside it evaluate has too many cases",
    });
    try expectFormula(.{
        .schema = "{\"pattern\":\"(a)\\\\1\"}",
        .formula = "true",
        .options = .{ .lenient = true },
        .warnings = "at #/pattern: at byte 3: back-references are not regular: unsupported: it is not enforced",
    });
}

test "what is wrong, and where" {
    for ([_]Case{
        .{ .schema = "3", .formula = "at #: a schema must be an object, true or false" },
        .{ .schema = "{\"type\":\"strin\"}", .formula = "at #/type: no type is called \"strin\"" },
        .{
            .schema = "{\"items\":{\"properties\":{\"a\":{\"minLength\":-1}}}}",
            .formula = "at #/items/properties/a/minLength: must be a whole number from 0 on",
        },
        .{ .schema = "{\"anyOf\":[true,{\"maxItems\":\"3\"}]}", .formula = "at #/anyOf/1/maxItems: must be a whole number from 0 on" },
        .{ .schema = "{\"items\":3}", .formula = "at #/items: a schema must be an object, true or false" },
        .{ .schema = "{\"required\":\"a\"}", .formula = "at #/required: must be an array of strings" },
        .{ .schema = "{\"properties\":[]}", .formula = "at #/properties: must be an object" },
        .{ .schema = "{\"multipleOf\":0}", .formula = "at #/multipleOf: must be greater than 0" },
        .{ .schema = "{\"minimum\":1e99999}", .formula = "at #/minimum: a number has more than 16384 digits" },
        .{ .schema = "{\"$schema\":1}", .formula = "at #/$schema: must be a string" },
    }) |case| try expectFormula(case);
}

test "each allocation may fail" {
    const text = "{\"properties\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"c\":{\"pattern\":\"x\"}},\"$defs\":{\"b\":{\"enum\":[1.5," ++
        "\"\\n\",[]]}}}";
    try std.testing.checkAllAllocationFailures(std.testing.allocator, compileOnce, .{text});
    const of_another = "{\"$ref\":\"http://json-schema.org/draft-06/schema#/definitions/schemaArray/items\"," ++
        "\"not\":{\"$ref\":\"http://h/other#/$defs/a\"}}";
    // Some of them: there are many. Whether a large block grows in place is chance, and so is their number.
    var n: usize = 0;
    while (n < 1_000_000) : (n += 1 + n / 16) {
        var failing: std.testing.FailingAllocator = .init(std.testing.allocator, .{ .fail_index = n });
        compileOnce(failing.allocator(), of_another) catch |e| try std.testing.expectEqual(error.OutOfMemory, e);
        if (!failing.has_induced_failure) break;
    } else return error.TooManyAllocations;
}

fn compileOnce(gpa: Allocator, text: []const u8) !void {
    var arena_state: Arena = .init(gpa);
    defer arena_state.deinit();
    var warnings: ArrayList([]const u8) = .empty;
    var budget: Budget = .{};
    var diag: Diagnostic = .{};
    const options: Options = .{ .lenient = true, .documents = .{ .callback = findOther } };
    const schema = try compile(gpa, arena_state.allocator(), text, &options, null, &warnings, &budget, &diag);
    schema.deinit(gpa);
}
