//! A stream's grammar, kept in step with the text: this library's own engine, or llama.cpp's sampler. Both have the
//! same meaning.

const std = @import("std");
const api_module = @import("api.zig");
const Context = @import("context.zig").Context;
const LlamaGrammar = @import("llama_grammar.zig").LlamaGrammar;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const environment = @import("engine").environment;
const log = @import("engine").log;
const sampling = @import("engine").sampling;
const span = @import("engine").span;
const watch = @import("engine").watch;
const RecognizerState = @import("engine").recognizer_state.RecognizerState;
const gpa = @import("engine").memory.gpa;

/// Which of them.
const Engine = enum { own, llama };

/// Belongs to one thread. Lends the context.
pub const Grammar = struct {
    state: union(Engine) { own: RecognizerState, llama: LlamaGrammar },
    /// Out of step with the text: it is neither asked nor fed until `restart`.
    off: bool = false,

    /// Compiles a GBNF grammar with a rule `root`, for the engine that the environment asks for. What the own engine
    /// refuses and llama.cpp's serves, such as a grammar whose texts never end, llama.cpp's follows, and the log says so.
    /// ELIZA_ERR_INVALID_ARG: neither serves it.
    pub fn init(context: *Context, gbnf: [:0]const u8, d: *Diagnostic) diagnostic.Error!Grammar {
        if (isLlamaAskedFor()) return .{ .state = .{ .llama = try .init(context.model, gbnf, d) } };
        const recognizer = context.grammarOf(gbnf, d) catch |e| switch (d.status) {
            .limit, .unsupported, .grammar => return instead(context, gbnf, d),
            else => return e,
        };
        defer recognizer.release();
        return .{ .state = .{ .own = .init(gpa, recognizer, .{}) } };
    }

    fn isLlamaAskedFor() bool {
        var buffer: [16]u8 = undefined;
        const value = environment.get("ELIZA_INFERENCE_GRAMMAR", &buffer) orelse return false;
        const is_llama = std.mem.eql(u8, value, "llama");
        if (!is_llama and value.len > 0) log.write(.warn, "ELIZA_INFERENCE_GRAMMAR is neither empty nor \"llama\": it has no effect", .{});
        return is_llama;
    }

    /// llama.cpp's sampler for what failed; if that fails, too, the first message says more.
    fn instead(context: *Context, gbnf: [:0]const u8, d: *Diagnostic) diagnostic.Error!Grammar {
        const why = d.*;
        const llama = LlamaGrammar.init(context.model, gbnf, d) catch
            return d.fail(.invalid_arg, "gbnf_grammar: {s}", .{@as([]const u8, why.message())});
        log.write(.warn, "llama.cpp's own sampler follows the grammar: {s}", .{@as([]const u8, why.message())});
        return .{ .state = .{ .llama = llama } };
    }

    /// What stops searches in the grammar, as long as it lives. llama.cpp's sampler cannot be stopped.
    pub fn setInterrupt(grammar: *Grammar, interrupt: *const watch.Interrupt) void {
        switch (grammar.state) {
            .own => |*own| own.pool.watch.interrupt = interrupt,
            .llama => {},
        }
    }

    /// Why the last search was stopped, if it was `TooLarge`.
    pub fn stopped(grammar: *const Grammar) watch.Watch.Reason {
        return switch (grammar.state) {
            .own => |*own| own.pool.watch.stopped,
            .llama => .not,
        };
    }

    pub fn deinit(grammar: *Grammar) void {
        switch (grammar.state) {
            inline else => |*one| one.deinit(),
        }
    }

    /// Back to the start of the grammar, in step again.
    pub fn restart(grammar: *Grammar) void {
        switch (grammar.state) {
            .own => |*own| own.reset(),
            .llama => |*llama| llama.restart(),
        }
        grammar.off = false;
    }

    /// Whether the token may come next.
    pub fn allows(grammar: *Grammar, token: i32) span.Error!bool {
        return switch (grammar.state) {
            .own => |*own| if (try own.allowed()) |legal| legal.has(token) else true,
            .llama => |*llama| llama.allows(token),
        };
    }

    /// A place in the grammar, for what is tried ahead of the text. llama.cpp's sampler has none: it is not asked ahead.
    pub const Checkpoint = RecognizerState.Checkpoint;

    /// Null if nothing can be tried.
    pub fn checkpoint(grammar: *const Grammar) ?Checkpoint {
        return if (grammar.ahead()) |own| own.checkpoint() else null;
    }

    /// Takes back all tokens that were tried.
    pub fn takeBack(grammar: *Grammar, before: Checkpoint) void {
        grammar.ahead().?.restore(before);
    }

    /// Takes a token until `takeBack`. False, and nothing changed, if the grammar refuses it.
    pub fn tryAccept(grammar: *Grammar, token: i32) span.Error!bool {
        const own = grammar.ahead() orelse return true;
        return !(try own.accept(token, 0, .refuse)).refused;
    }

    /// The token that the grammar's only next text begins with; null if there are several.
    pub fn forcedToken(grammar: *Grammar) span.Error!?i32 {
        const own = grammar.ahead() orelse return null;
        return own.forcedToken();
    }

    /// The tokens that may come next, lent; null if they are all, or not known.
    pub fn legalAhead(grammar: *Grammar) span.Error!?sampling.Legal {
        const own = grammar.ahead() orelse return null;
        return own.allowed();
    }

    fn ahead(grammar: *const Grammar) ?*RecognizerState {
        if (grammar.off) return null;
        return switch (grammar.state) {
            .own => |*own| @constCast(own),
            .llama => null,
        };
    }

    /// Sets the logits of illegal candidates to -inf. They are all tokens of the vocabulary, by id, with these logits.
    pub fn restrict(grammar: *Grammar, candidates: []api_module.TokenData, logits: [*]const f32) span.Error!void {
        switch (grammar.state) {
            .own => |*own| {
                const legal = try own.allowed() orelse return;
                for (candidates) |*candidate| candidate.logit = -std.math.inf(f32);
                switch (legal) {
                    .all => for (candidates) |*candidate| restore(candidate, logits),
                    .list => |ids| for (ids) |id| restore(&candidates[@intCast(id)], logits),
                    .bitmap => |bitmap| for (bitmap.words, 0..) |word, w| {
                        var rest = word;
                        while (rest != 0) : (rest &= rest - 1) restore(&candidates[32 * w + @ctz(rest)], logits);
                    },
                }
            },
            .llama => |*llama| llama.restrict(candidates),
        }
    }

    fn restore(candidate: *api_module.TokenData, logits: [*]const f32) void {
        candidate.logit = logits[@intCast(candidate.id)];
    }

    /// Follows the text by one token. If the grammar refuses the token, it is switched off.
    pub fn accept(grammar: *Grammar, token: i32) span.Error!void {
        if (grammar.off) return;
        const taken = switch (grammar.state) {
            .own => |*own| !(try own.accept(token, 0, .refuse)).refused,
            .llama => |*llama| if (llama.allows(token)) taken: {
                llama.accept(token);
                break :taken true;
            } else false,
        };
        if (!taken) grammar.switchOff("a token of the trie is not one that it allows");
    }

    /// Gives the grammar up until `restart`, and logs why.
    pub fn switchOff(grammar: *Grammar, comptime why: []const u8) void {
        if (grammar.off) return;
        grammar.off = true;
        log.write(.warn, "the grammar is switched off for this generation: " ++ why, .{});
    }
};
