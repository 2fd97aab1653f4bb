//! What each keyword asserts, as nodes of the formula. Every schema object that is reached from the root
//! waits in a queue until its keywords are read; what refers to it has its number already.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const NumberMap = @import("engine").number_map.NumberMap;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const message = @import("message");
const Budget = @import("engine").budget.Budget;
const engine = @import("engine").schema;
const NodeId = engine.NodeId;
const Types = engine.Types;
const unbounded = engine.unbounded;
const decimal_module = @import("engine").decimal;
const spelling = @import("engine").schema_spelling;
const decimals = @import("decimals.zig");
const json = @import("json.zig");
const Value = json.Value;
const Object = json.Object;
const references = @import("references.zig");
const References = references.References;
const keywords = @import("keywords.zig");
const Draft = keywords.Draft;
const Keyword = keywords.Keyword;
const formula_module = @import("formula.zig");
const Formula = formula_module.Formula;
const always = formula_module.always;
const never = formula_module.never;
const unevaluated = @import("unevaluated.zig");
const closed = @import("closed.zig");
const Dfas = @import("dfas.zig").Dfas;
const formats = @import("formats.zig");
const doubtful_keywords = @import("doubtful_keywords.zig");
const Doubts = @import("doubtful_patterns.zig").Doubts;

const subject_module = @import("subject.zig");
const Subject = subject_module.Subject;
const Place = subject_module.Place;
const Closing = subject_module.Closing;

pub const Error = Allocator.Error || diagnostic.Error;

/// Schemas that are read between two looks at the budget.
const budget_interval = 64;

pub const Compiler = struct {
    gpa: Allocator,
    arena: Allocator,
    references: *References,
    dfas: *Dfas,
    formula: Formula,
    is_lenient: bool,
    /// Of the root.
    closing: Closing,
    budget: *Budget,
    diag: *Diagnostic,
    queue: ArrayList(Waiting) = .empty,
    /// By the serial number of an object in the scope 0.
    nodes: ArrayList(NodeId) = .empty,
    /// By scope and serial number: of `scoped_nodes`.
    scoped: NumberMap = .{},
    scoped_nodes: ArrayList(NodeId) = .empty,
    /// What the schema that is being read asserts so far.
    parts: ArrayList(NodeId) = .empty,

    /// Items are to be different.
    const Waiting = struct { object: Object, place: Place, node: NodeId };
    const unknown = std.math.maxInt(NodeId);

    /// The root's node.
    pub fn run(c: *Compiler, text: []const u8) Error!NodeId {
        const target = try c.references.open(text);
        if (target.schema.* != .object and target.schema.* != .boolean) {
            return c.diag.fail(.grammar, "at #: a schema must be an object, true or false", .{});
        }
        const root = try c.targetNode(target, 0, c.closing);
        var i: usize = 0;
        while (i < c.queue.items.len) : (i += 1) {
            if (i % budget_interval == 0) try c.checkBudget();
            const waiting = c.queue.items[i];
            try c.read(&waiting);
        }
        return root;
    }

    /// The node of values in which this pattern matches all strings and keys.
    pub fn everywhere(c: *Compiler, pattern: []const u8) Error!NodeId {
        const text = try c.formula.add(.{ .string_matches = try c.dfas.ofPattern(pattern) });
        const value = try c.formula.add(.always);
        const parts = try c.formula.list(&.{
            text,
            try c.formula.add(.{ .object_names = text }),
            try c.formula.add(.{ .object_members = .{ .named = .{}, .matching = .{}, .rest = value } }),
            try c.formula.add(.{ .array_items = .{ .prefix = .{}, .rest = value } }),
        });
        c.formula.nodes.items[value] = .{ .all = parts };
        return value;
    }

    pub fn checkBudget(c: *Compiler) Error!void {
        try c.budget.check("the schema", c.diag);
        const per_schema = @sizeOf(Waiting) + 2 * @sizeOf(engine.Node);
        if (c.queue.items.len * per_schema + c.formula.bytesOfLists() > c.budget.bytes_max) return c.diag.fail(
            .limit,
            "the schema needs more than {d} bytes",
            .{c.budget.bytes_max},
        );
    }

    /// The last schema, but for the root, of which a test is true, as its place; the further from the root, the later it comes.
    pub fn lastPlace(c: *Compiler, buffer: []u8, context: anytype, comptime is: fn (@TypeOf(context), NodeId) bool) ?[]const u8 {
        var n = c.queue.items.len;
        while (n > 1) : (n -= 1) {
            const waiting = c.queue.items[n - 1];
            if (is(context, waiting.node)) return c.references.place(buffer, waiting.object, "");
        }
        return null;
    }

    pub fn failCycle(c: *Compiler, nodes: []const NodeId) diagnostic.Error {
        for (nodes) |one| for (c.queue.items) |waiting| {
            if (waiting.node != one) continue;
            return c.references.fail(waiting.object, "", "this schema refers to itself without a member or an item in between");
        };
        unreachable; // only references make cycles, and they lead to schemas
    }

    // ---- Places

    /// The node of what a reference leads to.
    pub fn targetNode(c: *Compiler, target: references.Target, scope: references.Scope, closing: Closing) Error!NodeId {
        switch (target.schema.*) {
            .boolean => |is| return if (is) always else never,
            .object => |object| return c.objectNode(object, try c.targetPlace(target, scope, closing)),
            else => unreachable, // was looked at
        }
    }

    /// `scope` is that of the reference.
    pub fn targetPlace(c: *Compiler, target: references.Target, scope: references.Scope, closing: Closing) Error!Place {
        return .{ .resource = target.resource, .scope = try c.references.widen(scope, target.resource), .closing = closing };
    }

    /// The node of a schema within another one, which is the value of a keyword or stands in it.
    pub fn node(c: *Compiler, s: *const Subject, keyword: Keyword, value: *const Value) Error!NodeId {
        return c.nodeWith(s, keyword, value, closed.below(c, s, keyword));
    }

    fn nodeWith(c: *Compiler, s: *const Subject, keyword: Keyword, value: *const Value, closing: Closing) Error!NodeId {
        var place = s.place;
        place.closing = closing;
        switch (value.*) {
            .boolean => |is| return if (is) always else never,
            .object => |object| return c.objectNode(object, try c.placeOf(place, object)),
            else => return c.fail(s, keyword, "a schema must be an object, true or false"),
        }
    }

    pub fn placeOf(c: *Compiler, outer: Place, object: Object) Error!Place {
        const resource = try c.references.enter(outer.resource, object);
        if (resource == outer.resource) return outer;
        return .{ .resource = resource, .scope = try c.references.widen(outer.scope, resource), .closing = outer.closing };
    }

    fn objectNode(c: *Compiler, object: Object, place: Place) Error!NodeId {
        if (object.len == 0) return always;
        const slot = try c.nodeSlot(object.serial, &place);
        if (slot.* != unknown) return slot.*;
        slot.* = try c.formula.add(.always);
        try c.queue.append(c.arena, .{ .object = object, .place = place, .node = slot.* });
        return slot.*;
    }

    fn nodeSlot(c: *Compiler, serial: u32, place: *const Place) Error!*NodeId {
        if (place.scope != 0 or place.closing != .open) {
            const key = (@as(u64, place.scope) << 2 | @backingInt(place.closing)) << 32 | serial;
            if (c.scoped.get(key) == null) try c.scoped.putItem(c.arena, key, NodeId, &c.scoped_nodes, unknown);
            return &c.scoped_nodes.items[c.scoped.get(key).?];
        }
        const known = c.nodes.items.len;
        if (serial >= known) {
            try c.nodes.resize(c.arena, c.references.n_objects);
            @memset(c.nodes.items[known..], unknown);
        }
        return &c.nodes.items[serial];
    }

    // ---- One schema

    fn read(c: *Compiler, waiting: *const Waiting) Error!void {
        var s: Subject = undefined;
        c.setSubject(&s, waiting.object, waiting.place);
        c.parts.clearRetainingCapacity();
        if (s.get(.@"$ref") != null and !c.draftOf(&s).hasSiblings()) {
            try doubtful_keywords.reviewSiblings(c, &s);
            try c.addReference(&s, .@"$ref");
            return c.finish(waiting.node);
        }
        try doubtful_keywords.review(c, &s, try c.addTypes(&s));
        // Most schemas have few keywords.
        if (s.hasAny(of_values)) try c.addValues(&s);
        if (s.hasAny(of_strings)) try c.addStrings(&s);
        if (s.hasAny(of_numbers)) try c.addNumbers(&s);
        if (s.hasAny(of_arrays)) try c.addArrays(&s);
        if (s.hasAny(of_objects) or s.place.closing == .whole) try c.addObjects(&s);
        if (s.hasAny(of_unevaluated)) try c.addUnevaluated(&s);
        try c.finish(waiting.node);
    }

    const of_values: keywords.Set = .initMany(&.{ .@"const", .@"enum" });
    const of_strings: keywords.Set = .initMany(&.{ .minLength, .maxLength, .pattern, .format });
    const of_numbers: keywords.Set = .initMany(&.{ .minimum, .maximum, .exclusiveMinimum, .exclusiveMaximum, .multipleOf });
    const of_arrays: keywords.Set = .initMany(&.{ .items, .prefixItems, .contains, .minItems, .maxItems, .uniqueItems });
    const of_objects: keywords.Set = .initMany(&.{
        .@"$ref",          .@"$dynamicRef",    .@"$recursiveRef", .allOf,         .anyOf,
        .oneOf,            .not,               .@"if",            .properties,    .patternProperties,
        .required,         .propertyNames,     .minProperties,    .maxProperties, .additionalProperties,
        .dependentSchemas, .dependentRequired, .dependencies,
    });
    const of_unevaluated: keywords.Set = .initMany(&.{ .unevaluatedProperties, .unevaluatedItems });

    /// In place: there are many keywords.
    pub fn setSubject(c: *Compiler, s: *Subject, object: Object, place: Place) void {
        s.object = object;
        s.place = place;
        s.present = .empty;
        s.n_unread = object.len;
        const resource = &c.references.resources.items[place.resource];
        for (object.members()) |*member| {
            const keyword = Keyword.of(member.key) orelse continue;
            if (!resource.has(keyword)) continue;
            s.values.set(keyword, &member.value);
            s.present.insert(keyword);
            s.n_unread -= 1;
        }
    }

    pub fn draftOf(c: *const Compiler, s: *const Subject) Draft {
        return c.references.resources.items[s.place.resource].draft;
    }

    fn assert(c: *Compiler, part: NodeId) Error!void {
        if (part != always) try c.parts.append(c.arena, part);
    }

    fn assertNode(c: *Compiler, part: engine.Node) Error!void {
        try c.parts.append(c.arena, try c.formula.add(part));
    }

    fn finish(c: *Compiler, to: NodeId) Error!void {
        const parts = c.parts.items;
        if (parts.len == 0) return; // always
        const nodes = &c.formula.nodes;
        // A single assertion that nobody else knows takes the schema's own place.
        if (parts.len == 1 and parts[0] == nodes.items.len - 1 and !c.isWaiting(parts[0])) {
            nodes.items[to] = nodes.pop().?;
        } else nodes.items[to] = .{ .all = try c.formula.list(parts) };
    }

    fn isWaiting(c: *const Compiler, id: NodeId) bool {
        return c.queue.items[c.queue.items.len - 1].node == id;
    }

    // ---- References

    fn addReference(c: *Compiler, s: *const Subject, keyword: Keyword) Error!void {
        const target = try c.targetOf(s, keyword) orelse return;
        try c.assert(try c.targetNode(target, s.place.scope, closed.inPlace(c, s)));
    }

    /// What a schema's reference leads to.
    pub fn targetOf(c: *Compiler, s: *const Subject, keyword: Keyword) Error!?references.Target {
        const value = s.get(keyword) orelse return null;
        if (value.* != .string) return c.fail(s, keyword, "must be a string");
        const refs = c.references;
        const target = switch (keyword) {
            .@"$ref" => try refs.resolve(s.place.resource, value.string, s.object, "$ref"),
            .@"$dynamicRef" => try refs.resolveDynamic(s.place.resource, s.place.scope, value.string, s.object),
            else => refs.resolveRecursive(s.place.resource, s.place.scope),
        };
        if (target.schema.* == .object or target.schema.* == .boolean) return target;
        return c.fail(s, keyword, "this leads to what is no schema");
    }

    // ---- Types and values

    /// Returns them, if the schema says which.
    fn addTypes(c: *Compiler, s: *const Subject) Error!?Types {
        const value = s.get(.type) orelse return null;
        var types: Types = .{};
        switch (value.*) {
            .string => |name| types = try c.typeOf(s, name),
            .array => |names| for (names) |name| {
                if (name != .string) return c.fail(s, .type, "must be a string, or an array of strings");
                types = types.unionWith(try c.typeOf(s, name.string));
            },
            else => return c.fail(s, .type, "must be a string, or an array of strings"),
        }
        if (try c.boolean(s, .nullable)) types.null = true;
        try c.assertNode(.{ .types = types });
        return types;
    }

    fn typeOf(c: *Compiler, s: *const Subject, name: []const u8) Error!Types {
        if (std.mem.eql(u8, name, "number")) return .number;
        if (std.mem.eql(u8, name, "integer")) return .{ .integer = true };
        inline for (.{ "null", "boolean", "string", "array", "object" }) |one| {
            if (std.mem.eql(u8, name, one)) {
                var types: Types = .{};
                @field(types, one) = true;
                return types;
            }
        }
        return c.failWith(s, .type, "no type is called {f}", .{quoted(name)});
    }

    fn addValues(c: *Compiler, s: *const Subject) Error!void {
        if (s.get(.@"const")) |value| try c.assert(try c.constant(s, .@"const", value));
        const value = s.get(.@"enum") orelse return;
        if (value.* != .array) return c.fail(s, .@"enum", "must be an array");
        var texts: ArrayList([]const u8) = .empty;
        var nodes: ArrayList(NodeId) = .empty;
        try texts.ensureTotalCapacity(c.arena, value.array.len);
        for (value.array, 1..) |*item, n| {
            if (n % 4096 == 0) try c.budget.check("the schema", c.diag);
            switch (item.*) {
                .array, .object => try nodes.append(c.arena, try c.constant(s, .@"enum", item)),
                else => texts.appendAssumeCapacity(try c.scalarText(s, .@"enum", item)),
            }
        }
        if (texts.items.len > 0) try nodes.append(c.arena, try c.formula.listed(texts.items, c.budget, c.diag));
        try c.assert(if (nodes.items.len == 0) never else try c.formula.any(nodes.items));
    }

    /// Recurses as deep as JSON may be.
    fn constant(c: *Compiler, s: *const Subject, keyword: Keyword, value: *const Value) Error!NodeId {
        if (c.formula.nodes.items.len % 64 == 0) try c.budget.check("the schema", c.diag);
        switch (value.*) {
            .array => |items| {
                const prefix = try c.arena.alloc(NodeId, items.len);
                for (prefix, items) |*to, *item| to.* = try c.constant(s, keyword, item);
                const n: u32 = @intCast(items.len);
                return c.formula.all(&.{
                    try c.formula.add(.{ .types = .{ .array = true } }),
                    try c.formula.add(.{ .array_length = .{ .min = n, .max = n } }),
                    try c.formula.add(.{ .array_items = .{ .prefix = try c.formula.list(prefix), .rest = always } }),
                });
            },
            .object => |object| return c.constantObject(s, keyword, object),
            else => {
                var texts = [1][]const u8{try c.scalarText(s, keyword, value)};
                return c.formula.listed(&texts, c.budget, c.diag);
            },
        }
    }

    fn constantObject(c: *Compiler, s: *const Subject, keyword: Keyword, object: Object) Error!NodeId {
        const members = try c.arena.alloc(engine.Member, object.len);
        const nodes = try c.arena.alloc(NodeId, 3 + object.len);
        for (members, nodes[3..], object.members()) |*to, *has, *member| {
            to.* = .{ .key = try c.formula.key(member.key), .value = try c.constant(s, keyword, &member.value) };
            has.* = try c.formula.add(.{ .object_has = to.key });
        }
        nodes[0] = try c.formula.add(.{ .types = .{ .object = true } });
        nodes[1] = try c.formula.add(.{ .object_count = .{ .min = object.len, .max = object.len } });
        nodes[2] = try c.formula.add(.{ .object_members = .{
            .named = try c.formula.memberList(members),
            .matching = .{},
            .rest = always,
        } });
        return c.formula.all(nodes);
    }

    fn scalarText(c: *Compiler, s: *const Subject, keyword: Keyword, value: *const Value) Error![]const u8 {
        return switch (value.*) {
            .null => "null",
            .boolean => |is| if (is) "true" else "false",
            .number => |text| if (isCanonical(text)) text else decimals.plain(c.arena, try c.parseDecimal(s, keyword, text)),
            .string => |content| c.stringText(content),
            else => unreachable,
        };
    }

    /// Whether an integer is spelled as it must be.
    fn isCanonical(text: []const u8) bool {
        if (text[0] == '0') return text.len == 1;
        for (text) |byte| if (!std.ascii.isDigit(byte)) return false;
        return text.len < decimal_module.places_max;
    }

    /// In quotes; the document's own spelling where that is canonical.
    fn stringText(c: *Compiler, content: []const u8) Error![]const u8 {
        for (c.references.documents.items) |document| {
            if (json.isUnescaped(document.text, content)) return (content.ptr - 1)[0 .. content.len + 2];
        }
        return spelling.quoted(c.arena, content);
    }

    fn parseDecimal(c: *Compiler, s: *const Subject, keyword: Keyword, text: []const u8) Error!decimal_module.Decimal {
        return decimal_module.parse(c.arena, text) catch |e| switch (e) {
            error.OutOfMemory => error.OutOfMemory,
            error.TooLarge => c.failWith(s, keyword, "a number has more than {d} digits", .{decimal_module.places_max}),
            error.Invalid => unreachable, // JSON was read
        };
    }

    // ---- Strings and numbers

    fn addStrings(c: *Compiler, s: *const Subject) Error!void {
        try c.addBounds(s, .minLength, .maxLength, "string_length");
        if (s.get(.pattern)) |value| {
            if (value.* != .string) return c.fail(s, .pattern, "must be a string");
            if (try c.patternOf(s, .pattern, value.string)) |dfa| try c.assertNode(.{ .string_matches = dfa });
        }
        const format = s.get(.format) orelse return;
        if (format.* != .string) return c.fail(s, .format, "must be a string");
        if (formats.find(format.string)) |known| {
            try c.assertNode(.{ .string_matches = try c.dfas.ofFormat(known) });
            if (formats.lengthMax(known)) |max| try c.assertNode(.{ .string_length = .{ .max = max } });
        } else if (!formats.isAnnotation(format.string)) {
            try c.references.warn("the format {f} is not known: it is not enforced", .{quoted(format.string)});
        }
    }

    /// Null if it cannot be supported and that is only a warning.
    pub fn patternOf(c: *Compiler, s: *const Subject, keyword: Keyword, pattern: []const u8) Error!?u32 {
        const of = s.get(keyword).?;
        const object, const key = if (of.* == .object) .{ of.object, pattern } else .{ s.object, @tagName(keyword) };
        const dfa = c.dfas.ofPattern(pattern) catch |e| {
            if (e == error.OutOfMemory or c.diag.status != .grammar) return e;
            var buffer: [300]u8 = undefined;
            const reason = message.print(&buffer, "{s}", .{c.diag.message()});
            try c.refuse(object, key, reason);
            return null;
        };
        var doubts: Doubts = .{ .text = pattern };
        while (doubts.next()) |doubt| try c.warn(object, key, "at byte {d}: {s}", .{ doubt.at, doubt.reason });
        return dfa;
    }

    fn addBounds(c: *Compiler, s: *const Subject, min: Keyword, max: Keyword, comptime kind: []const u8) Error!void {
        if (s.get(min) == null and s.get(max) == null) return;
        try c.assertNode(@unionInit(engine.Node, kind, .{
            .min = try c.count(s, min) orelse 0,
            .max = try c.count(s, max) orelse unbounded,
        }));
    }

    pub fn count(c: *Compiler, s: *const Subject, keyword: Keyword) Error!?u32 {
        const value = s.get(keyword) orelse return null;
        if (value.* == .number) {
            const found = decimals.count(try c.parseDecimal(s, keyword, value.number), unbounded);
            if (found) |n| return n;
        }
        return c.fail(s, keyword, "must be a whole number from 0 on");
    }

    fn boolean(c: *Compiler, s: *const Subject, keyword: Keyword) Error!bool {
        const value = s.get(keyword) orelse return false;
        return if (value.* == .boolean) value.boolean else c.fail(s, keyword, "must be true or false");
    }

    fn addNumbers(c: *Compiler, s: *const Subject) Error!void {
        try c.addLimit(s, .minimum, if (isTrue(s, .exclusiveMinimum)) .above else .at_least);
        try c.addLimit(s, .maximum, if (isTrue(s, .exclusiveMaximum)) .below else .at_most);
        // Of draft 4, where it says how `minimum` is meant.
        if (!isBoolean(s, .exclusiveMinimum)) try c.addLimit(s, .exclusiveMinimum, .above);
        if (!isBoolean(s, .exclusiveMaximum)) try c.addLimit(s, .exclusiveMaximum, .below);
        const value = s.get(.multipleOf) orelse return;
        const of = try c.number(s, .multipleOf, value);
        if (of.negative or of.isZero()) return c.fail(s, .multipleOf, "must be greater than 0");
        try c.assertNode(.{ .number_multiple = try c.formula.decimal(of) });
    }

    fn isBoolean(s: *const Subject, keyword: Keyword) bool {
        const value = s.get(keyword) orelse return false;
        return value.* == .boolean;
    }

    fn isTrue(s: *const Subject, keyword: Keyword) bool {
        return isBoolean(s, keyword) and s.get(keyword).?.boolean;
    }

    fn addLimit(c: *Compiler, s: *const Subject, keyword: Keyword, side: @FieldType(engine.Limit, "side")) Error!void {
        const value = s.get(keyword) orelse return;
        const decimal = try c.formula.decimal(try c.number(s, keyword, value));
        try c.assert(try c.formula.limit(.{ .side = side, .decimal = decimal }));
    }

    pub fn number(c: *Compiler, s: *const Subject, keyword: Keyword, value: *const Value) Error!decimal_module.Decimal {
        if (value.* != .number) return c.fail(s, keyword, "must be a number");
        return c.parseDecimal(s, keyword, value.number);
    }

    // ---- Arrays

    fn addArrays(c: *Compiler, s: *const Subject) Error!void {
        try c.addBounds(s, .minItems, .maxItems, "array_length");
        try c.addItems(s);
        const contains = s.get(.contains) orelse return;
        const item = try c.node(s, .contains, contains);
        const bounds: engine.Bounds = .{
            .min = try c.count(s, .minContains) orelse 1,
            .max = try c.count(s, .maxContains) orelse unbounded,
        };
        try c.assertNode(.{ .array_contains = .{ .item = item, .count = bounds } });
    }

    fn addItems(c: *Compiler, s: *const Subject) Error!void {
        var prefix: []const NodeId = &.{};
        if (s.get(.prefixItems)) |value| prefix = try c.nodeList(s, .prefixItems, value);
        var rest: NodeId = always;
        if (s.get(.items)) |items| switch (items.*) {
            // Older drafts; 2020-12 does not allow it, and nobody can mean anything else.
            .array => {
                prefix = try c.nodeList(s, .items, items);
                if (s.get(.additionalItems)) |value| rest = try c.node(s, .additionalItems, value);
            },
            else => rest = try c.node(s, .items, items),
        };
        if (prefix.len > 0 or rest != always) {
            try c.assertNode(.{ .array_items = .{ .prefix = try c.formula.list(prefix), .rest = rest } });
        }
        // One item is always another one than all others.
        const is_unique = try c.boolean(s, .uniqueItems);
        if (is_unique and (try c.count(s, .maxItems) orelse unbounded) > 1) try c.assertNode(.array_unique);
    }

    pub fn nodeList(c: *Compiler, s: *const Subject, keyword: Keyword, value: *const Value) Error![]NodeId {
        if (value.* != .array) return c.fail(s, keyword, "must be an array of schemas");
        const nodes = try c.arena.alloc(NodeId, value.array.len);
        for (nodes, value.array) |*to, *item| to.* = try c.node(s, keyword, item);
        return nodes;
    }

    // ---- Objects

    fn addObjects(c: *Compiler, s: *const Subject) Error!void {
        try c.addBounds(s, .minProperties, .maxProperties, "object_count");
        if (s.get(.propertyNames)) |value| {
            const names = try c.node(s, .propertyNames, value);
            if (names != always) try c.assertNode(.{ .object_names = names });
        }
        // `properties` says where these three stand.
        const members: Keyword = for ([_]Keyword{ .properties, .patternProperties, .additionalProperties }) |keyword| {
            if (s.get(keyword) != null) break keyword;
        } else .properties;
        // What names keys is taken in the order of the document, which is that of the keys.
        for (s.object.members()) |*member| {
            const keyword = Keyword.of(member.key) orelse continue;
            if (keyword == members) try c.addMembers(s);
            if (s.get(keyword) == &member.value) try c.addNaming(s, keyword, &member.value);
        }
        // After them what applies to some objects only.
        for ([_]Keyword{ .dependentRequired, .dependentSchemas, .dependencies }) |keyword| try c.addDependencies(s, keyword);
        if (s.get(.@"if")) |value| try c.addConditional(s, value);
        try c.close(s);
    }

    /// Where members are named by more than one schema.
    fn close(c: *Compiler, s: *const Subject) Error!void {
        if (s.place.closing != .whole or closed.isSimple(s) or closed.inPlace(c, s) == .whole) return;
        const names = try closed.namesOf(c, s) orelse return;
        if (names.has_cases) {
            if (try unevaluated.lowerClosed(c, s, &names)) |node_of_cases| return c.assert(node_of_cases);
            try c.warn(s.object, "", "too many cases: a member that any of the branches names is allowed", .{});
        }
        try c.assertNode(.{ .object_members = .{
            .named = try c.formula.memberList(names.members.items),
            .matching = try c.formula.matchingList(names.matching.items),
            .rest = never,
        } });
    }

    /// What may name an object's keys, and say something of other values too.
    fn addNaming(c: *Compiler, s: *const Subject, keyword: Keyword, value: *const Value) Error!void {
        switch (keyword) {
            .@"$ref", .@"$dynamicRef", .@"$recursiveRef" => try c.addReference(s, keyword),
            .required => try c.assertAll(try c.required(s, keyword, value)),
            .allOf => try c.assertAll(try c.nodeList(s, keyword, value)),
            .anyOf => try c.assertNode(.{ .any = try c.formula.list(try c.nodeList(s, keyword, value)) }),
            .oneOf => try c.addOneOf(s, value),
            .not => try c.assertNode(.{ .not = try c.node(s, keyword, value) }),
            else => {},
        }
    }

    /// Which one holds is as the schema says. It is closed then.
    fn addOneOf(c: *Compiler, s: *const Subject, value: *const Value) Error!void {
        const one = try c.formula.add(.{ .one = try c.formula.list(try c.nodeList(s, .oneOf, value)) });
        try c.assert(one);
        const closing = closed.inPlace(c, s);
        if (closing == .open) return;
        const nodes = try c.arena.alloc(NodeId, value.array.len);
        for (nodes, value.array) |*to, *item| to.* = try c.nodeWith(s, .oneOf, item, closing);
        try c.assertNode(.{ .any = try c.formula.list(nodes) });
        try c.formula.implied.put(c.arena, one, 0);
    }

    fn assertAll(c: *Compiler, parts: []const NodeId) Error!void {
        for (parts) |part| try c.assert(part);
    }

    fn addMembers(c: *Compiler, s: *const Subject) Error!void {
        const properties = try c.objectOf(s, .properties);
        const patterns = try c.objectOf(s, .patternProperties);
        const rest = if (s.get(.additionalProperties)) |value|
            try c.node(s, .additionalProperties, value)
        else if (closed.isSimple(s)) never else always;
        const named = try c.arena.alloc(engine.Member, properties.len);
        for (named, properties) |*to, *member| {
            to.* = .{ .key = try c.formula.key(member.key), .value = try c.node(s, .properties, &member.value) };
        }
        var matching: ArrayList(engine.Matching) = .empty;
        for (patterns) |*member| {
            const value = try c.node(s, .patternProperties, &member.value);
            const dfa = try c.patternOf(s, .patternProperties, member.key) orelse continue;
            try matching.append(c.arena, .{ .dfa = dfa, .value = value });
        }
        if (named.len == 0 and matching.items.len == 0 and rest == always) return;
        try c.assertNode(.{ .object_members = .{
            .named = try c.formula.memberList(named),
            .matching = try c.formula.matchingList(matching.items),
            .rest = rest,
        } });
    }

    pub fn objectOf(c: *Compiler, s: *const Subject, keyword: Keyword) Error![]const json.Member {
        const value = s.get(keyword) orelse return &.{};
        return if (value.* == .object) value.object.members() else c.fail(s, keyword, "must be an object");
    }

    fn required(c: *Compiler, s: *const Subject, keyword: Keyword, value: *const Value) Error![]const NodeId {
        if (value.* != .array) return c.fail(s, keyword, "must be an array of strings");
        const nodes = try c.arena.alloc(NodeId, value.array.len);
        for (nodes, value.array) |*to, *name| {
            if (name.* != .string) return c.fail(s, keyword, "must be an array of strings");
            to.* = try c.formula.add(.{ .object_has = try c.formula.key(name.string) });
        }
        return nodes;
    }

    /// Where a key is there, some others are too, or a schema holds.
    fn addDependencies(c: *Compiler, s: *const Subject, keyword: Keyword) Error!void {
        for (try c.objectOf(s, keyword)) |*member| {
            const is_list = keyword == .dependentRequired or (keyword == .dependencies and member.value == .array);
            const then = if (is_list) all: {
                const names = try c.required(s, keyword, &member.value);
                break :all if (names.len == 0) always else try c.formula.all(names);
            } else try c.node(s, keyword, &member.value);
            if (then == always) continue;
            const has = try c.formula.add(.{ .object_has = try c.formula.key(member.key) });
            const has_not = try c.formula.add(.{ .not = has });
            if (is_list) {
                try c.assert(try c.formula.any(&.{ has_not, then }));
                continue;
            }
            // The schema may say something of values that are no objects.
            var others = Types.all;
            others.object = false;
            const is_other = try c.formula.add(.{ .types = others });
            try c.assert(try c.formula.any(&.{ has_not, is_other, then }));
        }
    }

    // ---- Formulas

    fn addConditional(c: *Compiler, s: *const Subject, value: *const Value) Error!void {
        const when = try c.node(s, .@"if", value);
        const then = if (s.get(.then)) |one| try c.node(s, .then, one) else always;
        const otherwise = if (s.get(.@"else")) |one| try c.node(s, .@"else", one) else always;
        try c.assertNode(.{ .conditional = .{ .when = when, .then = then, .otherwise = otherwise } });
    }

    fn addUnevaluated(c: *Compiler, s: *const Subject) Error!void {
        for ([_]Keyword{ .unevaluatedProperties, .unevaluatedItems }) |keyword| {
            if (s.get(keyword) == null) continue;
            if (try unevaluated.lower(c, s, keyword)) |one| {
                try c.assert(one);
            } else try c.refuse(s.object, @tagName(keyword), "what the schemas beside it evaluate has too many cases");
        }
    }

    // ---- What is wrong

    pub fn fail(c: *Compiler, s: *const Subject, keyword: Keyword, reason: []const u8) diagnostic.Error {
        return c.references.fail(s.object, @tagName(keyword), reason);
    }

    fn failWith(c: *Compiler, s: *const Subject, keyword: Keyword, comptime format: []const u8, args: anytype) diagnostic.Error {
        var buffer: [300]u8 = undefined;
        return c.fail(s, keyword, message.print(&buffer, format, args));
    }

    pub fn warn(c: *Compiler, object: Object, key: []const u8, comptime format: []const u8, args: anytype) Error!void {
        var buffer: [700]u8 = undefined;
        const place = c.references.place(&buffer, object, key);
        try c.budget.check("the schema", c.diag); // places are looked for
        try c.references.warn("at {s}: " ++ format, .{place} ++ args);
    }

    /// What cannot be supported: an error, or with `lenient` a warning.
    fn refuse(c: *Compiler, object: Object, key: []const u8, reason: []const u8) Error!void {
        if (!c.is_lenient) return c.references.fail(object, key, reason);
        try c.warn(object, key, "{s}: it is not enforced", .{reason});
    }
};
