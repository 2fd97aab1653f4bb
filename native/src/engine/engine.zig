//! The engines: token tries, recognizers over the vocabulary, sampling, and what they stand on. A module
//! of its own, since it is compiled for speed, and what calls it (the C boundary, the binding of
//! libllama, the compilers of grammars) for size.

pub const dfa = @import("recognizer/dfa.zig");
pub const batch = @import("constraint/batch.zig");
pub const budget = @import("base/budget.zig");
pub const cache = @import("trie/cache.zig");
pub const choices = @import("recognizer/choices.zig");
pub const clock = @import("platform/clock.zig");
pub const constraint = @import("constraint/constraint.zig");
pub const diagnostic = @import("base/diagnostic.zig");
pub const file = @import("platform/file.zig");
pub const guide = @import("constraint/guide.zig");
pub const limits = @import("payload/limits.zig");
pub const log = @import("platform/log.zig");
pub const mapping = @import("platform/mapping.zig");
pub const matcher = @import("constraint/matcher.zig");
pub const memory = @import("platform/memory.zig");
pub const mutex = @import("platform/mutex.zig");
pub const output = @import("recognizer/state.zig");
pub const program = @import("recognizer/lr/program.zig");
pub const recognizer = @import("recognizer/recognizer.zig");
pub const sampling = @import("sampling/sampling.zig");
pub const signature = @import("recognizer/lr/signature.zig");
pub const span = @import("trie/span.zig");
pub const status = @import("base/status.zig");
pub const tokenize = @import("vocabulary/tokenize.zig");
pub const trie = @import("trie/trie.zig");
pub const vocabulary = @import("vocabulary/vocabulary.zig");
pub const byte_trie = @import("vocabulary/byte_trie.zig");

test {
    @import("std").testing.refAllDecls(@This());
    _ = @import("platform/log.zig");
    _ = @import("payload/payload.zig");
    _ = @import("payload/reader_test.zig");
    _ = @import("payload/msgpack.zig");
    _ = @import("payload/decode.zig");
    _ = @import("trie/trie.zig");
    _ = @import("trie/build.zig");
    _ = @import("trie/trigger.zig");
    _ = @import("trie/span.zig");
    _ = @import("sampling/rng.zig");
    _ = @import("sampling/rank.zig");
    _ = @import("platform/clock.zig");
    _ = @import("platform/file.zig");
    _ = @import("platform/mapping.zig");
    _ = @import("platform/processor.zig");
    _ = @import("base/bitmap.zig");
    _ = @import("base/budget.zig");
    _ = @import("recognizer/lr/chains.zig");
    _ = @import("recognizer/choices.zig");
    _ = @import("base/number_map.zig");
    _ = @import("recognizer/mask_builder.zig");
    _ = @import("vocabulary/byte_trie.zig");
}
