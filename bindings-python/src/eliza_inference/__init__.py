"""Constrained decoding for language models: structured output, JSON mode, function calling.

Three calls are all that most programs need:

    constraint = Constraint.json_schema(vocabulary, schema)   # what the model may write
    text = stream.choose(constraint)                          # with a model in llama.cpp, or
    token = matcher.sample(logits)                            # with the logits of any engine

A whole program with llama.cpp:

    from eliza_inference import Constraint, Model

    with Model("model.gguf") as model, model.stream() as stream:
        schema = {"type": "integer", "minimum": 1, "maximum": 90}
        stream.prefill("User: set a timer for ten minutes. Minutes: ")
        print(stream.choose(Constraint.json_schema(model.vocabulary, schema)))

The same with any engine: `Vocabulary.from_tokenizer_json(path)`, then `Matcher(constraint)`, and for each token
`matcher.sample(logits)` (or `mask_logits`, or `fill_bitmap`) and `matcher.accept(token)`.

Also
- constraints: `Constraint.choices`, `regex`, `lark`, `gbnf`, `tags`; `tool_calls`, `tool_call` and `response_format`
  for OpenAI's requests; `Constraint(vocabulary, tree)` and `model.token_tree(names)` for names as tokens
- integrations: `eliza_inference.transformers`, `llama_cpp`, `outlines`, `sglang`, `vllm`
- errors: a failure raises an `ElizaError` that says what is wrong and where; a wrong type is a `TypeError`, an array
  that is read-only or not contiguous a `BufferError`
- log: `logging.getLogger("eliza_inference")`
"""

from eliza_inference import grammars, limits
from eliza_inference._library import library_path, library_version
from eliza_inference.bitmap import apply_bitmaps, fill_bitmaps, fill_draft_bitmaps
from eliza_inference.budget import Budget, compile_async
from eliza_inference.constraint import Constraint, ConstraintInfo, ConstraintKind, Payload, RecognizerInfo
from eliza_inference.errors import (
    AbiMismatchError,
    BusyError,
    CancelledError,
    ClosedError,
    ContextFullError,
    ElizaError,
    FileInvalidError,
    GrammarError,
    InvalidArgumentError,
    LibraryError,
    LimitError,
    LlamaError,
    ModelFileError,
    ModelMismatchError,
    OutOfMemoryError,
    PayloadError,
    SlotFileError,
    StateError,
    Status,
    UnknownPathError,
    UnsupportedError,
)
from eliza_inference.json_schema import (
    GENERATION,
    JsonAdditional,
    JsonDocuments,
    JsonDraft,
    JsonNumbers,
    JsonOrder,
    JsonSchema,
    JsonSpace,
)
from eliza_inference.lark import Grammars
from eliza_inference.llama import LlamaInfo, find_llama, llama_info, load_llama
from eliza_inference.matcher import Matcher, MatcherInfo, Mode, SpanState, Step
from eliza_inference.model import Model, Pooling, Stream
from eliza_inference.openai import TOOL_FORMS, ToolForm
from eliza_inference.sampler import (
    activate_sampler,
    clear_sampler_trie,
    constraint_sampler,
    sampler_state,
    set_sampler_constraint,
    set_sampler_trie,
    token_trie_sampler,
)
from eliza_inference.tags import Tag, TagMarker
from eliza_inference.token_stream import Span, StopReason, StreamStats, StreamStep, TokenCallback
from eliza_inference.token_tree import (
    TRIE_ROOT_TOKEN_ID,
    Tokenizer,
    TokenSequence,
    TokenTree,
    TokenTreeDescriptor,
    TokenTreePart,
    TokenTrieNode,
    build_token_tree_descriptor,
    build_token_trie,
    count_terminals,
    has_prefix_leaf,
    is_unique_continuation,
    step,
)
from eliza_inference.tool_calls import ToolTemplate, tool_templates
from eliza_inference.trie_cache import TrieCacheStats, set_trie_cache_limit, trie_cache_stats
from eliza_inference.vocabulary import ByteTokenizer, TokenFlag, Vocabulary, VocabularyInfo

__all__ = [
    "GENERATION",
    "TOOL_FORMS",
    "TRIE_ROOT_TOKEN_ID",
    "AbiMismatchError",
    "Budget",
    "BusyError",
    "ByteTokenizer",
    "CancelledError",
    "ClosedError",
    "Constraint",
    "ConstraintInfo",
    "ConstraintKind",
    "ContextFullError",
    "ElizaError",
    "FileInvalidError",
    "GrammarError",
    "Grammars",
    "InvalidArgumentError",
    "JsonAdditional",
    "JsonDocuments",
    "JsonDraft",
    "JsonNumbers",
    "JsonOrder",
    "JsonSchema",
    "JsonSpace",
    "LibraryError",
    "LimitError",
    "LlamaError",
    "LlamaInfo",
    "Matcher",
    "MatcherInfo",
    "Mode",
    "Model",
    "ModelFileError",
    "ModelMismatchError",
    "OutOfMemoryError",
    "Payload",
    "PayloadError",
    "Pooling",
    "RecognizerInfo",
    "SlotFileError",
    "Span",
    "SpanState",
    "StateError",
    "Status",
    "Step",
    "StopReason",
    "Stream",
    "StreamStats",
    "StreamStep",
    "Tag",
    "TagMarker",
    "TokenCallback",
    "TokenFlag",
    "TokenSequence",
    "TokenTree",
    "TokenTreeDescriptor",
    "TokenTreePart",
    "TokenTrieNode",
    "Tokenizer",
    "ToolForm",
    "ToolTemplate",
    "TrieCacheStats",
    "UnknownPathError",
    "UnsupportedError",
    "Vocabulary",
    "VocabularyInfo",
    "activate_sampler",
    "apply_bitmaps",
    "build_token_tree_descriptor",
    "build_token_trie",
    "clear_sampler_trie",
    "compile_async",
    "constraint_sampler",
    "count_terminals",
    "fill_bitmaps",
    "fill_draft_bitmaps",
    "find_llama",
    "grammars",
    "has_prefix_leaf",
    "is_unique_continuation",
    "library_path",
    "library_version",
    "limits",
    "llama_info",
    "load_llama",
    "sampler_state",
    "set_sampler_constraint",
    "set_sampler_trie",
    "set_trie_cache_limit",
    "step",
    "token_trie_sampler",
    "tool_templates",
    "trie_cache_stats",
]
