"""The grammars that ship, against other readers of the same languages: Python's `json` and a public suite, `pycparser`
on whole files of C, Python's own parser, SQLite."""

from __future__ import annotations

import ast
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from eliza_inference import Constraint, Matcher, Step, Vocabulary

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracles import samples
from oracles.lark_text import recognizer_of
from oracles.sentences import Sentences

SUITES = Path(__file__).resolve().parents[1] / "suites" / "node_modules"

BYTES = Vocabulary(257, [bytes([byte]) for byte in range(256)] + [b"</s>"], [0] * 256 + [2])


@pytest.fixture(scope="module")
def constraint() -> Callable[[str], Constraint]:
    made: dict[str, Constraint] = {}

    def get(name: str) -> Constraint:
        if name not in made:
            made[name] = Constraint.lark(BYTES, samples.text_of(name))
        return made[name]

    return get


def stops_at(constraint: Constraint, text: bytes) -> int | None:
    """The place of the byte that is refused, the length if the text is not whole, None if it is accepted."""
    matcher = Matcher(constraint)
    for place, byte in enumerate(text):
        if matcher.accept(byte) != Step.IN_SPAN:
            return place
    return None if matcher.can_stop else len(text)


def random_texts(name: str, n: int) -> list[str]:
    """Whole texts of the grammar, by chance."""
    sentences = Sentences(recognizer_of(samples.text_of(name)), Random(name))
    return [sentences.text(size=5 + i % 60).decode() for i in range(n)]


def mutations(texts: list[str], n: int) -> list[str]:
    """The texts with a character more, one less, or another."""
    random = Random(n)
    found = []
    for _ in range(n):
        text = random.choice(texts)
        place = random.randrange(len(text) + 1)
        other = random.choice(["", random.choice("".join(texts)), random.choice('{}[]()",:.-+eE01\\ \t\n\x01')])
        found.append(text[:place] + other + text[place + random.randint(0, 1) :])
    return found


# ---- JSON ------------------------------------------------------------------------------------------------------------


def reads_json(text: str) -> bool:
    """Python's reader, less what it takes beyond RFC 8259."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return False
    return True


def suite() -> list[dict[str, str]]:
    script = (SUITES / "json-test-suite" / "data" / "parsing.js").read_text("utf-8")
    found: list[dict[str, str]] = json.loads(script[script.index("[") :])
    return found


def test_json_suite(constraint: Callable[[str], Constraint]) -> None:
    """What must be accepted (y) is, what must be refused (n) is not; on the rest the grammar is as strict as Python."""
    cases = suite()
    wrong = []
    for case in cases:
        accepted = stops_at(constraint("json"), case["input"].encode(errors="surrogatepass")) is None
        kind = case["name"][0]
        if accepted != (kind == "y" if kind in "yn" else reads_json(case["input"])):
            wrong.append((case["name"], accepted))
    assert wrong == []
    assert len(cases) > 300


def test_json_against_python(constraint: Callable[[str], Constraint]) -> None:
    texts = random_texts("json", 150) + samples.GOOD["json"] + samples.BAD["json"]
    for text in texts + mutations(texts, 800):
        accepted = stops_at(constraint("json"), text.encode()) is None
        assert accepted == reads_json(text), repr(text)


def test_json_of_great_depth(constraint: Callable[[str], Constraint]) -> None:
    depth = 20_000
    assert stops_at(constraint("json"), b"[" * depth + b"]" * depth) is None
    assert stops_at(constraint("json"), b"[" * depth + b"]" * (depth + 1)) == 2 * depth


# ---- C ---------------------------------------------------------------------------------------------------------------

HIREDIS = SUITES / "hiredis" / "deps" / "hiredis"
TREE_SITTER = SUITES / "tree-sitter" / "vendor" / "tree-sitter" / "lib" / "src"

RAW = [HIREDIS / f"{name}.c" for name in ("async", "dict", "hiredis", "net", "read")]
RAW += [TREE_SITTER / f"{name}.c" for name in ("get_changed_ranges", "language", "node", "tree", "tree_cursor")]

# hiredis/net.c has an assignment to a cast when its macros are expanded, which is no C.
PREPROCESSED = [HIREDIS / f"{name}.c" for name in ("async", "dict", "hiredis", "read", "sds", "test")]
PREPROCESSED += [TREE_SITTER / f"{name}.c" for name in ("lexer", "node", "query", "stack", "subtree")]

# What the C library's headers have beyond C, as for pycparser.
EXTENSIONS = ["__attribute__(x)=", "__extension__=", "__restrict=", "__inline=", "__asm__(x)=", "__builtin_va_list=int"]
EXTENSIONS += ["__builtin_va_arg(a,b)=0", "__builtin_va_start(a,b)=0", "__builtin_offsetof(a,b)=0"]


@pytest.mark.parametrize("path", RAW, ids=lambda path: path.name)
def test_c_files_with_their_directives(constraint: Callable[[str], Constraint], path: Path) -> None:
    text = path.read_bytes()
    place = stops_at(constraint("c11"), text)
    assert place is None, text[max(0, place - 200) : place + 20]


@pytest.mark.parametrize("path", PREPROCESSED, ids=lambda path: path.name)
def test_c_files_that_pycparser_reads(constraint: Callable[[str], Constraint], path: Path) -> None:
    from pycparser import c_parser

    text = preprocessed(path)
    c_parser.CParser().parse(text.decode())
    place = stops_at(constraint("c11"), text)
    assert place is None, text[max(0, place - 200) : place + 20]


def preprocessed(path: Path) -> bytes:
    includes = [path.parent, path.parent.parent / "include"]
    command = [
        sys.executable,
        "-m",
        "ziglang",
        "cc",
        "-E",
        "-P",
        "-std=c11",
        "-target",
        "x86_64-linux-musl",
        "-D_GNU_SOURCE",
    ]
    command += [f"-D{extension}" for extension in EXTENSIONS] + [f"-I{include}" for include in includes]
    return subprocess.run([*command, str(path)], check=True, capture_output=True).stdout


# ---- Calls, arithmetic, SQL ------------------------------------------------------------------------------------------


def test_calls_are_calls_of_python(constraint: Callable[[str], Constraint]) -> None:
    """With the spellings of Python alone, but for names that Python reserves."""
    for text in random_texts("function_call", 300):
        assert stops_at(constraint("function_call"), text.encode()) is None, text
        if re.search(r"\b(true|false|null)\b|\\[/u]|\n", text) or has_repeated_argument(text):
            continue
        try:
            tree = ast.parse(f"({text})", mode="eval").body
        except SyntaxError:
            assert re.search(r"\b(?:True|False|None)\s*[=(.]|[.]\s*(?:True|False|None)", text), text
            continue
        assert isinstance(tree, ast.Call) and not tree.args, text


def has_repeated_argument(text: str) -> bool:
    names = re.findall(r"(\w+)\s*=", text)
    return len(set(names)) < len(names)


def test_arithmetic_is_arithmetic_of_python(constraint: Callable[[str], Constraint]) -> None:
    texts = random_texts("arithmetic", 300) + samples.GOOD["arithmetic"]
    for text in texts + mutations(texts, 600):
        accepted = stops_at(constraint("arithmetic"), text.encode()) is None
        assert accepted == is_arithmetic(text), repr(text)


def is_arithmetic(text: str) -> bool:
    """By Python's parser. Numbers and names are as the grammar has them, since Python's are others."""
    lexemes = re.findall(
        r"[ \t\n\r]+|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[Ee][+-]?[0-9]*)?|[A-Za-z_]\w*|.", text, re.ASCII | re.DOTALL
    )
    python = []
    for lexeme in lexemes:
        if re.fullmatch(r"[ \t\n\r]+", lexeme):
            python.append(" ")
        elif (
            re.fullmatch(r"[0-9.]+[Ee][+-]?", lexeme)
            or not re.fullmatch(r"[\w.]+|[-+*/%^(),]", lexeme, re.ASCII)
            or lexeme == "."
        ):
            return False
        else:
            python.append(
                {"^": "**"}.get(
                    lexeme, "1" if lexeme[0] in ".0123456789" else "x" if lexeme[0] not in "-+*/%(),^" else lexeme
                )
            )
    if re.search(r",\s*\)", "".join(python)):
        return False  # Python allows a comma after the last argument
    try:
        tree = ast.parse("(" + " ".join(python) + "\n)", mode="eval").body
    except SyntaxError:
        return False
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names_called = all(isinstance(call.func, ast.Name) for call in calls)
    return names_called and not any(
        isinstance(node, (ast.Tuple, ast.Starred, ast.GeneratorExp)) for node in ast.walk(tree)
    )


@pytest.mark.skipif(sqlite3.sqlite_version_info < (3, 39), reason="SQLite before 3.39 has no full joins")
def test_queries_are_queries_of_sqlite(constraint: Callable[[str], Constraint]) -> None:
    """SQLite may not find the tables, but it finds the syntax right."""
    database = sqlite3.connect(":memory:")
    for text in random_texts("sql_select", 300) + samples.GOOD["sql_select"]:
        assert stops_at(constraint("sql_select"), text.encode()) is None, text
        try:
            database.execute(f"explain {text}")
        except sqlite3.Error as error:
            assert "syntax error" not in str(error), text
