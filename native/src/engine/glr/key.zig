//! What the mask of an ambiguous grammar's position is found again by: its configurations, and then the nodes that
//! they lead to, level by level down to the lowest of which a state was looked at. recognizer/key.zig says why that
//! is enough: here the levels are those of a graph, and a node that several paths lead to is written for each.

const std = @import("std");
const position = @import("../language/position.zig");
const Position = position.Position;
const Pool = position.Pool;
const graph = @import("graph.zig");

/// Nodes in one key. A key with more is in no cache.
const nodes_max = 24;

/// The numbers of a position, as many as are asked for. In the order: configurations, each with the lexer's state;
/// then for each node the parser's state and the number of its links, and for each link the same, level by level.
pub const GraphKey = struct {
    pool: *const Pool,
    configurations: graph.Configurations,
    queue: [nodes_max]u32 = undefined,
    n_queued: u32 = 0,
    n_taken: u32 = 0,
    /// Where the level ends that is being written.
    level_end: u32 = 0,
    /// The levels that are written.
    n_levels: u32 = 0,
    is_begun: bool = false,

    /// In no key.
    const too_large = std.math.maxInt(u31);
    const several_bit = 1 << 16;

    pub fn of(pool: *const Pool, at: Position) GraphKey {
        return .{ .pool = pool, .configurations = .of(pool, at) };
    }

    pub fn next(key: *GraphKey) u32 {
        if (!key.is_begun) {
            if (key.configurations.next()) |one| {
                if (!key.add(one.node)) return too_large;
                return one.state | @as(u32, if (key.hasMore()) several_bit else 0);
            }
            key.is_begun = true;
            key.level_end = key.n_queued;
        }
        if (key.n_taken == key.n_queued) return too_large; // below the bottom
        const node = key.queue[key.n_taken];
        key.n_taken += 1;
        var n_links: u32 = 0;
        var link = node;
        while (link != graph.last) : (link = key.pool.nodes.items[link].parent) {
            n_links += 1;
            if (!key.add(key.pool.nodes.items[link].depth)) return too_large;
        }
        if (key.n_taken == key.level_end) {
            key.n_levels += 1;
            key.level_end = key.n_queued;
        }
        return graph.stateOf(key.pool, node) | n_links << 16;
    }

    fn hasMore(key: *const GraphKey) bool {
        return key.configurations.single == null and key.configurations.next_cell != graph.last;
    }

    fn add(key: *GraphKey, node: u32) bool {
        if (key.n_queued == nodes_max) return false;
        key.queue[key.n_queued] = node;
        key.n_queued += 1;
        return true;
    }
};

/// Writes the key of a mask for which no state below `level` was looked at. Returns its length; null if it is too
/// long.
pub fn write(pool: *const Pool, at: Position, level: u32, key: []u32) ?usize {
    var numbers: GraphKey = .of(pool, at);
    for (key, 0..) |*number, i| {
        if (numbers.n_levels > level or numbers.is_begun and numbers.n_taken == numbers.n_queued) return i;
        number.* = numbers.next();
        if (number.* == GraphKey.too_large) return null;
    }
    return null;
}
