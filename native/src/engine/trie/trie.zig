//! The token tries of a payload: one per descriptor, in flat arrays, 12 bytes a node.
//!
//! Nodes are numbered level by level, the roots of all descriptors first. So a node's children are contiguous,
//! `first_child` ascends, and the children of node i end where those of node i+1 begin. A node's legal ids are
//! a slice of `tokens`: asking for them copies nothing.
//!
//! Where a leaf is complete and another continues, the `end` tokens of the descriptor are ordinary children,
//! without children of their own: taking one closes the span as any last token does.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const message = @import("message");
const Budget = @import("../base/budget.zig").Budget;
const Info = @import("../contract/info.zig").Info;
const span = @import("../contract/span.zig");
const payload = @import("../payload/payload.zig");
const Payload = payload.Payload;
const Range = payload.Range;
const Text = payload.Text;
const TriggerAutomaton = @import("trigger.zig").TriggerAutomaton;

/// The number of a node; the root of a descriptor has the descriptor's number.
pub const Node = u32;

/// What is complete at a node.
pub const Mark = packed struct(u32) {
    /// The leaf's index in its descriptor; `no_leaf` if none is complete here.
    leaf: u31 = no_leaf,
    /// Every token is legal here: the leaf is a prefix of another, and its descriptor has no `end` that could say
    /// which is meant.
    allows_any: bool = false,

    pub const no_leaf = std.math.maxInt(u31);
};

/// A node and what a step reads of it.
pub const Position = struct {
    first_child: Node,
    n_children: u32,
    mark: Mark,

    /// Whether no token continues here.
    pub fn isLast(position: Position) bool {
        return position.n_children == 0;
    }
};

/// A compiled payload. Immutable but for `spelt_by`, reference-counted, shared by any number of threads.
pub const TokenTrie = struct {
    references: std.atomic.Value(u32) = .init(1),
    gpa: Allocator,

    /// The token that leads to a node; -1 for a root.
    tokens: []const i32,
    /// The first child of each node; one more at the end.
    first_child: []const u32,
    marks: []const Mark,
    descriptors: []const Descriptor,
    /// The descriptors with a language, ascending. Their tries are a root; what follows there is not the trie's to say.
    parts: []const Part,
    triggers: TriggerAutomaton,
    /// The names of all leaves of the payload.
    names: []const Text,
    /// A copy of the payload: the key in the cache, and the home of the strings.
    source: []const u8,
    /// The strings that had escapes.
    unescaped: []const u8,

    model_id: Text,
    /// The names are not what the tokens spell.
    has_labels: bool,
    /// The identity of the last vocabulary in which the tokens spell the names. 0: none so far.
    spelt_by: std.atomic.Value(u32) = .init(0),
    n_leaves: u32,
    /// The most children of a node.
    widest: u32,
    largest: @FieldType(Payload, "largest"),
    longest: @FieldType(Payload, "longest"),

    /// The trie of a descriptor has the node of the same number as its root.
    pub const Descriptor = struct {
        path: Text,
        /// In `names`, in the payload's order.
        leaves: Range,
    };

    pub const Part = struct {
        descriptor: u32,
        /// Where the descriptor stands in `source`.
        source: Range,
    };

    /// Another reference. Safe from any thread.
    pub fn retain(trie: *TokenTrie) *TokenTrie {
        _ = trie.references.fetchAdd(1, .monotonic);
        return trie;
    }

    /// Gives a reference back; the last one frees the trie. Safe from any thread.
    pub fn release(trie: *TokenTrie) void {
        if (trie.references.fetchSub(1, .acq_rel) != 1) return;
        const gpa = trie.gpa;
        gpa.free(trie.tokens);
        gpa.free(trie.first_child);
        gpa.free(trie.marks);
        gpa.free(trie.descriptors);
        gpa.free(trie.parts);
        trie.triggers.deinit(gpa);
        gpa.free(trie.unescaped);
        gpa.free(trie.names);
        gpa.free(trie.source);
        gpa.destroy(trie);
    }

    // ---- As a constraint: constraint/kinds.zig says what each promises

    pub const is_saved = false;
    /// A trie is made of token ids alone.
    pub const reads_bytes = false;

    pub fn warnings(_: *const TokenTrie) [:0]const u8 {
        return "";
    }

    pub fn describe(_: *TokenTrie) Info {
        return .{ .kind = .token_trie };
    }

    pub fn prepare(_: *TokenTrie, _: *const Budget, _: *Diagnostic) diagnostic.Error!void {}

    pub fn checkSpan(trie: *const TokenTrie, config: span.Config, default_timeout: u32, diag: *Diagnostic) diagnostic.Error!void {
        if (config.end != null) return diag.fail(.invalid_arg, "end: the end tokens of a token trie are in its payload", .{});
        if (config.prefill.len > 0) return diag.fail(.invalid_arg, "prefill: a token trie takes its own tokens, which spell no text", .{});
        return trie.checkTimeout(effectiveTimeout(config.timeout, default_timeout), diag);
    }

    pub fn effectiveTimeout(requested: u32, default: u32) u32 {
        return if (requested == 0) default else requested;
    }

    /// Fails if a leaf has more tokens than the timeout.
    pub fn checkTimeout(trie: *const TokenTrie, timeout: u32, diag: *Diagnostic) diagnostic.Error!void {
        if (trie.longest.tokens <= timeout) return;
        const place = trie.longest.place;
        return diag.fail(.limit, "descriptors[{d}].leaves[{d}].tokens: {d} tokens are more than the span timeout of {d}", .{
            place.descriptor, place.item, trie.longest.tokens, timeout,
        });
    }

    pub fn listMax(trie: *const TokenTrie) usize {
        return trie.widest;
    }

    pub fn prematureEnd(trie: *const TokenTrie, model: anytype) ?i32 {
        for (trie.tokens, 0..) |token, node| {
            if (model.isEndOfGeneration(token) and !trie.at(@intCast(node)).isLast()) return token;
        }
        return null;
    }

    // ---- As a trie

    /// The position of a node.
    pub fn at(trie: *const TokenTrie, node: Node) Position {
        const first = trie.first_child[node];
        return .{ .first_child = first, .n_children = trie.first_child[node + 1] - first, .mark = trie.marks[node] };
    }

    /// The legal next tokens, ascending. Lent by the trie.
    pub fn children(trie: *const TokenTrie, position: Position) []const i32 {
        return trie.tokens[position.first_child..][0..position.n_children];
    }

    /// The node after a token; null if the token is illegal. O(log children).
    pub fn child(trie: *const TokenTrie, position: Position, token: i32) ?Node {
        const ids = trie.children(position);
        if (ids.len <= linear_max) {
            for (ids, position.first_child..) |id, node| if (id == token) return @intCast(node);
            return null;
        }
        const i = std.sort.lowerBound(i32, ids, token, order);
        return if (i < ids.len and ids[i] == token) position.first_child + @as(u32, @intCast(i)) else null;
    }

    /// A scan of so few is faster than a binary search.
    const linear_max = 8;

    fn order(token: i32, id: i32) std.math.Order {
        return std.math.order(token, id);
    }

    /// The only legal token; null if there are several, or if the span may stop here.
    pub fn forced(trie: *const TokenTrie, position: Position) ?i32 {
        return if (position.n_children == 1 and position.mark.leaf == Mark.no_leaf) trie.tokens[position.first_child] else null;
    }

    /// Fetches what the step from a position will read. A model that has just run leaves none of it in the
    /// caches, and the misses are cheapest together.
    pub fn prefetch(trie: *const TokenTrie, position: Position) void {
        @prefetch(&trie.tokens[position.first_child], .{});
        @prefetch(&trie.first_child[position.first_child], .{});
        @prefetch(&trie.marks[position.first_child], .{});
    }

    /// A string of the payload. Lent by the trie.
    pub fn textOf(trie: *const TokenTrie, text: Text) []const u8 {
        return text.of(trie.source, trie.unescaped);
    }

    /// The descriptor with this path. Compares one after another. Fails if there is none, with those that there are.
    pub fn findPath(trie: *const TokenTrie, path: []const u8, diag: *Diagnostic) diagnostic.Error!u32 {
        for (trie.descriptors, 0..) |descriptor, i| {
            if (std.mem.eql(u8, trie.textOf(descriptor.path), path)) return @intCast(i);
        }
        var known: [512]u8 = undefined;
        var writer: std.Io.Writer = .fixed(&known);
        for (trie.descriptors, 0..) |descriptor, i| {
            message.write(&writer, "{s}{f}", .{ if (i == 0) "" else ", ", quoted(trie.textOf(descriptor.path)) }) catch break;
        }
        return diag.fail(.unknown_path, "no descriptor has the path {f}; known: {s}", .{ quoted(path), writer.buffered() });
    }

    /// The name of a leaf. Lent by the trie.
    pub fn leafName(trie: *const TokenTrie, descriptor: u32, leaf: u32) []const u8 {
        return trie.textOf(trie.descriptors[descriptor].leaves.of(trie.names)[leaf]);
    }

    /// Whether the descriptors are active one after the other, from the start on: without triggers.
    pub fn isInOrder(trie: *const TokenTrie) bool {
        return trie.triggers.isEmpty();
    }

    /// Memory in use.
    pub fn retainedBytes(trie: *const TokenTrie) u64 {
        return @sizeOf(TokenTrie) + trie.tokens.len * @sizeOf(i32) + trie.first_child.len * @sizeOf(u32) +
            trie.marks.len * @sizeOf(Mark) + trie.descriptors.len * @sizeOf(Descriptor) + trie.triggers.retainedBytes() +
            trie.parts.len * @sizeOf(Part) + trie.unescaped.len + trie.names.len * @sizeOf(Text) + trie.source.len;
    }
};

comptime {
    const node_bytes = @sizeOf(i32) + @sizeOf(u32) + @sizeOf(Mark);
    std.debug.assert(node_bytes <= 16);
}
