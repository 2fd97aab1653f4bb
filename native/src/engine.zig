//! The engines: token tries, recognizers over the vocabulary, sampling, and what they stand on. A module
//! of its own, since it is compiled for speed, and what calls it (the C boundary, the binding of
//! libllama, the compilers of grammars) for size.

pub const automaton = @import("recognizer/automaton.zig");
pub const budget = @import("recognizer/budget.zig");
pub const cache = @import("trie/cache.zig");
pub const choices = @import("recognizer/choices.zig");
pub const clock = @import("platform/clock.zig");
pub const constraint = @import("constraint.zig");
pub const diagnostic = @import("diagnostic.zig");
pub const file = @import("platform/file.zig");
pub const guide = @import("guide.zig");
pub const limits = @import("payload/limits.zig");
pub const log = @import("platform/log.zig");
pub const mapping = @import("platform/mapping.zig");
pub const matcher = @import("matcher.zig");
pub const memory = @import("platform/memory.zig");
pub const mutex = @import("platform/mutex.zig");
pub const output = @import("recognizer/output.zig");
pub const program = @import("recognizer/program.zig");
pub const recognizer = @import("recognizer/recognizer.zig");
pub const sampling = @import("sampling/sampling.zig");
pub const signature = @import("recognizer/signature.zig");
pub const span = @import("trie/span.zig");
pub const status = @import("status.zig");
pub const tokenize = @import("recognizer/tokenize.zig");
pub const trie = @import("trie/trie.zig");
pub const vocabulary = @import("vocabulary.zig");
pub const vocabulary_trie = @import("recognizer/vocabulary_trie.zig");

test {
    @import("std").testing.refAllDecls(@This());
    _ = @import("platform/log.zig");
    _ = @import("payload/payload.zig");
    _ = @import("payload/json.zig");
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
    _ = @import("recognizer/bitmap.zig");
    _ = @import("recognizer/budget.zig");
    _ = @import("recognizer/chains.zig");
    _ = @import("recognizer/choices.zig");
    _ = @import("recognizer/number_map.zig");
    _ = @import("recognizer/sink.zig");
    _ = @import("recognizer/vocabulary_trie.zig");
}
