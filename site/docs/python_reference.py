"""The pages of the Python reference: their names, titles, and what each describes. A test compares them with what
`eliza_inference` exports."""

PAGES = {
    "constraints": (
        "Constraints",
        "Constraint ConstraintKind ConstraintInfo RecognizerInfo Budget compile_async Payload JsonSchema JsonDocuments "
        "JsonDraft JsonOrder JsonSpace JsonNumbers JsonAdditional GENERATION Grammars grammars "
        "Tag TagMarker ToolForm TOOL_FORMS ToolTemplate tool_templates",
    ),
    "vocabularies": ("Vocabularies", "Vocabulary VocabularyInfo TokenFlag ByteTokenizer Tokenizer"),
    "matchers": (
        "Matchers and masks",
        "Matcher MatcherInfo Mode Step SpanState fill_bitmaps fill_draft_bitmaps apply_bitmaps",
    ),
    "models": (
        "Models and streams",
        "Model Stream StreamStep StreamStats StopReason Span TokenCallback Pooling LlamaInfo find_llama load_llama "
        "llama_info library_path library_version",
    ),
    "samplers": (
        "Samplers in llama.cpp's chain",
        "token_trie_sampler constraint_sampler set_sampler_trie set_sampler_constraint clear_sampler_trie "
        "activate_sampler sampler_state",
    ),
    "token-trees": (
        "Token trees",
        "TokenTree TokenTreeDescriptor TokenTreePart TokenSequence TokenTrieNode TRIE_ROOT_TOKEN_ID "
        "build_token_tree_descriptor build_token_trie count_terminals has_prefix_leaf is_unique_continuation step "
        "TrieCacheStats trie_cache_stats set_trie_cache_limit",
    ),
    "errors": (
        "Errors and limits",
        "Status ElizaError UnsupportedError InvalidArgumentError ModelFileError LlamaError OutOfMemoryError "
        "AbiMismatchError LibraryError CancelledError BusyError ClosedError PayloadError LimitError ModelMismatchError "
        "UnknownPathError ContextFullError SlotFileError StateError GrammarError FileInvalidError limits",
    ),
    "integrations": ("Integrations", "transformers llama_cpp outlines"),
}


def pages() -> dict[str, str]:
    """Markdown for mkdocstrings, by file."""
    found = {}
    for file, (title, names) in PAGES.items():
        blocks = [f"::: eliza_inference.{name}" for name in names.split()]
        found[f"{file}.md"] = "\n\n".join([f"# {title}", *blocks]) + "\n"
    return found


def names() -> set[str]:
    return {name for _, members in PAGES.values() for name in members.split()}
