//! The token tries of one payload: one per descriptor, in flat arrays, 12 bytes a node.
//!
//! Nodes are numbered level by level, the roots of all descriptors first. So the children of a node
//! are contiguous, `first_child` ascends, and the children of node i end where those of node i+1
//! begin. A node's legal ids are a slice of `tokens`: asking for them copies nothing.
//!
//! An `end` token of a descriptor is an ordinary child, without children of its own, of each node
//! where a leaf is complete and another goes on: taking it closes the span like any last token.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("../base/budget.zig").Budget;
const Info = @import("../contract/info.zig").Info;
const span = @import("../contract/span.zig");
const payload = @import("../payload/payload.zig");
const Payload = payload.Payload;
const Range = payload.Range;
const Text = payload.Text;
const TriggerAutomaton = @import("trigger.zig").TriggerAutomaton;

pub const Node = u32;

/// What is complete at a node.
pub const Mark = packed struct(u32) {
    /// Index of the leaf in its descriptor; `no_leaf` if none is complete here.
    leaf: u31 = no_leaf,
    /// The leaf is a prefix of another and its descriptor has no `end`: here the constraint steps
    /// back for one token.
    steps_back: bool = false,

    pub const no_leaf = std.math.maxInt(u31);
};

/// A node, with all that a step needs of it.
pub const Position = struct {
    first_child: Node,
    n_children: u32,
    mark: Mark,

    pub fn isLast(position: Position) bool {
        return position.n_children == 0;
    }
};

pub const TokenTrie = struct {
    references: std.atomic.Value(u32) = .init(1),
    gpa: Allocator,

    /// The token that leads to a node; -1 for a root.
    tokens: []const i32,
    /// One more than there are nodes.
    first_child: []const u32,
    marks: []const Mark,
    descriptors: []const Descriptor,
    triggers: TriggerAutomaton,
    /// The names of all leaves of the payload.
    names: []const Text,
    /// A copy of the payload that was compiled: the key in the cache, and where the strings are.
    source: []const u8,
    /// Strings that had escapes in it.
    unescaped: []const u8,

    model_id: Text,
    n_leaves: u32,
    widest: u32,
    largest: @FieldType(Payload, "largest"),
    longest: @FieldType(Payload, "longest"),

    pub const Descriptor = struct {
        path: Text,
        /// Ranges of `names`, in the order of the payload.
        leaves: Range,
    };

    pub fn retain(trie: *TokenTrie) *TokenTrie {
        _ = trie.references.fetchAdd(1, .monotonic);
        return trie;
    }

    pub fn release(trie: *TokenTrie) void {
        if (trie.references.fetchSub(1, .acq_rel) != 1) return;
        const gpa = trie.gpa;
        gpa.free(trie.tokens);
        gpa.free(trie.first_child);
        gpa.free(trie.marks);
        gpa.free(trie.descriptors);
        trie.triggers.deinit(gpa);
        gpa.free(trie.unescaped);
        gpa.free(trie.names);
        gpa.free(trie.source);
        gpa.destroy(trie);
    }

    // ---- As a constraint: constraint/kinds.zig says what each promises

    pub const is_saved = false;
    /// A trie is of token ids alone.
    pub const reads_bytes = false;

    pub fn notes(_: *const TokenTrie) [:0]const u8 {
        return "";
    }

    pub fn describe(_: *TokenTrie) Info {
        return .{ .kind = .token_trie };
    }

    pub fn prepare(_: *TokenTrie, _: *const Budget, _: *Diagnostic) diagnostic.Error!void {}

    pub fn checkSpan(trie: *const TokenTrie, config: span.Config, callers_timeout: u32, diag: *Diagnostic) diagnostic.Error!void {
        if (config.end != null) return diag.fail(.invalid_arg, "end: the end tokens of a token trie are in its payload", .{});
        return trie.checkTimeout(timeoutInForce(config.timeout, callers_timeout), diag);
    }

    pub fn timeoutInForce(asked: u32, callers: u32) u32 {
        return if (asked == 0) callers else asked;
    }

    /// Whether every leaf can be completed within the timeout.
    pub fn checkTimeout(trie: *const TokenTrie, timeout: u32, diag: *Diagnostic) diagnostic.Error!void {
        if (trie.longest.tokens <= timeout) return;
        const place = trie.longest.place;
        return diag.fail(.limit, "descriptors[{d}].leaves[{d}].tokens: {d} tokens are more than the span timeout of {d}", .{
            place.descriptor, place.item, trie.longest.tokens, timeout,
        });
    }

    pub fn listedMax(trie: *const TokenTrie) usize {
        return trie.widest;
    }

    pub fn firstContinued(trie: *const TokenTrie, model: anytype) ?i32 {
        for (trie.tokens, 0..) |token, node| {
            if (model.isEndOfGeneration(token) and !trie.at(@intCast(node)).isLast()) return token;
        }
        return null;
    }

    // ---- As a trie

    pub fn at(trie: *const TokenTrie, node: Node) Position {
        const first = trie.first_child[node];
        return .{ .first_child = first, .n_children = trie.first_child[node + 1] - first, .mark = trie.marks[node] };
    }

    /// The legal next tokens, ascending.
    pub fn children(trie: *const TokenTrie, position: Position) []const i32 {
        return trie.tokens[position.first_child..][0..position.n_children];
    }

    /// The node after a token; null if the token is not legal.
    pub fn child(trie: *const TokenTrie, position: Position, token: i32) ?Node {
        const ids = trie.children(position);
        if (ids.len <= linear_max) {
            for (ids, position.first_child..) |id, node| if (id == token) return @intCast(node);
            return null;
        }
        const i = std.sort.lowerBound(i32, ids, token, order);
        return if (i < ids.len and ids[i] == token) position.first_child + @as(u32, @intCast(i)) else null;
    }

    /// Up to here a scan is faster than a binary search.
    const linear_max = 8;

    fn order(token: i32, id: i32) std.math.Order {
        return std.math.order(token, id);
    }

    /// The token that must follow: the only legal one, where the span cannot stop.
    pub fn forced(trie: *const TokenTrie, position: Position) ?i32 {
        return if (position.n_children == 1 and position.mark.leaf == Mark.no_leaf) trie.tokens[position.first_child] else null;
    }

    /// Asks for what the step from a position will read. A model that has just run leaves nothing
    /// of it in the caches, and the misses are best taken together.
    pub fn prefetch(trie: *const TokenTrie, position: Position) void {
        @prefetch(&trie.tokens[position.first_child], .{});
        @prefetch(&trie.first_child[position.first_child], .{});
        @prefetch(&trie.marks[position.first_child], .{});
    }

    pub fn textOf(trie: *const TokenTrie, text: Text) []const u8 {
        return text.of(trie.source, trie.unescaped);
    }

    pub fn findPath(trie: *const TokenTrie, path: []const u8) ?u32 {
        for (trie.descriptors, 0..) |descriptor, i| {
            if (std.mem.eql(u8, trie.textOf(descriptor.path), path)) return @intCast(i);
        }
        return null;
    }

    pub fn leafName(trie: *const TokenTrie, descriptor: u32, leaf: u32) []const u8 {
        return trie.textOf(trie.descriptors[descriptor].leaves.of(trie.names)[leaf]);
    }

    /// True if a span is open from the start.
    pub fn isActiveAtOnce(trie: *const TokenTrie) bool {
        return trie.descriptors.len == 1 and trie.triggers.isEmpty();
    }

    pub fn retainedBytes(trie: *const TokenTrie) u64 {
        return @sizeOf(TokenTrie) + trie.tokens.len * @sizeOf(i32) + trie.first_child.len * @sizeOf(u32) +
            trie.marks.len * @sizeOf(Mark) + trie.descriptors.len * @sizeOf(Descriptor) + trie.triggers.retainedBytes() +
            trie.unescaped.len + trie.names.len * @sizeOf(Text) + trie.source.len;
    }
};

comptime {
    const node_bytes = @sizeOf(i32) + @sizeOf(u32) + @sizeOf(Mark);
    std.debug.assert(node_bytes <= 16);
}
