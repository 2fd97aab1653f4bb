"""Grammars in Lark's notation: their start, and the grammars and schemas that they name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from eliza_inference._arguments import kind_of, utf8
from eliza_inference._callbacks import keep_error
from eliza_inference._library import CData, ffi, new_struct
from eliza_inference.json_schema import JsonSchema, schema_text

__all__ = ["Grammars"]

Grammars = Mapping[str, JsonSchema] | Callable[[str], JsonSchema | None]
"""The grammars that `%import` and `@name` name, each a text, and the JSON Schemas that `@name` names; or what gives
them; None: there is none."""


class LarkOptions:
    """The options of one grammar as C takes them, and the callback's memory. Good for one call."""

    def __init__(self, start: str, imports: Grammars | None) -> None:
        self.struct = new_struct("eliza_lark_options_t")
        name = utf8("start", start)
        self._start = ffi.from_buffer("char[]", name, require_writable=False)
        self.struct.start, self.struct.start_len = self._start, len(name)
        self.error: BaseException | None = None
        """What the caller's function raised."""
        if imports is None:
            return
        if isinstance(imports, Mapping):
            self._find: Callable[[str], JsonSchema | None] = imports.get
        elif callable(imports):
            self._find = imports
        else:
            raise TypeError(f"imports: expected a dict or a function of a name, got {kind_of(imports)}")
        self._handle = ffi.new_handle(self)
        self.struct.grammar, self.struct.user_data = _on_grammar, self._handle

    def give(self, name: str, out_text: CData, out_length: CData) -> None:
        """Hands out a grammar's or schema's text, which the library copies before it asks for another."""
        grammar = self._find(name)
        if grammar is None:
            return
        text = utf8(f"imports[{name!r}]", schema_text(f"imports[{name!r}]", grammar)[0])
        self._lent = ffi.from_buffer("char[]", text, require_writable=False)
        out_text[0], out_length[0] = self._lent, len(text)


@ffi.callback("eliza_grammar_callback", error=1, onerror=keep_error)  # type: ignore[untyped-decorator]
def _on_grammar(name: CData, length: int, out_text: CData, out_length: CData, user_data: CData) -> int:
    options: LarkOptions = ffi.from_handle(user_data)
    try:
        options.give(ffi.buffer(name, length)[:].decode("utf-8", "replace"), out_text, out_length)
        return 0
    except BaseException as error:  # KeyboardInterrupt too: it must pass through C to the caller
        options.error = error
        return 1
