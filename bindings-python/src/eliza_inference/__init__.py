"""Constrained generation for a language model in the same process: only legal names come out.

    from eliza_inference import Model

    with Model("model.gguf") as model, model.stream() as stream:
        tree = model.token_tree(["REPLY", "SEND_MESSAGE", "SET_TIMER"])
        stream.prefill("User: set a timer for ten minutes\\nAction:")
        print(stream.choose(tree))

- `TokenTree` says which names are legal, as token ids.
- `Constraint.choices`, `Constraint.regex` and `Constraint.lark` constrain free text: to one of many
  strings, to a regular expression, to a grammar (`grammars` has some that ship).
- `Constraint.json_schema` constrains it to documents of a JSON Schema or a Pydantic model,
  `Constraint.response_format` and `Constraint.tool_call` to what OpenAI's API asks for.
- `Model` and `Stream` generate with llama.cpp (any libllama that `load_llama` finds).
- `Vocabulary`, `Constraint` and `Matcher` constrain any other engine, through its logits; vocabularies
  come from GGUF files, `tokenizer.json` or tiktoken's ranks.
- Every failure raises an `ElizaError`, except that an argument of the wrong type raises a `TypeError`,
  and an array that is read-only or not contiguous a `BufferError`.

The library logs to `logging.getLogger("eliza_inference")`.
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
from eliza_inference.json_schema import JsonDocuments, JsonDraft, JsonOrder, JsonSchema, JsonSpace
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
    "JsonDocuments",
    "JsonDraft",
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
