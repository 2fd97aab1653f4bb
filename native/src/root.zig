//! The shared library: everything that the header declares is exported from `abi/`. The engines are
//! public so that Zig tests can drive them as the C boundary does.

const std = @import("std");
const builtin = @import("builtin");

pub const diagnostic = @import("diagnostic.zig");
pub const vocabulary = @import("vocabulary.zig");
pub const constraint = @import("constraint.zig");
pub const canonical = @import("canonical.zig");
pub const compile = @import("recognizer/compile.zig");
pub const matcher = @import("matcher.zig");
pub const sampling = @import("sampling/sampling.zig");
pub const cache = @import("trie/cache.zig");
pub const Status = @import("status.zig").Status;

/// A library must not take over its host's signals, nor bring stack traces with it.
pub const std_options: std.Options = .{
    .enable_segfault_handler = false,
    .signal_stack_size = null,
    .allow_stack_tracing = builtin.mode == .debug,
};

comptime {
    _ = @import("abi/library.zig");
    _ = @import("abi/vocabulary.zig");
    _ = @import("abi/constraint.zig");
    _ = @import("abi/recognizer.zig");
    _ = @import("abi/matcher.zig");
    _ = @import("abi/llama.zig");
    _ = @import("abi/context.zig");
    _ = @import("abi/stream.zig");
    _ = @import("abi/sampler.zig");
}

test {
    std.testing.refAllDecls(@This());
    _ = @import("message.zig");
    _ = @import("platform/log.zig");
    _ = @import("payload/payload.zig");
    _ = @import("payload/json.zig");
    _ = @import("payload/msgpack.zig");
    _ = @import("payload/decode.zig");
    _ = @import("trie/trie.zig");
    _ = @import("trie/build.zig");
    _ = @import("trie/trigger.zig");
    _ = @import("trie/span.zig");
    _ = @import("recognizer/grammar/graph.zig");
    _ = @import("recognizer/grammar/inseparable.zig");
    _ = @import("recognizer/grammar/tables_test.zig");
    _ = @import("recognizer/regex/ast.zig");
    _ = @import("recognizer/regex/characters.zig");
    _ = @import("recognizer/regex/dfa_test.zig");
    _ = @import("recognizer/regex/index.zig");
    _ = @import("recognizer/regex/parse.zig");
    _ = @import("recognizer/regex/unicode.zig");
    _ = @import("recognizer/regex/utf8.zig");
    _ = @import("sampling/rng.zig");
    _ = @import("sampling/rank.zig");
    _ = @import("platform/clock.zig");
    _ = @import("platform/dynlib.zig");
    _ = @import("platform/file.zig");
    _ = @import("platform/handles.zig");
    _ = @import("llama/layout.zig");
    _ = @import("llama/loader.zig");
    _ = @import("llama/native_log.zig");
    _ = @import("llama/cache_type.zig");
    _ = @import("llama/text.zig");
    _ = @import("llama/outbox.zig");
    _ = @import("llama/free.zig");
    _ = @import("llama/slot.zig");
    _ = @import("llama/sampler.zig");
    _ = @import("header_test.zig");
}
