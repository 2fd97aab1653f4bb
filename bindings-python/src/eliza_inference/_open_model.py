"""The native side of a model: opening it, its id, closing it."""

from __future__ import annotations

import os

from eliza_inference._arguments import utf8
from eliza_inference._closing import Closing
from eliza_inference._library import CData, create, ffi, lib
from eliza_inference.errors import ClosedError, error_from_status
from eliza_inference.llama import load_llama

__all__ = ["OpenModel"]


class OpenModel(Closing):
    """An open native model: the part of a `Model` that a vocabulary needs."""

    def __init__(self, path: str | os.PathLike[str], *, model_id: str = "") -> None:
        load_llama()
        self._path = os.fspath(path)
        handle = create(lib.eliza_inference_create, os.fsencode(path))
        self._native = ffi.gc(handle, lib.eliza_inference_destroy)
        self._model_id = ""
        if model_id:
            self._set_model_id(model_id)

    def close(self) -> None:
        """Closes the model. A second call does nothing; other calls then raise `ClosedError`."""
        handle, self._native = self._native, ffi.NULL
        if handle:
            ffi.release(handle)

    def _set_model_id(self, model_id: str) -> None:
        encoded = utf8("model_id", model_id)
        status = lib.eliza_inference_set_model_id(self._handle, encoded, len(encoded))
        if status < 0:
            raise error_from_status(status, f"model_id: {model_id!r} was refused")
        self._model_id = model_id

    def _describe(self) -> str:
        return f"{self._path!r}{'' if self._native else ', closed'}"

    @property
    def _handle(self) -> CData:
        if not self._native:
            raise ClosedError("the model is closed")
        return self._native
