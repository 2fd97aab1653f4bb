//! llama.cpp's own grammar sampler. It ends the process if it is made to accept a token that it refuses: test each first.

const std = @import("std");
const api_module = @import("api.zig");
const Model = @import("model.zig").Model;
const native_log = @import("native_log.zig");
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;

/// Belongs to one thread. Lends the model.
pub const LlamaGrammar = struct {
    model: *const Model,
    sampler: *api_module.Sampler,

    /// Compiles a GBNF grammar with a rule `root`.
    pub fn init(model: *const Model, gbnf: [*:0]const u8, d: *Diagnostic) diagnostic.Error!LlamaGrammar {
        native_log.forget();
        const sampler = model.api().llama_sampler_init_grammar(model.vocab, gbnf, "root") orelse {
            var buffer: [native_log.reason_bytes_max]u8 = undefined;
            return d.fail(.invalid_arg, "gbnf_grammar is not a grammar with a rule `root`: {s}", .{native_log.reason(&buffer)});
        };
        return .{ .model = model, .sampler = sampler };
    }

    /// Frees the sampler, not the model.
    pub fn deinit(grammar: *LlamaGrammar) void {
        grammar.model.api().llama_sampler_free(grammar.sampler);
    }

    /// Back to the start of the grammar.
    pub fn restart(grammar: *LlamaGrammar) void {
        grammar.model.api().llama_sampler_reset(grammar.sampler);
    }

    /// Whether the token may come next. About a microsecond.
    pub fn allows(grammar: *LlamaGrammar, token: i32) bool {
        var one = [_]api_module.TokenData{.{ .id = token, .logit = 1, .p = 0 }};
        grammar.restrict(&one);
        return one[0].logit != -std.math.inf(f32);
    }

    /// Sets the logits of illegal candidates to -inf. Milliseconds for a whole vocabulary.
    pub fn restrict(grammar: *LlamaGrammar, candidates: []api_module.TokenData) void {
        var array: api_module.TokenDataArray = .{ .data = candidates.ptr, .size = candidates.len, .selected = -1, .sorted = false };
        grammar.model.api().llama_sampler_apply(grammar.sampler, &array);
    }

    /// Follows the text by one token, which is allowed.
    pub fn accept(grammar: *LlamaGrammar, token: i32) void {
        grammar.model.api().llama_sampler_accept(grammar.sampler, token);
    }
};
