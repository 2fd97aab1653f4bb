"""Saving and restoring streams."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from eliza_inference import ElizaError, SlotFileError, Stream, TokenTree

from conftest import PROMPT

OpenStream = Callable[..., Stream]
MESSAGE = PROMPT.format("remind me to water the plants")


def test_decision_15_restoring_clears_the_tree_and_switches_the_grammar_off(
    open_stream: OpenStream, action_tree: TokenTree, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    saved = open_stream()
    saved.prefill(MESSAGE)
    saved.save(tmp_path / "slot")
    restored = open_stream(grammar='root ::= " NONE"')
    restored.prefill(MESSAGE)
    restored.set_token_trie(action_tree)
    with caplog.at_level(logging.INFO, logger="eliza_inference"):
        restored.restore(tmp_path / "slot")
    assert any("grammar" in record.message for record in caplog.records)
    assert restored.stats.grammar_off
    assert not restored.state.active
    assert restored.generate() == " SEND_REMINDER"


def remove(slot: Path) -> None:
    slot.unlink()


def cut_short(slot: Path) -> None:
    slot.write_bytes(slot.read_bytes()[:-100])


def another_file(slot: Path) -> None:
    slot.write_bytes(b"not a slot file at all, whatever it may say" * 10)


def empty(slot: Path) -> None:
    slot.write_bytes(b"")


@pytest.mark.parametrize("damage", [remove, cut_short, another_file, empty])
def test_decision_15_a_failed_restore_leaves_an_empty_usable_stream(
    open_stream: OpenStream, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    stream = open_stream()
    stream.prefill(MESSAGE)
    slot = tmp_path / "slot"
    stream.save(slot)
    damage(slot)
    with pytest.raises(SlotFileError, match="slot"):
        stream.restore(slot)
    assert stream.stats.context_tokens == 0
    stream.prefill(MESSAGE)
    assert stream.generate() == " SEND_REMINDER"


def test_decision_15_a_slot_that_does_not_fit_the_context_is_refused(open_stream: OpenStream, tmp_path: Path) -> None:
    saved = open_stream(context_size=256)
    saved.prefill(MESSAGE + " NONE\n" + MESSAGE + " NONE\n" + MESSAGE)
    saved.save(tmp_path / "slot")
    small = open_stream(context_size=32)
    with pytest.raises(ElizaError, match=r"context|fit"):
        small.restore(tmp_path / "slot")
    small.prefill("User: hello\nAction:")
    assert small.generate(max_tokens=2)
