"""Runs one library on the problems that come on the standard input: `python -m bench.maskbench.worker LIBRARY`.

A line of JSON for each problem, `[schema, [tokens, ...]]`, and a line of JSON for each answer. Before them, one with
the memory in use and what a pair of the clock's readings costs, which is taken off every figure.
"""

import ctypes
import gc
import json
import re
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.maskbench import engines
from bench.maskbench.engines import Engine, Matcher
from bench.recognizers import vocabularies

clock = time.process_time_ns
"""The processor's time: that of all threads, without what else the machine does."""


def main() -> None:
    engine = engines.load(sys.argv[1], vocabularies.load("llama3"))
    gc.collect()
    gc.freeze()
    gc.disable()
    pair_ns = _pair_of_readings()
    _tell({**_memory(), "pair_ns": pair_ns})
    for line in sys.stdin:
        schema, texts = json.loads(line)
        _tell({**_run(engine, schema, texts, pair_ns), **_memory()})


def _pair_of_readings() -> int:
    """The least ns between two readings of the clock with nothing between them."""
    return min(after - before for before, after in pairwise([clock() for _ in range(10_001)]))


def _run(engine: Engine, schema: str, texts: list[list[int]], pair_ns: int) -> dict[str, Any]:
    started = clock()
    try:
        make = engine.compile(schema)
    except (ValueError, OSError, MemoryError, RuntimeError) as error:
        return {"refusal": str(error), "compile_ns": max(0, clock() - started - pair_ns)}
    compile_ns = max(0, clock() - started - pair_ns)
    taken, spent, retained = [], [], None
    try:
        for tokens in texts:
            matcher = make()
            is_taken, ns = _feed(matcher, tokens, pair_ns)
            taken.append(is_taken)
            spent.append(ns)
            retained = matcher.retained_bytes()
        warm = [_feed(make(), tokens, pair_ns)[1] for tokens in texts[:1]]
    except (ValueError, OSError, MemoryError, RuntimeError) as error:
        return {"refusal": f"no mask: {error}", "compile_ns": compile_ns}
    return {"compile_ns": compile_ns, "taken": taken, "ns": spent, "warm_ns": warm, "retained": retained}


def _feed(matcher: Matcher, tokens: list[int], pair_ns: int) -> tuple[bool, list[int]]:
    """Whether the text is taken, and the ns of mask and accept for each token up to the one refused."""
    spent = []
    fill, accept, words = matcher.fill, matcher.accept, matcher.words
    for token in tokens:
        started = clock()
        fill()
        filled = clock()
        if not int(words[token >> 5]) >> (token & 31) & 1:
            spent.append(max(0, filled - started - pair_ns))
            return False, spent
        resumed = clock()
        accept(token)
        spent.append(max(0, clock() - resumed + filled - started - 2 * pair_ns))
    return matcher.can_stop(), spent


class _Mallinfo2(ctypes.Structure):
    """As glibc has it."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    )


_mallinfo2 = ctypes.CDLL(None).mallinfo2
_mallinfo2.restype = _Mallinfo2


def _memory() -> dict[str, int]:
    """Bytes of this process that are in memory, and those that are allocated: what is freed, malloc may keep."""
    found = re.search(r"^VmRSS:\s+(\d+)", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert found
    heap = _mallinfo2()
    return {"resident": int(found[1]) * 1024, "allocated": heap.uordblks + heap.hblkhd}


def _tell(answer: dict[str, Any]) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
