//! What the lexer alone makes of the vocabulary. A token's signature is the sequence of lexemes that end within
//! it, as match lists of the lexer without skipped ones, and the reach set of the lexeme that is pending after
//! it. Tokens with the same signature are legal or illegal together, so a table holds them as a group, and the
//! groups in a trie over match lists. There are two kinds of table:
//!
//!   restart       tokens lexed from the start state. One table for all states: where the pending lexeme of a
//!                 state ends before a token, these are the signatures of the rest. The first classes of its
//!                 groups tell which states that is.
//!   continuation  tokens whose first byte continues the pending lexeme of one state.
//!
//! Most states are within a keyword and differ from an identifier's state in a few tokens: the continuation of
//! such a state is that of its base, except for these.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const dfa = @import("../language/dfa.zig");
const program_module = @import("program.zig");
const Program = program_module.Program;
const MaskContext = @import("../mask/context.zig").MaskContext;
const depth_max = @import("../vocabulary/byte_trie.zig").depth_max;
const bitmap = @import("../base/bitmap.zig");
const Watch = @import("../base/watch.zig").Watch;
const NumberMap = @import("../base/number_map.zig").NumberMap;

/// A node of the trie of signatures.
pub const Node = extern struct {
    /// The node after this one's subtree, in depth-first order.
    end: u32,
    /// This node's groups: from here up to those of the next node, by reach set.
    groups: u32,
    /// First classes of the tokens in the subtree. A continuation has the one class 0.
    firsts: u64,
    /// The match list of the lexeme that leads here; and its terminal, if there is only one.
    list: u16,
    terminal: u16 = several,
    _: [2]u16 = @splat(0),
};

/// In place of a terminal: the match list has several, or none.
pub const several = std.math.maxInt(u16);

/// Tokens with the same signature (and, in a restart table, first class).
pub const Group = extern struct {
    /// Where the group starts in `ids`; for a bitmap, its number in `words`.
    start: u32,
    n_tokens: u32,
    /// The bit of the first class.
    first: u64,
    reach: u16,
    is_bitmap: bool,
    _: [5]u8 = @splat(0),
};

/// In place of a state: the table has no base.
pub const no_base = 0;

/// A table of signatures. Immutable.
pub const Table = struct {
    /// Tells the tables of one grammar apart.
    id: u32,
    /// In depth-first order. One more at the end bounds the groups of the last.
    nodes: []const Node,
    /// [node * width]: the terminals that decide about the node's groups and children.
    interests: []const u64,
    groups: []const Group,
    ids: []const i32,
    /// Bitmaps of `n_words` words each.
    words: []align(64) const u32,
    /// Of a continuation: the state whose table has the tokens that this one lacks; or `no_base`.
    base: u16,
    /// Tokens of the base that do not count here, ascending.
    except: []const i32,

    /// Not for a table whose arrays are mapped.
    pub fn deinit(t: *Table, gpa: Allocator) void {
        gpa.free(t.nodes);
        gpa.free(t.interests);
        gpa.free(t.groups);
        gpa.free(t.ids);
        gpa.free(t.words);
        gpa.free(t.except);
        t.* = undefined;
    }

    /// Memory in use.
    pub fn bytes(t: *const Table) usize {
        return @sizeOf(Table) + std.mem.sliceAsBytes(t.nodes).len + std.mem.sliceAsBytes(t.interests).len +
            std.mem.sliceAsBytes(t.groups).len + std.mem.sliceAsBytes(t.ids).len + std.mem.sliceAsBytes(t.words).len +
            std.mem.sliceAsBytes(t.except).len;
    }
};

/// A group with more tokens is a bitmap: uniting it costs about as much as setting so many bits.
const list_max = 768;

/// Stored as a difference from its base if at most 1/base_share of the trie differs.
const base_share = 8;

/// What tables are built from. Lent.
pub const Source = struct {
    program: *const Program,
    context: *const MaskContext,
    /// Asked while a table is built: the walk through 100,000 tokens takes some milliseconds.
    watch: ?*Watch = null,

    fn steps(source: Source, n: usize) error{TooLarge}!void {
        if (source.watch) |watch| try watch.steps(@intCast(n));
    }
};

/// The most lexemes in a token: selection recurses once for each, on the stack of what may be a small thread.
pub fn lexemesMax(width: u32) u16 {
    return if (width == program_module.set_widths[0]) lexemes_most else 48;
}

pub const lexemes_most = 200;

/// `TooLarge`: more distinct signatures than can be numbered, or a token of too many lexemes; or the watch has stopped the
/// operation, as it says itself.
pub const Error = Allocator.Error || error{TooLarge};

/// Builds the restart table of a shard of 64 first classes.
pub fn buildRestart(gpa: Allocator, source: Source, shard: u32) Error!Table {
    var b: Builder = try .init(gpa, source);
    defer b.deinit();
    try b.fillRestart(shard);
    return b.finish(std.math.maxInt(u16) + 1 + shard, no_base);
}

/// Builds the continuation table of a state. A base has no base itself.
pub fn buildContinuation(gpa: Allocator, source: Source, state: u16) Error!Table {
    var b: Builder = try .init(gpa, source);
    defer b.deinit();
    const base = baseOf(source, state);
    if (base == no_base) try b.fillContinuation(state) else try b.fillDifference(state, base);
    return b.finish(state, base);
}

/// The state that most bytes lead to from here, if it leads nearly the same bytes to the same states; else
/// `no_base`.
pub fn baseOf(source: Source, state: u16) u16 {
    const base = mostCommon(source, state);
    if (base == state or base == dfa.dead or mostCommon(source, base) != base) return no_base;
    const lexer = &source.program.lexer;
    const nodes = source.context.trie.nodes;
    var different: usize = 0;
    var node: usize = 1;
    while (node < nodes.len) : (node += nodes[node].subtree) {
        const byte = nodes[node].byte;
        if (lexer.next(state, byte) != lexer.next(base, byte)) different += nodes[node].subtree;
    }
    return if (different <= nodes.len / base_share) base else no_base;
}

/// The state that most of the trie leads to, each byte weighted by the size of its subtree.
fn mostCommon(source: Source, state: u16) u16 {
    const lexer = &source.program.lexer;
    const nodes = source.context.trie.nodes;
    var targets: [256]struct { state: u16, weight: u32 } = undefined;
    var n: usize = 0;
    var node: usize = 1;
    while (node < nodes.len) : (node += nodes[node].subtree) {
        const next = lexer.next(state, nodes[node].byte);
        if (next == dfa.dead) continue;
        for (targets[0..n]) |*target| {
            if (target.state != next) continue;
            target.weight += nodes[node].subtree;
            break;
        } else {
            targets[n] = .{ .state = next, .weight = nodes[node].subtree };
            n += 1;
        }
    }
    var best: u16 = dfa.dead;
    var weight: u32 = 0;
    for (targets[0..n]) |target| if (target.weight > weight) {
        best = target.state;
        weight = target.weight;
    };
    return best;
}

const Builder = struct {
    gpa: Allocator,
    source: Source,
    program: *const Program,
    nodes: ArrayList(Draft) = .empty,
    groups: ArrayList(DraftGroup) = .empty,
    children: NumberMap = .{},
    group_index: NumberMap = .{},
    /// Tokens with their groups, in the trie's order.
    members: ArrayList(Member) = .empty,
    except: ArrayList(i32) = .empty,
    /// Lexer state and signature node after each byte of the path.
    path: [depth_max + 1]Place = undefined,

    const Member = struct { token: u32, group: u32 };
    /// `row`: where the row of the node's match list starts in `follows_reach`.
    const Place = struct { state: u16, node: u16, row: u32 };
    /// `depth`: number of lexemes from the root.
    const Draft = struct { parent: u16, list: u16, depth: u16, first_child: u32 = none, sibling: u32 = none };
    const DraftGroup = struct { node: u16, reach: u16, first: u16, n_tokens: u32 };
    const none = std.math.maxInt(u32);
    const root = 0;

    fn init(gpa: Allocator, source: Source) Allocator.Error!Builder {
        var b: Builder = .{ .gpa = gpa, .source = source, .program = source.program };
        try b.nodes.append(gpa, .{ .parent = 0, .list = 0, .depth = 0 });
        return b;
    }

    fn deinit(b: *Builder) void {
        b.nodes.deinit(b.gpa);
        b.groups.deinit(b.gpa);
        b.children.deinit(b.gpa);
        b.group_index.deinit(b.gpa);
        b.members.deinit(b.gpa);
        b.except.deinit(b.gpa);
    }

    // ---- Walking the vocabulary

    fn fillRestart(b: *Builder, shard: u32) Error!void {
        try b.members.ensureTotalCapacity(b.gpa, b.source.context.tokens.n); // most of them
        const nodes = b.source.context.trie.nodes;
        var node: u32 = 1;
        while (node < nodes.len) : (node += nodes[node].subtree) {
            const class = b.program.first_classes[nodes[node].byte];
            if (class == Program.none or class / 64 != shard) continue;
            try b.walk(node, b.placeOf(dfa.start), class % 64);
        }
        for (b.source.context.trie.long_tokens) |token| {
            const class = b.program.first_classes[b.source.context.tokens.bytesOf(token)[0]];
            if (class == Program.none or class / 64 != shard) continue;
            try b.addLong(token, dfa.start, class % 64);
        }
    }

    fn fillContinuation(b: *Builder, state: u16) Error!void {
        const nodes = b.source.context.trie.nodes;
        var node: u32 = 1;
        while (node < nodes.len) : (node += nodes[node].subtree) {
            if (b.program.lexer.next(state, nodes[node].byte) == dfa.dead) continue;
            try b.walk(node, b.placeOf(state), 0);
        }
        for (b.source.context.trie.long_tokens) |token| {
            if (b.program.lexer.next(state, b.source.context.tokens.bytesOf(token)[0]) == dfa.dead) continue;
            try b.addLong(token, state, 0);
        }
    }

    /// Follows both states at once, where they differ and no lexeme has ended yet.
    fn fillDifference(b: *Builder, state: u16, base: u16) Error!void {
        const lexer = &b.program.lexer;
        const nodes = b.source.context.trie.nodes;
        var pairs: [depth_max + 1][2]u16 = undefined;
        pairs[0] = .{ state, base };
        var at: u32 = 1;
        while (at < nodes.len) {
            const node = nodes[at];
            const here, const there = pairs[node.depth - 1];
            const next = lexer.next(here, node.byte);
            const base_next = lexer.next(there, node.byte);
            if (next != dfa.dead and base_next != dfa.dead and next != base_next) {
                try b.addExcept(at, 1);
                if (node.token()) |token| try b.addMember(token, try b.groupOf(root, lexer.reaches[next], 0));
                pairs[node.depth] = .{ next, base_next };
                at += 1;
                continue;
            }
            const ends_alike = node.depth == 1 or lexer.matches[here] == lexer.matches[there];
            if (next != base_next or next == dfa.dead and !ends_alike) {
                try b.addExcept(at, node.subtree);
                if (next != dfa.dead or node.depth > 1) try b.walk(at, b.placeOf(here), 0);
            }
            at += node.subtree;
        }
        for (b.source.context.trie.long_tokens) |token| {
            try b.except.append(b.gpa, @intCast(token));
            if (lexer.next(state, b.source.context.tokens.bytesOf(token)[0]) != dfa.dead) try b.addLong(token, state, 0);
        }
    }

    fn addExcept(b: *Builder, from: u32, n_nodes: u32) Error!void {
        try b.source.steps(n_nodes / 8);
        for (b.source.context.trie.nodes[from..][0..n_nodes]) |node| {
            if (node.token()) |token| try b.except.append(b.gpa, @intCast(token));
        }
    }

    /// Walks a subtree of the trie, from the lexer's place before it. Addresses are copied: the compiler would assume
    /// that adding a token may change them.
    fn walk(b: *Builder, from: u32, before: Place, first: u16) Error!void {
        try b.source.steps(b.source.context.trie.nodes[from].subtree / 2 + 1);
        const lexer = &b.program.lexer;
        const transitions = lexer.transitions.ptr;
        const reaches = lexer.reaches.ptr;
        const follows_reach = b.program.follows_reach.ptr;
        const nodes = b.source.context.trie.nodes.ptr;
        const end = from + nodes[from].subtree;
        var last: struct { node: u16, reach: u16, group: u32 } = .{ .node = 0, .reach = 0, .group = none };
        b.path[nodes[from].depth - 1] = before;
        var at = from;
        while (at < end) {
            const node = nodes[at];
            var place = b.path[node.depth - 1];
            const next = transitions[lexer.columns[node.byte] + place.state];
            if (next != dfa.dead) {
                place.state = next;
            } else place = try b.restart(place, node.byte) orelse {
                at += node.subtree;
                continue;
            };
            const reach = reaches[place.state];
            if (!follows_reach[place.row + reach]) {
                at += node.subtree;
                continue;
            }
            b.path[node.depth] = place;
            if (node.token()) |token| {
                // Neighbours in the trie mostly belong to the same group.
                if (last.group == none or last.node != place.node or last.reach != reach) {
                    last = .{ .node = place.node, .reach = reach, .group = try b.groupOf(place.node, reach, first) };
                }
                try b.addMember(token, last.group);
            }
            at += 1;
        }
    }

    fn addLong(b: *Builder, token: u32, state: u16, first: u16) Error!void {
        const lexer = &b.program.lexer;
        var place = b.placeOf(state);
        for (b.source.context.tokens.bytesOf(token)) |byte| {
            const next = lexer.next(place.state, byte);
            if (next != dfa.dead) place.state = next else place = try b.restart(place, byte) orelse return;
            if (!b.program.follows_reach[place.row + lexer.reaches[place.state]]) return;
        }
        try b.addMember(token, try b.groupOf(place.node, lexer.reaches[place.state], first));
    }

    /// The place in a state where no lexeme has ended yet.
    fn placeOf(_: *const Builder, state: u16) Place {
        return .{ .state = state, .node = root, .row = 0 };
    }

    /// The place after a byte before which the pending lexeme ends; null if it cannot.
    fn restart(b: *Builder, place: Place, byte: u8) Error!?Place {
        const lexer = &b.program.lexer;
        const list = lexer.matches[place.state];
        if (list == 0) return null;
        const next = lexer.next(dfa.start, byte);
        if (next == dfa.dead) return null;
        if (b.program.is_skip[list]) return .{ .state = next, .node = place.node, .row = place.row };
        const node = try b.child(place.node, list) orelse return null;
        return .{ .state = next, .node = node, .row = list * lexer.nReach() };
    }

    fn child(b: *Builder, parent: u16, list: u16) Error!?u16 {
        const key = @as(u64, parent) << 16 | list;
        if (b.children.get(key)) |found| return if (found == none) null else @intCast(found);
        if (!b.program.canFollowList(b.nodes.items[parent].list, list)) {
            try b.children.put(b.gpa, key, none);
            return null;
        }
        const n = b.nodes.items.len;
        const depth = b.nodes.items[parent].depth + 1;
        if (n > std.math.maxInt(u16) or depth > lexemesMax(b.program.width)) return error.TooLarge;
        try b.children.put(b.gpa, key, @intCast(n));
        try b.nodes.append(b.gpa, .{ .parent = parent, .list = list, .depth = depth, .sibling = b.nodes.items[parent].first_child });
        b.nodes.items[parent].first_child = @intCast(n);
        return @intCast(n);
    }

    fn groupOf(b: *Builder, node: u16, reach: u16, first: u16) Allocator.Error!u32 {
        const key = @as(u64, node) << 32 | @as(u64, reach) << 16 | first;
        return b.group_index.get(key) orelse b.addGroup(key, .{ .node = node, .reach = reach, .first = first, .n_tokens = 0 });
    }

    fn addGroup(b: *Builder, key: u64, group: DraftGroup) Allocator.Error!u32 {
        const n: u32 = @intCast(b.groups.items.len);
        try b.groups.append(b.gpa, group);
        try b.group_index.put(b.gpa, key, n);
        return n;
    }

    inline fn addMember(b: *Builder, token: u32, group: u32) Allocator.Error!void {
        b.groups.items[group].n_tokens += 1;
        try b.members.append(b.gpa, .{ .token = token, .group = group });
    }

    fn addDuplicates(b: *Builder) Allocator.Error!void {
        if (b.source.context.trie.duplicates.len == 0) return;
        var group_of: NumberMap = .{};
        defer group_of.deinit(b.gpa);
        for (b.members.items) |member| try group_of.put(b.gpa, member.token, member.group);
        for (b.source.context.trie.duplicates) |duplicate| {
            if (group_of.get(duplicate.token)) |group| try b.addMember(duplicate.twin, group);
        }
    }

    // ---- Laying out the table

    fn finish(b: *Builder, id: u32, base: u16) Error!Table {
        try b.source.steps(b.members.items.len / 4);
        try b.addDuplicates();
        try b.source.steps(b.members.items.len / 4);
        const order = try b.depthFirst();
        defer b.gpa.free(order);
        var table: Table = undefined;
        table.id = id;
        table.base = base;
        const nodes = try b.gpa.alloc(Node, order.len + 1);
        errdefer b.gpa.free(nodes);
        const groups = try b.gpa.alloc(Group, b.groups.items.len);
        errdefer b.gpa.free(groups);
        const places = try b.gpa.alloc(u32, b.groups.items.len);
        defer b.gpa.free(places);
        try b.layOut(order, nodes, groups, places);
        table.nodes = nodes;
        table.groups = groups;
        table.interests = try b.findInterests(nodes, groups);
        errdefer b.gpa.free(table.interests);
        const n_ids, const n_bitmaps = countTokens(groups);
        const ids = try b.gpa.alloc(i32, n_ids);
        errdefer b.gpa.free(ids);
        const words = try bitmap.alloc(b.gpa, n_bitmaps * bitmap.wordsFor(b.source.context.trie.n_tokens));
        errdefer b.gpa.free(words);
        b.fillGroups(groups, places, ids, words);
        std.debug.assert(order.len <= std.math.maxInt(u16) + 1 and (base == no_base or id != base));
        table.ids = ids;
        table.words = words;
        table.except = try b.sortedExcept();
        return table;
    }

    fn sortedExcept(b: *Builder) Allocator.Error![]i32 {
        std.sort.heap(i32, b.except.items, {}, std.sort.asc(i32));
        const n = b.except.items.len;
        for (b.source.context.trie.duplicates) |duplicate| {
            if (std.sort.binarySearch(i32, b.except.items[0..n], @as(i32, @intCast(duplicate.token)), compare) == null) continue;
            try b.except.append(b.gpa, @intCast(duplicate.twin));
        }
        if (b.except.items.len > n) std.sort.heap(i32, b.except.items, {}, std.sort.asc(i32));
        return b.gpa.dupe(i32, b.except.items);
    }

    fn compare(token: i32, id: i32) std.math.Order {
        return std.math.order(token, id);
    }

    /// The draft nodes in depth-first order.
    fn depthFirst(b: *Builder) Allocator.Error![]u16 {
        const drafts = b.nodes.items;
        const order = try b.gpa.alloc(u16, drafts.len);
        var node: u32 = root;
        for (order) |*place| {
            place.* = @intCast(node);
            if (drafts[node].first_child != none) {
                node = drafts[node].first_child;
                continue;
            }
            while (node != root and drafts[node].sibling == none) node = drafts[node].parent;
            if (node != root) node = drafts[node].sibling;
        }
        return order;
    }

    /// Lays out nodes in order, and groups in the nodes' order, those with the same reach set together. `places` says
    /// where each draft of a group went.
    fn layOut(b: *Builder, order: []const u16, nodes: []Node, groups: []Group, places: []u32) Allocator.Error!void {
        const drafts = b.nodes.items;
        const place_of = try b.gpa.alloc(u32, drafts.len);
        defer b.gpa.free(place_of);
        for (order, 0..) |draft, n| place_of[draft] = @intCast(n);
        for (nodes) |*node| node.* = .{ .end = 0, .groups = 0, .firsts = 0, .list = 0 };
        const sorted = try b.gpa.alloc(u64, b.groups.items.len);
        defer b.gpa.free(sorted);
        for (b.groups.items, sorted, 0..) |draft, *key, i| {
            key.* = @as(u64, place_of[draft.node]) << 48 | @as(u64, draft.reach) << 32 | i;
        }
        std.sort.heap(u64, sorted, {}, std.sort.asc(u64));
        for (sorted, groups, 0..) |key, *group, place| {
            const draft = b.groups.items[@as(u32, @truncate(key))];
            places[@as(u32, @truncate(key))] = @intCast(place);
            const n: usize = @intCast(key >> 48);
            const first = @as(u64, 1) << @intCast(draft.first);
            group.* = .{
                .start = undefined, // filled in below
                .n_tokens = draft.n_tokens,
                .first = first,
                .reach = draft.reach,
                .is_bitmap = draft.n_tokens > list_max,
            };
            nodes[n].firsts |= first;
            nodes[n + 1].groups += 1;
        }
        for (nodes[1..], nodes[0..order.len]) |*node, before| node.groups += before.groups;
        var n = order.len;
        while (n > 0) {
            n -= 1;
            const draft = drafts[order[n]];
            nodes[n].list = draft.list;
            const terminals = b.program.lexer.list(draft.list);
            if (terminals.len == 1) nodes[n].terminal = terminals[0];
            nodes[n].end = @max(nodes[n].end, @as(u32, @intCast(n + 1)));
            if (n == 0) break;
            const parent = &nodes[place_of[draft.parent]];
            parent.end = @max(parent.end, nodes[n].end);
            parent.firsts |= nodes[n].firsts;
        }
    }

    fn findInterests(b: *const Builder, nodes: []const Node, groups: []const Group) Allocator.Error![]u64 {
        const p = b.program;
        const n_nodes = nodes.len - 1;
        const interests = try b.gpa.alloc(u64, n_nodes * p.width);
        @memset(interests, 0);
        for (0..n_nodes) |n| {
            const interest = interests[n * p.width ..][0..p.width];
            for (groups[nodes[n].groups..nodes[n + 1].groups]) |group| program_module.unite(interest, p.reachSet(group.reach));
            var child_node = n + 1;
            while (child_node < nodes[n].end) : (child_node = nodes[child_node].end) {
                for (p.lexer.list(nodes[child_node].list)) |terminal| program_module.add(interest, terminal);
            }
        }
        return interests;
    }

    fn countTokens(groups: []Group) struct { usize, usize } {
        var n_ids: usize = 0;
        var n_bitmaps: usize = 0;
        for (groups) |*group| {
            if (group.is_bitmap) {
                group.start = @intCast(n_bitmaps);
                n_bitmaps += 1;
            } else {
                group.start = @intCast(n_ids);
                n_ids += group.n_tokens;
            }
        }
        return .{ n_ids, n_bitmaps };
    }

    fn fillGroups(b: *const Builder, groups: []Group, places: []const u32, ids: []i32, words: bitmap.Words) void {
        const n_words = bitmap.wordsFor(b.source.context.trie.n_tokens);
        bitmap.clear(words);
        for (groups) |*group| group.n_tokens = 0;
        for (b.members.items) |member| {
            const group = &groups[places[member.group]];
            if (group.is_bitmap) {
                bitmap.set(words[group.start * n_words ..], member.token);
            } else {
                ids[group.start + group.n_tokens] = @intCast(member.token);
            }
            group.n_tokens += 1;
        }
    }
};
