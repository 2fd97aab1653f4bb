//! The tokens of one llama.cpp context: those in its KV cache, then those that are pending. Pending tokens are
//! decoded together, at most n_batch at a time, and not before logits are needed.
//!
//! A draft, tokens that may come next, can be decoded after them, with logits of each (speculative decoding: Leviathan,
//! Kalman, Matias 2023). As long as the tokens that are appended are the drafted ones, they and their logits are there;
//! the first other one drops the rest of the draft from the KV cache.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const api_module = @import("api.zig");
const Layout = @import("layout.zig").Layout;
const Model = @import("model.zig").Model;
const Slot = @import("slot.zig").Slot;
const log = @import("engine").log;
const native_log = @import("native_log.zig");
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const clock = @import("engine").clock;
const watch = @import("engine").watch;
const gpa = @import("engine").memory.gpa;

/// How to make the context.
pub const Options = struct {
    /// 0: what the model was trained with.
    n_ctx: u32,
    /// ggml_type of the KV cache.
    type_k: u32,
    type_v: u32,
    /// The longest draft.
    draft_max: u32 = 0,
};

/// What interrupts a running decode, and the searches of a constraint.
pub const Interrupt = struct {
    of: watch.Interrupt = .{},
    /// The running decode was told to stop.
    fired: std.atomic.Value(bool) = .init(false),

    fn callback(data: ?*anyopaque) callconv(.c) bool {
        const interrupt: *Interrupt = @ptrCast(@alignCast(data.?));
        if (!interrupt.of.cancelled.load(.monotonic) and !interrupt.of.isOver()) return false;
        if (!interrupt.fired.swap(true, .monotonic)) _ = native_log.interrupted.fetchAdd(1, .monotonic);
        return true;
    }

    fn decodeReturned(interrupt: *Interrupt) void {
        if (interrupt.fired.swap(false, .monotonic)) _ = native_log.interrupted.fetchSub(1, .monotonic);
    }
};

/// What decoding has cost so far.
pub const Counters = struct {
    prefill_passes: u64 = 0,
    forward_passes: u64 = 0,
    /// Drafted ones included.
    decoded_tokens: u64 = 0,
    decode_ns: u64 = 0,
    drafted_tokens: u64 = 0,
    /// Drafted tokens that were then appended.
    accepted_drafts: u64 = 0,
    /// Times that logits were needed, and a draft had left them.
    saved_passes: u64 = 0,
};

/// Which counter a decode belongs to.
pub const Purpose = enum { prompt, output };

/// Belongs to one thread, `interrupt.of.cancelled` aside. Must not move: libllama keeps a pointer to `interrupt`.
pub const Sequence = struct {
    model: *Model,
    context: *api_module.Context,
    n_ctx: u32,
    n_batch: u32,
    /// At most n_ctx. The first `n_decoded` are in the KV cache.
    tokens: ArrayList(i32),
    n_decoded: usize = 0,
    /// Of the last token. The next decode overwrites them.
    logits: ?[*]f32 = null,
    /// How many drafted tokens lie in the KV cache behind `tokens`, and in its spare room. If there are any, nothing is
    /// pending.
    n_ahead: usize = 0,
    /// Where the last draft began in `tokens`, and its length.
    last_draft: struct { from: usize = 0, len: usize = 0 } = .{},
    /// The row of `logits` in the last decode.
    row: usize = 0,
    /// `logits` are those of a drafted token, and were not asked for yet.
    is_row_new: bool = false,
    /// For each token of a decode with a draft: 1 if its logits are wanted. Empty if there are no drafts.
    marks: []i8,
    /// The memory could not forget a part. Such a model's drafts would cost more than they save.
    forgets_all: bool = false,
    interrupt: Interrupt = .{},
    counters: Counters = .{},

    /// Makes a context of the model. Takes over the caller's reference to the model, even if it fails.
    pub fn init(s: *Sequence, model: *Model, options: Options, d: *Diagnostic) diagnostic.Error!void {
        errdefer model.release();
        const api = model.api();
        const layout = model.runtime.layout;
        var params = model.runtime.defaults.context.words;
        params[Layout.n_ctx / 4] = options.n_ctx;
        params[layout.type_k / 4] = options.type_k;
        params[layout.type_v / 4] = options.type_v;
        // Only the logits of the last token and of drafted ones are read. Room for those of a whole batch would take
        // hundreds of megabytes with a large vocabulary.
        if (layout.n_outputs_max) |offset| params[offset / 4] = 1 + options.draft_max;

        native_log.forget();
        const context = api.newContext(layout, model.handle, &params) orelse {
            var buffer: [native_log.reason_bytes_max]u8 = undefined;
            return d.fail(.ffi_fault, "llama_init_from_model failed for {s}: {s}", .{ model.path, native_log.reason(&buffer) });
        };
        errdefer api.llama_free(context);
        const n_ctx = if (options.n_ctx == 0) api.llama_n_ctx(context) else @min(options.n_ctx, api.llama_n_ctx(context));
        const trained: u32 = @intCast(@max(api.llama_model_n_ctx_train(model.handle), 0));
        if (trained > 0 and n_ctx > trained)
            log.write(.warn, "context_size: {s} was trained with {d} tokens, not {d}", .{ model.path, trained, n_ctx });
        const n_batch = api.llama_n_batch(context);
        const marks = gpa.alloc(i8, if (options.draft_max > 0) n_batch else 0) catch return d.outOfMemory();
        errdefer gpa.free(marks);
        s.* = .{
            .model = model,
            .context = context,
            .n_ctx = n_ctx,
            .n_batch = n_batch,
            .tokens = ArrayList(i32).initCapacity(gpa, n_ctx) catch return d.outOfMemory(),
            .marks = marks,
        };
        api.llama_set_abort_callback(context, Interrupt.callback, &s.interrupt);
        s.setThreads(defaultThreads(model));
    }

    /// Frees the context and releases the model.
    pub fn deinit(s: *Sequence) void {
        s.model.api().llama_free(s.context);
        s.tokens.deinit(gpa);
        gpa.free(s.marks);
        s.model.release();
    }

    /// The number of threads that decode.
    pub fn setThreads(s: *Sequence, n_threads: i32) void {
        s.model.api().llama_set_n_threads(s.context, n_threads, n_threads);
    }

    /// Number of tokens that are not decoded yet.
    pub fn pending(s: *const Sequence) usize {
        return s.tokens.items.len - s.n_decoded;
    }

    /// Number of tokens that still fit.
    pub fn room(s: *const Sequence) usize {
        return s.n_ctx - s.tokens.items.len;
    }

    /// Appends a token, for which there is `room`. If it is the next one of the draft, it is decoded already; otherwise it
    /// is pending, and what is left of the draft is dropped.
    pub fn append(s: *Sequence, token: i32) void {
        if (s.n_ahead > 0 and s.ahead()[0] == token) return s.acceptDrafted();
        s.dropDraft();
        s.tokens.appendAssumeCapacity(token);
    }

    /// Appends pending tokens, for which there is `room`, and drops the draft.
    pub fn appendPrompt(s: *Sequence, tokens: []const i32) void {
        s.dropDraft();
        s.tokens.appendSliceAssumeCapacity(tokens);
    }

    /// The tokens of the draft that were neither accepted nor dropped.
    pub fn ahead(s: *const Sequence) []const i32 {
        return s.tokens.allocatedSlice()[s.tokens.items.len..][0..s.n_ahead];
    }

    /// Where a draft is written, for `evaluate`: as many tokens as one may have here. Empty as long as logits are there.
    pub fn draftRoom(s: *Sequence) []i32 {
        if (s.isReady() or s.marks.len == 0 or s.forgets_all) return &.{};
        const in_batch = s.n_batch - (s.pending() -| 1) % s.n_batch - 1;
        return s.tokens.unusedCapacitySlice()[0..@min(in_batch, s.room())];
    }

    /// Whether the logits of the last token are there.
    pub fn isReady(s: *const Sequence) bool {
        return s.pending() == 0 and s.logits != null;
    }

    /// Removes from the KV cache what is left of the draft.
    pub fn dropDraft(s: *Sequence) void {
        if (s.n_ahead == 0) return;
        const logits = s.logits;
        s.forgetDecoded(s.n_decoded);
        s.logits = logits;
    }

    fn acceptDrafted(s: *Sequence) void {
        s.tokens.items.len += 1;
        s.n_decoded += 1;
        s.n_ahead -= 1;
        s.row += 1;
        s.logits = s.model.api().llama_get_logits_ith(s.context, @intCast(s.row));
        s.is_row_new = true;
        s.counters.accepted_drafts += 1;
    }

    /// Keeps the first `n` tokens. A memory that cannot forget a part, such as a recurrent one, forgets
    /// everything; the kept tokens are then pending again.
    pub fn truncate(s: *Sequence, n: usize) void {
        s.tokens.shrinkRetainingCapacity(n);
        s.forgetDecoded(n);
    }

    /// How `evaluate` ended.
    pub const Outcome = enum { ready, cancelled, out_of_time };

    /// Makes the logits of the last token available, with as few decodes as possible; the last one decodes the first
    /// `n_draft` tokens of `draftRoom` too. If it is interrupted, the rest stays pending.
    pub fn evaluate(s: *Sequence, purpose: Purpose, n_draft: usize, d: *Diagnostic) diagnostic.Error!Outcome {
        if (s.isReady()) {
            s.counters.saved_passes += @intFromBool(s.is_row_new);
            s.is_row_new = false;
            return .ready;
        }
        const start = clock.nowNs();
        defer s.counters.decode_ns += clock.nowNs() - start;
        if (s.pending() == 0) s.forgetDecoded(s.tokens.items.len - 1); // decoded, but its logits are gone
        while (s.pending() > 0) {
            const outcome = try s.decodePiece(purpose, n_draft, d);
            if (outcome != .ready) return outcome;
        }
        s.logits = s.model.api().llama_get_logits_ith(s.context, @intCast(s.row)) orelse
            return d.fail(.ffi_fault, "llama_get_logits_ith returned no logits", .{});
        s.is_row_new = false;
        return .ready;
    }

    /// llama.cpp's state of the decoded tokens. The caller frees it.
    pub fn copyState(s: *Sequence, d: *Diagnostic) diagnostic.Error![]u8 {
        const api = s.model.api();
        s.dropDraft();
        const state = gpa.alloc(u8, api.llama_state_seq_get_size(s.context, 0)) catch return d.outOfMemory();
        errdefer gpa.free(state);
        const written = api.llama_state_seq_get_data(s.context, state.ptr, state.len, 0);
        if (written == 0 or written > state.len) {
            return d.fail(.ffi_fault, "llama_state_seq_get_data wrote {d} of {d} bytes", .{ written, state.len });
        }
        return gpa.realloc(state, written) catch d.outOfMemory();
    }

    /// Takes tokens and state from a slot. The sequence is empty before, and stays so on failure.
    pub fn restore(s: *Sequence, slot: *const Slot, d: *Diagnostic) diagnostic.Error!void {
        errdefer s.truncate(0);
        if (slot.n_tokens > s.n_ctx) {
            return d.fail(.context_full, "{d} tokens of the slot do not fit the context of {d}", .{ slot.n_tokens, s.n_ctx });
        }
        slot.copyTokens(s.tokens.addManyAsSliceAssumeCapacity(slot.n_tokens));
        try s.model.checkTokens("tokens of the slot", s.tokens.items, d);
        const state = slot.state();
        if (s.model.api().llama_state_seq_set_data(s.context, state.ptr, state.len, 0) == 0) {
            return d.fail(.ffi_fault, "llama_state_seq_set_data refused the state of the slot", .{});
        }
        s.n_decoded = s.tokens.items.len;
        if (s.lastPosition()) |last| if (last + 1 != s.n_decoded) {
            return d.fail(.io, "the slot file is damaged: its state is of {d} tokens, and it has {d}", .{ last + 1, s.n_decoded });
        };
    }

    /// Of what is in the KV cache; null if libllama cannot tell.
    fn lastPosition(s: *const Sequence) ?i64 {
        const api = s.model.api();
        const last = api.llama_memory_seq_pos_max orelse return null;
        return last(api.llama_get_memory(s.context), 0);
    }

    fn decodePiece(s: *Sequence, purpose: Purpose, n_draft: usize, d: *Diagnostic) diagnostic.Error!Outcome {
        const n = @min(s.pending(), s.n_batch);
        // Room for the draft was counted before a memory that forgets no part may have forgotten everything.
        const n_behind = if (n == s.pending()) @min(n_draft, s.n_batch - n) else 0;
        const piece = s.tokens.allocatedSlice()[s.n_decoded..][0 .. n + n_behind];
        if (n_behind > 0) {
            @memset(s.marks[0 .. n - 1], 0);
            @memset(s.marks[n - 1 .. piece.len], 1);
        }
        s.logits = null;
        native_log.forget();
        const result = s.model.api().llama_decode(s.context, .{
            .n_tokens = @intCast(piece.len),
            .token = piece.ptr,
            .logits = if (n_behind > 0) s.marks.ptr else null,
        });
        s.interrupt.decodeReturned();
        switch (purpose) {
            .prompt => s.counters.prefill_passes += 1,
            .output => s.counters.forward_passes += 1,
        }
        if (result == 0) {
            s.n_decoded += n;
            s.n_ahead = n_behind;
            s.last_draft = .{ .from = s.n_decoded, .len = n_behind };
            s.row = n - 1;
            s.counters.decoded_tokens += piece.len;
            s.counters.drafted_tokens += n_behind;
            return .ready;
        }
        s.forgetDecoded(s.n_decoded); // what a failed call left behind
        const no_room = 1;
        const aborted = 2;
        if (result == no_room) return d.fail(.context_full, "libllama found no room for {d} tokens after {d}", .{ piece.len, s.n_decoded });
        if (result == aborted) return if (s.interrupt.of.cancelled.load(.monotonic)) .cancelled else .out_of_time;
        var buffer: [native_log.reason_bytes_max]u8 = undefined;
        return d.fail(.ffi_fault, "llama_decode returned {d} for {d} tokens after {d}: {s}", .{
            result, piece.len, s.n_decoded, native_log.reason(&buffer),
        });
    }

    /// Leaves the first `from` tokens in the KV cache, at most; the others are pending.
    fn forgetDecoded(s: *Sequence, from: usize) void {
        const api = s.model.api();
        const memory = api.llama_get_memory(s.context);
        s.logits = null;
        s.n_ahead = 0;
        s.n_decoded = @min(s.n_decoded, from);
        if (s.n_decoded > 0) {
            if (api.llama_memory_seq_rm(memory, 0, @intCast(s.n_decoded), -1)) return;
            s.forgets_all = true;
        }
        s.n_decoded = 0;
        _ = api.llama_memory_seq_rm(memory, 0, -1, -1); // a whole sequence can always be removed
    }
};

/// As many as libllama would start, but no more than there are processors. In a small model threads would wait for
/// each other longer than they work.
pub fn defaultThreads(model: *const Model) i32 {
    if (model.api().llama_model_n_params(model.handle) < small_model_params) return 1;
    return @intCast(@min(threads_max, std.Thread.getCpuCount() catch threads_max));
}

const small_model_params = 10_000_000;
const threads_max = 4;
