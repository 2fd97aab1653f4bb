"""What an output is constrained by: a compiled token tree, or a recognizer."""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from eliza_inference._arguments import instance, kind_of, several, utf8
from eliza_inference._constants import constant
from eliza_inference._described import Described, Shared
from eliza_inference._library import CData, call, ffi, lent_text, lib, new_struct
from eliza_inference._named import NamedInt
from eliza_inference._opening import open_flags
from eliza_inference._tokenizers import watching_tokenizer
from eliza_inference.budget import Budget, SharedBudget, call_within
from eliza_inference.errors import (
    ElizaError,
    GrammarError,
    InvalidArgumentError,
    LimitError,
    PayloadError,
    UnsupportedError,
    error_from_status,
)
from eliza_inference.json_schema import (
    GENERATION,
    JsonAdditional,
    JsonDocuments,
    JsonDraft,
    JsonNumbers,
    JsonOrder,
    JsonSchema,
    JsonSchemaOptions,
    JsonSchemaSettings,
    JsonSpace,
    is_model,
    schema_text,
    shared_options,
)
from eliza_inference.lark import Grammars, LarkOptions
from eliza_inference.openai import (
    ResponseFormat,
    ToolForm,
    call_schema,
    of_tools,
    response_language,
    response_schema,
    with_documents,
)
from eliza_inference.structural_tags import TagGrammar, as_structural_tag, read_as
from eliza_inference.tags import Tag, TagMarker, descriptor_bytes
from eliza_inference.token_tree import TokenTree
from eliza_inference.tool_calls import ToolCalls, ToolTemplate
from eliza_inference.tools import (
    Tool,
    ToolChoice,
    ToolDefinition,
    choose,
    json_arguments,
    left_out,
    of_tool,
    read_tool,
    read_tools,
)
from eliza_inference.vocabulary import Vocabulary

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Constraint", "ConstraintInfo", "ConstraintKind", "Payload", "RecognizerInfo"]

Payload = TokenTree | str | bytes
"""A token tree, or one serialised: JSON as text or bytes, MessagePack as bytes."""


class ConstraintKind(NamedInt):
    """The kind of a constraint, by what it was compiled from."""

    TOKEN_TRIE = constant("ELIZA_CONSTRAINT_TOKEN_TRIE")
    CHOICES = constant("ELIZA_CONSTRAINT_CHOICES")
    REGEX = constant("ELIZA_CONSTRAINT_REGEX")
    GRAMMAR = constant("ELIZA_CONSTRAINT_GRAMMAR")
    JSON_SCHEMA = constant("ELIZA_CONSTRAINT_JSON_SCHEMA")
    TAGS = constant("ELIZA_CONSTRAINT_TAGS")


@dataclass(frozen=True, slots=True)
class ConstraintInfo:
    """The size of a compiled token tree (`Constraint.info`)."""

    n_descriptors: int
    n_leaves: int
    """Distinct token sequences in all descriptors together."""
    n_nodes: int
    """Nodes of all tries, roots and end nodes included."""
    longest_leaf_tokens: int
    """Length of the longest leaf, in tokens."""
    widest_node: int
    """The largest number of legal tokens at a node."""
    retained_bytes: int
    """Memory kept, in bytes, the copy of the payload included."""


@dataclass(frozen=True, slots=True)
class RecognizerInfo:
    """The size of a compiled recognizer (`Constraint.recognizer_info`). All 0 for a token tree."""

    n_states: int
    """States of the choices' trie, of the regular expression's automaton, or of the grammar's lexer."""
    n_parser_states: int
    n_terminals: int
    n_productions: int
    n_tables: int
    """Lexer states with a table."""
    n_masks: int
    """Masks kept."""
    automaton_bytes: int
    """Memory of the compiled automata, in bytes."""
    table_bytes: int
    """Memory of the tables and masks, in bytes, bounded by `Budget.mask_bytes_max`."""


class Constraint(Shared, Described):
    """What is legal, compiled for a vocabulary. Immutable, and usable by any number of threads at once. Keeps
    the vocabulary alive.

    `Constraint(vocabulary, tree)` compiles a token tree, whose names come out in the tree's own tokens. The
    same payload is compiled once: later constraints come from a cache. Raises `PayloadError`, which names
    the place in the tree, `LimitError`, and `ModelMismatchError` if both model ids are known and differ.

    `choices`, `regex`, `lark`, `gbnf`, `json_schema` and `tags` compile recognizers: any text that they accept may come
    out, in any tokens, and always in valid UTF-8. It is the text that follows the prompt: after "Action:" it begins
    with a space, which the choices, the pattern or the grammar must contain. They need a vocabulary with
    token bytes (else `InvalidArgumentError`), and each takes a `Budget`: what exceeds it is a `LimitError`.
    """

    __slots__ = ("_handle", "_known_parts", "_n_words", "_read", "_vocabulary", "_warnings", "kind")

    _known_parts: bool | None
    kind: ConstraintKind
    """What it was compiled from. Canonical choices are a `TOKEN_TRIE`."""

    def __init__(self, vocabulary: Vocabulary, tree: Payload) -> None:
        instance("vocabulary", vocabulary, Vocabulary)
        payload = payload_bytes(tree)
        out = ffi.new("eliza_constraint **")
        call(
            lib.eliza_inference_constraint_create_token_trie,
            vocabulary._handle,
            ffi.from_buffer("char[]", payload),
            len(payload),
            out,
        )
        self._adopt(vocabulary, out[0], ConstraintKind.TOKEN_TRIE)

    @classmethod
    def choices(
        cls,
        vocabulary: Vocabulary,
        strings: Iterable[str | bytes],
        *,
        canonical: bool = False,
        budget: Budget | None = None,
    ) -> Constraint:
        """Allows any one of the strings. Duplicates count once; an empty string is an `InvalidArgumentError`.

        `canonical` allows a string only in the tokens that the vocabulary's tokenizer gives for it (see
        `Vocabulary.set_tokenizer`): the constraint is then a token tree with the path "choices".
        """
        listed = several("strings", strings, "strings")
        encoded = [each if isinstance(each, bytes) else utf8(f"strings[{at}]", each) for at, each in enumerate(listed)]
        joined = ffi.from_buffer("uint8_t[]", b"".join(encoded))
        offsets = ffi.from_buffer("uint64_t[]", array("Q", accumulate(map(len, encoded), initial=0)))
        flags = _CHOICES_CANONICAL if canonical else 0
        function = lib.eliza_inference_constraint_create_choices
        kind = ConstraintKind.TOKEN_TRIE if canonical else ConstraintKind.CHOICES
        arguments = kind, budget, function, vocabulary, joined, offsets, len(encoded), flags
        return watching_tokenizer(cls._compile, *arguments) if canonical else cls._compile(*arguments)

    @classmethod
    def regex(
        cls,
        vocabulary: Vocabulary,
        pattern: str,
        *,
        ignore_case: bool = False,
        search: bool = False,
        budget: Budget | None = None,
    ) -> Constraint:
        r"""Allows a text that the pattern matches as a whole, as `re.fullmatch` does; with `search` one in which it
        matches somewhere, as `re.search` does.

        Supported are classes, those of Unicode too (`\d \w \s \p{Lu} \p{Greek}`), repeats
        (`* + ? {n,m}`), alternation, groups, look-around, `\b`, escapes and the flags `i s x`. All errors are a
        `GrammarError` with the place, and so are back-references and possessive groups.
        """
        encoded = utf8("pattern", pattern)
        flags = (_REGEX_IGNORE_CASE if ignore_case else 0) | (_REGEX_SEARCH if search else 0)
        function = lib.eliza_inference_constraint_create_regex
        return cls._compile(ConstraintKind.REGEX, budget, function, vocabulary, encoded, len(encoded), flags)

    @classmethod
    def lark(
        cls,
        vocabulary: Vocabulary,
        grammar: str,
        *,
        start: str = "start",
        imports: Grammars | None = None,
        budget: Budget | None = None,
    ) -> Constraint:
        """Allows a text of a context-free grammar in Lark's notation, read with contextual lexing, by the longest
        lexeme, or in any way.

        `start` names the rule that a text is of. `imports` has the grammars that `%import` names, `"a.b"` for
        `%import a.b.rule`, and what `@name` names: grammars, and JSON Schemas as `json_schema` takes them; also
        schemas that references in schemas lead to, by URI. Or it is a function that is called with such a name
        and returns one of these or None; what it raises comes through. `eliza_inference.grammars` has some that
        ship. Raises `GrammarError` with line and column; for a conflict, with the two items and a shortest
        example. What is legal but seldom meant is in `warnings`.
        """
        encoded = utf8("grammar", grammar)
        options = LarkOptions(start, imports)
        function = lib.eliza_inference_constraint_create_lark_with
        try:
            kind = ConstraintKind.GRAMMAR
            return cls._compile(kind, budget, function, vocabulary, encoded, len(encoded), options.struct)
        finally:
            if options.error is not None:
                raise options.error

    @classmethod
    def gbnf(
        cls,
        vocabulary: Vocabulary,
        grammar: str,
        root: str = "root",
        *,
        ebnf: bool = False,
        budget: Budget | None = None,
    ) -> Constraint:
        """Allows a text of a context-free grammar in GBNF, llama.cpp's notation: any grammar, whether ambiguous or
        left-recursive. `root` names the rule that a text is of. `ebnf` reads XGrammar's EBNF instead.

        Raises `GrammarError` with line and column. The constraint is a `GRAMMAR`, or a `REGEX` if the grammar is
        regular. docs/reference/gbnf.md describes the notation.
        """
        encoded, name = utf8("grammar", grammar), utf8("root", root)
        flags = _GBNF_EBNF if ebnf else 0
        function = lib.eliza_inference_constraint_create_gbnf
        constraint = cls._compile(
            ConstraintKind.GRAMMAR, budget, function, vocabulary, encoded, len(encoded), name, len(name), flags
        )
        constraint.kind = ConstraintKind(_recognizer_info(constraint._handle).kind)
        return constraint

    @classmethod
    def json_schema(
        cls,
        vocabulary: Vocabulary,
        schema: JsonSchema,
        *,
        space: JsonSpace | None = None,
        order: JsonOrder = "declared",
        numbers: JsonNumbers | None = None,
        additional: JsonAdditional | None = None,
        integer_fraction: bool = False,
        draft: JsonDraft = "2020-12",
        documents: JsonDocuments | None = None,
        lenient: bool = False,
        budget: Budget | None = None,
    ) -> Constraint:
        """Allows a JSON document that is valid against a JSON Schema: a text, what `json` reads, a Pydantic model,
        or a `TypeAdapter`. `parse` reads the document.

        `space` says where white space may stand: "loose" (at each place none, one space, or a newline with
        indentation), "compact" (none), "spaced" (as `json.dumps` writes), "any". `order` is that of members:
        "declared" (as `properties` has them, then the other required ones, then the rest) or "any". `numbers` is
        "any", or "double": no number is longer than the text of a double. `additional` is "allow", or "forbid": an
        object whose schema names members has no others. By default `space`, `numbers` and `additional` are "loose",
        "any" and "allow", but for a Pydantic model or a `TypeAdapter` those of `GENERATION`.

        With `integer_fraction` an integer may be spelled 1.0. `draft` is that of a schema without `$schema`.
        `documents` has what `$ref` to other documents leads to, by URI, or is a function that is
        called with a URI and returns a schema or None; what it raises comes through. The drafts' own
        meta-schemas are there. A schema that is wrong, or that nothing satisfies, is a `GrammarError` with the
        place; so is what cannot be enforced exactly, but with `lenient` that is ignored, with a warning in `warnings`.
        docs/reference/json-schema.md says what is done for each keyword.
        """
        text, read = schema_text("schema", schema)
        encoded = utf8("schema", text)
        usual: JsonSchemaSettings = GENERATION if is_model(schema) else {}
        settings = (
            space or usual.get("space") or "loose",
            order,
            numbers or usual.get("numbers") or "any",
            additional or usual.get("additional") or "allow",
            draft,
            integer_fraction,
            lenient,
        )
        options = shared_options(*settings) if documents is None else JsonSchemaOptions(*settings, documents)
        function = lib.eliza_inference_constraint_create_json_schema
        kind = ConstraintKind.JSON_SCHEMA
        try:
            constraint = cls._compile(kind, budget, function, vocabulary, encoded, len(encoded), options.struct)
        finally:
            if options.error is not None:
                raise options.error
        constraint._read = read
        return constraint

    @classmethod
    def tags(
        cls,
        vocabulary: Vocabulary,
        tags: Iterable[Tag] | Mapping[str, Any] | str | bytes,
        *,
        triggers: Iterable[TagMarker] = (),
        excludes: Iterable[TagMarker] = (),
        after: TagMarker = "",
        at_least: int = 0,
        at_most: int | None = None,
        stop_after_first: bool = False,
        special_tokens: Iterable[str | int] = (),
        skip_bad_tags: bool = False,
        budget: Budget | None = None,
    ) -> Constraint:
        """Allows free text in which each `Tag.begin` opens a part, up to its end; then free text continues.

        With `triggers`, each begin text begins with one of them, and once free text has a trigger, one of its begin
        texts must follow. `excludes` are texts that free text never has. Before the text `after`, such as
        `"</think>"`, nothing is a trigger. There are at least `at_least` parts and, if it is not None, at most
        `at_most`; with `stop_after_first` the text ends with the first. Where a text of these has the text of a
        control token of the vocabulary, that token is meant; `{"token": ...}` names any token. Free text has the
        control tokens that are named somewhere: in `special_tokens`, if nowhere else. With `skip_bad_tags`, a tag
        whose language cannot be compiled is left out, with a warning.

        Instead of a list, `tags` may be a whole descriptor: a dict or JSON, or MessagePack as bytes; the other
        arguments are in it then. A dict or JSON may also be a structural tag of XGrammar's, of any format: one that
        is no free text with tags becomes a `GRAMMAR`. What is wrong is a `GrammarError` with the place.
        docs/reference/tags.md describes all of it.
        """
        structural = as_structural_tag(tags)
        if structural is not None:
            read = read_as(vocabulary, structural)
            if isinstance(read, TagGrammar):
                try:
                    return cls.lark(vocabulary, read.text, imports=read.schemas, budget=budget)
                except (GrammarError, LimitError) as error:
                    raise read.placed(error) from None
            tags = read
        options: dict[str, Any] = {
            "triggers": list(several("triggers", triggers, "texts")),
            "excludes": list(several("excludes", excludes, "texts")),
            "after": after,
            "at_least": at_least,
            "at_most": at_most,
            "stop_after_first": stop_after_first,
            "special_tokens": list(several("special_tokens", special_tokens, "tokens")),
            "skip_bad_tags": skip_bad_tags,
        }
        encoded = ffi.from_buffer("uint8_t[]", descriptor_bytes(tags, options))
        function = lib.eliza_inference_constraint_create_tags
        return cls._compile(ConstraintKind.TAGS, budget, function, vocabulary, encoded, len(encoded))

    @classmethod
    def response_format(
        cls, vocabulary: Vocabulary, response_format: ResponseFormat | None, **options: Unpack[JsonSchemaSettings]
    ) -> Constraint | None:
        """What a `response_format` of OpenAI's API asks for: `{"type": "json_schema", "json_schema": {"schema": ...}}`,
        `{"type": "json_object"}`, or a Pydantic model. None for `{"type": "text"}` and for None, which constrain
        nothing. What servers know besides: `{"type": "json_object", "schema": ...}`, a `structural_tag` (see `tags`),
        `{"type": "regex", "pattern": ...}` and `{"type": "grammar", "grammar": ..., "syntax": ...}`; without the
        syntax (lark, gbnf, ebnf, regex) a text with `::=` is GBNF, and another Lark's notation.

        The options are those of `json_schema`, for formats with a schema; `GENERATION` has the defaults. A schema is
        always enforced, whether `strict` is there or not.
        """
        budget = options.get("budget")
        if isinstance(response_format, Mapping) and response_format.get("type") == "structural_tag":
            return cls.tags(vocabulary, response_format, budget=budget)
        language = response_language(response_format)
        if language is not None:
            return cls._of_language(vocabulary, *language, budget)
        schema = response_schema(response_format)
        return None if schema is None else cls.json_schema(vocabulary, schema, **_for_generation(options))

    @classmethod
    def _of_language(cls, vocabulary: Vocabulary, notation: str, text: str, budget: Budget | None) -> Constraint:
        if notation == "regex":
            return cls.regex(vocabulary, text, budget=budget)
        if notation == "lark":
            return cls.lark(vocabulary, text, budget=budget)
        return cls.gbnf(vocabulary, text, ebnf=notation == "ebnf", budget=budget)

    @overload
    @classmethod
    def tool_call(
        cls,
        vocabulary: Vocabulary,
        tools: Iterable[Tool],
        tool_choice: Literal["required"] | Mapping[str, Any] = "required",
        *,
        form: ToolForm | str = "hermes",
        skip_bad_tools: bool = False,
        **options: Unpack[JsonSchemaSettings],
    ) -> Constraint: ...
    @overload
    @classmethod
    def tool_call(
        cls,
        vocabulary: Vocabulary,
        tools: Iterable[Tool],
        tool_choice: ToolChoice,
        *,
        form: ToolForm | str = "hermes",
        skip_bad_tools: bool = False,
        **options: Unpack[JsonSchemaSettings],
    ) -> Constraint | None: ...
    @classmethod
    def tool_call(
        cls,
        vocabulary: Vocabulary,
        tools: Iterable[Tool],
        tool_choice: ToolChoice = "required",
        *,
        form: ToolForm | str = "hermes",
        skip_bad_tools: bool = False,
        **options: Unpack[JsonSchemaSettings],
    ) -> Constraint | None:
        """A call of one of the `tools`, as JSON: `{"name": ..., "arguments": {...}}`, of which `form` says the keys, or
        whether it is a list; it is a `ToolForm`, or the name of one in `TOOL_FORMS`.

        `tools` are functions as OpenAI's, Anthropic's and Gemini's APIs have them, or as MCP lists them, or custom
        tools of OpenAI's, whose text is the string `input` in JSON. A key that nothing reads is an error; an error or
        warning names the tool. With `skip_bad_tools`, a tool that is wrong, unsupported or can never be called is left
        out, with one of the `warnings`, instead of an error.

        `tool_choice` is "required", a function (`{"type": "function", "function": {"name": ...}}`), or "none",
        which gives None; or what the other APIs say. With "auto" the text may be no call: that is an
        `InvalidArgumentError`; `tool_calls` supports it. The options are those of `json_schema`;
        `GENERATION` has the defaults, but that of white space is "loose".
        """
        bad: list[str] = []
        found = read_tools(tools, bad if skip_bad_tools else None)
        choice = choose(found, tool_choice)
        if choice.mode == "auto":
            raise InvalidArgumentError(
                'tool_choice: with "auto" the text may be no call: Constraint.tool_calls supports that, with the '
                "template of a model; or constrain the call alone, once it has begun"
            )
        if choice.mode == "none":
            return None
        budget = SharedBudget(options.get("budget"))
        options = _for_calls(options)
        names = []
        for name in choice.names or ():
            try:
                found[name] = found[name]._replace(schema=json_arguments(found[name]))
                options["budget"] = budget.rest()
                cls._arguments(vocabulary, found[name], options)
                names.append(name)
            except (GrammarError, LimitError, UnsupportedError, InvalidArgumentError) as error:
                if not skip_bad_tools or budget.is_spent:
                    raise
                bad.append(left_out(error))
        if not names:
            raise InvalidArgumentError(f"tools: none is left: {bad[0]}")
        schema, documents = call_schema(found, names, form)
        options["documents"] = with_documents(documents, options.get("documents"))
        try:
            options["budget"] = budget.rest()
            constraint = cls.json_schema(vocabulary, schema, **options)
        except ElizaError as error:
            raise type(error)(of_tools(error.message), error.status) from None
        constraint._warnings = (*bad, *map(of_tools, constraint.warnings))
        return constraint

    @classmethod
    def _arguments(cls, vocabulary: Vocabulary, tool: ToolDefinition, options: JsonSchemaSettings) -> Constraint:
        """Of one tool, in a call as JSON."""
        try:
            return cls.json_schema(vocabulary, tool.schema, **options)
        except ElizaError as error:
            raise of_tool(tool.name, error) from None

    @classmethod
    def tool_calls(
        cls,
        vocabulary: Vocabulary,
        tools: Iterable[Tool],
        tool_choice: ToolChoice = "auto",
        *,
        template: ToolTemplate | str,
        parallel_tool_calls: bool = True,
        after: str = "",
        skip_bad_tools: bool = False,
        **options: Unpack[JsonSchemaSettings],
    ) -> Constraint:
        """Free text with calls of the `tools` in it, as the chat template of a model writes them.

        `template` is the name of one in `tool_templates()`. `tools` and `skip_bad_tools` are as for `tool_call`.

        With the `tool_choice` "required" there is at least one call, with a function (`{"type": "function",
        "function": {"name": ...}}`) one of that function, and with "none" there is none; `allowed_tools`, and what
        Anthropic's and Gemini's APIs say, is read as well. Without `parallel_tool_calls` there is at most one call.
        Before the text `after`, such as `"</think>"`, nothing is a call. The options are those of `tool_call`, for the
        arguments.

        `parse` reads a text, in which control tokens are spelled out, as a message of OpenAI's API: a dict with
        `content`, `tool_calls` if there are calls, each with the text of its arguments, and `reasoning_content` if
        the template tells it. A call that was cut off stays in the content.
        """
        budget = options.pop("budget", None)
        bad: list[str] = []
        calls = ToolCalls(tools, tool_choice, template, after, _for_calls(options), bad if skip_bad_tools else None)
        constraint = cls.tags(vocabulary, calls.descriptor(parallel_tool_calls), budget=budget)
        constraint._read = calls.parse
        if bad:
            constraint._warnings = (*bad, *constraint.warnings)
        return constraint

    @classmethod
    def tool_arguments(cls, vocabulary: Vocabulary, tool: Tool, **options: Unpack[JsonSchemaSettings]) -> Constraint:
        """The arguments of one of the `tools`, where its name has been written already; of a custom tool, its text. The
        options are those of `tool_call`."""
        found = read_tool(tool)
        if found.custom is None:
            return cls._arguments(vocabulary, found, _for_calls(options))
        try:
            ((notation, text),) = found.custom.items()
            return cls._of_language(vocabulary, notation, text, options.get("budget"))
        except ElizaError as error:
            raise of_tool(found.name, error) from None

    @classmethod
    def open(
        cls,
        vocabulary: Vocabulary,
        path: str | os.PathLike[str],
        *,
        budget: Budget | None = None,
        trusted: bool = False,
        copy: bool = False,
    ) -> Constraint:
        """Maps a file that `save` wrote, which makes the constraint ready at once, with the tables saved. A JSON
        Schema and tags are compiled again; `parse` then reads its documents as `json` does.

        Of the `budget`, `mask_bytes_max` and `mask_ms_max` bound what is built and searched later; within all of it a
        JSON Schema and tags are compiled. Whoever wrote the file, all that it says is checked; not so if it is
        `trusted`. It must not change while the constraint lives, unless it is a `copy` that is used. Raises
        `FileInvalidError` if it is damaged, of another version or for a vocabulary with other tokens, and
        `SlotFileError` if it cannot be read.
        """
        encoded = os.fsencode(path)
        function = lib.eliza_inference_constraint_open_with
        flags = open_flags(trusted, copy)
        constraint = cls._compile(ConstraintKind.GRAMMAR, budget, function, vocabulary, encoded, len(encoded), flags)
        constraint.kind = ConstraintKind(_recognizer_info(constraint._handle).kind)
        if constraint.kind == ConstraintKind.JSON_SCHEMA:
            constraint._read = json.loads
        return constraint

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a recognizer, and the tables that it has by now, to a file for `open`; after `prepare` it has
        all of them. `InvalidArgumentError` for a token tree, `SlotFileError` if it cannot be written."""
        encoded = os.fsencode(path)
        call(lib.eliza_inference_constraint_save, self._handle, encoded, len(encoded))

    def parse(self, document: str | bytes) -> Any:
        """Reads a document of a JSON Schema: into the Pydantic model that the schema came from, else as `json`
        does. Reads a text of `tool_calls` as a message. `InvalidArgumentError` for other constraints."""
        if self._read is None:
            raise InvalidArgumentError(f"a constraint of the kind {self.kind.name} has no documents to parse")
        return self._read(document)

    def prepare(self, budget: Budget | None = None) -> None:
        """Builds every table that is kept, rather than each at its first use.

        `states_max` and `mask_bytes_max` of the budget are not read. What was built stays after
        `ms_max` is exceeded (`LimitError`) or after a cancel (`CancelledError`).
        """
        call_within(budget, lib.eliza_inference_constraint_prepare, (self._handle,))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What compiling found that is legal but seldom meant: terminals that the lexer can never tell apart,
        rules that produce nothing or are never used, bytes without a token."""
        if self._warnings is not None:
            return self._warnings
        warnings = ffi.string(lib.eliza_inference_constraint_warnings(self._handle)).decode()
        return tuple(warnings.splitlines())

    @property
    def recognizer_info(self) -> RecognizerInfo:
        """The size of the compiled recognizer, and of what it keeps by now."""
        info = _recognizer_info(self._handle)
        return RecognizerInfo(
            info.n_states,
            info.n_parser_states,
            info.n_terminals,
            info.n_productions,
            info.n_tables,
            info.n_masks,
            info.automaton_bytes,
            info.table_bytes,
        )

    @property
    def info(self) -> ConstraintInfo:
        """The size of the compiled token tree. `InvalidArgumentError` for a recognizer."""
        info = new_struct("eliza_constraint_info_t")
        what = "a recognizer has recognizer_info"
        _check(lib.eliza_inference_constraint_info(self._handle, info), what)
        return ConstraintInfo(
            info.n_descriptors,
            info.n_leaves,
            info.n_nodes,
            info.longest_leaf_tokens,
            info.widest_node,
            info.retained_bytes,
        )

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the descriptors, in order; for a recognizer, the path "" alone."""
        if self.kind != ConstraintKind.TOKEN_TRIE:
            return ("",)
        return tuple(_path(self._handle, index) for index in range(self.info.n_descriptors))

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary that it was compiled for."""
        return self._vocabulary

    def _describe(self) -> str:
        return f"{self.kind.name} for {len(self._vocabulary)} tokens"

    @classmethod
    def _compile(
        cls,
        kind: ConstraintKind,
        budget: Budget | None,
        function: Callable[..., int],
        vocabulary: Vocabulary,
        *arguments: object,
    ) -> Constraint:
        instance("vocabulary", vocabulary, Vocabulary)
        out = ffi.new("eliza_constraint **")
        call_within(budget, function, (vocabulary._handle, *arguments), out)
        constraint = cls.__new__(cls)
        constraint._adopt(vocabulary, out[0], kind)
        return constraint

    @property
    def _has_parts(self) -> bool:
        """Whether it is a token tree with languages in it, whose leaves are texts, too."""
        if self._known_parts is None:
            self._known_parts = _recognizer_info(self._handle).n_states > 0
        return self._known_parts

    def _adopt(self, vocabulary: Vocabulary, handle: CData, kind: ConstraintKind) -> None:
        self._known_parts = None if kind == ConstraintKind.TOKEN_TRIE else False
        self._handle = ffi.gc(handle, lib.eliza_inference_constraint_free)
        # The vocabulary may have a tokenizer, which the constraint's matchers call.
        self._vocabulary = vocabulary
        self._n_words = vocabulary._n_words
        self._read: Callable[[str | bytes], Any] | None = None
        self._warnings: tuple[str, ...] | None = None
        self.kind = kind


def payload_bytes(tree: Payload) -> bytes:
    """A payload as the bytes that the library reads."""
    if isinstance(tree, bytes):
        return tree
    text = tree.to_json() if isinstance(tree, TokenTree) else tree
    if not isinstance(text, str):
        made = "as Model.token_tree(names) or TokenTree.from_names makes it"
        raise TypeError(f"expected a token tree, {made}, got {kind_of(tree)}")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise PayloadError(f"the payload is not valid Unicode: {error}") from error


def _for_generation(options: JsonSchemaSettings) -> JsonSchemaSettings:
    """With the defaults of what a model writes."""
    given = {name: value for name, value in options.items() if value is not None}
    return cast("JsonSchemaSettings", {**GENERATION, **given})


def _for_calls(options: JsonSchemaSettings) -> JsonSchemaSettings:
    """The same, but models write calls with the white space that they were trained on."""
    return _for_generation({"space": "loose", **options})


_CHOICES_CANONICAL = constant("ELIZA_CHOICES_CANONICAL")
_REGEX_IGNORE_CASE = constant("ELIZA_REGEX_IGNORE_CASE")
_REGEX_SEARCH = constant("ELIZA_REGEX_SEARCH")
_GBNF_EBNF = constant("ELIZA_GBNF_EBNF")


def _recognizer_info(handle: CData) -> CData:
    info = new_struct("eliza_recognizer_info_t")
    _check(lib.eliza_inference_constraint_recognizer_info(handle, info), "recognizer info")
    return info


def _path(handle: CData, index: int) -> str:
    path, length = ffi.new("const char **"), ffi.new("size_t *")
    _check(lib.eliza_inference_constraint_path(handle, index, path, length), f"path of descriptor {index}")
    return lent_text(path[0], length[0]) or ""


def _check(status: int, what: str) -> None:
    if status < 0:
        raise error_from_status(status, what)
