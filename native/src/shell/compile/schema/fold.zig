//! Simplifies a formula where one of its parts is always or never true, or stands alone; and finds what
//! refers to itself without a member or an item in between.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const engine = @import("engine").schema;
const Node = engine.Node;
const NodeId = engine.NodeId;
const Range = engine.Range;
const Types = engine.Types;
const formula_module = @import("formula.zig");
const Formula = formula_module.Formula;
const always = formula_module.always;
const never = formula_module.never;

pub const Result = union(enum) {
    /// The node to take for the root.
    root: NodeId,
    /// Nodes that lead back to themselves.
    cycle: []const NodeId,
};

pub fn fold(f: *Formula, root: NodeId) Allocator.Error!Result {
    var folding: Folding = .{ .f = f, .known = try f.arena.alloc(NodeId, f.nodes.items.len) };
    @memset(folding.known, Folding.unknown);
    for (0..f.nodes.items.len) |node| {
        if (folding.known[node] != Folding.unknown) continue;
        if (try folding.run(@intCast(node))) |cycle| return .{ .cycle = cycle };
    }
    folding.replaceBelow();
    return .{ .root = folding.known[root] };
}

const Folding = struct {
    f: *Formula,
    /// By node: the one to take for it.
    known: []NodeId,
    path: ArrayList(Step) = .empty,
    /// By types: the first node that asserts them.
    of_types: [128]NodeId = @splat(unknown),

    const unknown = std.math.maxInt(NodeId);
    const busy = unknown - 1;
    const Step = struct { node: NodeId, next: u32 };

    /// Depth first through what is said about the same value: children before parents.
    fn run(d: *Folding, start: NodeId) Allocator.Error!?[]const NodeId {
        try d.push(start);
        while (d.path.items.len > 0) {
            const step = &d.path.items[d.path.items.len - 1];
            if (d.child(step.node, step.next)) |to| {
                step.next += 1;
                if (d.known[to] == busy) return try d.cycleFrom(to);
                if (d.known[to] == unknown) try d.push(to);
            } else {
                d.known[step.node] = try d.simplest(step.node);
                _ = d.path.pop();
            }
        }
        return null;
    }

    fn push(d: *Folding, node: NodeId) Allocator.Error!void {
        d.known[node] = busy;
        try d.path.append(d.f.arena, .{ .node = node, .next = 0 });
    }

    fn cycleFrom(d: *Folding, first: NodeId) Allocator.Error![]const NodeId {
        var nodes: ArrayList(NodeId) = .empty;
        for (d.path.items) |step| {
            if (step.node == first or nodes.items.len > 0) try nodes.append(d.f.arena, step.node);
        }
        return nodes.items;
    }

    fn child(d: *const Folding, node: NodeId, i: u32) ?NodeId {
        return switch (d.f.nodes.items[node]) {
            .all, .any, .one => |range| if (i < range.len) d.f.children.items[range.from + i] else null,
            .not => |to| if (i == 0) to else null,
            .conditional => |c| switch (i) {
                0 => c.when,
                1 => c.then,
                2 => c.otherwise,
                else => null,
            },
            else => null,
        };
    }

    fn simplest(d: *Folding, id: NodeId) Allocator.Error!NodeId {
        const node = &d.f.nodes.items[id];
        switch (node.*) {
            .always => return always,
            .never => return never,
            .all => |*range| return d.simplestOf(id, range, always, never),
            .any => |*range| return d.simplestOf(id, range, never, always),
            .one => |*range| return d.simplestOf(id, range, never, null),
            .not => |*to| {
                to.* = d.known[to.*];
                if (to.* == always) return never;
                if (to.* == never) return always;
                return if (d.f.nodes.items[to.*] == .not) d.f.nodes.items[to.*].not else id;
            },
            .conditional => |*c| {
                c.* = .{ .when = d.known[c.when], .then = d.known[c.then], .otherwise = d.known[c.otherwise] };
                if (c.when == always or c.then == c.otherwise) return c.then;
                return if (c.when == never) c.otherwise else id;
            },
            .types => |types| return if (types == Types.all) always else if (types == Types{}) never else d.typesNode(types, id),
            .listed => |range| return if (range.len == 0) never else id,
            else => return id,
        }
    }

    /// Most schemas assert types alone, and a few types at that: what the engine finds for one node it need not find again.
    fn typesNode(d: *Folding, types: Types, id: NodeId) NodeId {
        const first = &d.of_types[@as(u8, @bitCast(types))];
        if (first.* == unknown) first.* = id;
        return first.*;
    }

    /// `neutral` children are left out; a `dominant` one stands for all.
    fn simplestOf(d: *Folding, id: NodeId, range: *Range, neutral: NodeId, dominant: ?NodeId) NodeId {
        const children = d.f.children.items[range.from..][0..range.len];
        var n: u32 = 0;
        for (children) |before| {
            const to = d.known[before];
            if (to == dominant) return to;
            if (to == neutral) continue;
            children[n] = to;
            n += 1;
        }
        range.len = n;
        return if (n == 0) neutral else if (n == 1) children[0] else id;
    }

    /// Members and items: everything is known now.
    fn replaceBelow(d: *Folding) void {
        for (d.f.members.items) |*member| member.value = d.known[member.value];
        for (d.f.matching.items) |*one| one.value = d.known[one.value];
        for (d.f.nodes.items) |*node| switch (node.*) {
            .array_items => |*items| {
                for (d.f.children.items[items.prefix.from..][0..items.prefix.len]) |*to| to.* = d.known[to.*];
                items.rest = d.known[items.rest];
            },
            .array_contains => |*contains| contains.item = d.known[contains.item],
            .object_names => |*names| names.* = d.known[names.*],
            .object_members => |*members| members.rest = d.known[members.rest],
            else => {},
        };
    }
};
