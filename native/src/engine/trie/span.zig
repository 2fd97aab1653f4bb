//! The state machine of spans in a token trie. A plain value: a copy of it is a checkpoint, with which matchers
//! roll back and clone.

const std = @import("std");
const trie_module = @import("trie.zig");
const TokenTrie = trie_module.TokenTrie;
const Node = trie_module.Node;
const Position = trie_module.Position;
const Mark = trie_module.Mark;
const contract = @import("../contract/span.zig");
const Step = contract.Step;
const Illegal = contract.Illegal;
const Leaf = contract.Leaf;
const TriggerAutomaton = @import("trigger.zig").TriggerAutomaton;

/// Where a text stands in a token trie, which every operation is given.
pub const Span = struct {
    /// In the active trie. Null outside a span.
    position: ?Position = null,
    descriptor: u32 = 0,
    /// Tokens accepted in the open span.
    tokens: u32 = 0,
    /// Progress towards a trigger, outside a span.
    trigger: u32 = TriggerAutomaton.start,
    /// The leaf that the last span ended with. Null if it ended otherwise, or a caller opened one since.
    ended_with: ?Leaf = null,
    /// The descriptor that opens when the open span has ended. None after the last, with triggers, and once a caller
    /// opens or closes spans.
    next: u32 = none,

    started: u32 = 0,
    ended: u32 = 0,
    timeouts: u32 = 0,
    illegal: u32 = 0,

    const none = std.math.maxInt(u32);

    /// At the start of a text.
    pub fn init(trie: *const TokenTrie) Span {
        var span: Span = .{};
        if (trie.isInOrder()) {
            span.open(trie, 0);
            span.next = 1;
        }
        return span;
    }

    /// Opens a span at the root of a descriptor. An open span ends without a leaf.
    pub fn activate(span: *Span, trie: *const TokenTrie, descriptor: u32) void {
        span.deactivate();
        span.ended_with = null;
        span.open(trie, descriptor);
    }

    /// Ends the open span, without a leaf. Outside a span, changes nothing.
    pub fn deactivate(span: *Span) void {
        span.next = none;
        if (span.isActive()) span.close(null);
    }

    /// Takes one token. `illegal` says what an illegal one does. O(log children).
    pub fn accept(span: *Span, trie: *const TokenTrie, token: i32, timeout: u32, illegal: Illegal) Step {
        const position = span.position orelse return span.acceptOutside(trie, token);
        if (trie.child(position, token)) |next| return span.advance(trie, next, timeout);
        if (position.mark.allows_any) {
            span.close(span.leaf());
        } else {
            if (illegal == .refuse) return .{ .refused = true };
            span.deactivate();
            span.illegal +%= 1;
        }
        return span.goOnBefore(trie, token);
    }

    /// After the span was closed before a token: reads that as outside, and opens the next in order.
    pub inline fn goOnBefore(span: *Span, trie: *const TokenTrie, token: i32) Step {
        var step = span.acceptOutside(trie, token);
        step.span_ended = true;
        return span.goOn(trie, step);
    }

    /// After a token that ended a span: opens the next in order.
    pub inline fn goOn(span: *Span, trie: *const TokenTrie, step: Step) Step {
        if (span.next >= trie.descriptors.len) return step;
        span.open(trie, span.next);
        span.next += 1;
        var both = step;
        both.span_started = true;
        return both;
    }

    /// Ends the open span.
    pub inline fn close(span: *Span, with: ?Leaf) void {
        span.ended_with = with;
        span.position = null;
        span.tokens = 0;
        span.trigger = TriggerAutomaton.start;
        span.ended +%= 1;
    }

    /// Whether a span is open.
    pub fn isActive(span: *const Span) bool {
        return span.position != null;
    }

    /// The legal next tokens, ascending, lent by the trie; null if all are legal.
    pub fn allowed(span: *const Span, trie: *const TokenTrie) ?[]const i32 {
        const position = span.position orelse return null;
        return if (position.mark.allows_any) null else trie.children(position);
    }

    /// The only legal token; null if there are several, or if the text may stop here.
    pub fn forced(span: *const Span, trie: *const TokenTrie) ?i32 {
        return trie.forced(span.position orelse return null);
    }

    /// The forced tokens, through the spans that open in order: writes as many as fit and returns how many there are.
    pub fn forcedRun(span: *const Span, trie: *const TokenTrie, out: []i32, timeout: u32) usize {
        var ahead = span.*;
        var n: usize = 0;
        while (ahead.forced(trie)) |token| : (n += 1) {
            if (n < out.len) out[n] = token;
            _ = ahead.accept(trie, token, timeout, .refuse);
        }
        return n;
    }

    /// Whether a leaf is complete here, or no span is open.
    pub fn canStop(span: *const Span) bool {
        const position = span.position orelse return true;
        return position.mark.leaf != Mark.no_leaf;
    }

    /// The leaf that is complete here or, where no token of a span was accepted, that the last span ended with.
    pub fn leaf(span: *const Span) ?Leaf {
        const position = span.position orelse return span.ended_with;
        if (span.tokens == 0) return span.ended_with;
        const index = position.mark.leaf;
        return if (index == Mark.no_leaf) null else .{ .descriptor = span.descriptor, .index = index };
    }

    /// Where the text stands, of which `n_allowed` tokens are legal next; null: all.
    pub fn report(span: *const Span, n_allowed: ?usize, can_stop: bool) contract.Report {
        return .{
            .descriptor = if (span.isActive()) span.descriptor else null,
            .can_stop = can_stop,
            .is_constrained = n_allowed != null,
            .n_allowed = @intCast(n_allowed orelse 0),
            .tokens = span.tokens,
            .leaf = span.leaf(),
            .started = span.started,
            .ended = span.ended,
            .timeouts = span.timeouts,
            .illegal = span.illegal,
        };
    }

    fn advance(span: *Span, trie: *const TokenTrie, next: Node, timeout: u32) Step {
        const position = trie.at(next);
        span.position = position;
        span.tokens += 1;
        if (position.isLast()) {
            span.close(span.leaf());
            return span.goOn(trie, .{ .in_span = true, .span_ended = true });
        }
        if (span.tokens >= timeout) {
            span.close(span.leaf());
            span.timeouts +%= 1;
            return span.goOn(trie, .{ .in_span = true, .span_ended = true, .timed_out = true });
        }
        return .{ .in_span = true };
    }

    fn acceptOutside(span: *Span, trie: *const TokenTrie, token: i32) Step {
        span.trigger = trie.triggers.step(span.trigger, token);
        const descriptor = trie.triggers.fired(span.trigger) orelse return .{};
        span.activate(trie, descriptor);
        return .{ .span_started = true };
    }

    fn open(span: *Span, trie: *const TokenTrie, descriptor: u32) void {
        span.position = trie.at(descriptor); // the roots are the first nodes
        span.descriptor = descriptor;
        span.tokens = 0;
        span.started +%= 1;
    }
};
