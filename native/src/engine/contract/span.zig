//! Spans: the stretches of a text in which a constraint is active. What all kinds say about them.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const log = @import("../platform/log.zig");

/// Why a step cannot be made, or what may follow not be told. Nothing has changed then.
pub const Error = error{
    OutOfMemory,
    /// More than a limit of the kind allows.
    TooLarge,
};

/// Tokens that a span of a token trie may have by default: ELIZA_SPAN_TIMEOUT_TOKENS of the header.
pub const timeout_default = 500;

/// ELIZA_END_TOKENS_MAX of the header.
pub const end_tokens_max = 16;

/// ELIZA_PREFILL_BYTES_MAX of the header: longer than the tokens of most vocabularies.
pub const prefill_bytes_max = 256;

/// How a span begins and ends: eliza_span_config_t of the header.
pub const Config = struct {
    /// In tokens. 0: the kind's default.
    timeout: u32 = 0,
    /// Null: the vocabulary's end-of-generation tokens.
    end: ?[]const i32 = null,
    /// What the first tokens must spell before the constraint's text begins: the end of a prompt, taken back.
    prefill: []const u8 = "",

    /// The same with a prefill of its own.
    pub fn owned(config: Config, gpa: Allocator) Allocator.Error!Config {
        var copy = config;
        copy.prefill = try gpa.dupe(u8, config.prefill);
        return copy;
    }

    /// Fails if `end` has too many tokens, or one that is not in a vocabulary of `n_tokens`.
    pub fn checkEnd(config: Config, n_tokens: u32, diag: *Diagnostic) diagnostic.Error!void {
        const end = config.end orelse return;
        if (end.len > end_tokens_max) return diag.fail(.limit, "end: {d} tokens are more than {d}", .{ end.len, end_tokens_max });
        for (end, 0..) |token, i| {
            if (token < 0 or token >= n_tokens) {
                return diag.fail(.invalid_arg, "end[{d}]: {d} is outside 0..{d}", .{ i, token, n_tokens - 1 });
            }
        }
    }
};

/// What an accepted token did: ELIZA_STEP_* of the header.
pub const Step = packed struct(c_int) {
    in_span: bool = false,
    span_ended: bool = false,
    span_started: bool = false,
    timed_out: bool = false,
    refused: bool = false,
    _: u27 = 0,

    /// Whether the token started or ended a span.
    pub fn isBorder(step: Step) bool {
        return step.span_ended or step.span_started;
    }
};

/// What `accept` does with an illegal token.
pub const Illegal = enum { refuse, end_span };

/// A named token sequence of a payload, by its descriptor and its place there; or a text of the descriptor's language.
pub const Leaf = struct {
    descriptor: u32,
    index: u32,

    /// In place of an index.
    pub const text = std.math.maxInt(u32);
};

/// Where a text stands: eliza_span_state_t of the header.
pub const Report = struct {
    /// The open span's; null outside a span.
    descriptor: ?u32 = null,
    can_stop: bool = false,
    /// Whether some token is illegal next.
    is_constrained: bool = false,
    /// Number of legal tokens; 0 if all are legal.
    n_allowed: u32 = 0,
    /// Tokens accepted in the open span.
    tokens: u32 = 0,
    /// The leaf that is complete here or, outside a span, that the last span ended with.
    leaf: ?Leaf = null,
    started: u32 = 0,
    ended: u32 = 0,
    timeouts: u32 = 0,
    illegal: u32 = 0,
};

/// Logs that a span of `timeout` tokens was cut off.
pub fn logTimeout(timeout: u32) void {
    log.write(.warn, "a span reached its timeout of {d} tokens and was deactivated", .{timeout});
}
