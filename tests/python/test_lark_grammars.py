"""The grammars that ship under the names of Lark's own: texts of Python 3 and of Lark's notation, and others."""

from __future__ import annotations

from pathlib import Path

import lark
import pytest
from eliza_inference import Constraint, Matcher, Step, grammars

from json_schema_texts import byte_vocabulary

PYTHON = [
    "",
    "x = 1\n",
    "def f(a, b=2, /, *c: int, d, **e) -> int: return a + b\n",
    "def f(*, a): pass\n",
    "if x: y\nelif z: w\nelse: q\n",
    "print('a', f\"b\" r'\\d', sep=\"\", *rest, **options)\n",
    "x = [i for i in range(10) if i], {1: 2, **d}, {1, *s}, (yield)\n",
    "f = lambda x, *y, z=1: x if y else z\n",
    "@decorator(1)\nclass A(B, metaclass=C): x: int = 3\n",
    "a[1:2, ::3].b(c)(*d) ** -e @ f // g\n",
    "import a.b as c, d\nfrom . import x\nfrom ..a import (b, c as d,)\nfrom e import *\n",
    '"""long "text" \\""" \n"""\n' + "'''it's'''\n",
    "not x in y is not z\n",
    "x = 0x1F + 1_000 + 1e5 + .5j + 0o17 + 0b1 + 1.\n",
    "x += 1; y, *z = w = 3\n",
    "try: a\nexcept E as e: b\nelse: d\nfinally: c\n",
    "for i in x: print(i); break\nwhile (n := f()) > 5: pass\n",
    "with a as b, c: pass\nasync def f(): await g()\n",
    "# a comment\nx = 1 # another\n\n \\\n y\n",
    "match = case\nassert ifx, 'no'\nraise E from e\nglobal a, b\ndel a[0]\n",
]
NOT_PYTHON = [
    "x = 1",
    "if = 3\n",
    "True = 1 +\n",
    "def f(a: pass\n",
    "import a as\n",
    "x = 'a\n'\n",
    "1x = 2\n",
    "f(a b)\n",
    "def f():\n    pass\n",  # blocks need _INDENT, which no text is
]


def is_text(constraint: Constraint, text: str) -> bool:
    matcher = Matcher(constraint)
    return all(Step.REFUSED not in matcher.accept(byte) for byte in text.encode()) and matcher.can_stop


@pytest.fixture(scope="module")
def python() -> Constraint:
    return Constraint.lark(byte_vocabulary(), grammars.text("python"))


@pytest.mark.parametrize("text", PYTHON)
def test_python(python: Constraint, text: str) -> None:
    assert is_text(python, text)


@pytest.mark.parametrize("text", NOT_PYTHON)
def test_not_python(python: Constraint, text: str) -> None:
    assert not is_text(python, text)


LARK = sorted((Path(lark.__file__).parent / "grammars").glob("*.lark"))


@pytest.mark.parametrize("file", LARK, ids=lambda file: file.stem)
def test_lark_reads_the_grammars_that_come_with_lark(file: Path) -> None:
    assert is_text(Constraint.lark(byte_vocabulary(), grammars.text("lark")), file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("text", ["a: %", "a b", "a: (b", 'a: "b', "%declare", "A{b}: c", "a: b -> C"])
def test_not_lark(text: str) -> None:
    assert not is_text(Constraint.lark(byte_vocabulary(), grammars.text("lark")), text)
