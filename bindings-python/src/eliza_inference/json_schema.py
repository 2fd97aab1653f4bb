"""JSON Schemas: what they are given as, and the other documents that they refer to."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, TypedDict, get_origin

from eliza_inference._arguments import kind_of, utf8
from eliza_inference._callbacks import keep_error
from eliza_inference._constants import constant
from eliza_inference._library import CData, ffi, new_struct
from eliza_inference.budget import Budget
from eliza_inference.errors import InvalidArgumentError

__all__ = [
    "GENERATION",
    "JsonAdditional",
    "JsonDocuments",
    "JsonDraft",
    "JsonNumbers",
    "JsonOrder",
    "JsonSchema",
    "JsonSpace",
    "PydanticAdapter",
    "PydanticModel",
]


class PydanticModel(Protocol):
    """A class of Pydantic's, as `Constraint.json_schema` uses it."""

    def model_json_schema(self) -> dict[str, Any]: ...
    def model_validate_json(self, json_data: str | bytes, /) -> Any: ...


class PydanticAdapter(Protocol):
    """A `TypeAdapter` of Pydantic's, as `Constraint.json_schema` uses it."""

    def json_schema(self) -> dict[str, Any]: ...
    def validate_json(self, data: str | bytes, /) -> Any: ...


JsonSchema = str | bool | Mapping[str, object] | PydanticModel | PydanticAdapter
"""A JSON Schema: its text, what `json` reads from it, or what Pydantic has one of."""

JsonDocuments = Mapping[str, JsonSchema] | Callable[[str], JsonSchema | None]
"""Other documents by URI, or what gives them; None: there is none."""

JsonSpace = Literal["loose", "compact", "spaced", "any"]
"""Where white space may stand between the tokens of a document."""

JsonOrder = Literal["declared", "any"]
"""The order of an object's members: as the schema lists them, or any."""

JsonNumbers = Literal["any", "double"]
"""How long numbers may be: any length, or that of a double or a 64-bit integer."""

JsonAdditional = Literal["allow", "forbid"]
"""Whether an object may have members that the schema does not name."""

JsonDraft = Literal["2020-12", "2019-09", "7", "6", "4"]
"""The draft of a schema without `$schema`."""


class JsonSchemaSettings(TypedDict, total=False):
    """The options of `Constraint.json_schema`."""

    space: JsonSpace | None
    order: JsonOrder
    numbers: JsonNumbers | None
    additional: JsonAdditional | None
    integer_fraction: bool
    draft: JsonDraft
    documents: JsonDocuments | None
    lenient: bool
    budget: Budget | None


GENERATION: JsonSchemaSettings = {"space": "compact", "numbers": "double", "additional": "forbid"}
"""The options with which models end their answers most often: the defaults of Pydantic models, `response_format` and
the command line's `generate`; of tools too, but with loose white space, as models were trained on calls.
docs/reference/json-schema.md says what they do, and what was measured."""

_SPACES = {name: constant(f"ELIZA_JSON_SPACE_{name.upper()}") for name in ("loose", "compact", "spaced", "any")}
_DRAFTS = {
    name: constant(f"ELIZA_JSON_DRAFT_{name.replace('-', '_')}") for name in ("2020-12", "2019-09", "7", "6", "4")
}
_ORDERS = {name: constant(f"ELIZA_JSON_ORDER_{name.upper()}") for name in ("declared", "any")}
_NUMBERS = {"any": 0, "double": constant("ELIZA_JSON_NUMBERS_DOUBLE")}
_ADDITIONAL = {"allow": 0, "forbid": constant("ELIZA_JSON_ADDITIONAL_FORBID")}
_LENIENT = constant("ELIZA_JSON_LENIENT")
_INTEGER_FRACTION = constant("ELIZA_JSON_INTEGER_FRACTION")


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def is_model(schema: JsonSchema) -> bool:
    """Whether it is Pydantic's."""
    return hasattr(schema, "model_json_schema") or (hasattr(schema, "json_schema") and hasattr(schema, "validate_json"))


def schema_text(name: str, schema: JsonSchema) -> tuple[str, Callable[[str | bytes], Any]]:
    """The text of a JSON Schema, and what reads its documents. Messages call it `name`."""
    if isinstance(schema, str):
        if schema.endswith(".json"):  # which no JSON does
            raise InvalidArgumentError(
                f"{name}: {schema!r} is a path, not JSON: pass pathlib.Path({schema!r}).read_text()"
            )
        return schema, json.loads
    content: Any = schema
    read: Callable[[str | bytes], Any] = json.loads
    if hasattr(content, "model_json_schema"):
        content, read = content.model_json_schema(), content.model_validate_json
    elif hasattr(content, "json_schema") and hasattr(content, "validate_json"):
        content, read = content.json_schema(), content.validate_json
    elif not isinstance(schema, (bool, Mapping)):
        remedy = ""
        if isinstance(schema, os.PathLike):
            remedy = " (pass path.read_text())"
        elif isinstance(schema, type) or get_origin(schema) is not None:
            remedy = " (pydantic.TypeAdapter makes a model of any type)"
        raise TypeError(f"{name}: expected a dict, a bool, a str, or a Pydantic model, got {kind_of(schema)}{remedy}")
    try:
        dumped = content if isinstance(content, bool) else dict(content)
        return _encode(dumped), read
    except (TypeError, ValueError, RecursionError) as error:  # no type of JSON; NaN; a cycle
        raise InvalidArgumentError(f"{name}: JSON cannot express it: {error}") from error


class JsonSchemaOptions:
    """The options of one schema as C takes them, and the callback's memory. With `documents`, good for one call."""

    error: BaseException | None = None
    """What the caller's function raised."""

    def __init__(
        self,
        space: JsonSpace,
        order: JsonOrder,
        numbers: JsonNumbers,
        additional: JsonAdditional,
        draft: JsonDraft,
        integer_fraction: bool,
        lenient: bool,
        documents: JsonDocuments | None = None,
    ) -> None:
        self.struct = new_struct("eliza_json_schema_options_t")
        self.struct.space = _choice("space", space, _SPACES)
        self.struct.order = _choice("order", order, _ORDERS)
        self.struct.draft = _choice("draft", draft, _DRAFTS)
        self.struct.flags = (
            (_LENIENT if lenient else 0)
            | (_INTEGER_FRACTION if integer_fraction else 0)
            | _choice("numbers", numbers, _NUMBERS)
            | _choice("additional", additional, _ADDITIONAL)
        )
        if documents is None:
            return
        if isinstance(documents, Mapping):
            self._find: Callable[[str], JsonSchema | None] = documents.get
        elif callable(documents):
            self._find = documents
        else:
            raise TypeError(f"documents: expected a dict or a function of a URI, got {kind_of(documents)}")
        self._handle = ffi.new_handle(self)
        self.struct.document, self.struct.user_data = _on_document, self._handle

    def give(self, uri: str, out_text: CData, out_length: CData) -> None:
        """Hands out a document's text, which the library copies before it asks for another."""
        schema = self._find(uri)
        if schema is None:
            return
        name = f"documents[{uri!r}]"
        text = utf8(name, schema_text(name, schema)[0])
        self._lent = ffi.from_buffer("char[]", text, require_writable=False)
        out_text[0], out_length[0] = self._lent, len(text)


shared_options = functools.cache(JsonSchemaOptions)
"""Those without documents: nothing is written there, and making them takes longer than compiling a small schema."""


def _choice(name: str, value: str, choices: Mapping[str, int]) -> int:
    try:
        return choices[value]
    except (KeyError, TypeError):
        raise InvalidArgumentError(f"{name}: {value!r} is none of {', '.join(choices)}") from None


@ffi.callback("eliza_json_document_callback", error=1, onerror=keep_error)  # type: ignore[untyped-decorator]
def _on_document(uri: CData, length: int, out_text: CData, out_length: CData, user_data: CData) -> int:
    options: JsonSchemaOptions = ffi.from_handle(user_data)
    try:
        options.give(ffi.buffer(uri, length)[:].decode("utf-8", "replace"), out_text, out_length)
        return 0
    except BaseException as error:  # KeyboardInterrupt too: it must pass through C to the caller
        options.error = error
        return 1
