"""Measures one library on one case in a process of its own: `python -m bench.recognizers.worker`.

Prints a line of JSON after each stage, so that what was measured is not lost where a later stage takes too
long and is ended by `measure`.
"""

import ctypes
import gc
import json
import re
import sys
import time
from pathlib import Path
from typing import Any

from bench.recognizers import cases, subjects, vocabularies
from bench.recognizers.case import Case
from bench.recognizers.subjects import Matcher, Subject

COMPILE_REPEATS = 15
COMPILE_SECONDS = 1.0
N_CLONES = 200
CLONE_SECONDS = 3.0
CLONED_AT = 50
"""Tokens of the longest document after which matchers are cloned."""
clock = time.perf_counter_ns


def main() -> None:
    subject_name, case_name, vocabulary_name, seconds, passes = sys.argv[1:]
    vocabulary = vocabularies.load(vocabulary_name)
    case = cases.load(case_name)
    documents = [vocabulary.encode(text) for text in case.documents]
    subject = subjects.SUBJECTS[subject_name]()
    _import(subject_name)
    _tell(**_prepare(subject, vocabulary))
    compiled = _compile(subject, case)
    _masks(subject.matcher(compiled), documents, float(seconds), int(passes))
    _tell(matcher_bytes=_matcher_bytes(subject.matcher(compiled), max(documents, key=len)))


def _import(subject_name: str) -> None:
    """Loads the library's code, so that it is not counted as its vocabulary."""
    if subject_name == "llguidance":
        import llguidance.tiktoken  # noqa: F401
    elif subject_name == "XGrammar":
        import torch
        import xgrammar  # noqa: F401

        torch.set_num_threads(1)
    elif subject_name == "ours":
        from eliza_inference import library_version

        library_version()


def _prepare(subject: Subject, vocabulary: vocabularies.TokenTable) -> dict[str, float]:
    if subject.name == "llama.cpp":
        subjects.gguf_file(vocabulary)
    elif subject.name == "llguidance":
        vocabulary.encoding  # noqa: B018  its own tokenizer is the host's
    _ = vocabulary.all_pieces
    before, started = _resident(), clock()
    subject.prepare(vocabulary)
    elapsed = clock() - started
    return {"prepare_ms": elapsed / 1e6, "prepare_bytes": _resident() - before}


def _compile(subject: Subject, case: Case) -> Any:
    samples: list[float] = []
    compiled = None
    before = _resident()
    while len(samples) < COMPILE_REPEATS and sum(samples) < COMPILE_SECONDS * 1e9:
        compiled = None
        started = clock()
        compiled = subject.compile(case)
        samples.append(clock() - started)
    _tell(compile_us=[each / 1e3 for each in samples], compile_bytes=_resident() - before)
    return compiled


def _masks(matcher: Matcher, documents: list[list[int]], seconds: float, passes: int) -> None:
    """Passes over all documents, as many as the time is enough for; the first one begins with nothing ready."""
    gc.disable()
    deadline = time.monotonic() + seconds
    least: tuple[list[int], list[int]] | None = None
    for n_done in range(passes):
        fills, accepts = _pass(matcher, documents, deadline, check=n_done == 0)
        if least is None:
            least = fills, accepts
            _tell(cold_us=[each / 1e3 for each in fills])
        elif len(fills) == len(least[0]):
            least = list(map(min, least[0], fills)), list(map(min, least[1], accepts))
        else:
            break
        _tell(warm_us=[each / 1e3 for each in least[0]], accept_us=[each / 1e3 for each in least[1]], passes=n_done + 1)
        if time.monotonic() > deadline:
            break


def _pass(matcher: Matcher, documents: list[list[int]], deadline: float, check: bool) -> tuple[list[int], list[int]]:
    fills, accepts = [], []
    for document in documents:
        matcher.reset()
        before_fill, fill, accept = matcher.before_fill, matcher.fill, matcher.accept
        for index, token in enumerate(document):
            before_fill()
            started = clock()
            fill()
            filled = clock()
            result = accept(token)
            accepted = clock()
            fills.append(filled - started)
            accepts.append(accepted - filled)
            if check:
                if not matcher.allows(token) or not matcher.took(result):
                    raise ValueError(f"token {index} of a document is refused, which is in the language")
                if len(fills) == 1:
                    _tell(first_us=fills[0] / 1e3)
            if len(fills) % 16 == 0 and time.monotonic() > deadline:
                return fills, accepts
    return fills, accepts


def _matcher_bytes(matcher: Matcher, document: list[int]) -> float:
    """What one more matcher takes, in the middle of a text, after it has given a mask and taken a token."""
    for token in document[: min(CLONED_AT, len(document) - 1)]:
        matcher.accept(token)
    clones: list[Matcher] = []
    before, deadline = _resident(), time.monotonic() + CLONE_SECONDS
    while len(clones) < N_CLONES and time.monotonic() < deadline:
        clone = matcher.clone()
        clone.before_fill()
        clone.fill()
        clone.accept(document[min(CLONED_AT, len(document) - 1)])
        clones.append(clone)
    return (_resident() - before) / len(clones)


def _resident() -> int:
    """Bytes of this process that are in memory, after giving back what is free."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    found = re.search(r"^VmRSS:\s+(\d+)", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert found
    return int(found[1]) * 1024


def _tell(**figures: object) -> None:
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
