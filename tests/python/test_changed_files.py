"""Saved files that others have changed, or that several write at a time."""

import itertools
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from eliza_inference import Constraint, FileInvalidError, Matcher, Vocabulary

from changed_files import COUNTED, HEADER, constraints, sealed, small_vocabulary

SCRIPT = Path(__file__).with_name("changed_files.py")


def test_whatever_a_file_says_nothing_crashes(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), str(tmp_path), "--changes", "900"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
    name = (tmp_path / "name").read_text() if (tmp_path / "name").exists() else "nothing"
    assert done.returncode == 0, f"with a changed file of {name}: {done.stderr[-2000:]}"
    counts = [int(word) for word in done.stdout.split() if word.isdigit()]
    assert all(count > 150 for count in counts), done.stdout


@pytest.mark.parametrize(
    "name", ["choices", "regex", "grammar", "ambiguous", "named tokens", "counted", "cut off", "schema", "tags"]
)
@pytest.mark.parametrize("how", [{}, {"trusted": True}, {"copy": True}, {"trusted": True, "copy": True}])
def test_a_sound_file_opens_in_each_way(tmp_path: Path, name: str, how: dict[str, Any]) -> None:
    vocabulary = small_vocabulary()
    vocabulary.save(tmp_path / "vocabulary")
    constraint = constraints(vocabulary)[name]
    constraint.prepare()
    constraint.save(tmp_path / "constraint")
    opened = Constraint.open(Vocabulary.open(tmp_path / "vocabulary", **how), tmp_path / "constraint", **how)
    assert opened.recognizer_info.n_states == constraint.recognizer_info.n_states


def test_a_vocabulary_whose_trie_is_another_ones_is_refused_unless_it_is_trusted(tmp_path: Path) -> None:
    file = tmp_path / "vocabulary"
    Vocabulary(4, [b"a", b"ab", b"b", b"c"]).save(file)
    content = file.read_bytes()
    at = content.index(b"aabbc")
    file.write_bytes(sealed(content[:at] + b"aabbd" + content[at + 5 :]))
    with pytest.raises(FileInvalidError, match="does not fit together"):
        Vocabulary.open(file)
    assert Vocabulary.open(file, trusted=True).token_bytes(3) == b"d"


def with_section(content: bytes, old: bytes, new: bytes) -> bytes:
    """The file with the bytes of one array replaced by as many others."""
    assert content.count(old) == 1 and len(old) == len(new)
    return sealed(content.replace(old, new))


@pytest.mark.parametrize("changed", [b"\xff", b"\0", b"\xc3", b"\xed"])
@pytest.mark.parametrize("how", [{}, {"trusted": True}, {"copy": True}])
def test_a_text_of_a_file_that_cannot_be_read_is_refused_when_it_is_opened(
    tmp_path: Path, changed: bytes, how: dict[str, Any]
) -> None:
    file = tmp_path / "saved"
    vocabulary = Vocabulary(2, [b"a", b"b"], model_id="the model")
    constraint = Constraint.lark(vocabulary, 'start: "a"\nunused: "b"\n')
    warnings = "\n".join(constraint.warnings).encode()
    constraint.save(file)
    content = file.read_bytes()
    for at in (0, warnings.index(b"unused"), len(warnings) - 1):
        file.write_bytes(with_section(content, warnings, warnings[:at] + changed + warnings[at + 1 :]))
        with pytest.raises(FileInvalidError, match=f"the warnings: byte {at} is zero or not UTF-8"):
            Constraint.open(vocabulary, file, **how)
    vocabulary.save(file)
    file.write_bytes(with_section(file.read_bytes(), b"the model", b"the " + changed + b"odel"))
    with pytest.raises(FileInvalidError, match="the model's id: byte 4 is zero or not UTF-8"):
        Vocabulary.open(file, **how)


def test_a_copy_outlives_its_file(tmp_path: Path) -> None:
    file = tmp_path / "vocabulary"
    small_vocabulary().save(file)
    opened = Vocabulary.open(file, copy=True)
    file.write_bytes(b"")
    assert opened.token_bytes(97) == b"a"


def test_two_that_write_one_path_at_a_time_leave_the_file_of_one(tmp_path: Path) -> None:
    file = tmp_path / "vocabulary"
    saved = [Vocabulary(2000, [bytes([96 + n]) * 8] * 2000) for n in (1, 2)]
    errors: list[Exception] = []

    def write(vocabulary: Vocabulary) -> None:
        try:
            for _ in range(40):
                vocabulary.save(file)
                assert len(Vocabulary.open(file)) == 2000
        except Exception as error:  # noqa: BLE001: what a thread raises would be lost
            errors.append(error)

    threads = [threading.Thread(target=write, args=(vocabulary,)) for vocabulary in saved for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert [path.name for path in tmp_path.iterdir()] == ["vocabulary"]


# Of a grammar's file, counted as files.zig writes them; from the end: where lexemes may end, and no document.
REACH_SETS, SHIFT_SETS, LEXING = 11, 13, -2
ANYWHERE, CONTEXTUAL = 0, 2


def counting_file(tmp_path: Path) -> bytes:
    """Of a grammar that counts the tokens of a word."""
    constraints(small_vocabulary())["counted"].save(tmp_path / "counted")
    return (tmp_path / "counted").read_bytes()


def section(content: bytes | bytearray, number: int) -> slice:
    n_sections = int.from_bytes(content[20:24], "little")
    offset, length = struct.unpack_from("<QQ", content, HEADER + 16 * (number % n_sections))
    return slice(offset, offset + length)


def read_words(content: bytes, path: Path) -> None:
    """Opens the file, and reads words that are longer than they may be."""
    path.write_bytes(sealed(content))
    opened = Constraint.open(small_vocabulary(), path)
    for token in b"abcd.abcd.":
        matcher = Matcher(opened)
        for _ in range(6):
            matcher.allowed()
            matcher.accept(token)


def test_words_are_counted_by_a_file_as_it_was_written(tmp_path: Path) -> None:
    content = counting_file(tmp_path)
    assert int.from_bytes(content[section(content, LEXING)], "little") == CONTEXTUAL
    read_words(content, tmp_path / "counted")


def test_lexemes_that_may_end_anywhere_are_counted_as_in_a_grammar_of_such(tmp_path: Path) -> None:
    content = bytearray(counting_file(tmp_path))
    content[section(content, LEXING)] = struct.pack("<I", ANYWHERE)
    read_words(bytes(content), tmp_path / "changed")
    changed = Constraint.open(small_vocabulary(), tmp_path / "changed")
    expected = Constraint.lark(small_vocabulary(), "%lexing any\n" + COUNTED)
    for text in map(bytes, itertools.product(b"ab.", repeat=6)):
        counts = [Matcher(each).validate_tokens(list(text)) for each in (changed, expected)]
        assert counts[0] == counts[1], text


@pytest.mark.parametrize("symbol", range(2, 8))
def test_a_lexer_reaches_no_terminal_that_is_none(tmp_path: Path, symbol: int) -> None:
    """Of two terminals. In states that continue with a rule, that could be taken for a terminal too."""
    content = counting_file(tmp_path)
    shifts = section(content, SHIFT_SETS)
    for state in range(shifts.start, shifts.stop, 16):
        changed = bytearray(content)
        reached = section(content, REACH_SETS)
        for at in (state, *range(reached.start, reached.stop, 16)):
            changed[at] |= 1 << symbol
        with pytest.raises(FileInvalidError, match="does not fit together"):
            read_words(bytes(changed), tmp_path / "changed")
