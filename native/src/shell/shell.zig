//! What surrounds the engine, in small code: the C boundary, which exports everything that the header declares,
//! the binding of libllama, and the compilers of regular expressions and grammars. Public, so that Zig tests
//! can drive it as the C boundary does.

const builtin = @import("builtin");
const std = @import("std");

pub const diagnostic = @import("engine").diagnostic;
pub const vocabulary = @import("engine").vocabulary;
pub const constraint = @import("engine").constraint;
pub const canonical_choices = @import("compile/canonical_choices.zig");
pub const compile = @import("compile/compile.zig");
pub const payload = @import("compile/payload.zig");
pub const files = @import("files/files.zig");
pub const matcher = @import("engine").matcher;
pub const batch = @import("engine").batch;
pub const sampling = @import("engine").sampling;
pub const trie_cache = @import("engine").trie_cache;
pub const info = @import("engine").info;
pub const Status = @import("engine").status.Status;

comptime {
    _ = @import("abi/library.zig");
    _ = @import("abi/vocabulary.zig");
    _ = @import("abi/constraint.zig");
    _ = @import("abi/recognizer.zig");
    _ = @import("abi/matcher.zig");
    if (builtin.cpu.arch.isWasm()) {
        _ = @import("abi/webassembly.zig");
    } else {
        _ = @import("abi/files.zig");
        _ = @import("abi/llama.zig");
        _ = @import("abi/context.zig");
        _ = @import("abi/stream.zig");
        _ = @import("abi/sampler.zig");
        _ = @import("abi/speech.zig");
    }
}

test {
    std.testing.refAllDecls(@This());
    _ = @import("compile/compile.zig");
    _ = @import("compile/masks_test.zig");
    _ = @import("compile/budgets_test.zig");
    _ = @import("compile/source_text.zig");
    _ = @import("compile/utf8_text.zig");
    _ = @import("compile/gbnf/gbnf.zig");
    _ = @import("compile/lark/lark.zig");
    _ = @import("compile/lark/guidance.zig");
    _ = @import("compile/lark/parametric.zig");
    _ = @import("compile/lark/substring.zig");
    _ = @import("compile/lark/properties.zig");
    _ = @import("compile/lark/budgeted_arena.zig");
    _ = @import("compile/lr/row_displacement.zig");
    _ = @import("compile/lr/graph.zig");
    _ = @import("compile/lr/maximal_munch.zig");
    _ = @import("compile/lr/tables.zig");
    _ = @import("compile/lr/tables_test.zig");
    _ = @import("compile/schema/compile_test.zig");
    _ = @import("compile/schema/evident_test.zig");
    _ = @import("compile/cfg/compile_test.zig");
    _ = @import("compile/cfg/regular.zig");
    _ = @import("compile/edit_distance.zig");
    _ = @import("compile/token_set.zig");
    _ = @import("compile/schema/decimals.zig");
    _ = @import("compile/schema/doubtful_keywords.zig");
    _ = @import("compile/schema/doubtful_patterns.zig");
    _ = @import("compile/schema/json.zig");
    _ = @import("compile/schema/keywords.zig");
    _ = @import("compile/schema/metaschemas.zig");
    _ = @import("compile/schema/spelled.zig");
    _ = @import("compile/schema/uri.zig");
    _ = @import("files/saved_file.zig");
    _ = @import("compile/regex/ast.zig");
    _ = @import("compile/regex/character_set.zig");
    _ = @import("compile/regex/dfa_test.zig");
    _ = @import("compile/regex/interner.zig");
    _ = @import("compile/regex/parse.zig");
    _ = @import("compile/regex/unicode.zig");
    _ = @import("compile/regex/utf8.zig");
    _ = @import("compile/schema/formats.zig");
    _ = @import("compile/schema/patterns_test.zig");
    _ = @import("compile/schema/strings_test.zig");
    _ = @import("llama/dynlib.zig");
    _ = @import("llama/gguf.zig");
    _ = @import("abi/boundary.zig");
    _ = @import("abi/handles.zig");
    _ = @import("llama/layout.zig");
    _ = @import("llama/model.zig");
    _ = @import("llama/loader.zig");
    _ = @import("llama/load_advice.zig");
    _ = @import("llama/native_log.zig");
    _ = @import("llama/cache_type.zig");
    _ = @import("llama/text.zig");
    _ = @import("llama/outbox.zig");
    _ = @import("llama/unconstrained.zig");
    _ = @import("llama/slot.zig");
    _ = @import("llama/lookup.zig");
    _ = @import("llama/embedder.zig");
    _ = @import("llama/sampler.zig");
    _ = @import("abi/header_test.zig");
}
