//! What the tokens of a vocabulary do at a place in a string: which go on with it, and behind which texts it may
//! end. Where all characters of an alphabet lead one way for some characters, the groups of tokens with such
//! alphabets are legal without a look at them; what is left are the few that leave the way.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const bitmap = @import("../base/bitmap.zig");
const Shared = @import("../base/shared_cache.zig").Shared;
const ByteTrie = @import("../vocabulary/byte_trie.zig").ByteTrie;
const Tokens = @import("../vocabulary/tokens.zig").Tokens;
const index_module = @import("../vocabulary/string_index.zig");
const StringIndex = index_module.StringIndex;
const Alphabet = index_module.Alphabet;
const short_max = index_module.short_max;
const schema_module = @import("schema.zig");
const unbounded = schema_module.unbounded;
const strings_module = @import("strings.zig");
const Strings = strings_module.Strings;
const State = Strings.State;
const Graph = @import("string_graph.zig").Graph;
const escapes = @import("escapes.zig");
const spell = @import("spell.zig").spell;
const list_max = @import("../mask/mask.zig").list_max;

pub const Error = strings_module.Error;

/// Where a walk from the first bytes meets so few nodes, it is the quickest way.
const light_max = 3000;
/// More tokens that leave the way are found by a walk.
const exits_max = 30_000;
/// A longer way is endless: no token is so long.
const endless = std.math.maxInt(u32);

/// Reference-counted, immutable.
pub const StringPlace = struct {
    shared: Shared,
    /// Tokens within the string, in any order; with those of `words`, if they are many. Of long ones `addTooLong` says more.
    ids: []const i32 = &.{},
    words: ?bitmap.Words = null,
    /// By what stands before the quote of a closer (`StringIndex.inners`): bits of those behind which the string may
    /// end. Empty if it may not.
    closing: []const u32 = &.{},
    /// Of the graph: a state where it may end.
    ending: u32 = Graph.dead,
    /// Below a node of the trie, in place of the two above: where a quote or an escape is next.
    specials: []const Special = &.{},

    /// Behind `state`, and its bytes behind the first node.
    pub const Special = struct { node: u32, state: State, n_behind: u32 };

    /// The same of the tokens below a node of the vocabulary's trie: in `ids` alone.
    pub fn getBelow(v: *const Vocabulary, strings: *Strings, state: State, node: u32) Error!*StringPlace {
        const length = strings.spec.length;
        const key: [5]u64 = .{ strings.shared.shared.id, @bitCast(state), length.min, length.max, node };
        if (v.index.sets.get(std.mem.sliceAsBytes(&key))) |shared| return @fieldParentPtr("shared", shared);
        var finder: Finder = .{ .v = v, .strings = strings, .any_spelling = false, .is_uncounted = false };
        defer finder.ids.deinit(v.gpa);
        var specials: ArrayList(Special) = .empty;
        defer specials.deinit(v.gpa);
        try finder.findBelow(state, node, &specials);
        const kept = try v.gpa.dupe(Special, specials.items);
        errdefer v.gpa.free(kept);
        const place = try keep(v, std.mem.sliceAsBytes(&key), &finder, &.{});
        place.specials = kept;
        v.index.sets.put(&place.shared);
        return place;
    }

    /// Which spellings are meant, and which tokens.
    pub const Wanted = packed struct(u32) {
        any_spelling: bool = false,
        /// Not the plain ones, which are legal anyway.
        but_plain: bool = false,
        _: u30 = 0,
    };

    /// The caller owns a reference. No character has begun that `state` is within, unless it is one of few.
    pub fn get(v: *const Vocabulary, strings: *Strings, state: State, wanted: Wanted) Error!*StringPlace {
        const key = keyOf(v.index, strings, state, wanted);
        if (v.index.sets.get(std.mem.asBytes(&key))) |shared| return @fieldParentPtr("shared", shared);
        var finder: Finder = .{
            .v = v,
            .strings = strings,
            .any_spelling = wanted.any_spelling,
            .is_uncounted = isUncounted(strings, &key),
        };
        defer finder.ids.deinit(v.gpa);
        errdefer if (finder.words) |words| v.gpa.free(words);
        const is_many = key.left == unbounded and key.needed == 0 and !wanted.but_plain;
        const like = if (is_many) try strings.shared.likeState(v.gpa, state.product) else state.product;
        const closing = if (like == state.product) found: {
            try if (wanted.but_plain) finder.walkAll(state, &v.index.others.trie, &v.index.others) else finder.find(state);
            break :found try finder.findClosing(state);
        } else found: {
            const place: *StringPlace = try .get(v, strings, .{ .product = like, .count = state.count }, wanted);
            defer place.release(v.gpa);
            break :found try finder.findLike(place, state);
        };
        errdefer v.gpa.free(closing);
        const place = try keep(v, std.mem.asBytes(&key), &finder, closing);
        v.index.sets.put(&place.shared);
        return place;
    }

    fn keep(v: *const Vocabulary, key: []const u8, finder: *Finder, closing: []const u32) Allocator.Error!*StringPlace {
        const place = try v.gpa.create(StringPlace);
        errdefer v.gpa.destroy(place);
        const ids = try v.gpa.dupe(i32, finder.ids.items);
        errdefer v.gpa.free(ids);
        place.* = .{
            .shared = try .init(v.gpa, key, destroy),
            .ids = ids,
            .words = finder.words,
            .closing = closing,
            .ending = finder.ending,
        };
        return place;
    }

    pub fn release(place: *StringPlace, gpa: Allocator) void {
        place.shared.release(gpa);
    }

    fn destroy(shared: *Shared, gpa: Allocator) void {
        const place: *StringPlace = @fieldParentPtr("shared", shared);
        gpa.free(place.ids);
        if (place.words) |words| gpa.free(words);
        gpa.free(place.closing);
        gpa.free(place.specials);
        gpa.destroy(place);
    }
};

pub const Vocabulary = struct {
    gpa: Allocator,
    index: *StringIndex,
    tokens: *const Tokens,
    trie: *const ByteTrie,
};

const Key = extern struct { graph: u64, state: u32, needed: u32, left: u32, wanted: u32 };

/// What decides: not how many characters came, but how many are needed and left, as far as most tokens reach.
fn keyOf(index: *const StringIndex, strings: *const Strings, state: State, wanted: StringPlace.Wanted) Key {
    const length = strings.spec.length;
    const needed = length.min -| state.count;
    const left = if (length.max == unbounded) unbounded else length.max - state.count;
    const is_free = strings.graph.isFree(state.product);
    const is_far = left >= index.reach +| strings.graph.depth and (needed == 0 or is_free and strings.graph.is_endless);
    return .{
        .graph = strings.shared.shared.id,
        .state = state.product,
        // The longest closer is within reach.
        .needed = if (is_free) @min(needed, index.reach + 1) else needed,
        .left = if (is_far) unbounded else left,
        .wanted = @bitCast(wanted),
    };
}

/// Every state of the graph is alive, however many characters have come.
fn isUncounted(strings: *const Strings, key: *const Key) bool {
    return key.left == unbounded and (key.needed == 0 or strings.graph.is_endless);
}

/// Whether all plain tokens are legal at a place.
pub fn takesPlain(v: *const Vocabulary, strings: *const Strings, state: State) bool {
    const key = keyOf(v.index, strings, state, .{});
    return strings.spec.length.max == unbounded and strings.graph.total[state.product] and isUncounted(strings, &key);
}

/// Adds the tokens of a place that are too long for what is left.
pub fn addTooLong(v: *const Vocabulary, strings: *Strings, state: State, ids: *ArrayList(i32)) Error!void {
    const max = strings.spec.length.max;
    if (max == unbounded or keyOf(v.index, strings, state, .{}).left != unbounded) return;
    next: for (v.index.long) |long| {
        if (long.length +| strings.graph.depth <= max - state.count) return;
        var at = state;
        for (v.tokens.bytesOf(@intCast(long.token))) |byte| {
            at = try strings.next(at, byte) orelse {
                try ids.append(v.gpa, long.token);
                continue :next;
            };
        }
    }
}

/// From a state on: the alphabet whose characters all lead one way, for how many of them, and what else there is.
const Run = struct {
    alphabet: Alphabet = 0,
    /// Other classes with which the text may go on somewhere on the way.
    exits: Alphabet = 0,
    length: u32 = 0,
    /// Something may come behind the last character.
    goes_on: bool = false,
};

const Finder = struct {
    v: *const Vocabulary,
    strings: *Strings,
    any_spelling: bool,
    is_uncounted: bool,
    ids: ArrayList(i32) = .empty,
    words: ?bitmap.Words = null,
    ending: u32 = Graph.dead,

    inline fn next(f: *Finder, state: State, byte: u8) Error!?State {
        if (!f.is_uncounted) return f.strings.next(state, byte);
        const product = f.strings.graph.next(state.product, byte);
        if (product == Graph.dead) return null;
        return .{ .product = product, .count = state.count + @intFromBool(byte & 0xc0 != 0x80) };
    }

    fn find(f: *Finder, state: State) Error!void {
        const index = f.v.index;
        var n_nodes: usize = 0;
        for (index.root, 0..) |child, byte| {
            if (child == 0 or byte < 0x20 or byte == '"') continue;
            if (byte != '\\' and try f.next(state, @intCast(byte)) == null) continue;
            n_nodes += f.v.trie.nodes[child].subtree;
        }
        if (n_nodes <= light_max) return f.walkAll(state, f.v.trie, null);
        const run = try f.bestRun(state);
        if (run.alphabet == 0 or f.countLeaving(&run) > exits_max) {
            try f.walkAll(state, f.v.trie, null);
        } else {
            f.words = try f.within(run.alphabet, run.length);
            try f.addLeaving(&run, state);
            try f.walkAll(state, &index.others.trie, &index.others);
        }
        if (f.words == null and f.ids.items.len > list_max) {
            f.words = try bitmap.alloc(f.v.gpa, index.plain.len);
            bitmap.clear(f.words.?);
        }
        const words = f.words orelse return;
        for (f.ids.items) |id| bitmap.set(words, @intCast(id));
        f.ids.clearRetainingCapacity();
    }

    /// From the place of a state that short tokens do not tell from this one.
    fn findLike(f: *Finder, like: *const StringPlace, state: State) Error![]const u32 {
        const gpa = f.v.gpa;
        const index = f.v.index;
        f.ending = like.ending;
        if (like.words) |words| {
            f.words = try bitmap.alloc(gpa, words.len);
            bitmap.copy(f.words.?, words);
        }
        for (like.ids) |id| if (f.v.tokens.bytesOf(@intCast(id)).len <= short_max) try f.ids.append(gpa, id);
        for (index.outsized) |token| {
            const is_legal = try f.read(state, f.v.tokens.bytesOf(@intCast(token))) != null;
            if (f.words) |words| {
                if (is_legal) bitmap.set(words, @intCast(token)) else bitmap.unset(words, @intCast(token));
            } else if (is_legal) try f.ids.append(gpa, token);
        }
        const closing = try gpa.alloc(u32, index.inners.len / 32 + 1);
        errdefer gpa.free(closing);
        if (like.closing.len > 0) @memcpy(closing, like.closing) else @memset(closing, 0);
        for (index.inners, 0..) |inner, i| if (inner.len > short_max) {
            bitmap.unset(closing, @intCast(i));
            const last = try f.behind(state, inner) orelse continue;
            if (!f.strings.canEnd(last)) continue;
            f.ending = last.product;
            bitmap.set(closing, @intCast(i));
        };
        if (f.ending != Graph.dead) return closing;
        gpa.free(closing);
        return &.{};
    }

    // ---- Alphabets

    fn bestRun(f: *Finder, state: State) Error!Run {
        if (f.is_uncounted and f.strings.graph.total[state.product]) return .{ .alphabet = f.v.index.alphabet, .length = endless };
        const run = try f.findRun(state);
        const closed = if (f.is_uncounted) f.findClosed(state) orelse return run else return run;
        const is_more = f.v.index.weightOf(closed.alphabet) > f.v.index.weightOf(run.alphabet);
        return if (is_more or run.length != endless) closed else run;
    }

    fn findRun(f: *Finder, from: State) Error!Run {
        const index = f.v.index;
        var run: Run = .{};
        var state = from;
        var ways: Ways = .of(f.strings.graph, state.product);
        var alive: Alphabet = ways.alive;
        while (true) {
            const alphabet = ways.heaviest(index, if (run.length == 0) ~@as(Alphabet, 0) else run.alphabet);
            const loses_much = run.length > 0 and 2 * index.weightOf(alphabet) < index.weightOf(run.alphabet);
            const goes_on = if (alphabet == 0 or loses_much) null else try f.nextOf(state, alphabet);
            const after = goes_on orelse {
                run.goes_on = loses_much or ways.alive & run.alphabet & ~alphabet != 0;
                break;
            };
            run.alphabet = alphabet;
            run.length += 1;
            if (std.meta.eql(after, state) or run.length > index.longest) {
                run.length = endless;
                break;
            }
            if (after.product != state.product) {
                ways = .of(f.strings.graph, after.product);
                alive |= ways.alive;
            }
            state = after;
        }
        run.exits = alive & ~run.alphabet;
        return run;
    }

    /// An alphabet all whose texts go on, wherever they lead; null if states are too many.
    fn findClosed(f: *const Finder, from: State) ?Run {
        var closed: Closed = .{ .graph = f.strings.graph, .index = f.v.index, .alphabet = Ways.of(f.strings.graph, from.product).full };
        while (closed.alphabet != 0) {
            if (closed.isClosed(from.product) orelse return null) {
                return .{ .alphabet = closed.alphabet, .exits = closed.alive & ~closed.alphabet, .length = endless };
            }
        }
        return null;
    }

    /// The state behind any character of the alphabet.
    fn nextOf(f: *Finder, state: State, alphabet: Alphabet) Error!?State {
        for (index_module.class_of, 0..) |class, byte| {
            if (alphabet >> class & 1 != 0) return f.next(state, @intCast(byte));
        }
        const first = try f.next(state, 0xc3) orelse return null;
        return f.next(first, 0xa9);
    }

    /// The plain tokens of an alphabet, with so many characters at most; the caller frees them.
    fn within(f: *Finder, alphabet: Alphabet, length: u32) Allocator.Error!bitmap.Words {
        const index = f.v.index;
        const words = try bitmap.alloc(f.v.gpa, index.plain.len);
        errdefer f.v.gpa.free(words);
        const key = [_]u64{ 0, alphabet, length };
        if (index.sets.get(std.mem.sliceAsBytes(&key))) |shared| {
            const place: *StringPlace = @fieldParentPtr("shared", shared);
            defer place.release(f.v.gpa);
            bitmap.copy(words, place.words.?);
            return words;
        }
        addWithin(index, alphabet, length, words);
        try f.keepWithin(std.mem.sliceAsBytes(&key), words);
        return words;
    }

    fn keepWithin(f: *Finder, key: []const u8, words: bitmap.Words) Allocator.Error!void {
        const gpa = f.v.gpa;
        const copy = try bitmap.alloc(gpa, words.len);
        errdefer gpa.free(copy);
        bitmap.copy(copy, words);
        const place = try gpa.create(StringPlace);
        errdefer gpa.destroy(place);
        place.* = .{ .shared = try .init(gpa, key, StringPlace.destroy), .words = copy };
        f.v.index.sets.put(&place.shared);
        place.release(gpa);
    }

    fn addWithin(index: *const StringIndex, alphabet: Alphabet, length: u32, words: bitmap.Words) void {
        if (alphabet & index.alphabet == index.alphabet and length == endless) return bitmap.copy(words, index.plain);
        bitmap.clear(words);
        for (index.groups) |group| {
            if (group.alphabet & ~alphabet != 0) continue;
            const end = if (length == endless) group.to else group.from + firstAbove(index.lengths[group.from..group.to], length);
            if (group.words != null and group.to - end < (group.to - group.from) / 2) {
                bitmap.unite(words, &.{group.words.?});
                for (index.members[end..group.to]) |token| bitmap.unset(words, @intCast(token));
            } else for (index.members[group.from..end]) |token| bitmap.set(words, @intCast(token));
        }
    }

    fn firstAbove(lengths: []const u16, length: u32) u32 {
        var from: usize = 0;
        var to = lengths.len;
        while (from < to) {
            const middle = from + (to - from) / 2;
            if (lengths[middle] <= length) from = middle + 1 else to = middle;
        }
        return @intCast(from);
    }

    /// The members of a group that may leave the way.
    fn leaving(index: *const StringIndex, run: *const Run, group: index_module.Group) []const i32 {
        if (group.alphabet & ~run.alphabet != 0) {
            return if (group.alphabet & run.exits != 0) index.members[group.from..group.to] else &.{};
        }
        if (!run.goes_on) return &.{};
        return index.members[group.from + firstAbove(index.lengths[group.from..group.to], run.length) .. group.to];
    }

    fn countLeaving(f: *const Finder, run: *const Run) usize {
        var n: usize = 0;
        for (f.v.index.groups) |group| n += leaving(f.v.index, run, group).len;
        return n;
    }

    fn addLeaving(f: *Finder, run: *const Run, from: State) Error!void {
        for (f.v.index.groups) |group| next: for (leaving(f.v.index, run, group)) |token| {
            var state = from;
            for (f.v.tokens.bytesOf(@intCast(token))) |byte| state = try f.next(state, byte) orelse continue :next;
            bitmap.set(f.words.?, @intCast(token));
        };
    }

    // ---- Walks

    /// All tokens of a trie; `texts` if its tokens are those of an index.
    fn walkAll(f: *Finder, state: State, trie: *const ByteTrie, texts: ?*const StringIndex.Texts) Error!void {
        var child: u32 = 1;
        while (child < trie.nodes.len) : (child += trie.nodes[child].subtree) try f.walk(state, trie, child, texts);
    }

    /// The tokens of the subtree of a node, before whose byte the state is.
    fn walk(f: *Finder, from: State, trie: *const ByteTrie, root: u32, texts: ?*const StringIndex.Texts) Error!void {
        var states: [256]State = undefined;
        const nodes = trie.nodes;
        const base = nodes[root].depth;
        states[0] = from;
        const end = root + nodes[root].subtree;
        var at = root;
        while (at < end) {
            const node = nodes[at];
            const state = states[node.depth - base];
            if (node.byte == '\\') try f.walkEscape(state, 0, trie, at, texts);
            const is_plain = node.byte >= 0x20 and node.byte != '"' and node.byte != '\\';
            const goes_on = if (is_plain) try f.next(state, node.byte) else null;
            if (goes_on) |after| {
                states[node.depth - base + 1] = after;
                if (node.token()) |token| try f.add(token, texts);
                at += 1;
            } else at += node.subtree;
        }
    }

    fn findBelow(f: *Finder, from: State, top: u32, specials: *ArrayList(StringPlace.Special)) Error!void {
        const nodes = f.v.trie.nodes;
        var states: [257]State = undefined;
        states[0] = from;
        var at = top + 1;
        while (at < top + nodes[top].subtree) {
            const node = nodes[at];
            const n_behind = node.depth - nodes[top].depth - 1;
            const state = states[n_behind];
            const is_special = node.byte == '"' or node.byte == '\\';
            if (is_special) try specials.append(f.v.gpa, .{ .node = at, .state = state, .n_behind = n_behind });
            const goes_on = if (is_special or node.byte < 0x20) null else try f.next(state, node.byte);
            if (goes_on) |after| {
                states[n_behind + 1] = after;
                if (node.token()) |token| try f.add(token, null);
                at += 1;
            } else at += node.subtree;
        }
    }

    fn walkEscape(
        f: *Finder,
        from: State,
        escape: escapes.State,
        trie: *const ByteTrie,
        root: u32,
        texts: ?*const StringIndex.Texts,
    ) Error!void {
        const node = trie.nodes[root];
        const event = escapes.next(escape, node.byte) orelse return;
        if (event.what == .quote) return;
        const state = try spell(f.strings, from, event, f.any_spelling) orelse return;
        if (node.token()) |token| try f.add(token, texts);
        var child = root + 1;
        while (child < root + node.subtree) : (child += trie.nodes[child].subtree) {
            try f.walkEscape(state, event.state, trie, child, texts);
        }
    }

    fn add(f: *Finder, token: u32, texts: ?*const StringIndex.Texts) Allocator.Error!void {
        const one = [_]i32{@intCast(token)};
        try f.ids.appendSlice(f.v.gpa, if (texts) |t| t.of[t.starts[token]..t.starts[token + 1]] else &one);
    }

    // ---- Ends

    /// Behind which texts the string may end, in the finder's memory.
    fn findClosing(f: *Finder, state: State) Error![]const u32 {
        const inners = f.v.index.inners;
        const closing = try f.v.gpa.alloc(u32, inners.len / 32 + 1);
        errdefer f.v.gpa.free(closing);
        @memset(closing, 0);
        var i: usize = 0;
        while (i < inners.len) : (i += 1) {
            const inner = inners[i];
            const last = try f.behind(state, inner) orelse {
                // Those that begin with the same byte are neighbours.
                if (inner[0] == '\\' or try f.next(state, inner[0]) != null) continue;
                while (i + 1 < inners.len and inners[i + 1][0] == inner[0]) i += 1;
                continue;
            };
            if (!f.strings.canEnd(last)) continue;
            f.ending = last.product;
            bitmap.set(closing, @intCast(i));
        }
        if (f.ending != Graph.dead) return closing;
        f.v.gpa.free(closing);
        return &.{};
    }

    /// The state behind a text without quotes; null if it does not go on so, or within an escape.
    fn behind(f: *Finder, from: State, text: []const u8) Error!?State {
        const last, const escape = try f.read(from, text) orelse return null;
        return if (escape == 0) last else null;
    }

    /// The same, and the escape that it ends in.
    fn read(f: *Finder, from: State, text: []const u8) Error!?struct { State, escapes.State } {
        var state = from;
        var escape: escapes.State = 0;
        for (text) |byte| {
            if (escape == 0 and byte != '\\') {
                state = try f.next(state, byte) orelse return null;
                continue;
            }
            const event = escapes.next(escape, byte) orelse return null;
            state = try spell(f.strings, state, event, f.any_spelling) orelse return null;
            escape = event.state;
        }
        return .{ state, escape };
    }
};

/// The search for an alphabet that leads to no dead end.
const Closed = struct {
    graph: *const Graph,
    index: *const StringIndex,
    alphabet: Alphabet,
    /// All classes with which the text may go on somewhere.
    alive: Alphabet = 0,

    const Reached = struct { state: u32, over: Alphabet };

    /// Whether texts of the alphabet always go on. If not, the alphabet has become smaller. Null: too many states.
    fn isClosed(c: *Closed, from: u32) ?bool {
        var reached: [64]Reached = undefined;
        reached[0] = .{ .state = from, .over = 0 };
        c.alive = 0;
        var n: usize = 1;
        var i: usize = 0;
        while (i < n) : (i += 1) {
            const ways: Ways = .of(c.graph, reached[i].state);
            c.alive |= ways.alive;
            if (c.alphabet & ~ways.full != 0) {
                const without = c.alphabet & ~reached[i].over;
                c.alphabet &= ways.full;
                if (c.index.weightOf(without) > c.index.weightOf(c.alphabet) and i > 0) c.alphabet = without;
                return false;
            }
            for (0..0x81) |character| {
                const is_beyond = character == 0x80;
                const class = if (is_beyond) index_module.beyond_ascii else index_module.class_of[character];
                if (c.alphabet >> class & 1 == 0) continue;
                const to = if (is_beyond) ways.to[class] else c.graph.next(reached[i].state, @intCast(character));
                const is_known = for (reached[0..n]) |one| {
                    if (one.state == to) break true;
                } else false;
                if (is_known) continue;
                if (n == reached.len) return null;
                reached[n] = .{ .state = to, .over = @as(Alphabet, 1) << class };
                n += 1;
            }
        }
        return true;
    }
};

/// Where each class of characters leads from a state.
const Ways = struct {
    to: [64]u32,
    /// The classes of which some character goes on, and those of which all do; of what is beyond ASCII, all if they
    /// lead to one state.
    alive: Alphabet,
    full: Alphabet,

    const several = std.math.maxInt(u32);

    fn of(graph: *const Graph, state: u32) Ways {
        var ways: Ways = .{ .to = @splat(Graph.dead), .alive = 0, .full = 0 };
        var seen: Alphabet = 0;
        var dead: Alphabet = 0;
        for (0x20..0x80) |byte| {
            if (byte == '"' or byte == '\\') continue;
            const class = index_module.class_of[byte];
            const to = graph.next(state, @intCast(byte));
            const bit = @as(Alphabet, 1) << class;
            if (seen & bit == 0) ways.to[class] = to else if (ways.to[class] != to) ways.to[class] = several;
            seen |= bit;
            if (to == Graph.dead) dead |= bit else ways.alive |= bit;
        }
        const beyond = graph.nextBeyondAscii(state);
        const bit = @as(Alphabet, 1) << index_module.beyond_ascii;
        ways.to[index_module.beyond_ascii] = beyond orelse several;
        if (beyond == null) dead |= bit;
        if (beyond != Graph.dead) ways.alive |= bit;
        ways.full = ways.alive & ~dead;
        return ways;
    }

    /// Of the classes in `among`, those that lead where the most tokens do.
    fn heaviest(ways: *const Ways, index: *const StringIndex, among: Alphabet) Alphabet {
        var best: Alphabet = 0;
        var left = ways.alive & among;
        while (left != 0) {
            const first: u6 = @intCast(@ctz(left));
            var same: Alphabet = 0;
            if (ways.to[first] == several) {
                left &= left - 1;
                continue;
            }
            for (ways.to, 0..) |to, class| {
                if (to == ways.to[first]) same |= @as(Alphabet, 1) << @intCast(class);
            }
            same &= left;
            left &= ~same;
            if (index.weightOf(same) > index.weightOf(best)) best = same;
        }
        return best;
    }
};
