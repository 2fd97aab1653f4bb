//! The strings that satisfy some assertions together, as an automaton over the UTF-8 of their content, without
//! dead ends. Characters are counted beside it, so that a length costs no states.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const schema_module = @import("schema.zig");
const unbounded = schema_module.unbounded;
const Graph = @import("string_graph.zig").Graph;
const Watch = @import("../base/watch.zig").Watch;
const NumberMap = @import("../base/number_map.zig").NumberMap;
const shared_graph = @import("shared_graph.zig");
const SharedGraph = shared_graph.SharedGraph;
const Automata = @import("../vocabulary/string_index.zig").StringIndex.Automata;

pub const Spec = @import("string_spec.zig").Spec;
pub const Error = shared_graph.Error;

/// Steps that the search for a length between two bounds may take.
const search_max = 1 << 20;

/// One thread's at a time.
pub const Strings = struct {
    gpa: Allocator,
    spec: Spec,
    graph: *const Graph,
    shared: *SharedGraph,
    /// What is excluded is not in the graph: `excludes` must be asked at the end.
    is_late: bool = false,
    /// By state: whether some completion has a length between the bounds.
    between: NumberMap = .{},

    /// `count` is that of the characters, no higher than what still matters.
    pub const State = packed struct(u64) { product: u32, count: u32 };

    /// `automata`: those of the vocabulary, or null to make one alone.
    pub fn init(gpa: Allocator, automata: ?*Automata, spec: Spec, watch: ?*Watch) Error!Strings {
        if (spec.as_key and spec.excluded.len > 0 and spec.length.max == unbounded) {
            var open = spec;
            open.excluded = &.{};
            const shared: *SharedGraph = try .get(gpa, automata, &open, watch);
            if (shared.graph.is_endless or !spec.as_item and outlasts(&shared.graph, spec.excluded)) {
                return .{ .gpa = gpa, .spec = spec, .graph = &shared.graph, .shared = shared, .is_late = true };
            }
            shared.release(gpa);
        }
        const shared: *SharedGraph = try .get(gpa, automata, &spec, watch);
        return .{ .gpa = gpa, .spec = spec, .graph = &shared.graph, .shared = shared };
    }

    /// Whether each excluded content that is in the graph can continue to one that is longer than all of these. Then what begins one
    /// of them becomes one that is not excluded, too.
    fn outlasts(graph: *const Graph, excluded: []const []const u8) bool {
        var most: usize = 0; // characters, or more
        for (excluded) |content| most = @max(most, content.len);
        for (excluded) |content| {
            var state: u32 = Graph.start;
            for (content) |byte| {
                state = graph.next(state, byte);
                if (state == Graph.dead) break;
            } else if (graph.longest[state] <= most - content.len) return false;
        }
        return true;
    }

    pub fn deinit(s: *Strings) void {
        s.between.deinit(s.gpa);
        s.shared.release(s.gpa);
    }

    /// Whether any content at all is in the set.
    pub fn isFree(s: *const Strings) bool {
        return s.spec.isFree();
    }

    /// The set is known to be infinite, if it is not empty.
    pub fn isEndless(s: *const Strings) bool {
        return s.spec.length.max == unbounded and s.graph.longest[Graph.start] == Graph.endless;
    }

    /// There are infinitely many at each place.
    pub fn isOpen(s: *const Strings) bool {
        return s.graph.is_endless and s.spec.length.max == unbounded;
    }

    pub fn isEmpty(s: *Strings) Error!bool {
        return !try s.isAlive(s.start());
    }

    pub fn start(_: *const Strings) State {
        return .{ .product = Graph.start, .count = 0 };
    }

    /// The state after a byte of the content; null exactly if no string of the set continues so.
    pub inline fn next(s: *Strings, state: State, byte: u8) Error!?State {
        const product = s.graph.next(state.product, byte);
        return if (product == Graph.dead) null else s.after(state, product, byte & 0xc0 != 0x80);
    }

    /// The state after a whole character that leads to `product`.
    pub fn behindCharacter(s: *Strings, state: State, product: u32) Error!?State {
        return if (product == Graph.dead) null else s.after(state, product, true);
    }

    inline fn after(s: *Strings, state: State, product: u32, is_lead: bool) Error!?State {
        const length = s.spec.length;
        if (is_lead and length.max != unbounded and state.count == length.max) return null;
        const enough = if (length.max == unbounded) length.min else length.max;
        const then: State = .{ .product = product, .count = @min(state.count + @intFromBool(is_lead), enough) };
        return if (try s.isAlive(then)) then else null;
    }

    /// Whether the content so far is in the set.
    pub fn canEnd(s: *const Strings, state: State) bool {
        return s.graph.accepts(state.product) and state.count >= s.spec.length.min;
    }

    /// Whether a content is one of those that are not in the graph.
    pub fn excludes(s: *const Strings, content: []const u8) bool {
        if (!s.is_late) return false;
        for (s.spec.excluded) |one| if (std.mem.eql(u8, one, content)) return true;
        return false;
    }

    /// All contents of the set, in `arena`; null if there are more than so many.
    pub fn all(s: *Strings, arena: Allocator, n_max: usize) Error!?[]const []const u8 {
        if (s.graph.longest[Graph.start] == Graph.endless and s.spec.length.max == unbounded) return null;
        const Begun = struct { state: State, content: []const u8 };
        var found: ArrayList([]const u8) = .empty;
        var begun: ArrayList(Begun) = .empty;
        try begun.append(arena, .{ .state = s.start(), .content = "" });
        var i: usize = 0;
        while (i < begun.items.len) : (i += 1) {
            const one = begun.items[i];
            if (s.canEnd(one.state) and !s.excludes(one.content)) try found.append(arena, one.content);
            for (0..256) |byte| {
                const state = try s.next(one.state, @intCast(byte)) orelse continue;
                const content = try std.mem.concat(arena, u8, &.{ one.content, &.{@intCast(byte)} });
                try begun.append(arena, .{ .state = state, .content = content });
            }
            // None of those that wait begins another, and each becomes a content.
            if (found.items.len + begun.items.len - i - 1 > n_max) return null;
        }
        return found.items;
    }

    fn isAlive(s: *Strings, state: State) Error!bool {
        if (s.graph.shortest[state.product] == Graph.none) return false; // at the start of the empty set
        const length = s.spec.length;
        const min = length.min -| state.count;
        if (length.max == unbounded) return s.graph.longest[state.product] >= min;
        const max = length.max - state.count;
        const shortest = s.graph.shortest[state.product];
        if (shortest > max or s.graph.longest[state.product] < min) return false;
        if (shortest >= min) return true;
        return s.hasBetween(state, min, max);
    }

    /// Whether some completion has a length between what is left of the bounds: layer by layer of characters.
    fn hasBetween(s: *Strings, state: State, min: u32, max: u32) Error!bool {
        if (s.between.get(@bitCast(state))) |known| return known != 0;
        var steps: usize = 0;
        const found = try s.graph.hasLength(s.gpa, state.product, min, max, &steps, search_max);
        try s.between.put(s.gpa, @bitCast(state), @intFromBool(found));
        return found;
    }
};
