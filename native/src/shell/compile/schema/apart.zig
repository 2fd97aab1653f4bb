//! Finds where the branches of a `oneOf` exclude each other, so that it is what `anyOf` would be: by types, by the
//! values that they list, or by a tag, which is a member that each requires, with values that no other has.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Texts = @import("engine").texts.Texts;
const engine = @import("engine").schema;
const NodeId = engine.NodeId;
const Range = engine.Range;
const Types = engine.Types;
const Formula = @import("formula.zig").Formula;
const always = @import("formula.zig").always;

/// Nodes, members and values that are looked at in one schema. What is not seen to be apart by then is told apart later.
const looks_max = 1 << 18;
const depth_max = 16;
/// Members that may be the tag.
const tags_max = 4;

/// Of a formula that is folded, whose nodes stay where they are.
pub fn replace(f: *Formula) Allocator.Error!void {
    var search: Search = .{ .f = f };
    for (0..f.nodes.items.len) |i| switch (f.nodes.items[i]) {
        .one => |range| if (try search.areApart(range, .all)) {
            f.nodes.items[i] = if (f.implied.get(i) != null) .always else .{ .any = range };
        },
        .all => |range| {
            const types = search.typesWhereAll(range);
            for (range.from..range.from + range.len) |place| switch (f.nodes.items[f.children.items[place]]) {
                .one => |of| if (try search.areApart(of, types)) {
                    const is_implied = f.implied.get(f.children.items[place]) != null;
                    f.children.items[place] = if (is_implied) always else try f.add(.{ .any = of });
                },
                else => {},
            };
        },
        else => {},
    };
}

const Search = struct {
    f: *const Formula,
    looks: u32 = 0,
    /// Of all branches, one after the other: what holds together in each.
    parts: ArrayList(NodeId) = .empty,
    branches: ArrayList(Branch) = .empty,

    const Branch = struct { parts: Range, types: Types, listed: ?Range };

    /// Whether no two branches hold for a value of some types.
    fn areApart(s: *Search, range: Range, of: Types) Allocator.Error!bool {
        s.parts.clearRetainingCapacity();
        s.branches.clearRetainingCapacity();
        for (s.f.children.items[range.from..][0..range.len]) |child| {
            if (!try s.addBranch(child)) return false;
        }
        var once: Types = .{}; // those of one branch at least, of two, and of one that lists nothing
        var twice: Types = .{};
        var open: Types = .{};
        for (s.branches.items) |*branch| {
            const types = branch.types.intersectWith(of);
            twice = twice.unionWith(once.intersectWith(types));
            once = once.unionWith(types);
            if (branch.listed == null) open = open.unionWith(types);
        }
        const objects = twice.object;
        twice.object = false; // none is listed
        if (!twice.intersectWith(open).isEmpty()) return false;
        if (!twice.isEmpty() and !try s.areValuesDifferent()) return false;
        return !objects or try s.isTagged();
    }

    fn areValuesDifferent(s: *Search) Allocator.Error!bool {
        var values: Texts = .{};
        for (s.branches.items) |*branch| if (branch.listed) |listed| {
            if (!try s.putAll(&values, listed)) return false;
        };
        return true;
    }

    /// Of values for which all of some nodes hold, as far as these say it themselves.
    fn typesWhereAll(s: *const Search, range: Range) Types {
        var types: Types = .all;
        for (s.f.children.items[range.from..][0..range.len]) |child| switch (s.f.nodes.items[child]) {
            .types => |one| types = types.intersectWith(one),
            else => {},
        };
        return types;
    }

    /// False if that is more than is looked at.
    fn addBranch(s: *Search, node: NodeId) Allocator.Error!bool {
        var branch: Branch = .{ .parts = .{ .from = @intCast(s.parts.items.len) }, .types = .all, .listed = null };
        if (!try s.addParts(node, 0)) return false;
        branch.parts.len = @as(u32, @intCast(s.parts.items.len)) - branch.parts.from;
        for (s.partsOf(&branch)) |part| switch (s.f.nodes.items[part]) {
            .types => |types| branch.types = branch.types.intersectWith(types),
            .listed => |listed| {
                if (!s.look(listed.len)) return false;
                branch.types = branch.types.intersectWith(.ofAny(s.valuesOf(listed)));
                branch.listed = listed;
            },
            else => {},
        };
        try s.branches.append(s.f.arena, branch);
        return true;
    }

    fn addParts(s: *Search, node: NodeId, depth: u32) Allocator.Error!bool {
        if (depth == depth_max or !s.look(1)) return false;
        switch (s.f.nodes.items[node]) {
            .all => |range| for (s.f.children.items[range.from..][0..range.len]) |child| {
                if (!try s.addParts(child, depth + 1)) return false;
            },
            else => try s.parts.append(s.f.arena, node),
        }
        return true;
    }

    fn look(s: *Search, n: usize) bool {
        s.looks +|= @intCast(n);
        return s.looks <= looks_max;
    }

    fn partsOf(s: *const Search, branch: *const Branch) []const NodeId {
        return s.parts.items[branch.parts.from..][0..branch.parts.len];
    }

    fn valuesOf(s: *const Search, listed: Range) []const []const u8 {
        return s.f.values.items[listed.from..][0..listed.len];
    }

    /// Whether none was there before.
    fn putAll(s: *Search, values: *Texts, listed: Range) Allocator.Error!bool {
        if (!s.look(listed.len)) return false;
        const before = values.count();
        for (s.valuesOf(listed)) |text| _ = try values.put(s.f.arena, text);
        return values.count() - before == listed.len;
    }

    // ---- Objects

    fn isTagged(s: *Search) Allocator.Error!bool {
        const first = for (s.branches.items) |*branch| {
            if (branch.types.object) break branch;
        } else return false;
        var n: usize = 0;
        for (s.partsOf(first)) |part| switch (s.f.nodes.items[part]) {
            .object_has => |key| {
                if (s.tagValues(first, key) == null) continue;
                if (try s.areTaggedBy(key)) return true;
                n += 1;
                if (n == tags_max) return false;
            },
            else => {},
        };
        return false;
    }

    fn areTaggedBy(s: *Search, key: u32) Allocator.Error!bool {
        var values: Texts = .{};
        for (s.branches.items) |*branch| {
            if (!branch.types.object) continue;
            const listed = s.tagValues(branch, key) orelse return false;
            if (!s.requires(branch, key) or !try s.putAll(&values, listed)) return false;
        }
        return true;
    }

    fn requires(s: *Search, branch: *const Branch, key: u32) bool {
        if (!s.look(branch.parts.len)) return false;
        for (s.partsOf(branch)) |part| switch (s.f.nodes.items[part]) {
            .object_has => |required| if (required == key) return true,
            else => {},
        };
        return false;
    }

    /// What a branch says that the value of a key is one of.
    fn tagValues(s: *Search, branch: *const Branch, key: u32) ?Range {
        if (!s.look(branch.parts.len)) return null;
        for (s.partsOf(branch)) |part| switch (s.f.nodes.items[part]) {
            .object_members => |members| {
                if (!s.look(members.named.len)) return null;
                for (s.f.members.items[members.named.from..][0..members.named.len]) |member| {
                    if (member.key == key) if (s.listedOf(member.value)) |listed| return listed;
                }
            },
            else => {},
        };
        return null;
    }

    fn listedOf(s: *const Search, node: NodeId) ?Range {
        switch (s.f.nodes.items[node]) {
            .listed => |listed| return listed,
            .all => |range| for (s.f.children.items[range.from..][0..range.len]) |child| switch (s.f.nodes.items[child]) {
                .listed => |listed| return listed,
                else => {},
            },
            else => {},
        }
        return null;
    }
};
