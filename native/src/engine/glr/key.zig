//! What the mask of an ambiguous grammar's position is found again by: its configurations, and then the nodes that
//! they lead to, level by level down to the lowest of which a state was looked at. recognizer/key.zig says why that
//! is enough: here the levels are those of a graph. A node that is led to again is named by its number, and has been
//! written no lower than where it is met.

const std = @import("std");
const position = @import("../language/position.zig");
const Position = position.Position;
const Pool = position.Pool;
const graph = @import("graph.zig");
const Limits = @import("limits.zig").Limits;
const BoundedTexts = @import("../language/bounded_texts.zig").BoundedTexts;

/// Nodes in one key, and links in a row that lead to nodes that are there already. A key with more is in no cache.
const nodes_max = 384;
const repeats_max = 64;
/// So many nodes are looked through one by one; of more, `GraphKey.slots` tells the number.
const listed_max = 16;

/// What tells of counts how masks depend on them.
pub const Counts = struct { limits: *const Limits = &.{}, texts: *const BoundedTexts = &.{} };

/// The numbers of a position, as many as are asked for: for each configuration the lexer's state; then for each node the
/// parser's state and the number of its links. New nodes are numbered in the order in which configurations and links
/// lead to them; what leads to another one is followed by the number of that.
pub const GraphKey = struct {
    pool: *const Pool,
    counts: Counts,
    configurations: graph.Configurations,
    nodes: [nodes_max]u32 = undefined,
    n_nodes: u32 = 0,
    /// The least of the nodes and one: 0 is the root's.
    least: u32 = std.math.maxInt(u32),
    /// [hash of a node]: its number and one, or 0; written once there are more than `listed_max`.
    slots: [n_slots]u16 = undefined,
    n_written: u32 = 0,
    /// Numbers that come next.
    repeats: [repeats_max]u32 = undefined,
    n_repeats: u32 = 0,
    /// Where the level ends that is being written.
    level_end: u32 = 0,
    /// The levels that are written.
    n_levels: u32 = 0,
    is_begun: bool = false,

    const n_slots = 2 * std.math.ceilPowerOfTwoAssert(u32, nodes_max);

    /// In no key.
    const too_large = std.math.maxInt(u31);
    const text_bit = 1 << 27;
    const counted_bit = 1 << 28;
    const several_bit = 1 << 29;
    const repeat_bit = 1 << 30;

    pub fn of(pool: *const Pool, at: Position, counts: Counts) GraphKey {
        return .{ .pool = pool, .counts = counts, .configurations = .of(pool, at) };
    }

    pub inline fn next(key: *GraphKey) u32 {
        if (key.n_repeats > 0) {
            key.n_repeats -= 1;
            return key.repeats[key.n_repeats];
        }
        if (!key.is_begun) {
            if (key.configurations.next()) |one| {
                if (!key.add(one.node)) return too_large;
                return numberOfState(key.counts, one.state) | @as(u32, if (key.hasMore()) several_bit else 0);
            }
            key.is_begun = true;
            key.level_end = key.n_nodes;
        }
        if (key.isWhole()) return too_large; // below the bottom
        const node = key.nodes[key.n_written];
        key.n_written += 1;
        var n_links: u32 = 0;
        var link = node;
        while (link != graph.last) : (link = key.pool.nodes.items[link].parent) {
            n_links += 1;
            if (!key.add(key.pool.nodes.items[link].depth)) return too_large;
        }
        if (key.n_written == key.level_end) {
            key.n_levels += 1;
            key.level_end = key.n_nodes;
        }
        return @as(u32, graph.stateOf(key.pool, node)) | n_links << 16;
    }

    /// Whether all nodes are written.
    fn isWhole(key: *const GraphKey) bool {
        return key.is_begun and key.n_repeats == 0 and key.n_written == key.n_nodes;
    }

    fn hasMore(key: *const GraphKey) bool {
        return key.configurations.single == null and key.configurations.next_cell != graph.last;
    }

    /// A node lies after those below it, so that along a stack each is before all that were met: then none is looked through.
    inline fn add(key: *GraphKey, node: u32) bool {
        if (node +% 1 >= key.least) return key.addMet(node);
        key.least = node +% 1;
        return key.addNew(node);
    }

    noinline fn addMet(key: *GraphKey, node: u32) bool {
        const number = key.numberOf(node) orelse return key.addNew(node);
        if (key.n_repeats == repeats_max) return false;
        key.repeats[key.n_repeats] = number | repeat_bit;
        key.n_repeats += 1;
        return true;
    }

    inline fn addNew(key: *GraphKey, node: u32) bool {
        if (key.n_nodes == nodes_max) return false;
        key.nodes[key.n_nodes] = node;
        key.n_nodes += 1;
        if (key.n_nodes > listed_max) key.list();
        return true;
    }

    fn numberOf(key: *const GraphKey, node: u32) ?u32 {
        if (key.n_nodes <= listed_max) {
            for (key.nodes[0..key.n_nodes], 0..) |known, number| if (known == node) return @intCast(number);
            return null;
        }
        const found = key.slots[key.slotOf(node)];
        return if (found == 0) null else found - 1;
    }

    /// Where the node is, or would be: linear probing.
    fn slotOf(key: *const GraphKey, node: u32) usize {
        var at: usize = node *% 0x9e3779b1 >> (32 - @as(comptime_int, @ctz(@as(u32, n_slots))));
        while (key.slots[at] != 0 and key.nodes[key.slots[at] - 1] != node) at = (at + 1) % n_slots;
        return at;
    }

    /// Puts the last node into `slots`, and all before it once they are more than `listed_max`.
    noinline fn list(key: *GraphKey) void {
        const is_first = key.n_nodes == listed_max + 1;
        if (is_first) @memset(&key.slots, 0);
        for (if (is_first) 0 else key.n_nodes - 1..key.n_nodes) |number| {
            key.slots[key.slotOf(key.nodes[number])] = @intCast(number + 1);
        }
    }
};

/// Of a count, only what masks depend on.
fn numberOfState(counts: Counts, state: u32) u32 {
    if (state < graph.first_text) return state;
    if (graph.isText(state)) return GraphKey.text_bit | counts.texts.keyOf(state);
    return GraphKey.counted_bit | counts.limits.phaseOf(counts.limits.countOf(state)) << 16 | counts.limits.lexerState(state);
}

/// The same numbers of a position that is one stack, as most are; `is_graph` once it is found to be none.
pub const ChainKey = struct {
    pool: *const Pool,
    /// The configuration's number, before it is given.
    first: ?u32,
    node: u32,
    is_graph: bool,

    pub inline fn of(pool: *const Pool, at: Position, counts: Counts) ChainKey {
        const single = graph.Configurations.of(pool, at).single;
        const one = single orelse return .{ .pool = pool, .first = null, .node = graph.root, .is_graph = true };
        return .{ .pool = pool, .first = numberOfState(counts, one.state), .node = one.node, .is_graph = false };
    }

    pub inline fn next(key: *ChainKey) u32 {
        if (key.first) |number| {
            key.first = null;
            return number;
        }
        if (key.node == graph.root) return 0; // nothing follows it, in no key
        const cell = key.pool.nodes.items[key.node];
        key.node = cell.depth;
        key.is_graph = cell.parent != graph.last;
        return if (key.is_graph) GraphKey.too_large else @as(u16, @truncate(cell.state)) | @as(u32, 1 << 16);
    }
};

/// Writes the key of a mask for which no state below `level` was looked at. Returns its length; null if it is too
/// long.
pub fn write(pool: *const Pool, at: Position, counts: Counts, level: u32, key: []u32) ?usize {
    var numbers: GraphKey = .of(pool, at, counts);
    for (key, 0..) |*number, i| {
        if (numbers.n_repeats == 0 and numbers.n_levels > level or numbers.isWhole()) return i;
        number.* = numbers.next();
        if (number.* == GraphKey.too_large) return null;
    }
    return null;
}
