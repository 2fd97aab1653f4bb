//! The state of one text in a recognizer: the position, the stacks, and the span that is open as long as the
//! text continues. constraint/kinds.zig says what each operation promises.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const contract = @import("../contract/span.zig");
const Step = contract.Step;
const Illegal = contract.Illegal;
const end_tokens_max = contract.end_tokens_max;
const Usage = @import("../contract/info.zig").Usage;
const tokenize = @import("../vocabulary/tokenize.zig");
const position_module = @import("../language/position.zig");
const Position = position_module.Position;
const Pool = position_module.Pool;
const Stack = position_module.Stack;
const Mask = @import("../mask/mask.zig").Mask;
const Recognizer = @import("recognizer.zig").Recognizer;
const prefill = @import("prefill.zig");
const OwnMask = @import("own_mask.zig").OwnMask;
const Legal = @import("../sampling/sampling.zig").Legal;

/// A plain value: a copy of it is a checkpoint.
pub const SpanState = struct {
    /// The position's.
    state: u32,
    stack: Stack,
    is_open: bool = true,
    /// Bytes of the prefill that are still to be spelled; the position is the initial one until then.
    left: u16 = 0,
    /// Tokens accepted in the open span.
    tokens: u32 = 0,
    started: u32 = 1,
    timeouts: u32 = 0,
    illegal: u32 = 0,

    pub fn position(span: *const SpanState) Position {
        return .{ .state = span.state, .stack = span.stack };
    }

    fn moveTo(span: *SpanState, at: Position) void {
        span.state = at.state;
        span.stack = at.stack;
    }

    fn ended(span: *const SpanState) u32 {
        return span.started -% @intFromBool(span.is_open);
    }

    comptime {
        std.debug.assert(@sizeOf(SpanState) == 32); // a history has one for each token
    }
};

/// Longer runs of forced bytes are cut, and those whose searches take more steps beside `forced_byte_steps` for each byte.
pub const forced_bytes_max = 65536;
const forced_steps_max = 1 << 21;
/// To try all bytes at one place.
const forced_byte_steps = 64;

/// The tokens that close the span where the text is complete.
pub const Ends = union(enum) {
    /// The vocabulary's end-of-generation tokens.
    vocabulary,
    /// These. If there are none, the span ends by itself.
    tokens: struct { items: [end_tokens_max]i32 = @splat(0), len: usize = 0 },

    /// Copies at most `end_tokens_max` tokens; null: those of the vocabulary.
    pub fn of(list: ?[]const i32) Ends {
        const given = list orelse return .vocabulary;
        var ends: Ends = .{ .tokens = .{ .len = given.len } };
        @memcpy(ends.tokens.items[0..given.len], given);
        return ends;
    }
};

/// Retains the recognizer. Belongs to one thread.
pub const RecognizerState = struct {
    gpa: Allocator,
    recognizer: *Recognizer,
    ends: Ends,
    /// Owned.
    prefill: []const u8,
    span: SpanState,
    pool: Pool = .{},
    /// The pool is compacted once it has so many nodes.
    compact_at: usize = compact_min,
    /// The mask of the position. Null until it is needed.
    mask: ?*const Mask = null,
    /// A mask that is not cached, or has end tokens of its own. Null until it is needed.
    own: ?*OwnMask = null,
    /// The forced tokens from some position on, and how many of them were accepted since.
    forced_run: ArrayList(i32) = .empty,
    n_forced_taken: usize = 0,
    mask_hits: u64 = 0,
    mask_misses: u64 = 0,

    const compact_min = 4096;

    pub const Checkpoint = SpanState;

    /// Retains the recognizer, and takes the prefill over, which is `gpa`'s.
    pub fn init(gpa: Allocator, recognizer: *Recognizer, config: contract.Config) RecognizerState {
        std.debug.assert(gpa.vtable == recognizer.gpa.vtable); // both add to the pool
        var s: RecognizerState = .{
            .gpa = gpa,
            .recognizer = recognizer.retain(),
            .ends = .of(config.end),
            .prefill = config.prefill,
            .span = undefined,
            .pool = .{ .watch = .{ .ms_max = recognizer.mask_ms_max } },
        };
        recognizer.begin();
        s.span = s.start();
        return s;
    }

    /// Continues with a text of another recognizer for the same vocabulary, from its start. Texts before it can be
    /// gone back to as long as their recognizers have one that continues.
    pub fn turnTo(s: *RecognizerState, recognizer: *Recognizer, ends: *const Ends) void {
        if (recognizer != s.recognizer) {
            _ = recognizer.retain();
            recognizer.beginAnother();
            s.recognizer.end();
            s.recognizer.release();
            s.recognizer = recognizer;
        }
        s.ends = ends.*;
        s.restore(s.start());
    }

    /// At the start of a text.
    fn start(s: *const RecognizerState) SpanState {
        const at = s.recognizer.initial();
        return .{ .state = at.state, .stack = at.stack, .left = @intCast(s.prefill.len) };
    }

    /// What is left of the prefill.
    fn prefillLeft(s: *const RecognizerState) []const u8 {
        return s.prefill[s.prefill.len - s.span.left ..];
    }

    pub fn deinit(s: *RecognizerState) void {
        s.gpa.free(s.prefill);
        s.pool.nodes.deinit(s.gpa);
        s.forced_run.deinit(s.gpa);
        if (s.own) |own| own.destroy(s.recognizer.gpa);
        s.recognizer.end();
        s.recognizer.release();
    }

    pub fn clone(s: *const RecognizerState) Allocator.Error!RecognizerState {
        const prefix = try s.gpa.dupe(u8, s.prefill);
        errdefer s.gpa.free(prefix);
        const nodes = try s.pool.nodes.clone(s.gpa);
        s.recognizer.beginAnother();
        return .{
            .gpa = s.gpa,
            .recognizer = s.recognizer.retain(),
            .ends = s.ends,
            .prefill = prefix,
            .span = s.span,
            .pool = .{ .nodes = nodes, .watch = .{ .ms_max = s.pool.watch.ms_max } },
        };
    }

    pub fn reset(s: *RecognizerState) void {
        s.restore(s.start());
        s.pool.nodes.clearRetainingCapacity();
    }

    pub fn activate(s: *RecognizerState, path: []const u8, diag: *Diagnostic) diagnostic.Error!void {
        if (path.len > 0) {
            return diag.fail(
                .unknown_path,
                "no descriptor has the path {f}: the span of a recognizer has the path \"\"",
                .{diagnostic.quoted(path)},
            );
        }
        if (s.span.is_open) s.close();
        s.span.moveTo(s.recognizer.initial());
        s.span.left = 0;
        s.span.is_open = true;
        s.span.started +%= 1;
        s.restore(s.span);
    }

    pub fn deactivate(s: *RecognizerState) void {
        if (s.span.is_open) s.close();
    }

    pub fn checkpoint(s: *const RecognizerState) Checkpoint {
        return s.span;
    }

    pub fn restore(s: *RecognizerState, span: Checkpoint) void {
        const below = span.stack.below;
        std.debug.assert(below == position_module.bottom or below < s.pool.nodes.items.len);
        s.span = span;
        s.mask = null;
        s.forgetForced();
    }

    pub fn accept(s: *RecognizerState, token: i32, timeout: u32, illegal: Illegal) contract.Error!Step {
        if (!s.span.is_open) return .{};
        s.pool.watch.begin();
        if (s.isEnd(token) and try s.canStop()) {
            s.close();
            return .{ .in_span = true, .span_ended = true };
        }
        const next = try s.after(token) orelse {
            if (s.endsByItself() and try s.canStop()) {
                s.close();
                return .{ .span_ended = true };
            }
            if (illegal == .refuse) return .{ .refused = true };
            s.close();
            s.span.illegal +%= 1;
            return .{ .span_ended = true };
        };
        s.takeForced(token);
        s.span.moveTo(next);
        if (s.span.left > 0) s.takeOfPrefill(@intCast(token));
        s.span.tokens += 1;
        s.mask = null;
        if (s.endsByItself() and try s.cannotContinue()) {
            s.close();
            return .{ .in_span = true, .span_ended = true };
        }
        if (timeout > 0 and s.span.tokens >= timeout) {
            s.close();
            s.span.timeouts +%= 1;
            return .{ .in_span = true, .span_ended = true, .timed_out = true };
        }
        return .{ .in_span = true };
    }

    pub fn allowed(s: *RecognizerState) contract.Error!?Legal {
        if (!s.span.is_open) return null;
        const mask = s.knownMask() orelse computed: {
            s.pool.watch.begin();
            break :computed try s.computeMask();
        };
        if (!mask.can_stop) return legal(mask);
        if (s.endsByItself()) return null;
        return switch (s.ends) {
            .vocabulary => legal(mask),
            .tokens => |ends| legal(try s.withEnds(mask, ends.items[0..ends.len])),
        };
    }

    pub fn isReady(s: *const RecognizerState) bool {
        if (!s.span.is_open or s.mask != null) return true;
        return s.span.left == 0 and s.recognizer.cachedMask(&s.pool, s.span.position()) != null;
    }

    pub fn canStop(s: *RecognizerState) contract.Error!bool {
        if (!s.span.is_open) return true;
        if (s.span.left > 0) return false;
        if (s.mask) |mask| return mask.can_stop;
        s.pool.watch.begin();
        return s.recognizer.canStop(&s.pool, s.span.position());
    }

    pub fn forcedToken(s: *RecognizerState) contract.Error!?i32 {
        if (s.n_forced_taken < s.forced_run.items.len) return s.forced_run.items[s.n_forced_taken];
        s.pool.watch.begin();
        if (!try s.allBeginAlike()) return null;
        try s.findForced();
        return if (s.forced_run.items.len > 0) s.forced_run.items[0] else null;
    }

    pub fn forced(s: *RecognizerState, out: []i32, _: u32) contract.Error!usize {
        s.pool.watch.begin();
        if (s.n_forced_taken == s.forced_run.items.len) try s.findForced();
        const run = s.forced_run.items[s.n_forced_taken..];
        const n = @min(run.len, out.len);
        @memcpy(out[0..n], run[0..n]);
        return run.len;
    }

    pub fn forcedBytes(s: *RecognizerState, out: []u8) contract.Error!usize {
        s.pool.watch.begin();
        _ = try s.allowed(); // fails where that does
        var bytes: ArrayList(u8) = .empty;
        defer bytes.deinit(s.gpa);
        _ = try s.appendForced(&bytes);
        const n = @min(bytes.items.len, out.len);
        @memcpy(out[0..n], bytes.items[0..n]);
        return bytes.items.len;
    }

    pub fn endTokens(s: *const RecognizerState) []const i32 {
        return s.recognizer.trie.end_tokens;
    }

    pub fn report(s: *RecognizerState) contract.Error!contract.Report {
        const span = &s.span;
        const legal_tokens = try s.allowed();
        return .{
            .descriptor = if (span.is_open) 0 else null,
            .can_stop = try s.canStop(),
            .is_constrained = legal_tokens != null,
            .n_allowed = if (legal_tokens) |tokens| @intCast(tokens.len()) else 0,
            .tokens = span.tokens,
            .started = span.started,
            .ended = span.ended(),
            .timeouts = span.timeouts,
            .illegal = span.illegal,
        };
    }

    pub fn leafName(_: *const RecognizerState) ?[]const u8 {
        return null;
    }

    pub fn nIllegal(s: *const RecognizerState) u32 {
        return s.span.illegal;
    }

    pub fn prefetch(_: *const RecognizerState) void {}

    /// Out of memory, it leaves the stacks as they are.
    pub inline fn compact(s: *RecognizerState, history: []Checkpoint) void {
        if (s.pool.nodes.items.len >= s.compact_at) s.compactPool(history);
    }

    noinline fn compactPool(s: *RecognizerState, history: []Checkpoint) void {
        s.compactStacks(Stacks{ .recognizer = s.recognizer, .current = &s.span, .history = history, .len = history.len + 1 });
    }

    /// Drops the nodes that none of these stacks leads to.
    pub fn compactStacks(s: *RecognizerState, stacks: anytype) void {
        s.pool.compact(s.gpa, stacks) catch return;
        s.compact_at = @max(compact_min, 2 * s.pool.nodes.items.len);
    }

    pub fn usage(s: *const RecognizerState) Usage {
        const own = if (s.own) |mask| @sizeOf(OwnMask) + 4 * mask.ids.len + 4 * mask.words.len else 0;
        const stacks = s.pool.nodes.capacity * @sizeOf(position_module.Node);
        return .{
            .retained = stacks + s.prefill.len + 4 * s.forced_run.capacity + own,
            .stacks = stacks,
            .mask_hits = s.mask_hits,
            .mask_misses = s.mask_misses,
        };
    }

    // ---- Spans

    fn close(s: *RecognizerState) void {
        s.span.is_open = false;
        s.span.tokens = 0;
        s.mask = null;
        s.forgetForced();
    }

    /// Whether the span ends by itself, without an end token.
    fn endsByItself(s: *const RecognizerState) bool {
        return s.closingTokens().len == 0;
    }

    fn closingTokens(s: *const RecognizerState) []const i32 {
        return switch (s.ends) {
            .vocabulary => s.recognizer.trie.end_tokens,
            .tokens => |*ends| ends.items[0..ends.len],
        };
    }

    fn isEnd(s: *const RecognizerState, token: i32) bool {
        return std.mem.findScalar(i32, s.closingTokens(), token) != null;
    }

    /// Whether the text is complete and no token continues it.
    pub fn cannotContinue(s: *RecognizerState) contract.Error!bool {
        if (!try s.canStop()) return false;
        const mask = try s.currentMask();
        const ends = s.recognizer.trie.end_tokens;
        if (mask.n_tokens != ends.len) return false;
        for (ends) |token| if (try s.isNamedHere(token)) return false;
        return true;
    }

    /// Whether an end token of the vocabulary continues the text: a grammar may name it.
    noinline fn isNamedHere(s: *RecognizerState, token: i32) contract.Error!bool {
        if (!s.recognizer.language.namesTokens()) return false;
        const n_nodes = s.pool.nodes.items.len;
        defer s.pool.nodes.shrinkRetainingCapacity(n_nodes);
        return try s.after(token) != null;
    }

    /// The position after a token; null if the token is illegal.
    inline fn after(s: *RecognizerState, token: i32) contract.Error!?Position {
        const n_nodes = s.pool.nodes.items.len;
        errdefer s.pool.nodes.shrinkRetainingCapacity(n_nodes);
        const next = if (s.span.left > 0)
            try s.afterPrefill(@intCast(token))
        else
            try s.recognizer.advanceToken(&s.pool, s.span.position(), @intCast(token));
        if (next == null) s.pool.nodes.shrinkRetainingCapacity(n_nodes);
        return next;
    }

    noinline fn takeOfPrefill(s: *RecognizerState, token: u32) void {
        const text = s.recognizer.vocabulary.tokens.bytesOf(token);
        s.span.left -= @intCast(@min(text.len, s.span.left));
    }

    noinline fn afterPrefill(s: *RecognizerState, token: u32) contract.Error!?Position {
        const tokens = &s.recognizer.vocabulary.tokens;
        const left = s.prefillLeft();
        const text = if (tokens.isText(token)) tokens.bytesOf(token) else return null;
        const n = @min(text.len, left.len);
        if (!std.mem.eql(u8, text[0..n], left[0..n])) return null;
        const next = try s.recognizer.advance(&s.pool, s.span.position(), text[n..]) orelse return null;
        return try s.recognizer.endToken(&s.pool, next);
    }

    // ---- Masks

    fn currentMask(s: *RecognizerState) contract.Error!*const Mask {
        return s.knownMask() orelse s.computeMask();
    }

    fn knownMask(s: *RecognizerState) ?*const Mask {
        if (s.mask) |mask| return mask;
        if (s.span.left > 0) return null;
        s.mask = s.recognizer.cachedMask(&s.pool, s.span.position()) orelse return null;
        s.mask_hits += 1;
        return s.mask;
    }

    fn computeMask(s: *RecognizerState) contract.Error!*const Mask {
        s.mask_misses += 1;
        const scratch = try s.recognizer.scratches.take();
        defer s.recognizer.scratches.giveBack(scratch);
        const mask = if (s.span.left > 0)
            try prefill.computeMask(s.recognizer, &s.pool, s.span.position(), s.prefillLeft(), scratch)
        else
            try s.recognizer.computeMask(&s.pool, s.span.position(), scratch);
        s.mask = if (mask == &scratch.mask) own: {
            const own = try s.ownMask();
            own.take(scratch);
            break :own &own.mask;
        } else mask;
        return s.mask.?;
    }

    /// The mask with other end tokens than the vocabulary's.
    fn withEnds(s: *RecognizerState, mask: *const Mask, ends: []const i32) contract.Error!*const Mask {
        const own = try s.ownMask();
        if (mask != &own.mask) own.copy(mask);
        const out = s.recognizer.trie.end_tokens;
        if (s.recognizer.language.namesTokens()) {
            s.pool.watch.begin();
            for (out) |*token| if (!try s.isNamedHere(token.*)) own.replace(token[0..1], &.{});
            own.replace(&.{}, ends);
        } else own.replace(out, ends);
        return &own.mask;
    }

    fn ownMask(s: *RecognizerState) Allocator.Error!*OwnMask {
        if (s.own) |own| return own;
        const own = try OwnMask.create(s.recognizer.gpa, s.recognizer.trie);
        s.own = own;
        return own;
    }

    // ---- Forced tokens

    /// Appends the forced bytes, at most `forced_bytes_max`. Returns whether no byte can follow them.
    fn appendForced(s: *RecognizerState, out: *ArrayList(u8)) contract.Error!bool {
        if (!s.span.is_open) return false;
        const n_nodes = s.pool.nodes.items.len;
        defer s.pool.nodes.shrinkRetainingCapacity(n_nodes);
        var position = s.span.position();
        try out.appendSlice(s.gpa, s.prefillLeft());
        const before = s.pool.watch.taken();
        while (out.items.len < forced_bytes_max) {
            if (s.pool.watch.taken() - before > forced_steps_max + forced_byte_steps * out.items.len) return false;
            try s.pool.watch.steps(forced_byte_steps);
            if (try s.recognizer.takesTokens(&s.pool, position)) return try s.onlyByte(position) == .none;
            const can_stop = try s.recognizer.canStop(&s.pool, position);
            const only = try s.onlyByte(position);
            if (can_stop) return only == .none;
            const byte = switch (only) {
                .one => |byte| byte,
                else => return false,
            };
            try out.append(s.gpa, byte);
            position = (try s.recognizer.advance(&s.pool, position, &.{byte})).?;
        }
        return false;
    }

    const OnlyByte = union(enum) { none, one: u8, several };

    fn onlyByte(s: *RecognizerState, position: Position) contract.Error!OnlyByte {
        if (try s.recognizer.nextBytes(&s.pool, position)) |bytes| return switch (bytes.count()) {
            0 => .none,
            1 => .{ .one = @intCast(bytes.findFirstSet().?) },
            else => .several,
        };
        const n_nodes = s.pool.nodes.items.len;
        var only: OnlyByte = .none;
        for (0..256) |byte| {
            const next = try s.recognizer.advance(&s.pool, position, &.{@intCast(byte)});
            s.pool.nodes.shrinkRetainingCapacity(n_nodes);
            if (next == null) continue;
            if (only == .one) return .several;
            only = .{ .one = @intCast(byte) };
        }
        return only;
    }

    /// Whether all legal tokens begin with the same byte. If not, there is no forced token.
    fn allBeginAlike(s: *RecognizerState) contract.Error!bool {
        if (!s.span.is_open) return false;
        const mask = try s.currentMask();
        if (mask.words != null or mask.n_tokens == 0) return false;
        if (mask.n_tokens == 1) return true;
        if (mask.can_stop) return false;
        const vocabulary = s.recognizer.vocabulary;
        const first = vocabulary.tokens.bytesOf(@intCast(mask.ids[0]));
        for (mask.ids) |id| {
            const bytes = vocabulary.tokens.bytesOf(@intCast(id));
            if (bytes.len == 0 or bytes[0] != first[0]) return false;
        }
        return true;
    }

    fn findForced(s: *RecognizerState) contract.Error!void {
        s.forgetForced();
        if (!s.span.is_open) return;
        var bytes: ArrayList(u8) = .empty;
        defer bytes.deinit(s.gpa);
        const ends_here = try s.appendForced(&bytes);
        if (bytes.items.len > 0) {
            try tokenize.forced(s.gpa, s.recognizer.vocabulary, s.recognizer.trie, bytes.items, ends_here, &s.forced_run);
        }
        if (s.forced_run.items.len > 0 or (s.endsByItself() and try s.canStop())) return;
        const single = try s.allowed() orelse return;
        if (single == .list and single.list.len == 1) try s.forced_run.append(s.gpa, single.list[0]);
    }

    fn takeForced(s: *RecognizerState, token: i32) void {
        if (s.n_forced_taken < s.forced_run.items.len and s.forced_run.items[s.n_forced_taken] == token) {
            s.n_forced_taken += 1;
        } else s.forgetForced();
    }

    fn forgetForced(s: *RecognizerState) void {
        s.forced_run.clearRetainingCapacity();
        s.n_forced_taken = 0;
    }
};

fn legal(mask: *const Mask) Legal {
    return if (mask.words) |words| .{ .bitmap = .{ .words = words, .n_tokens = mask.n_tokens } } else .{ .list = mask.ids };
}

/// For `Pool.compact`.
const Stacks = struct {
    recognizer: *const Recognizer,
    current: *SpanState,
    history: []SpanState,
    len: usize,

    pub fn at(stacks: Stacks, i: usize) *Stack {
        return &stacks.spanAt(i).stack;
    }

    pub fn isGraph(stacks: Stacks, i: usize) bool {
        return stacks.recognizer.language.inner(stacks.spanAt(i).position()).form == .graph;
    }

    fn spanAt(stacks: Stacks, i: usize) *SpanState {
        return if (i == 0) stacks.current else &stacks.history[i - 1];
    }
};
