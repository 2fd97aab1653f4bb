//! A set of strings as a trie of bytes. Nodes are numbered level by level, so that a node's children are
//! neighbours, and end where those of the next node begin.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("../base/budget.zig").Budget;
const Kind = @import("../contract/kind.zig").Kind;
const span = @import("../contract/span.zig");
const Info = @import("../contract/info.zig").Info;
const Position = @import("position.zig").Position;
const Pool = @import("position.zig").Pool;
const StackForm = @import("position.zig").StackForm;
const Arrays = @import("arrays.zig").Arrays;
const MaskContext = @import("../mask/context.zig").MaskContext;
const Scratch = @import("../mask/scratch.zig").Scratch;

/// ELIZA_CHOICES_* of the header.
pub const choices_max = 16777216;
pub const bytes_max = 1073741824;

/// The node of the empty string. No byte leads to it.
pub const root = 0;

/// Fails unless these can be choices: string i goes from offsets[i] up to offsets[i + 1], and none is empty.
pub fn check(offsets: []const u64, diag: *Diagnostic) diagnostic.Error!void {
    const n = offsets.len - 1;
    if (n == 0) return diag.fail(.invalid_arg, "there is no choice", .{});
    if (n > choices_max) return diag.fail(.limit, "{d} choices are more than {d}", .{ n, choices_max });
    if (offsets[n] > bytes_max) return diag.fail(.limit, "{d} bytes of choices are more than {d}", .{ offsets[n], bytes_max });
    for (offsets[0..n], offsets[1..], 0..) |start, end, i| {
        if (start > end) return diag.fail(.invalid_arg, "offsets[{d}]: {d} is below the one before it", .{ i + 1, end });
        if (start == end) return diag.fail(.invalid_arg, "choices[{d}] is empty", .{i});
    }
}

/// Immutable. A position's state is a node.
pub const Choices = struct {
    /// The first child of each node; one more at the end.
    first_child: []const u32,
    /// The byte that leads to each node.
    bytes: []const u8,
    /// A bit for each node: whether a string ends there.
    ends: []const u32,

    const what = "the trie of choices";

    /// Builds the trie of the strings `text[offsets[i]..offsets[i + 1]]`, which it sorts first. Duplicates
    /// count once.
    pub fn build(gpa: Allocator, text: []const u8, offsets: []const u64, budget: *Budget, diag: *Diagnostic) diagnostic.Error!Choices {
        try check(offsets, diag);
        var builder: Builder = .{ .gpa = gpa, .text = text, .offsets = offsets, .budget = budget, .diag = diag };
        return builder.build() catch |e| switch (e) {
            error.OutOfMemory => diag.outOfMemory(),
            error.Failed => error.Failed,
        };
    }

    // ---- As a language: recognizer/language.zig says what each promises

    pub const kind: Kind = .choices;
    pub const stack_form: StackForm = .none;

    pub fn deinit(c: *Choices, gpa: Allocator, arrays: Arrays) void {
        if (arrays == .owned) {
            gpa.free(c.first_child);
            gpa.free(c.bytes);
            gpa.free(c.ends);
        }
        c.* = undefined;
    }

    pub fn describe(c: *const Choices, info: *Info) void {
        info.n_states = c.nNodes();
        info.automaton_bytes = 4 * c.first_child.len + c.bytes.len + 4 * c.ends.len;
    }

    pub fn initial(_: *const Choices) u32 {
        return root;
    }

    pub fn advance(c: *const Choices, _: Allocator, _: *Pool, from: Position, text: []const u8) Allocator.Error!?Position {
        var node = from.state;
        for (text) |byte| {
            node = c.next(node, byte);
            if (node == root) return null;
        }
        return .{ .state = node };
    }

    pub fn canStop(c: *const Choices, _: Allocator, _: *Pool, at: Position) Allocator.Error!bool {
        return c.isEnd(at.state);
    }

    pub fn computeMask(c: *Choices, context: *const MaskContext, pool: *Pool, at: Position, scratch: *Scratch) span.Error!u32 {
        var walker: Walker = .{ .choices = c, .states = scratch.states };
        walker.states[0] = at.state;
        try context.computeByWalk(&walker, c.isEnd(at.state), scratch, &pool.watch);
        return 0;
    }

    pub fn prepare(_: *Choices, _: *const MaskContext, _: *const Budget, _: *Diagnostic) diagnostic.Error!void {}

    pub fn save(c: *const Choices, writer: anytype) Allocator.Error!void {
        return writer.put(c);
    }

    pub fn open(_: Allocator, reader: anytype) error{ OutOfMemory, Damaged }!Choices {
        return reader.get(Choices);
    }

    pub fn isSound(c: *const Choices, _: *const MaskContext) Allocator.Error!bool {
        const n = c.bytes.len;
        if (n == 0 or n >= std.math.maxInt(u32) or c.first_child.len != n + 1 or c.ends.len != n / 32 + 1) return false;
        // Children come after their parent, so that never matches without an end.
        var is_sound = c.first_child[0] == 1 and c.first_child[n] == n;
        for (c.first_child[0..n], c.first_child[1..], 0..) |from, to, node| {
            is_sound = is_sound and from > node and from <= to;
        }
        return is_sound;
    }

    // ---- As a trie

    /// Number of nodes.
    pub fn nNodes(c: *const Choices) u32 {
        return @intCast(c.bytes.len);
    }

    /// The node after a byte; `root` if no string continues with it. O(log children).
    pub inline fn next(c: *const Choices, node: u32, byte: u8) u32 {
        const from = c.first_child[node];
        const to = c.first_child[node + 1];
        if (to - from > few) return c.search(from, to, byte);
        for (from..to) |child| if (c.bytes[child] == byte) return @intCast(child);
        return root;
    }

    const few = 8;

    fn search(c: *const Choices, from: u32, to: u32, byte: u8) u32 {
        var low = from;
        var high = to;
        while (low < high) {
            const middle = low + (high - low) / 2;
            if (c.bytes[middle] < byte) low = middle + 1 else high = middle;
        }
        return if (low < to and c.bytes[low] == byte) low else root;
    }

    /// Whether a string ends at the node.
    pub fn isEnd(c: *const Choices, node: u32) bool {
        return c.ends[node / 32] >> @truncate(node) & 1 != 0;
    }
};

/// What mask/walk.zig walks with.
const Walker = struct {
    choices: *const Choices,
    states: []u32,
    depth: usize = 0,

    pub inline fn tryPushByte(w: *Walker, byte: u8) bool {
        const next = w.choices.next(w.states[w.depth], byte);
        if (next == root) return false;
        w.depth += 1;
        w.states[w.depth] = next;
        return true;
    }

    pub inline fn popBytes(w: *Walker, n: usize) void {
        w.depth -= n;
    }
};

const Builder = struct {
    gpa: Allocator,
    text: []const u8,
    offsets: []const u64,
    budget: *Budget,
    diag: *Diagnostic,
    /// Strings and stretches of their bytes that are read up to the next check of the budget.
    left: usize = check_interval,

    /// Some hundred microseconds, however the strings are spread in memory.
    const check_interval = 1 << 12;
    /// Bytes that are compared or copied while one string is looked up.
    const stretch = 64;

    const Error = Allocator.Error || diagnostic.Error;

    /// The strings through a node.
    const Run = struct { from: u32, to: u32 };

    fn build(b: *Builder) Error!Choices {
        try b.look(); // few strings would never be asked about
        const order = try b.sorted();
        defer b.gpa.free(order);
        const list = try b.gather(order);
        defer list.deinit(b.gpa);
        return b.layOut(list);
    }

    /// The distinct strings in order, one after another in memory: each level of the trie looks at all of them.
    const List = struct {
        text: []u8,
        /// One more than strings.
        offsets: []u32,
        n: usize,

        fn deinit(list: List, gpa: Allocator) void {
            gpa.free(list.text);
            gpa.free(list.offsets);
        }

        fn at(list: List, i: usize) []const u8 {
            return list.text[list.offsets[i]..list.offsets[i + 1]];
        }
    };

    /// Counts `n` strings of which `bytes` are read.
    inline fn work(b: *Builder, n: usize, bytes: usize) diagnostic.Error!void {
        const done = n + bytes / stretch;
        if (b.left > done) b.left -= done else return b.look();
    }

    noinline fn look(b: *Builder) diagnostic.Error!void {
        b.left = check_interval;
        return b.budget.check(Choices.what, b.diag);
    }

    fn pieces(b: *Builder, strings: []const u32) Pieces {
        return .{ .builder = b, .left = strings };
    }

    /// Strings that are counted some at once.
    const Pieces = struct {
        builder: *Builder,
        left: []const u32,

        const len_max = 256;

        fn next(p: *Pieces) diagnostic.Error!?[]const u32 {
            const piece = p.left[0..@min(p.left.len, len_max)];
            if (piece.len == 0) return null;
            try p.builder.work(piece.len, 0);
            p.left = p.left[piece.len..];
            return piece;
        }
    };

    fn gather(b: *Builder, order: []const u32) Error!List {
        try b.budget.take(b.text.len + 4 * (order.len + 1), Choices.what, b.diag);
        const text = try b.gpa.alloc(u8, b.text.len);
        errdefer b.gpa.free(text);
        var list: List = .{ .text = text, .offsets = try b.gpa.alloc(u32, order.len + 1), .n = 0 };
        errdefer b.gpa.free(list.offsets);
        var end: usize = 0;
        list.offsets[0] = 0;
        for (order) |i| {
            const string = b.stringOf(i);
            try b.work(1, string.len);
            if (list.n > 0 and std.mem.eql(u8, list.at(list.n - 1), string)) continue;
            @memcpy(text[end..][0..string.len], string);
            end += string.len;
            list.n += 1;
            list.offsets[list.n] = @intCast(end);
        }
        return list;
    }

    // ---- Sorting

    /// The strings in byte order. A radix sort from the first byte on (McIlroy, Bostic, McIlroy, "Engineering radix
    /// sort", 1993): a run of strings with the same prefix is split by the next byte.
    fn sorted(b: *Builder) Error![]u32 {
        const n = b.offsets.len - 1;
        try b.budget.take(8 * n, Choices.what, b.diag);
        const order = try b.gpa.alloc(u32, n);
        errdefer b.gpa.free(order);
        for (order, 0..) |*i, place| i.* = @intCast(place);
        const other = try b.gpa.alloc(u32, n);
        defer b.gpa.free(other);
        const Bucket = struct { from: u32, to: u32, depth: u32 };
        var left: ArrayList(Bucket) = .empty;
        defer left.deinit(b.gpa);
        try left.append(b.gpa, .{ .from = 0, .to = @intCast(n), .depth = 0 });
        while (left.pop()) |bucket| {
            const strings = order[bucket.from..bucket.to];
            if (strings.len <= insertion_max) {
                try b.insertionSort(strings, bucket.depth);
                continue;
            }
            // By digit: how many, then where they begin, then where they end.
            var places: [257]u32 = @splat(0);
            var counting = b.pieces(strings);
            while (try counting.next()) |some| for (some) |i| {
                places[b.digit(i, bucket.depth)] += 1;
            };
            var before: u32 = 0;
            for (&places) |*place| {
                const n_here = place.*;
                place.* = before;
                before += n_here;
            }
            var placing = b.pieces(strings);
            while (try placing.next()) |some| for (some) |i| {
                const place = &places[b.digit(i, bucket.depth)];
                other[place.*] = i;
                place.* += 1;
            };
            @memcpy(strings, other[0..strings.len]);
            // Strings of digit 0 have ended: they are equal.
            for (places[0..256], places[1..]) |from, to| {
                if (to - from < 2) continue;
                try left.append(b.gpa, .{ .from = bucket.from + from, .to = bucket.from + to, .depth = bucket.depth + 1 });
            }
        }
        return order;
    }

    const insertion_max = 24;

    fn digit(b: *const Builder, i: u32, depth: usize) usize {
        const string = b.stringOf(i);
        return if (depth < string.len) @as(usize, string[depth]) + 1 else 0;
    }

    fn insertionSort(b: *Builder, strings: []u32, depth: usize) Error!void {
        for (1..strings.len) |i| {
            const string = strings[i];
            var j = i;
            while (j > 0 and try b.isBefore(string, strings[j - 1], depth)) : (j -= 1) strings[j] = strings[j - 1];
            strings[j] = string;
        }
    }

    fn isBefore(b: *Builder, i: u32, j: u32, depth: usize) Error!bool {
        const one = b.stringOf(i)[depth..];
        const other = b.stringOf(j)[depth..];
        if (one.len > 0 and other.len > 0 and one[0] != other[0]) return one[0] < other[0];
        const shared = sharedStart(one, other);
        try b.work(1, shared);
        if (shared == one.len or shared == other.len) return one.len < other.len;
        return one[shared] < other[shared];
    }

    // ---- Levels

    fn layOut(b: *Builder, list: List) Error!Choices {
        const n_nodes = try b.countNodes(list);
        if (n_nodes > std.math.maxInt(u31)) {
            return b.diag.fail(.limit, "{s} needs more than {d} nodes", .{ Choices.what, std.math.maxInt(u31) });
        }
        try b.budget.take(5 * n_nodes + n_nodes / 8, Choices.what, b.diag);
        const first_child = try b.gpa.alloc(u32, n_nodes + 1);
        errdefer b.gpa.free(first_child);
        const bytes = try b.gpa.alloc(u8, n_nodes);
        errdefer b.gpa.free(bytes);
        const ends = try b.gpa.alloc(u32, n_nodes / 32 + 1);
        errdefer b.gpa.free(ends);
        @memset(ends, 0);
        try b.fill(list, first_child, bytes, ends);
        return .{ .first_child = first_child, .bytes = bytes, .ends = ends };
    }

    fn countNodes(b: *Builder, list: List) Error!usize {
        var n: usize = 1;
        for (0..list.n) |i| {
            const shared = if (i == 0) 0 else sharedStart(list.at(i), list.at(i - 1));
            try b.work(1, shared);
            n += list.at(i).len - shared;
        }
        return n;
    }

    fn sharedStart(a: []const u8, b: []const u8) usize {
        return std.mem.findDiff(u8, a, b) orelse a.len;
    }

    /// Splits each run of a level, by the next byte, into the runs of the next level.
    fn fill(b: *Builder, list: List, first_child: []u32, bytes: []u8, ends: []u32) Error!void {
        // No level has more runs than there are strings.
        var runs: ArrayList(Run) = try .initCapacity(b.gpa, list.n);
        defer runs.deinit(b.gpa);
        var below: ArrayList(Run) = try .initCapacity(b.gpa, list.n);
        defer below.deinit(b.gpa);
        bytes[root] = 0;
        runs.appendAssumeCapacity(.{ .from = 0, .to = @intCast(list.n) });
        var node: u32 = 0;
        var made: u32 = 1;
        var depth: usize = 0;
        while (runs.items.len > 0) : (depth += 1) {
            below.clearRetainingCapacity();
            for (runs.items) |run| {
                first_child[node] = made;
                try b.work(run.to - run.from, 0);
                var at = run.from;
                if (list.at(at).len == depth) {
                    at += 1;
                    ends[node / 32] |= @as(u32, 1) << @truncate(node);
                }
                while (at < run.to) {
                    const byte = list.at(at)[depth];
                    const from = at;
                    at += 1;
                    while (at < run.to and list.at(at)[depth] == byte) at += 1;
                    bytes[made] = byte;
                    made += 1;
                    below.appendAssumeCapacity(.{ .from = from, .to = at });
                }
                node += 1;
            }
            std.mem.swap(ArrayList(Run), &runs, &below);
        }
        first_child[node] = made;
        std.debug.assert(made == bytes.len and node == bytes.len);
    }

    fn stringOf(b: *const Builder, i: u32) []const u8 {
        return b.text[@intCast(b.offsets[i])..@intCast(b.offsets[i + 1])];
    }
};

test "the strings and nothing else" {
    const gpa = std.testing.allocator;
    const strings = [_][]const u8{ "REPLY", "REPLY_THREAD", "IGNORE", "a", "REPLY", "\xff\x00", "ab" };
    var offsets: [strings.len + 1]u64 = undefined;
    offsets[0] = 0;
    for (strings, 0..) |string, i| offsets[i + 1] = offsets[i] + string.len;
    const text = try std.mem.concat(gpa, u8, &strings);
    defer gpa.free(text);
    var budget: Budget = .{};
    var diag: Diagnostic = .{};
    var choices = try Choices.build(gpa, text, &offsets, &budget, &diag);
    defer choices.deinit(gpa, .owned);
    try std.testing.expectEqual(1 + 12 + 6 + 2 + 2, choices.nNodes());
    for (strings) |string| try std.testing.expect(accepts(&choices, string));
    for ([_][]const u8{ "", "R", "REPLY_", "REPLYX", "b", "\xff" }) |string| try std.testing.expect(!accepts(&choices, string));
}

test "random strings, in one trie as in a list" {
    const gpa = std.testing.allocator;
    var prng: std.Random.DefaultPrng = .init(3);
    const random = prng.random();
    var text: ArrayList(u8) = .empty;
    defer text.deinit(gpa);
    var offsets: ArrayList(u64) = .empty;
    defer offsets.deinit(gpa);
    try offsets.append(gpa, 0);
    for (0..2000) |_| {
        for (0..random.intRangeAtMost(usize, 1, 6)) |_| try text.append(gpa, random.intRangeAtMost(u8, 'a', 'd'));
        try offsets.append(gpa, text.items.len);
    }
    var budget: Budget = .{};
    var diag: Diagnostic = .{};
    var choices = try Choices.build(gpa, text.items, offsets.items, &budget, &diag);
    defer choices.deinit(gpa, .owned);
    var known: std.StringHashMapUnmanaged(void) = .empty;
    defer known.deinit(gpa);
    for (0..2000) |i| {
        const string = text.items[@intCast(offsets.items[i])..@intCast(offsets.items[i + 1])];
        try known.put(gpa, string, {});
        try std.testing.expect(accepts(&choices, string));
    }
    var n_ends: usize = 0;
    for (0..choices.nNodes()) |node| n_ends += @intFromBool(choices.isEnd(@intCast(node)));
    try std.testing.expectEqual(known.count(), n_ends);
}

fn accepts(choices: *const Choices, string: []const u8) bool {
    var node: u32 = root;
    for (string) |byte| {
        node = choices.next(node, byte);
        if (node == root) return false;
    }
    return choices.isEnd(node);
}
