"""Compiling and generating in programs that run on asyncio."""

import asyncio
import threading
from collections.abc import Callable

import pytest
from eliza_inference import (
    Budget,
    CancelledError,
    Constraint,
    GrammarError,
    Matcher,
    Stream,
    StreamStep,
    Vocabulary,
    compile_async,
)

OpenStream = Callable[..., Stream]
PROMPT = "User: set a timer for ten minutes\nAction:"
SECONDS = 60
"""After which a test gives up; none waits that long."""


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary(257, [bytes([byte]) for byte in range(256)] + [b""], [0] * 256 + [2])


def test_compiling_leaves_the_loop_free(vocabulary: Vocabulary) -> None:
    """The compiler waits for what only the loop does."""
    begun, goes_on = threading.Event(), threading.Event()

    def cancel() -> bool:
        begun.set()
        return not goes_on.wait(SECONDS)

    async def main() -> Constraint:
        compiling = asyncio.create_task(
            compile_async(Constraint.regex, vocabulary, "[a-c]+", budget=Budget(cancel=cancel))
        )
        while not begun.is_set():
            await asyncio.sleep(0)
        goes_on.set()
        return await compiling

    assert Matcher(asyncio.run(main())).accept_tokens(b"abc")


def test_a_cancelled_task_ends_when_its_compiler_has(vocabulary: Vocabulary) -> None:
    begun, goes_on = threading.Event(), threading.Event()
    asked: list[int] = []

    def cancel() -> bool:
        asked.append(1)
        begun.set()
        goes_on.wait(SECONDS)
        return False

    async def main() -> None:
        compiling = asyncio.create_task(
            compile_async(Constraint.regex, vocabulary, "[a-c]+", budget=Budget(cancel=cancel))
        )
        while not begun.is_set():
            await asyncio.sleep(0)
        compiling.cancel()
        for _ in range(9):
            await asyncio.sleep(0)
        assert not compiling.done()
        goes_on.set()
        with pytest.raises(asyncio.CancelledError):
            await compiling

    asyncio.run(main())
    assert len(asked) == 1


def test_errors_of_a_compiler_come_through(vocabulary: Vocabulary) -> None:
    with pytest.raises(GrammarError, match="back-references"):
        asyncio.run(compile_async(Constraint.regex, vocabulary, r"(a)\1"))


def test_many_compile_at_once(vocabulary: Vocabulary) -> None:
    async def main() -> list[Constraint]:
        patterns = [f"[a-c]{{{n}}}" for n in range(1, 20)]
        return await asyncio.gather(*(compile_async(Constraint.regex, vocabulary, each) for each in patterns))

    for n, constraint in enumerate(asyncio.run(main()), 1):
        matcher = Matcher(constraint)
        assert matcher.accept_tokens(b"a" * n)
        assert matcher.can_stop


def test_steps_of_a_stream(open_stream: OpenStream) -> None:
    async def main(stream: Stream) -> list[StreamStep]:
        return [step async for step in stream]

    alone, other = open_stream(max_tokens=12), open_stream(max_tokens=12)
    for stream in (alone, other):
        stream.prefill(PROMPT)
    assert asyncio.run(main(alone)) == list(other)


def test_a_cancelled_task_cancels_its_stream(open_stream: OpenStream) -> None:
    stream = open_stream()
    stream.prefill(PROMPT)

    async def forever() -> None:
        while True:
            async for _ in stream:
                pass
            stream.reset()
            stream.prefill(PROMPT)

    async def main() -> None:
        generating = asyncio.create_task(forever())
        for _ in range(5):
            await asyncio.sleep(0)
        generating.cancel()
        with pytest.raises(asyncio.CancelledError):
            await generating

    asyncio.run(main())
    with pytest.raises(CancelledError):
        stream.step()
    stream.reset()
    stream.prefill(PROMPT)
    assert stream.generate() == " SET_TIMER"
