"""Masking logits, whatever array holds them."""

from __future__ import annotations

import sys
from typing import Any

from eliza_inference._arguments import kind_of
from eliza_inference.errors import InvalidArgumentError

__all__ = ["apply_bitmaps"]

# -inf in the float types of two bytes, by their names in numpy, ml_dtypes and torch.
_MINUS_INFINITY = {"float16": 0xFC00, "bfloat16": 0xFF80}


def apply_bitmaps(logits: Any, bitmaps: Any) -> None:
    """Writes -inf to the logit of every token whose bit is 0, in place, and of every one beyond the bitmap.

    `logits` is an array of numpy or a tensor of torch, of 64, 32 or 16 bits (float16 and bfloat16), one row of
    `bitmaps` for each row, or both one row: `int32` words as `Matcher.bitmap` describes them, of numpy or torch. A
    tensor may lie on a device: the bitmaps are then copied there once, unless they are there. Needs numpy.
    """
    import numpy as np

    for name, array in (("logits", logits), ("bitmaps", bitmaps)):
        if not hasattr(array, "shape"):
            raise TypeError(f"{name}: expected an array of numpy or a tensor of torch, got {kind_of(array)}")
    torch = sys.modules.get("torch")
    are_tensors = torch is not None and isinstance(bitmaps, torch.Tensor)
    if not are_tensors:
        bitmaps = np.ascontiguousarray(bitmaps)
    if tuple(bitmaps.shape[:-1]) != tuple(logits.shape[:-1]):
        raise InvalidArgumentError(
            f"bitmaps: {list(bitmaps.shape[:-1])} rows for logits of the shape {list(logits.shape)}"
        )
    if torch is None or not isinstance(logits, torch.Tensor):
        _mask(logits, np.ascontiguousarray(bitmaps).view(np.uint32))
    elif logits.device.type != "cpu":
        on_device = bitmaps if are_tensors else torch.from_numpy(bitmaps.view(np.int32))
        _mask_on_device(logits, on_device.to(logits.device))
    else:
        words = np.ascontiguousarray(bitmaps).view(np.uint32)
        # The array shares the tensor's memory; numpy has no bfloat16.
        bits = logits.detach().view(torch.int16).numpy() if logits.itemsize == 2 else logits.detach().numpy()
        _mask(bits, words, str(logits.dtype).removeprefix("torch."))


def _mask_on_device(logits: Any, words: Any) -> None:
    import torch

    logits = logits.detach()
    shifts = torch.arange(32, dtype=torch.int32, device=logits.device)
    allowed = ((words.unsqueeze(-1) >> shifts) & 1).flatten(-2).bool()
    width = min(allowed.shape[-1], logits.shape[-1])
    logits[..., :width].masked_fill_(~allowed[..., :width], float("-inf"))
    logits[..., width:] = float("-inf")


def _mask(logits: Any, words: Any, dtype: str = "") -> None:
    """`dtype` names the float type if the array does not."""
    import numpy as np

    dtype = dtype or logits.dtype.name
    minus_infinity: Any = -np.inf
    if dtype in _MINUS_INFINITY:
        logits, minus_infinity = logits.view(np.uint16), np.uint16(_MINUS_INFINITY[dtype])
    elif dtype not in ("float32", "float64"):
        raise TypeError(f"logits: expected floats of 16, 32 or 64 bits, got {dtype}")
    illegal = np.unpackbits((~words).view(np.uint8), axis=-1, bitorder="little").view(np.bool_)
    width = min(illegal.shape[-1], logits.shape[-1])
    np.copyto(logits[..., :width], minus_infinity, where=illegal[..., :width])
    logits[..., width:] = minus_infinity
