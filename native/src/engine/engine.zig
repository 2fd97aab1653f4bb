//! The engine: token tries, recognizers, sampling, and what they stand on. A module of its own: it is compiled
//! for speed, what calls it (the C boundary, the binding of libllama, the compilers of grammars) for size. What
//! is listed here is all that the shell may use.

// base
pub const arena = @import("base/arena.zig");
pub const array_list = @import("base/array_list.zig");
pub const budget = @import("base/budget.zig");
pub const diagnostic = @import("base/diagnostic.zig");
pub const identity = @import("base/identity.zig");
pub const in_use = @import("base/in_use.zig");
pub const number_map = @import("base/number_map.zig");
pub const shared_cache = @import("base/shared_cache.zig");
pub const sort = @import("base/sort.zig");
pub const text_sort = @import("base/text_sort.zig");
pub const status = @import("base/status.zig");
pub const texts = @import("base/texts.zig");
pub const watch = @import("base/watch.zig");

// platform
pub const clock = @import("platform/clock.zig");
pub const environment = @import("platform/environment.zig");
pub const file = @import("platform/file.zig");
pub const log = @import("platform/log.zig");
pub const mapping = @import("platform/mapping.zig");
pub const memory = @import("platform/memory.zig");
pub const mutex = @import("platform/mutex.zig");
pub const residency = @import("platform/residency.zig");

// vocabulary, sampling, payload
pub const byte_trie = @import("vocabulary/byte_trie.zig");
pub const tokenize = @import("vocabulary/tokenize.zig");
pub const string_index = @import("vocabulary/string_index.zig");
pub const vocabulary = @import("vocabulary/vocabulary.zig");
pub const sampling = @import("sampling/sampling.zig");
pub const logits = @import("sampling/logits.zig");
pub const limits = @import("payload/limits.zig");
pub const payload_input = @import("payload/input.zig");
pub const payload_reader = @import("payload/reader.zig");

// token tries
pub const trie = @import("trie/trie.zig");
pub const trie_cache = @import("trie/cache.zig");

// languages and recognizers
pub const arrays = @import("language/arrays.zig");
pub const position = @import("language/position.zig");
pub const choices = @import("language/choices.zig");
pub const dfa = @import("language/dfa.zig");
pub const regex = @import("language/regex.zig");
pub const mask = @import("mask/mask.zig");
pub const mask_cache = @import("mask/cache.zig");
pub const grammar = @import("lr/grammar.zig");
pub const ambiguous = @import("glr/ambiguous.zig");
pub const named_tokens = @import("glr/named_tokens.zig");
pub const bounded_texts = @import("language/bounded_texts.zig");
pub const any_order = @import("glr/any_order.zig");
pub const token_limits = @import("glr/limits.zig");
pub const parts = @import("glr/parts.zig");
pub const json_schema = @import("schema/json_schema.zig");
pub const json_form = @import("schema/form.zig");
pub const json_space = @import("schema/space.zig");
pub const schema = @import("schema/schema.zig");
pub const shared_dfa = @import("schema/shared_dfa.zig");
pub const schema_evident = @import("schema/evident.zig");
pub const schema_strings = @import("schema/strings.zig");
pub const schema_spelling = @import("schema/spelling.zig");
pub const schema_escapes = @import("schema/escapes.zig");
pub const decimal = @import("schema/decimal.zig");
pub const program = @import("lr/program.zig");
pub const selection = @import("lr/selection.zig");
pub const tags = @import("tags/tags.zig");
pub const free_text = @import("tags/free_text.zig");
pub const end_text = @import("tags/end_text.zig");
pub const tag_symbols = @import("tags/symbols.zig");
pub const token_tree = @import("recognizer/token_tree.zig");
pub const language = @import("recognizer/language.zig");
pub const recognizer = @import("recognizer/recognizer.zig");
pub const recognizer_state = @import("recognizer/state.zig");
pub const parted_trie = @import("recognizer/parted_trie.zig");

// constraints
pub const info = @import("contract/info.zig");
pub const kind = @import("contract/kind.zig");
pub const span = @import("contract/span.zig");
pub const batch = @import("constraint/batch.zig");
pub const constraint = @import("constraint/constraint.zig");
pub const guide = @import("constraint/guide.zig");
pub const history = @import("constraint/history.zig");
pub const kinds = @import("constraint/kinds.zig");
pub const matcher = @import("constraint/matcher.zig");

test {
    @import("std").testing.refAllDecls(@This());
    _ = @import("base/bitmap.zig");
    _ = @import("base/exclude.zig");
    _ = @import("base/number_map.zig");
    _ = @import("base/texts.zig");
    _ = @import("platform/processor.zig");
    _ = @import("payload/decode.zig");
    _ = @import("payload/reader_test.zig");
    _ = @import("trie/build.zig");
    _ = @import("trie/trigger.zig");
    _ = @import("sampling/rank.zig");
    _ = @import("sampling/rng.zig");
    _ = @import("mask/builder.zig");
    _ = @import("mask/cache_test.zig");
    _ = @import("mask/scratch.zig");
    _ = @import("mask/walk.zig");
    _ = @import("language/regex.zig");
    _ = @import("lr/chains.zig");
    _ = @import("lr/check.zig");
    _ = @import("lr/parser_test.zig");
    _ = @import("lr/selection_test.zig");
    _ = @import("lr/signature_test.zig");
    _ = @import("recognizer/own_mask.zig");
    _ = @import("recognizer/recognizer_test.zig");
    _ = @import("constraint/kinds_test.zig");
    _ = @import("base/interner.zig");
    _ = @import("base/limited_allocator.zig");
    _ = @import("schema/spelling.zig");
    _ = @import("vocabulary/check.zig");
    _ = @import("vocabulary/string_index.zig");
    _ = @import("schema/decimal.zig");
    _ = @import("schema/numbers_test.zig");
    _ = @import("schema/sets.zig");
    _ = @import("schema/unique.zig");
    _ = @import("schema/values.zig");
}
