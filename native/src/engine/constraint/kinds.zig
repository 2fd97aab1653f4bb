//! The kinds of constraint: what one can be compiled to, and the state of one text in each. The one place that
//! lists them: whoever holds a `Compiled` or a `State` does not ask which it is. Each operation is described
//! here once; the types say what differs. The languages of recognizers are listed in recognizer/language.zig.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("../base/budget.zig").Budget;
const Interrupt = @import("../base/watch.zig").Interrupt;
const Watch = @import("../base/watch.zig").Watch;
const Info = @import("../contract/info.zig").Info;
const Usage = @import("../contract/info.zig").Usage;
const span = @import("../contract/span.zig");
const Legal = @import("../sampling/sampling.zig").Legal;
const TokenTrie = @import("../trie/trie.zig").TokenTrie;
const TrieState = @import("../trie/state.zig").TrieState;
const Recognizer = @import("../recognizer/recognizer.zig").Recognizer;
const RecognizerState = @import("../recognizer/state.zig").RecognizerState;
const PartedTrie = @import("../recognizer/parted_trie.zig").PartedTrie;
const PartedState = @import("../recognizer/parted_state.zig").PartedState;
const History = @import("history.zig").History;

/// A compiled constraint without its vocabulary. Reference-counted, shared by any number of threads; immutable
/// but for its caches.
pub const Compiled = union(enum) {
    token_trie: *TokenTrie,
    recognizer: *Recognizer,
    /// A payload in which not all descriptors have leaves.
    parted_trie: *PartedTrie,

    /// Gives one reference back.
    pub fn release(compiled: Compiled) void {
        switch (compiled) {
            inline else => |one| one.release(),
        }
    }

    /// What compiling found, one line each; "" if nothing. Lent.
    pub fn warnings(compiled: Compiled) [:0]const u8 {
        return switch (compiled) {
            inline else => |one| one.warnings(),
        };
    }

    /// Its kind and sizes.
    pub fn describe(compiled: Compiled) Info {
        return switch (compiled) {
            inline else => |one| one.describe(),
        };
    }

    /// Builds now what would be built at first use, as far as there is room.
    pub fn prepare(compiled: Compiled, budget: *const Budget, diag: *Diagnostic) diagnostic.Error!void {
        return switch (compiled) {
            inline else => |one| one.prepare(budget, diag),
        };
    }

    /// Fails if spans cannot have this timeout, these end tokens or this prefill. `default_timeout` is that of the matcher,
    /// stream or sampler.
    pub fn checkSpan(compiled: Compiled, config: span.Config, default_timeout: u32, diag: *Diagnostic) diagnostic.Error!void {
        return switch (compiled) {
            inline else => |one| one.checkSpan(config, default_timeout, diag),
        };
    }

    /// The timeout of spans if `requested` was requested, 0 for none. 0: spans have none.
    pub fn effectiveTimeout(compiled: Compiled, requested: u32, default_timeout: u32) u32 {
        return switch (compiled) {
            inline else => |one| @TypeOf(one.*).effectiveTimeout(requested, default_timeout),
        };
    }

    /// Whether it depends on the bytes of the vocabulary, which must then be the model's.
    pub fn readsBytes(compiled: Compiled) bool {
        return switch (compiled) {
            inline else => |one| @TypeOf(one.*).reads_bytes,
        };
    }

    /// The most legal tokens at once, if the legal tokens always come as a list; else 0.
    pub fn listMax(compiled: Compiled) usize {
        return switch (compiled) {
            inline else => |one| one.listMax(),
        };
    }

    /// A token that ends the model's generation, but not the constraint; null if there is none. `model` has
    /// `isEndOfGeneration(token) bool`.
    pub fn prematureEnd(compiled: Compiled, model: anytype) ?i32 {
        return switch (compiled) {
            inline else => |one| one.prematureEnd(model),
        };
    }
};

/// The state of one text. Belongs to one thread. Operations that may search fail if memory is short, and leave
/// the state as it was. The exception is `accept` of the kinds' types: its caller restores the checkpoint from
/// before.
pub const State = union(enum) {
    token_trie: WithHistory(TrieState),
    recognizer: WithHistory(RecognizerState),
    parted_trie: WithHistory(PartedState),

    /// At the start. Retains `compiled`. `config` passed `Compiled.checkSpan`, and is copied, but for its prefill, which is
    /// taken over and `gpa`'s.
    pub fn init(gpa: Allocator, compiled: Compiled, config: span.Config) State {
        return switch (compiled) {
            inline else => |one, tag| @unionInit(State, @tagName(tag), .{ .at = .init(gpa, one, config) }),
        };
    }

    /// Releases what was compiled. `gpa` is the one that `init` was given.
    pub fn deinit(state: *State, gpa: Allocator) void {
        switch (state.*) {
            inline else => |*one| {
                one.history.deinit(gpa);
                one.at.deinit();
            },
        }
    }

    /// A copy with its history. The caller frees it.
    pub fn clone(state: *const State, gpa: Allocator) Allocator.Error!State {
        switch (state.*) {
            inline else => |*one, tag| {
                var at = try one.at.clone();
                errdefer at.deinit();
                return @unionInit(State, @tagName(tag), .{ .at = at, .history = try one.history.clone(gpa) });
            },
        }
    }

    /// Back to the start, with an empty history.
    pub fn reset(state: *State) void {
        switch (state.*) {
            inline else => |*one| {
                one.at.reset();
                one.history.clear();
            },
        }
    }

    /// Takes one token, which `rollback` can take back. A refused token changes nothing. `timeout` 0: none.
    pub inline fn accept(state: *State, gpa: Allocator, token: i32, timeout: u32) span.Error!span.Step {
        return switch (state.*) {
            inline .token_trie, .recognizer => |*one| one.accept(gpa, token, timeout),
            .parted_trie => |*one| acceptParted(one, gpa, token, timeout),
        };
    }

    // Inlined, it would cost the other kinds registers.
    noinline fn acceptParted(one: *WithHistory(PartedState), gpa: Allocator, token: i32, timeout: u32) span.Error!span.Step {
        return one.accept(gpa, token, timeout);
    }

    /// Takes one token permanently. An illegal token ends the span.
    pub fn commit(state: *State, token: i32, timeout: u32) span.Error!span.Step {
        return switch (state.*) {
            inline .token_trie, .recognizer => |*one| one.commit(token, timeout),
            .parted_trie => |*one| commitParted(one, token, timeout),
        };
    }

    noinline fn commitParted(one: *WithHistory(PartedState), token: i32, timeout: u32) span.Error!span.Step {
        return one.commit(token, timeout);
    }

    /// Takes back the last `n_tokens` that were accepted. Fails, and changes nothing, if the history is
    /// shorter.
    pub fn rollback(state: *State, n_tokens: usize, diag: *Diagnostic) diagnostic.Error!void {
        switch (state.*) {
            inline else => |*one| one.at.restore(try one.history.pop(n_tokens, diag) orelse return),
        }
    }

    /// Opens a span by its path. An open span ends. Fails, and changes nothing, if there is no such path.
    pub fn activate(state: *State, path: []const u8, diag: *Diagnostic) diagnostic.Error!void {
        return switch (state.*) {
            inline else => |*one| one.at.activate(path, diag),
        };
    }

    /// Ends the open span, if there is one.
    pub fn deactivate(state: *State) void {
        switch (state.*) {
            inline else => |*one| one.at.deactivate(),
        }
    }

    /// The legal next tokens, lent until the state changes; null if all are legal.
    pub inline fn allowed(state: *State) span.Error!?Legal {
        return if (state.* == .token_trie) state.token_trie.at.allowed() else state.allowedInText();
    }

    // What a token trie allows is a slice of it, sooner found than a call is made.
    noinline fn allowedInText(state: *State) span.Error!?Legal {
        return switch (state.*) {
            .token_trie => unreachable,
            .recognizer => |*one| @call(.always_inline, RecognizerState.allowed, .{&one.at}),
            .parted_trie => |*one| one.at.allowed(),
        };
    }

    /// Whether `allowed` needs no search.
    pub fn isReady(state: *const State) bool {
        return switch (state.*) {
            inline else => |*one| one.at.isReady(),
        };
    }

    /// Whether the text may stop here.
    pub fn canStop(state: *State) span.Error!bool {
        return switch (state.*) {
            inline else => |*one| one.at.canStop(),
        };
    }

    /// The next token, if it is the only one and the text may not stop here; else null.
    pub fn forcedToken(state: *State) span.Error!?i32 {
        return switch (state.*) {
            inline else => |*one| one.at.forcedToken(),
        };
    }

    /// The forced tokens: those that every continuation begins with. Writes as many as fit and returns how many
    /// there are.
    pub fn forced(state: *State, out: []i32, timeout: u32) span.Error!usize {
        return switch (state.*) {
            inline else => |*one| one.at.forced(out, timeout),
        };
    }

    /// The forced bytes: writes as many as fit and returns how many there are. 0 if the constraint is not about
    /// bytes.
    pub fn forcedBytes(state: *State, out: []u8) span.Error!usize {
        return switch (state.*) {
            inline else => |*one| one.at.forcedBytes(out),
        };
    }

    /// The tokens that can end the generation where no token of the vocabulary continues the text. Lent.
    pub fn endTokens(state: *const State) []const i32 {
        return switch (state.*) {
            inline else => |*one| one.at.endTokens(),
        };
    }

    /// Where the text stands. May search, as `allowed` does.
    pub fn report(state: *State) span.Error!span.Report {
        return switch (state.*) {
            inline else => |*one| one.at.report(),
        };
    }

    /// The name of the leaf that is complete here, or that the last span ended with, or the text that it ended with; null
    /// if there is none. Lent until the state changes.
    pub fn leafName(state: *const State) ?[]const u8 {
        return switch (state.*) {
            inline else => |*one| one.at.leafName(),
        };
    }

    /// Spans that an illegal token has ended so far.
    pub fn nIllegal(state: *const State) u32 {
        return switch (state.*) {
            inline else => |*one| one.at.nIllegal(),
        };
    }

    /// What stops operations that search, from outside, as long as the state lives.
    pub fn setInterrupt(state: *State, interrupt: ?*const Interrupt) void {
        switch (state.*) {
            .token_trie => {},
            .recognizer => |*one| one.at.pool.watch.interrupt = interrupt,
            .parted_trie => |*one| one.at.text.pool.watch.interrupt = interrupt,
        }
    }

    /// Why the last operation was stopped, if it was `TooLarge`.
    pub fn stopped(state: *const State) Watch.Reason {
        return switch (state.*) {
            .token_trie => .not,
            .recognizer => |*one| one.at.pool.watch.stopped,
            .parted_trie => |*one| one.at.text.pool.watch.stopped,
        };
    }

    /// Memory and mask counts, without the history.
    pub fn usage(state: *const State) Usage {
        return switch (state.*) {
            inline else => |*one| one.at.usage(),
        };
    }

    /// Memory of the history.
    pub fn historyBytes(state: *const State) usize {
        return switch (state.*) {
            inline else => |*one| one.history.bytes(),
        };
    }

    /// Fetches into the processor's caches what the next step reads.
    pub fn prefetch(state: *const State) void {
        switch (state.*) {
            inline else => |*one| one.at.prefetch(),
        }
    }
};

/// A kind's state, and what it can be rolled back to. Its `Checkpoint` is a plain value: `checkpoint` and `restore`
/// cost a copy. `compact` drops what neither the state nor the history needs.
fn WithHistory(comptime At: type) type {
    return struct {
        at: At,
        history: History(At.Checkpoint) = .{},

        inline fn accept(one: *@This(), gpa: Allocator, token: i32, timeout: u32) span.Error!span.Step {
            try one.history.reserve(gpa);
            const before = one.at.checkpoint();
            errdefer one.at.restore(before);
            const step = try one.at.accept(token, timeout, .refuse);
            if (step.refused) return step;
            one.history.push(before);
            one.at.compact(one.history.checkpoints.items);
            return step;
        }

        inline fn commit(one: *@This(), token: i32, timeout: u32) span.Error!span.Step {
            const before = one.at.checkpoint();
            errdefer one.at.restore(before);
            const step = try one.at.accept(token, timeout, .end_span);
            one.at.compact(&.{});
            return step;
        }
    };
}
