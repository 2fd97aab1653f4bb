//! The graphs of strings: one for all constraints of a vocabulary that ask the same of a string.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Shared = @import("../base/shared_cache.zig").Shared;
const Automata = @import("../vocabulary/string_index.zig").StringIndex.Automata;
const Dfa = @import("../language/dfa.zig").Dfa;
const SharedDfa = @import("shared_dfa.zig").SharedDfa;
const Watch = @import("../base/watch.zig").Watch;
const string_graph = @import("string_graph.zig");
const Graph = string_graph.Graph;
const Spec = @import("string_spec.zig").Spec;

pub const Error = string_graph.Error;

/// A longer key is not compared: its graph is the constraint's own.
const key_max = 1 << 16;

pub const SharedGraph = struct {
    shared: Shared,
    graph: Graph,

    /// The caller owns a reference. Lengths are not in the graph. Where it is to be shared, the automata of `spec` are
    /// `SharedDfa`s, which tell their numbers. `TooLarge` if the watch stops the work, too.
    pub fn get(gpa: Allocator, automata: ?*Automata, spec: *const Spec, watch: ?*Watch) Error!*SharedGraph {
        var key: ArrayList(u8) = .empty;
        defer key.deinit(gpa);
        const is_shared = automata != null and try writeKey(gpa, spec, &key);
        if (is_shared) if (automata.?.get(key.items)) |shared| return @fieldParentPtr("shared", shared);
        const made = try gpa.create(SharedGraph);
        errdefer gpa.destroy(made);
        made.shared = try .init(gpa, if (is_shared) key.items else "", destroy);
        errdefer gpa.free(made.shared.key);
        made.graph = if (spec.listed) |listed| try .initListed(gpa, listed, watch) else try .init(
            gpa,
            spec.matches,
            spec.mismatches,
            spec.excluded,
            watch,
        );
        if (is_shared) automata.?.put(&made.shared);
        return made;
    }

    pub fn release(g: *SharedGraph, gpa: Allocator) void {
        g.shared.release(gpa);
    }

    fn destroy(shared: *Shared, gpa: Allocator) void {
        const g: *SharedGraph = @fieldParentPtr("shared", shared);
        g.graph.deinit();
        gpa.destroy(g);
    }

    /// What the graph is made of, each part after its length; false if that is too much.
    fn writeKey(gpa: Allocator, spec: *const Spec, key: *ArrayList(u8)) Allocator.Error!bool {
        const listed = spec.listed orelse &.{};
        try writeWord(gpa, key, if (spec.listed == null) 0 else 1);
        for ([_][]const *const Dfa{ spec.matches, spec.mismatches }) |dfas| {
            try writeWord(gpa, key, dfas.len);
            for (dfas) |dfa| {
                const one: *const SharedDfa = @alignCast(@fieldParentPtr("dfa", dfa));
                try key.appendSlice(gpa, std.mem.asBytes(&one.shared.id));
            }
        }
        for ([_][]const []const u8{ spec.excluded, listed }) |texts| {
            try writeWord(gpa, key, texts.len);
            for (texts) |text| {
                try writePart(gpa, key, text);
                if (key.items.len > key_max) return false;
            }
        }
        return true;
    }

    fn writePart(gpa: Allocator, key: *ArrayList(u8), part: []const u8) Allocator.Error!void {
        try writeWord(gpa, key, part.len);
        try key.appendSlice(gpa, part);
    }

    fn writeWord(gpa: Allocator, key: *ArrayList(u8), word: usize) Allocator.Error!void {
        try key.appendSlice(gpa, std.mem.asBytes(&@as(u32, @intCast(word))));
    }
};
