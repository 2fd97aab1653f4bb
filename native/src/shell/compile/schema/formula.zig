//! Collects the arrays of an engine's `Schema`.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const NumberMap = @import("engine").number_map.NumberMap;
const text_sort = @import("engine").text_sort;
const Texts = @import("engine").texts.Texts;
const Watch = @import("engine").watch.Watch;
const Budget = @import("engine").budget.Budget;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const engine = @import("engine").schema;
const Schema = engine.Schema;
const Node = engine.Node;
const NodeId = engine.NodeId;
const Range = engine.Range;
const Decimal = @import("engine").decimal.Decimal;

const Error = Allocator.Error || diagnostic.Error;

/// Two nodes that are there from the start.
pub const always: NodeId = 0;
pub const never: NodeId = 1;

pub const Formula = struct {
    /// What does not outlive the compilation.
    arena: Allocator,
    nodes: ArrayList(Node) = .empty,
    children: ArrayList(NodeId) = .empty,
    members: ArrayList(engine.Member) = .empty,
    matching: ArrayList(engine.Matching) = .empty,
    limits: ArrayList(engine.Limit) = .empty,
    decimals: ArrayList(Decimal) = .empty,
    keys: Texts = .{},
    values: ArrayList([]const u8) = .empty,
    /// Of `one`: those whose branches are asserted beside it, so that it only says that no two hold.
    implied: NumberMap = .{},

    pub fn init(arena: Allocator) Allocator.Error!Formula {
        var f: Formula = .{ .arena = arena };
        std.debug.assert(try f.add(.always) == always);
        std.debug.assert(try f.add(.never) == never);
        return f;
    }

    pub fn add(f: *Formula, node: Node) Allocator.Error!NodeId {
        try f.nodes.append(f.arena, node);
        return @intCast(f.nodes.items.len - 1);
    }

    pub fn all(f: *Formula, nodes: []const NodeId) Allocator.Error!NodeId {
        return if (nodes.len == 1) nodes[0] else f.add(.{ .all = try f.list(nodes) });
    }

    pub fn any(f: *Formula, nodes: []const NodeId) Allocator.Error!NodeId {
        return if (nodes.len == 1) nodes[0] else f.add(.{ .any = try f.list(nodes) });
    }

    /// Only of children that are complete.
    pub fn list(f: *Formula, nodes: []const NodeId) Allocator.Error!Range {
        return append(NodeId, f.arena, &f.children, nodes);
    }

    pub fn memberList(f: *Formula, members: []const engine.Member) Allocator.Error!Range {
        return append(engine.Member, f.arena, &f.members, members);
    }

    pub fn matchingList(f: *Formula, matching: []const engine.Matching) Allocator.Error!Range {
        return append(engine.Matching, f.arena, &f.matching, matching);
    }

    /// Of which some nodes have the same again.
    pub fn bytesOfLists(f: *const Formula) usize {
        const of_members = f.members.capacity * @sizeOf(engine.Member) + f.matching.capacity * @sizeOf(engine.Matching);
        return f.children.capacity * @sizeOf(NodeId) + of_members;
    }

    pub fn key(f: *Formula, content: []const u8) Allocator.Error!u32 {
        return f.keys.put(f.arena, content);
    }

    pub fn decimal(f: *Formula, value: Decimal) Allocator.Error!u32 {
        try f.decimals.append(f.arena, value);
        return @intCast(f.decimals.items.len - 1);
    }

    pub fn limit(f: *Formula, one: engine.Limit) Allocator.Error!NodeId {
        try f.limits.append(f.arena, one);
        return f.add(.{ .number_limit = @intCast(f.limits.items.len - 1) });
    }

    /// Canonical texts in any order; the same may come twice.
    pub fn listed(f: *Formula, texts: []const []const u8, budget: *const Budget, diag: *Diagnostic) Error!NodeId {
        const interrupt = budget.interrupt();
        var watch: Watch = .{ .interrupt = &interrupt };
        return f.listedWithin(texts, &watch) catch |e| switch (e) {
            error.OutOfMemory => error.OutOfMemory,
            error.TooLarge => budget.stopped("the schema", diag),
        };
    }

    fn listedWithin(f: *Formula, texts: []const []const u8, watch: *Watch) error{ OutOfMemory, TooLarge }!NodeId {
        const sorted = try f.arena.alloc(text_sort.Text, texts.len);
        for (sorted, texts, 0..) |*one, text, place| one.* = .of(text, place);
        try text_sort.sortWatched(f.arena, sorted, watch);
        const from: u32 = @intCast(f.values.items.len);
        for (sorted, 0..) |one, i| {
            try watch.steps(1);
            if (i == 0 or !std.mem.eql(u8, sorted[i - 1].text, one.text)) try f.values.append(f.arena, one.text);
        }
        return f.add(.{ .listed = .{ .from = from, .len = @as(u32, @intCast(f.values.items.len)) - from } });
    }

    fn append(comptime T: type, arena: Allocator, to: *ArrayList(T), items: []const T) Allocator.Error!Range {
        try to.appendSlice(arena, items);
        return .{ .from = @intCast(to.items.len - items.len), .len = @intCast(items.len) };
    }

    /// Copies everything; `schema` is complete but for its root and automata, which are not touched.
    pub fn copyTo(f: *const Formula, schema: *Schema) Allocator.Error!void {
        const to = schema.arena.allocator();
        schema.nodes = try to.dupe(Node, f.nodes.items);
        schema.children = try to.dupe(NodeId, f.children.items);
        schema.members = try to.dupe(engine.Member, f.members.items);
        schema.matching = try to.dupe(engine.Matching, f.matching.items);
        schema.limits = try to.dupe(engine.Limit, f.limits.items);
        const decimals = try to.dupe(Decimal, f.decimals.items);
        for (decimals) |*one| one.digits = try to.dupe(u8, one.digits);
        schema.decimals = decimals;
        schema.keys = try copyTexts(to, f.keys.list.items);
        schema.values = try copyTexts(to, f.values.items);
    }

    /// Side by side in one run of bytes.
    fn copyTexts(to: Allocator, texts: []const []const u8) Allocator.Error![]const []const u8 {
        var n: usize = 0;
        for (texts) |text| n += text.len;
        var bytes: ArrayList(u8) = try .initCapacity(to, n);
        const copies = try to.alloc([]const u8, texts.len);
        for (copies, texts) |*copy, text| {
            const from = bytes.items.len;
            bytes.appendSliceAssumeCapacity(text);
            copy.* = bytes.items[from..];
        }
        return copies;
    }
};
