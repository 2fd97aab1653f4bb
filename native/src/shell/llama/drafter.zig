//! Drafts the next tokens of a stream, by prompt lookup or with a smaller model. What the constraint or the grammar leaves
//! no choice about is drafted as it must be, and nothing that they refuse. A draft changes no output: the stream chooses each
//! token as without it, and only what it chooses counts.

const std = @import("std");
const Context = @import("context.zig").Context;
const Grammar = @import("grammar.zig").Grammar;
const Lookup = @import("lookup.zig").Lookup;
const Sequence = @import("sequence.zig").Sequence;
const Guide = @import("engine").guide.Guide;
const sampling = @import("engine").sampling;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const log = @import("engine").log;
const gpa = @import("engine").memory.gpa;

/// ELIZA_DRAFT_TOKENS_MAX of the header.
pub const draft_tokens_max = 64;

/// A drafting model that is less sure of a token stops there, as llama.cpp's does.
pub const probability_min = 0.75;

/// How a stream drafts.
pub const Options = struct {
    /// Shorter drafts are not tried. At least 1.
    min: u32,
    /// At most `draft_tokens_max`. 0: no drafts.
    max: u32,
    /// The GGUF file of a model with the same vocabulary. "": prompt lookup.
    path: []const u8,
};

/// Belongs to one thread, `cancel` aside. Must not move.
pub const Drafter = struct {
    min: u32,
    max: u32,
    model: ?DraftModel,

    /// Loads the model, if there is one. `n_ctx` is that of the stream.
    pub fn init(
        drafter: *Drafter,
        context: *Context,
        options: Options,
        n_gpu_layers: i32,
        n_ctx: u32,
        d: *Diagnostic,
    ) diagnostic.Error!void {
        drafter.* = .{ .min = options.min, .max = options.max, .model = null };
        if (options.path.len == 0) return;
        if (std.mem.eql(u8, options.path, context.model.path)) {
            return log.write(.info, "{s} would draft for itself: drafts come from prompt lookup", .{options.path});
        }
        const model = try context.drafterOf(options.path, n_gpu_layers, d);
        drafter.model = .{ .sequence = undefined, .n_tokens = context.model.n_tokens };
        const one = &drafter.model.?;
        try one.sequence.init(model, .{ .n_ctx = n_ctx, .type_k = f16_type, .type_v = f16_type }, d);
        errdefer one.sequence.deinit();
        if (model.n_tokens < context.model.n_tokens) {
            one.logits = gpa.alloc(f32, context.model.n_tokens) catch return d.outOfMemory();
            @memset(one.logits, -std.math.inf(f32));
        }
    }

    /// Frees the model's context.
    pub fn deinit(drafter: *Drafter) void {
        const model = if (drafter.model) |*one| one else return;
        gpa.free(model.logits);
        model.sampler.deinit(gpa);
        model.sequence.deinit();
    }

    /// The passes of the drafting model so far.
    pub fn passes(drafter: *const Drafter) u64 {
        return if (drafter.model) |*model| model.sequence.counters.forward_passes else 0;
    }

    /// Starts the counter over, and undoes `cancel`.
    pub fn reset(drafter: *Drafter) void {
        const model = if (drafter.model) |*one| one else return;
        model.sequence.counters = .{};
        model.sequence.interrupt.of.cancelled.store(false, .monotonic);
    }

    /// The number of threads of the drafting model.
    pub fn setThreads(drafter: *Drafter, n_threads: i32) void {
        if (drafter.model) |*model| model.sequence.setThreads(n_threads);
    }

    /// Interrupts the running draft. Safe from any thread.
    pub fn cancel(drafter: *Drafter) void {
        if (drafter.model) |*model| model.sequence.interrupt.of.cancelled.store(true, .monotonic);
    }

    /// Writes a draft into the room of the sequence, at most `most` tokens; returns how many. `constraints` are left as they
    /// were.
    pub fn draft(drafter: *Drafter, sequence: *Sequence, constraints: Constraints, most: u64) usize {
        const room = sequence.draftRoom();
        const out = room[0..@min(room.len, drafter.max, most)];
        if (out.len < drafter.min) return 0;
        if (drafter.model) |*model| model.sequence.interrupt.of.deadline_ns = sequence.interrupt.of.deadline_ns;
        var trial: Trial = .begin(constraints);
        defer trial.end();
        var lookup: Lookup = .{};
        var n: usize = 0;
        while (n < out.len) : (n += 1) {
            const text = sequence.tokens.allocatedSlice()[0 .. sequence.tokens.items.len + n];
            const token = trial.forced() orelse
                (if (drafter.model) |*model| model.guess(text, &trial) else lookup.guess(text)) orelse break;
            if (sequence.model.isEndOfGeneration(token) or !trial.accept(token)) break;
            out[n] = token;
        }
        return if (n < drafter.min) 0 else n;
    }
};

/// What holds for the next tokens of a stream.
pub const Constraints = struct {
    guide: ?*Guide,
    grammar: ?*Grammar,
    /// Of spans, as `Guide.accept` takes it.
    default_timeout: u32,
    stop_at_span_end: bool,
};

/// Goes ahead of the text in what constrains it. Where that fails, as a search may, the draft ends.
const Trial = struct {
    constraints: Constraints,
    /// Tokens that the guide took.
    n: usize = 0,
    grammar_before: ?Grammar.Checkpoint,

    fn begin(constraints: Constraints) Trial {
        return .{ .constraints = constraints, .grammar_before = if (constraints.grammar) |grammar| grammar.checkpoint() else null };
    }

    fn end(trial: *Trial) void {
        if (trial.constraints.guide) |guide| guide.takeBack(trial.n);
        if (trial.grammar_before) |before| trial.constraints.grammar.?.takeBack(before);
    }

    /// The only token that may come next; null if there are several.
    fn forced(trial: *Trial) ?i32 {
        if (trial.constraints.guide) |guide| {
            if (guide.state.forcedToken() catch null) |token| return token;
        }
        return if (trial.constraints.grammar) |grammar| grammar.forcedToken() catch null else null;
    }

    /// The tokens that may come next, among which a model chooses; null if all.
    fn legal(trial: *Trial) ?sampling.Legal {
        if (trial.constraints.guide) |guide| {
            if (guide.state.allowed() catch null) |found| return found;
        }
        return if (trial.constraints.grammar) |grammar| grammar.legalAhead() catch null else null;
    }

    /// Takes a token; false if it may not come next, or no token is needed after it.
    fn accept(trial: *Trial, token: i32) bool {
        if (trial.constraints.guide) |guide| {
            const step = guide.tryAccept(token, trial.constraints.default_timeout) catch return false;
            if (step.refused) return false;
            trial.n += 1;
            if (step.span_ended and trial.constraints.stop_at_span_end) return false;
        }
        const grammar = trial.constraints.grammar orelse return true;
        return grammar.tryAccept(token) catch false;
    }
};

/// A model that is fed the text, and asked for the most likely token.
const DraftModel = struct {
    sequence: Sequence,
    /// Of the stream's model.
    n_tokens: u32,
    /// A copy of its logits, where it has fewer tokens than the stream's model; else empty.
    logits: []f32 = &.{},
    sampler: sampling.Sampler = .{},

    fn guess(model: *DraftModel, text: []const i32, trial: *Trial) ?i32 {
        const s = &model.sequence;
        if (text.len > s.n_ctx or s.forgets_all) return null;
        const n_known = std.mem.findDiff(i32, s.tokens.items, text) orelse text.len;
        if (n_known < s.tokens.items.len) s.truncate(n_known);
        s.appendPrompt(text[n_known..]);
        var d: Diagnostic = .{};
        const outcome = s.evaluate(.output, 0, &d) catch {
            log.write(.warn, "the drafting model failed: {s}", .{@as([]const u8, d.message())});
            return null;
        };
        if (outcome != .ready) return null;
        const logits = model.allLogits();
        const legal = trial.legal() orelse sampling.Legal{ .all = model.n_tokens };
        if (legal.len() == 0) return null;
        model.sampler.reserve(gpa, legal.len()) catch return null;
        if (model.sampler.highestProbability(logits, legal) < probability_min) return null;
        return sampling.greedy(logits, legal).token;
    }

    fn allLogits(model: *DraftModel) [*]const f32 {
        const own = model.sequence.logits.?[0..model.sequence.model.n_tokens];
        if (model.logits.len == 0) return own.ptr;
        @memcpy(model.logits[0..own.len], own);
        return model.logits.ptr;
    }
};

const f16_type = 1; // GGML_TYPE_F16
