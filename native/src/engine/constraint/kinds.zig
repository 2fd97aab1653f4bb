//! What a constraint can be compiled to, and the state of one output in each: the one place where the two
//! are listed. Who holds a `Compiled` or a `State` does not ask which it is; what differs is said by the
//! types, in the operations below. The languages of recognizers are listed in recognizer/language.zig.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("../base/budget.zig").Budget;
const Info = @import("../contract/info.zig").Info;
const Usage = @import("../contract/info.zig").Usage;
const span = @import("../contract/span.zig");
const Legal = @import("../sampling/sampling.zig").Legal;
const TokenTrie = @import("../trie/trie.zig").TokenTrie;
const TrieState = @import("../trie/state.zig").TrieState;
const Recognizer = @import("../recognizer/recognizer.zig").Recognizer;
const RecognizerState = @import("../recognizer/state.zig").RecognizerState;
const History = @import("history.zig").History;

/// Immutable but for its caches, reference-counted, shared by any number of threads.
pub const Compiled = union(enum) {
    token_trie: *TokenTrie,
    recognizer: *Recognizer,

    pub fn release(compiled: Compiled) void {
        switch (compiled) {
            inline else => |one| one.release(),
        }
    }

    /// What compiling found, a line each.
    pub fn notes(compiled: Compiled) [:0]const u8 {
        return switch (compiled) {
            inline else => |one| one.notes(),
        };
    }

    pub fn describe(compiled: Compiled) Info {
        return switch (compiled) {
            inline else => |one| one.describe(),
        };
    }

    /// Builds what would be built at first use, as far as there is room.
    pub fn prepare(compiled: Compiled, budget: *const Budget, diag: *Diagnostic) diagnostic.Error!void {
        return switch (compiled) {
            inline else => |one| one.prepare(budget, diag),
        };
    }

    /// Whether spans can be so: their timeout, and the tokens that end them. `callers_timeout` is what the
    /// matcher, the stream or the sampler has for spans without one of their own.
    pub fn checkSpan(compiled: Compiled, config: span.Config, callers_timeout: u32, diag: *Diagnostic) diagnostic.Error!void {
        return switch (compiled) {
            inline else => |one| one.checkSpan(config, callers_timeout, diag),
        };
    }

    /// The timeout of spans for which `asked` was asked; 0 for none, in what is asked and in the result.
    pub fn timeoutInForce(compiled: Compiled, asked: u32, callers_timeout: u32) u32 {
        return switch (compiled) {
            inline else => |one| @TypeOf(one.*).timeoutInForce(asked, callers_timeout),
        };
    }

    /// Whether it is about the bytes of a vocabulary, which must then be those of the model.
    pub fn readsBytes(compiled: Compiled) bool {
        return switch (compiled) {
            inline else => |one| @TypeOf(one.*).reads_bytes,
        };
    }

    /// The most tokens that are legal at once, if all that is ever legal is lists; else 0.
    pub fn listedMax(compiled: Compiled) usize {
        return switch (compiled) {
            inline else => |one| one.listedMax(),
        };
    }

    /// A token that ends the model's generation although the constraint goes on after it, if there is one.
    /// `model` has `isEndOfGeneration(token) bool`.
    pub fn firstContinued(compiled: Compiled, model: anytype) ?i32 {
        return switch (compiled) {
            inline else => |one| one.firstContinued(model),
        };
    }
};

/// The state of one output, one thread's. Operations that may search fail when memory is short; the state
/// is then as it was, but for `accept`: who calls it restores the checkpoint that was taken before.
pub const State = union(enum) {
    token_trie: Kept(TrieState),
    recognizer: Kept(RecognizerState),

    /// At the start. Retains what it is the state of. `ends`: the tokens that close a span where the text
    /// may stop; null for the vocabulary's.
    pub fn init(gpa: Allocator, compiled: Compiled, ends: ?[]const i32) State {
        return switch (compiled) {
            inline else => |one, tag| @unionInit(State, @tagName(tag), .{ .at = .init(gpa, one, ends) }),
        };
    }

    pub fn deinit(state: *State, gpa: Allocator) void {
        switch (state.*) {
            inline else => |*kept| {
                kept.history.deinit(gpa);
                kept.at.deinit();
            },
        }
    }

    /// With its history.
    pub fn clone(state: *const State, gpa: Allocator) Allocator.Error!State {
        switch (state.*) {
            inline else => |*kept, tag| {
                var at = try kept.at.clone();
                errdefer at.deinit();
                return @unionInit(State, @tagName(tag), .{ .at = at, .history = try kept.history.clone(gpa) });
            },
        }
    }

    /// Back to the start; the history is empty then.
    pub fn reset(state: *State) void {
        switch (state.*) {
            inline else => |*kept| {
                kept.at.reset();
                kept.history.clear();
            },
        }
    }

    /// Takes one token of the output, which can be taken back unless it was refused. `timeout` 0: none.
    pub fn accept(state: *State, gpa: Allocator, token: i32, timeout: u32) Allocator.Error!span.Step {
        switch (state.*) {
            inline else => |*kept| {
                try kept.history.reserve(gpa);
                const before = kept.at.checkpoint();
                errdefer kept.at.restore(before);
                const step = try kept.at.accept(token, timeout, .refuse);
                if (step.refused) return step;
                kept.history.push(before);
                kept.at.compact(kept.history.checkpoints.items);
                return step;
            },
        }
    }

    /// Takes one token that cannot be taken back. An illegal one ends the span.
    pub fn acceptForever(state: *State, token: i32, timeout: u32) Allocator.Error!span.Step {
        switch (state.*) {
            inline else => |*kept| {
                const step = try kept.at.accept(token, timeout, .end_span);
                kept.at.compact(&.{});
                return step;
            },
        }
    }

    /// Takes back the last tokens that `accept` took.
    pub fn rollback(state: *State, n_tokens: usize, diag: *Diagnostic) diagnostic.Error!void {
        switch (state.*) {
            inline else => |*kept| kept.at.restore(try kept.history.pop(n_tokens, diag) orelse return),
        }
    }

    /// Opens a span by its path; an open one ends.
    pub fn activate(state: *State, path: []const u8, diag: *Diagnostic) diagnostic.Error!void {
        return switch (state.*) {
            inline else => |*kept| kept.at.activate(path, diag),
        };
    }

    /// Ends the open span, if one is open.
    pub fn deactivate(state: *State) void {
        switch (state.*) {
            inline else => |*kept| kept.at.deactivate(),
        }
    }

    /// The legal next tokens, lent until the state changes; null if all are legal.
    pub fn allowed(state: *State) Allocator.Error!?Legal {
        return switch (state.*) {
            inline else => |*kept| kept.at.allowed(),
        };
    }

    /// Whether `allowed` needs no search.
    pub fn isReady(state: *const State) bool {
        return switch (state.*) {
            inline else => |*kept| kept.at.isReady(),
        };
    }

    /// Whether the output may stop here.
    pub fn canStop(state: *State) Allocator.Error!bool {
        return switch (state.*) {
            inline else => |*kept| kept.at.canStop(),
        };
    }

    /// The next token, if it is the only one that may follow and the output may not stop.
    pub fn forcedToken(state: *State) Allocator.Error!?i32 {
        return switch (state.*) {
            inline else => |*kept| kept.at.forcedToken(),
        };
    }

    /// The number of tokens that must follow; as many of them as fit are written.
    pub fn forced(state: *State, out: []i32, timeout: u32) Allocator.Error!usize {
        return switch (state.*) {
            inline else => |*kept| kept.at.forced(out, timeout),
        };
    }

    /// The number of bytes that must follow; as many of them as fit are written. 0 where bytes are not
    /// what the constraint is about.
    pub fn forcedBytes(state: *State, out: []u8) Allocator.Error!usize {
        return switch (state.*) {
            inline else => |*kept| kept.at.forcedBytes(out),
        };
    }

    /// The tokens that the generation can end with where no token of the vocabulary goes on.
    pub fn endTokens(state: *const State) []const i32 {
        return switch (state.*) {
            inline else => |*kept| kept.at.endTokens(),
        };
    }

    pub fn report(state: *State) Allocator.Error!span.Report {
        return switch (state.*) {
            inline else => |*kept| kept.at.report(),
        };
    }

    /// The name of the leaf that is complete here, or that the last span ended with. Lent by the constraint.
    pub fn leafName(state: *const State) ?[]const u8 {
        return switch (state.*) {
            inline else => |*kept| kept.at.leafName(),
        };
    }

    /// Spans that an illegal token has ended.
    pub fn nIllegal(state: *const State) u32 {
        return switch (state.*) {
            inline else => |*kept| kept.at.nIllegal(),
        };
    }

    pub fn usage(state: *const State) Usage {
        return switch (state.*) {
            inline else => |*kept| kept.at.usage(),
        };
    }

    pub fn historyBytes(state: *const State) usize {
        return switch (state.*) {
            inline else => |*kept| kept.history.bytes(),
        };
    }

    /// Asks the processor for what the next step will read.
    pub fn prefetch(state: *const State) void {
        switch (state.*) {
            inline else => |*kept| kept.at.prefetch(),
        }
    }
};

/// A state, and what it can be taken back to. Its `Checkpoint` is a plain value, `checkpoint` and `restore`
/// cost a copy of it, and `compact` drops what neither the state nor a checkpoint of the history needs.
fn Kept(comptime At: type) type {
    return struct { at: At, history: History(At.Checkpoint) = .{} };
}
