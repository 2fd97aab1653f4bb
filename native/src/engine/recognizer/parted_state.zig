//! The state of one text in a payload with parts: the spans are those of the trie, and what may follow in a part is its
//! recognizer's to say. constraint/kinds.zig says what each operation promises.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const contract = @import("../contract/span.zig");
const Step = contract.Step;
const Leaf = contract.Leaf;
const Usage = @import("../contract/info.zig").Usage;
const Stack = @import("../language/position.zig").Stack;
const Legal = @import("../sampling/sampling.zig").Legal;
const Span = @import("../trie/span.zig").Span;
const recognizer_state = @import("state.zig");
const RecognizerState = recognizer_state.RecognizerState;
const PartedTrie = @import("parted_trie.zig").PartedTrie;

/// Retains the payload. Belongs to one thread. Operations of each step are `noinline`, since in their callers they would
/// cost the other kinds registers.
pub const PartedState = struct {
    gpa: Allocator,
    parted: *PartedTrie,
    span: Span,
    /// Of the open part. Its stacks are those of all parts that the history leads back to.
    text: RecognizerState,
    said: Said = .{},
    /// What the texts of parts spell, one after another.
    spelled: ArrayList(u8) = .empty,

    /// A plain value: a copy of it is a checkpoint.
    pub const Checkpoint = struct { span: Span, text: recognizer_state.SpanState, said: Said };

    /// Places in `spelled`.
    const Said = struct {
        /// Where the text of the open part begins, and how far it goes.
        start: usize = 0,
        end: usize = 0,
        /// The last text that was complete. None before it is needed.
        last: struct { start: usize = 0, end: usize = 0 } = .{},

        fn moveBack(said: *Said, n: usize) void {
            for ([_]*usize{ &said.start, &said.end, &said.last.start, &said.last.end }) |place| place.* -= n;
        }
    };

    /// While no part is open.
    const idle: recognizer_state.SpanState = .{ .state = 0, .stack = .initial, .is_open = false };

    /// Before so many bytes, none are dropped.
    const spelt_min = 4096;

    /// Retains the payload. Spans end with its tokens.
    pub fn init(gpa: Allocator, parted: *PartedTrie, _: contract.Config) PartedState {
        for (parted.parts) |part| part.recognizer.begin();
        var s: PartedState = .{
            .gpa = gpa,
            .parted = parted.retain(),
            .span = .init(parted.trie),
            .text = .init(gpa, parted.parts[0].recognizer, .{ .end = &.{} }),
        };
        s.enter();
        return s;
    }

    pub fn deinit(s: *PartedState) void {
        s.text.deinit();
        for (s.parted.parts) |part| part.recognizer.end();
        s.spelled.deinit(s.gpa);
        s.parted.release();
    }

    pub fn clone(s: *const PartedState) Allocator.Error!PartedState {
        var spelled = try s.spelled.clone(s.gpa);
        errdefer spelled.deinit(s.gpa);
        const text = try s.text.clone();
        for (s.parted.parts) |part| part.recognizer.beginAnother();
        return .{ .gpa = s.gpa, .parted = s.parted.retain(), .span = s.span, .text = text, .said = s.said, .spelled = spelled };
    }

    pub fn reset(s: *PartedState) void {
        s.span = .init(s.parted.trie);
        s.text.reset();
        s.said = .{};
        s.spelled.clearRetainingCapacity();
        s.enter();
    }

    pub fn checkpoint(s: *const PartedState) Checkpoint {
        return .{ .span = s.span, .text = s.text.span, .said = s.said };
    }

    pub fn restore(s: *PartedState, to: Checkpoint) void {
        s.span = to.span;
        s.said = to.said;
        s.spelled.shrinkRetainingCapacity(to.said.end);
        if (s.openPart()) |part| s.text.turnTo(part.recognizer, &part.ends);
        s.text.restore(to.text);
    }

    /// Out of memory, it leaves the stacks as they are.
    pub fn compact(s: *PartedState, history: []Checkpoint) void {
        if (s.text.pool.nodes.items.len >= s.text.compact_at) {
            const stacks: Stacks = .{ .state = s, .history = history, .len = history.len + 1 };
            s.text.compactStacks(stacks);
        }
        const needed = if (history.len > 0) history[0].said.last.start else s.said.last.start;
        if (needed > spelt_min and needed > s.spelled.items.len / 2) s.dropSpelt(needed, history);
    }

    fn dropSpelt(s: *PartedState, n: usize, history: []Checkpoint) void {
        const kept = s.spelled.items[n..];
        std.mem.copyForwards(u8, s.spelled.items[0..kept.len], kept);
        s.spelled.shrinkRetainingCapacity(kept.len);
        s.said.moveBack(n);
        for (history) |*one| one.said.moveBack(n);
    }

    pub fn activate(s: *PartedState, path: []const u8, diag: *Diagnostic) diagnostic.Error!void {
        s.span.activate(s.parted.trie, try s.parted.trie.findPath(path, diag));
        s.enter();
    }

    pub fn deactivate(s: *PartedState) void {
        s.span.deactivate();
        s.enter();
    }

    pub fn accept(s: *PartedState, token: i32, timeout: u32, illegal: contract.Illegal) contract.Error!Step {
        const borders = s.span.started +% s.span.ended;
        const step = if (s.openPart()) |part|
            try s.acceptInPart(part, token, timeout, illegal)
        else
            s.span.accept(s.parted.trie, token, timeout, illegal);
        if (s.span.started +% s.span.ended != borders) s.enter();
        return step;
    }

    /// As a leaf would have it: the span ends where nothing can follow, with an end token, or before a token that does
    /// not continue a complete text, where there are no end tokens.
    fn acceptInPart(
        s: *PartedState,
        part: *const PartedTrie.Part,
        token: i32,
        timeout: u32,
        illegal: contract.Illegal,
    ) contract.Error!Step {
        const span = &s.span;
        const trie = s.parted.trie;
        const bytes = part.recognizer.vocabulary.tokens.bytesOf(@intCast(token));
        try s.spelled.ensureUnusedCapacity(s.gpa, bytes.len);
        const step = try s.text.accept(token, 0, .refuse);
        if (step.refused) {
            if (illegal == .refuse) return step;
            span.deactivate();
            span.illegal +%= 1;
            return span.goOnBefore(trie, token);
        }
        if (!step.in_span) {
            s.closeComplete();
            return span.goOnBefore(trie, token);
        }
        const has_end = part.ends.tokens.len > 0;
        if (!step.span_ended or !has_end) {
            s.spelled.appendSliceAssumeCapacity(bytes);
            s.said.end = s.spelled.items.len;
        }
        span.tokens += 1;
        if (step.span_ended or has_end and try s.text.cannotContinue()) {
            s.closeComplete();
            return span.goOn(trie, .{ .in_span = true, .span_ended = true });
        }
        if (span.tokens >= timeout) {
            if (try s.text.canStop()) s.closeComplete() else span.close(null);
            span.timeouts +%= 1;
            return span.goOn(trie, .{ .in_span = true, .span_ended = true, .timed_out = true });
        }
        return .{ .in_span = true };
    }

    pub noinline fn allowed(s: *PartedState) contract.Error!?Legal {
        if (s.isInPart()) return s.text.allowed();
        return if (s.span.allowed(s.parted.trie)) |ids| .{ .list = ids } else null;
    }

    pub noinline fn isReady(s: *const PartedState) bool {
        return s.text.isReady(); // it is where no part is open
    }

    pub noinline fn canStop(s: *PartedState) contract.Error!bool {
        return if (s.isInPart()) s.text.canStop() else s.span.canStop();
    }

    pub noinline fn forcedToken(s: *PartedState) contract.Error!?i32 {
        return if (s.isInPart()) s.text.forcedToken() else s.span.forced(s.parted.trie);
    }

    /// A run ends where a part begins or ends, and with the timeout.
    pub fn forced(s: *PartedState, out: []i32, timeout: u32) contract.Error!usize {
        if (!s.isInPart()) return s.span.forcedRun(s.parted.trie, out, timeout);
        return @min(try s.text.forced(out, 0), @max(1, timeout -| s.span.tokens));
    }

    pub fn forcedBytes(s: *PartedState, out: []u8) contract.Error!usize {
        return if (s.isInPart()) s.text.forcedBytes(out) else 0;
    }

    pub fn endTokens(s: *const PartedState) []const i32 {
        return if (s.isInPart()) s.text.endTokens() else &.{};
    }

    pub noinline fn report(s: *PartedState) contract.Error!contract.Report {
        const legal = try s.allowed();
        return s.span.report(if (legal) |tokens| tokens.len() else null, try s.canStop());
    }

    /// The text of a part is told when its span has ended: before, it may still continue.
    pub fn leafName(s: *const PartedState) ?[]const u8 {
        const leaf = s.span.leaf() orelse return null;
        if (leaf.index == Leaf.text) return s.spelled.items[s.said.last.start..s.said.last.end];
        return s.parted.trie.leafName(leaf.descriptor, leaf.index);
    }

    pub fn nIllegal(s: *const PartedState) u32 {
        return s.span.illegal;
    }

    pub fn usage(s: *const PartedState) Usage {
        var all = s.text.usage();
        all.retained += s.spelled.capacity;
        return all;
    }

    pub fn prefetch(s: *const PartedState) void {
        if (s.isInPart()) return;
        if (s.span.position) |position| s.parted.trie.prefetch(position);
    }

    fn isInPart(s: *const PartedState) bool {
        return s.text.span.is_open;
    }

    fn openPart(s: *const PartedState) ?*const PartedTrie.Part {
        return if (s.span.isActive()) s.parted.partOf(s.span.descriptor) else null;
    }

    /// After a span was opened or closed: begins the text of a part.
    fn enter(s: *PartedState) void {
        const part = s.openPart() orelse return s.text.restore(idle);
        s.text.turnTo(part.recognizer, &part.ends);
        const end = s.spelled.items.len;
        s.said.start = end;
        s.said.end = end;
        const is_told = if (s.span.ended_with) |leaf| leaf.index == Leaf.text else false;
        if (!is_told) s.said.last = .{ .start = end, .end = end };
    }

    fn closeComplete(s: *PartedState) void {
        s.said.last = .{ .start = s.said.start, .end = s.said.end };
        s.span.close(.{ .descriptor = s.span.descriptor, .index = Leaf.text });
    }
};

/// For `Pool.compact`.
const Stacks = struct {
    state: *PartedState,
    history: []PartedState.Checkpoint,
    len: usize,

    pub fn at(stacks: Stacks, i: usize) *Stack {
        return &stacks.textOf(i).stack;
    }

    pub fn isGraph(stacks: Stacks, i: usize) bool {
        const span = if (i == 0) &stacks.state.span else &stacks.history[i - 1].span;
        const part = stacks.state.parted.partOf(span.descriptor) orelse return false;
        return stacks.textOf(i).is_open and part.recognizer.language.inner(stacks.textOf(i).position()).form == .graph;
    }

    fn textOf(stacks: Stacks, i: usize) *recognizer_state.SpanState {
        return if (i == 0) &stacks.state.text.span else &stacks.history[i - 1].text;
    }
};
