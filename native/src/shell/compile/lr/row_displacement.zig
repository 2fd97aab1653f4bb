//! Row displacement: a sparse table as one array, in which each row is displaced so that no two entries collide. "Storing a
//! Sparse Table", R. E. Tarjan and A. C.-C. Yao, 1979. Rows of many entries are placed first, and those of few fill their gaps.
//! A look-up is one read. It cannot tell whether there is an entry: whoever looks up knows.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const Arena = @import("engine").arena.Arena;
const Budget = @import("engine").budget.Budget;
const Diagnostic = @import("engine").diagnostic.Diagnostic;
const graph = @import("graph.zig");
const Graph = graph.Graph;
const context = @import("context.zig");
const Context = context.Context;
const Error = context.Error;

/// Lives in the context's arena.
pub const DisplacedRows = struct {
    /// [row]: the entry of a column is entries[displacements[row] + column], modulo 2^32.
    displacements: []u32,
    /// 0 in gaps.
    entries: []u16,
    /// The row of each entry; `no_row` in gaps.
    owners: []u16,

    pub const no_row = std.math.maxInt(u16);
};

/// The entries of a row are values[offsets[row]..offsets[row + 1]], none of them 0 and all below 2^16; their columns, which
/// ascend, are the same range of `columns`. There are fewer than 2^16 rows. First fit, in about linear time (`lag_max`).
pub fn displaceRows(ctx: *const Context, offsets: []const u32, columns: []const u32, values: []const u32) Error!DisplacedRows {
    const displacements = try ctx.filled(u32, offsets.len - 1, 0);
    var entries: ArrayList(u16) = .empty;
    var owners: ArrayList(u16) = .empty;
    var first_free: usize = 0;
    var start: usize = 0;
    var class: u32 = 0;
    for (try bySize(ctx, offsets)) |row| {
        const own = columns[offsets[row]..offsets[row + 1]];
        if (own.len == 0) break;
        try ctx.check();
        // Smaller rows may fit where others did not.
        if (sizeClass(own.len) != class) start = first_free;
        class = sizeClass(own.len);
        var place = @max(start, first_free);
        while (!fits(entries.items, place, own)) : (place += 1) if (place % 256 == 0) try ctx.check();
        start = @max(start, place -| lag_max);

        const n_more = place + own[own.len - 1] - own[0] + 1 -| entries.items.len;
        try ctx.reserve(&entries, n_more);
        try ctx.reserve(&owners, n_more);
        entries.appendNTimesAssumeCapacity(0, n_more);
        owners.appendNTimesAssumeCapacity(DisplacedRows.no_row, n_more);
        for (own, values[offsets[row]..offsets[row + 1]]) |column, value| {
            entries.items[place + column - own[0]] = @intCast(value);
            owners.items[place + column - own[0]] = @intCast(row);
        }
        displacements[row] = @as(u32, @intCast(place)) -% own[0];
        while (first_free < entries.items.len and entries.items[first_free] != 0) first_free += 1;
    }
    return .{ .displacements = displacements, .entries = entries.items, .owners = owners.items };
}

/// The search for a place begins at most this far before the last one found, so that time stays linear in practice.
const lag_max = 64;

/// Whether a row fits with its first column in this place. After the last entry it always does.
fn fits(entries: []const u16, place: usize, columns: []const u32) bool {
    for (columns) |column| {
        const at = place + column - columns[0];
        if (at >= entries.len) return true;
        if (entries[at] != 0) return false;
    }
    return true;
}

/// The rows by descending size, in classes of powers of two.
fn bySize(ctx: *const Context, offsets: []const u32) Error![]const u32 {
    var edges: ArrayList(graph.Edge) = .empty;
    for (offsets[1..], offsets[0 .. offsets.len - 1], 0..) |end, start, row| {
        try ctx.append(&edges, .{ .from = sizeClass(end - start), .to = @intCast(row) });
    }
    const by_size: Graph = try .init(ctx, @bitSizeOf(u32) + 1, edges.items, null);
    return by_size.targets;
}

fn sizeClass(n: usize) u32 {
    return @clz(@as(u32, @intCast(n)));
}

test "every entry is where its row says, and fewer places are free than taken" {
    const testing = std.testing;
    var arena: Arena = .init(testing.allocator);
    defer arena.deinit();
    var budget: Budget = .{};
    var diag: Diagnostic = .{};
    const ctx: Context = .{ .arena = arena.allocator(), .budget = &budget, .diag = &diag };
    var prng: std.Random.DefaultPrng = .init(1);
    var offsets: ArrayList(u32) = .empty;
    var columns: ArrayList(u32) = .empty;
    var values: ArrayList(u32) = .empty;
    for (0..2000) |row| {
        try offsets.append(ctx.arena, @intCast(columns.items.len));
        // Most rows are short, and none has an entry in each third of the columns.
        const share: u32 = if (row % 100 == 0) 4 else 200;
        for (0..900) |column| {
            if (column / 300 == row % 3 or prng.random().uintLessThan(u32, share) > 0) continue;
            try columns.append(ctx.arena, @intCast(column));
            try values.append(ctx.arena, prng.random().intRangeAtMost(u16, 1, std.math.maxInt(u16)));
        }
    }
    try offsets.append(ctx.arena, @intCast(columns.items.len));
    const table = try displaceRows(&ctx, offsets.items, columns.items, values.items);
    for (table.displacements, offsets.items[0..2000], offsets.items[1..], 0..) |displacement, from, to, row| {
        for (columns.items[from..to], values.items[from..to]) |column, value| {
            try testing.expectEqual(row, table.owners[displacement +% column]);
            try testing.expectEqual(value, table.entries[displacement +% column]);
        }
    }
    for (table.entries, table.owners) |entry, owner| try testing.expectEqual(entry == 0, owner == DisplacedRows.no_row);
    try testing.expect(table.entries.len < 2 * columns.items.len);
}
