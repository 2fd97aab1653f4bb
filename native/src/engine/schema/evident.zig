//! What can be seen of a schema without expanding it: nodes that some value satisfies, and below which nothing is asked
//! that could be too much to follow, or take a mask long. Most schemas are such as a whole. They are looked at once, node
//! by node; what is not evident here may still be satisfiable, and alternatives.zig finds out.

const std = @import("std");
const Allocator = std.mem.Allocator;
const schema_module = @import("schema.zig");
const Schema = schema_module.Schema;
const Node = schema_module.Node;
const NodeId = schema_module.NodeId;
const Range = schema_module.Range;
const Types = schema_module.Types;
const Bounds = schema_module.Bounds;
const options_max = @import("goals.zig").options_max;
const decimal = @import("decimal.zig");
const dfa_start = @import("../language/dfa.zig").start;

/// Schemas that are looked at, each for the one before.
const depth_max = 48;
/// Nodes that hold together; one that many lead to counts each time.
const together_max = 512;
/// Items that an array must have.
const items_max = 8;
/// Keys that an object must have.
const required_max = 64;
/// Schemas of which a value may be any.
const choices_max = 16;
/// States of an automaton, and keys of an object, that are made ready in little time. What takes longer is done while
/// compiling, which is why it is not evident.
const states_max = 64;
const keys_max = 128;
/// Looks at all nodes, until nothing new is found.
const passes_max = 8;

pub const Evident = struct {
    schema: *const Schema,
    /// By node.
    states: []State = &.{},

    const State = packed struct(u8) {
        /// Whether some value satisfies it.
        verdict: enum(u2) { unknown, busy, no, yes } = .unknown,
        /// Something at it or below is not evident.
        is_hidden: bool = false,
        _: u5 = 0,
    };

    pub fn deinit(e: *Evident, gpa: Allocator) void {
        gpa.free(e.states);
    }

    /// Whether some value satisfies a node, so that nothing more need be looked at. False where it is not known.
    pub fn has(e: *const Evident, node: NodeId) bool {
        const state = e.states[node];
        return state.verdict == .yes and !state.is_hidden;
    }

    /// Looks at all nodes.
    pub fn find(e: *Evident, gpa: Allocator) Allocator.Error!void {
        e.states = try gpa.alloc(State, e.schema.nodes.len);
        @memset(e.states, .{});
        e.look(e.schema.root);
        for (e.schema.members) |member| e.look(member.value);
        for (e.schema.matching) |one| e.look(one.value);
        for (e.schema.nodes) |node| switch (node) {
            .array_items => |items| {
                for (e.childrenOf(items.prefix)) |item| e.look(item);
                e.look(items.rest);
            },
            .object_names => |names| e.look(names),
            .object_members => |members| e.look(members.rest),
            else => {},
        };
        for (0..passes_max) |_| if (!e.spread()) return;
        for (e.states) |*state| state.is_hidden = true;
    }

    /// At the schema of a value.
    fn look(e: *Evident, node: NodeId) void {
        if (e.schema.nodes[node] != .never and !e.isSatisfiable(node, 0)) e.states[node].is_hidden = true;
    }

    /// What leads to hidden nodes is hidden. False if all of it was already. Children mostly come after their parents.
    fn spread(e: *Evident) bool {
        var is_new = false;
        var i = e.schema.nodes.len;
        while (i > 0) {
            i -= 1;
            const state = &e.states[i];
            if (state.is_hidden or !e.leadsToHidden(&e.schema.nodes[i])) continue;
            state.is_hidden = true;
            is_new = true;
        }
        return is_new;
    }

    fn leadsToHidden(e: *const Evident, node: *const Node) bool {
        switch (node.*) {
            .all, .any, .one => |range| return e.isAnyHidden(range),
            .array_items => |items| return e.isAnyHidden(items.prefix) or e.states[items.rest].is_hidden,
            .object_names => |names| return e.states[names].is_hidden,
            .object_members => |members| {
                for (e.schema.members[members.named.from..][0..members.named.len]) |member| {
                    if (e.states[member.value].is_hidden) return true;
                }
                for (e.schema.matching[members.matching.from..][0..members.matching.len]) |one| {
                    if (e.states[one.value].is_hidden) return true;
                }
                return e.states[members.rest].is_hidden;
            },
            else => return false,
        }
    }

    fn isAnyHidden(e: *const Evident, range: Range) bool {
        for (e.childrenOf(range)) |child| if (e.states[child].is_hidden) return true;
        return false;
    }

    fn isSatisfiable(e: *Evident, node: NodeId, depth: u32) bool {
        switch (e.states[node].verdict) {
            .yes => return true,
            .no, .busy => return false,
            .unknown => {},
        }
        if (depth == depth_max) return false;
        e.states[node].verdict = .busy;
        const is = e.isChoice(node, depth + 1) orelse is: {
            var facts: Facts = .{};
            break :is e.gather(node, &facts, depth + 1) and e.isPossible(&facts, depth + 1);
        };
        e.states[node].verdict = if (is) .yes else .no;
        return is;
    }

    /// Whether all of a few schemas are satisfiable, of which a value may be any; null if the node is no such choice.
    fn isChoice(e: *Evident, node: NodeId, depth: u32) ?bool {
        const range = switch (e.schema.nodes[node]) {
            .any => |range| range,
            else => return null,
        };
        if (range.len > choices_max) return false;
        for (e.childrenOf(range)) |child| {
            var facts: Facts = .{};
            if (!e.gather(child, &facts, depth) or !e.isPossible(&facts, depth)) return false;
        }
        return true;
    }

    /// What holds together.
    const Facts = struct {
        types: Types = .all,
        listed: ?Range = null,
        string_length: ?Bounds = null,
        string_matches: ?u32 = null,
        least: ?u32 = null,
        most: ?u32 = null,
        array_length: Bounds = .{},
        items: ?NodeId = null,
        object_count: Bounds = .{},
        members: ?NodeId = null,
        has_names: bool = false,
        required: [required_max]u32 = undefined,
        n_required: u32 = 0,
        n_together: u32 = 0,
    };

    /// False if that is more than can be seen at once.
    fn gather(e: *const Evident, id: NodeId, f: *Facts, depth: u32) bool {
        if (depth >= depth_max or f.n_together == together_max) return false;
        f.n_together += 1;
        switch (e.schema.nodes[id]) {
            .always => {},
            .all => |range| for (e.childrenOf(range)) |child| {
                if (!e.gather(child, f, depth + 1)) return false;
            },
            .types => |types| f.types = f.types.intersectWith(types),
            .listed => |range| return setOnce(Range, &f.listed, range),
            .string_length => |bounds| return setOnce(Bounds, &f.string_length, bounds),
            .string_matches => |dfa| return e.isQuick(dfa) and setOnce(u32, &f.string_matches, dfa),
            .number_limit => |i| return setOnce(u32, switch (e.schema.limits[i].side) {
                .at_least, .above => &f.least,
                .at_most, .below => &f.most,
            }, i),
            .array_length => |bounds| f.array_length = meet(f.array_length, bounds),
            .array_items => return setOnce(NodeId, &f.items, id),
            .object_count => |bounds| f.object_count = meet(f.object_count, bounds),
            .object_members => |members| {
                if (members.named.len > keys_max or members.matching.len > options_max) return false;
                for (e.schema.matching[members.matching.from..][0..members.matching.len]) |one| if (!e.isQuick(one.dfa)) return false;
                return setOnce(NodeId, &f.members, id);
            },
            .object_names => f.has_names = true,
            .object_has => |key| {
                if (std.mem.findScalar(u32, f.required[0..f.n_required], key) != null) return true;
                if (f.n_required == required_max) return false;
                f.required[f.n_required] = key;
                f.n_required += 1;
            },
            .never, .any, .one, .not, .conditional, .number_multiple, .array_contains, .array_unique => return false,
        }
        return true;
    }

    fn isQuick(e: *const Evident, dfa: u32) bool {
        return e.schema.dfas[dfa].dfa.nStates() <= states_max;
    }

    fn setOnce(comptime T: type, to: *?T, value: T) bool {
        if (to.* != null) return false;
        to.* = value;
        return true;
    }

    fn meet(x: Bounds, y: Bounds) Bounds {
        return .{ .min = @max(x.min, y.min), .max = @min(x.max, y.max) };
    }

    fn isPossible(e: *Evident, f: *const Facts, depth: u32) bool {
        if (f.listed) |range| return e.isListed(f, range);
        return f.types.null or f.types.boolean or
            (f.types.string and e.hasString(f)) or
            ((f.types.integer or f.types.fraction) and e.hasNumber(f)) or
            (f.types.array and e.hasArray(f, depth)) or
            (f.types.object and e.hasObject(f, depth));
    }

    /// A value of which nothing else is asked.
    fn isListed(e: *const Evident, f: *const Facts, range: Range) bool {
        for (e.schema.values[range.from..][0..range.len]) |text| {
            if (switch (text[0]) {
                'n' => f.types.null,
                't', 'f' => f.types.boolean,
                '"' => f.types.string and f.string_length == null and f.string_matches == null,
                else => f.least == null and f.most == null and
                    (if (std.mem.findScalar(u8, text, '.') == null) f.types.integer else f.types.fraction),
            }) return true;
        }
        return false;
    }

    fn hasString(e: *const Evident, f: *const Facts) bool {
        const length = f.string_length orelse Bounds{};
        const dfa = f.string_matches orelse return length.min <= length.max;
        const is_any_length = length.min == 0 and length.max == schema_module.unbounded;
        return is_any_length and e.schema.dfas[dfa].dfa.reachSet(dfa_start)[0] != 0;
    }

    fn hasNumber(e: *const Evident, f: *const Facts) bool {
        const least = e.schema.limits[f.least orelse return true];
        const most = e.schema.limits[f.most orelse return true];
        const low, const high = .{ e.schema.decimals[least.decimal], e.schema.decimals[most.decimal] };
        const is_low_in = least.side == .at_least and (if (low.isInteger()) f.types.integer else f.types.fraction);
        const is_high_in = most.side == .at_most and (if (high.isInteger()) f.types.integer else f.types.fraction);
        return switch (decimal.compare(low, high)) {
            .gt => false,
            .eq => is_low_in and is_high_in,
            .lt => f.types.fraction or is_low_in or is_high_in,
        };
    }

    fn hasArray(e: *Evident, f: *const Facts, depth: u32) bool {
        const length = f.array_length;
        if (length.min == 0 or length.min > length.max) return length.min == 0;
        if (length.min > items_max) return false;
        const items = e.schema.nodes[f.items orelse return true].array_items;
        const prefix = e.childrenOf(items.prefix);
        for (prefix[0..@min(prefix.len, length.min)]) |item| if (!e.isSatisfiable(item, depth)) return false;
        return prefix.len >= length.min or e.isSatisfiable(items.rest, depth);
    }

    fn hasObject(e: *Evident, f: *const Facts, depth: u32) bool {
        if (f.object_count.min > f.n_required or f.object_count.max < f.n_required) return false;
        if (f.n_required == 0) return true;
        if (f.has_names) return false;
        const members = e.schema.nodes[f.members orelse return true].object_members;
        if (members.matching.len > 0) return false;
        const named = e.schema.members[members.named.from..][0..members.named.len];
        for (f.required[0..f.n_required]) |key| {
            const value = for (named) |member| {
                if (member.key == key) break member.value;
            } else members.rest;
            if (!e.isSatisfiable(value, depth)) return false;
        }
        return true;
    }

    fn childrenOf(e: *const Evident, range: Range) []const NodeId {
        return e.schema.children[range.from..][0..range.len];
    }
};
