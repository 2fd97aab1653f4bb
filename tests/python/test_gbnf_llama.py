"""GBNF against llama.cpp itself: at every position of legal walks by chance the masks of `llama_sampler_init_grammar`
and of this library are equal, on the vocabulary of the model that ships. Seeds are fixed.

llama.cpp differs in three ways, which are left out here and in docs/reference/gbnf.md: it allows bytes that no UTF-8
has where any character may stand; a negated class that names a character beyond ASCII refuses tokens that end within
another one with the same first byte; and it follows rules that can never end.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from eliza_inference import Constraint, Matcher, Step, TokenFlag, Vocabulary

from conftest import MODEL_FILE

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "models"))
from libllama import Vocabulary as LlamaVocabulary
from llama_grammar import LlamaGrammar, Pieces, quiet_library
from oracles import random_cases

WALKS = 12
TOKENS = 25
RANDOM_TOKENS = 8

# Grammars by chance that llama.cpp serves: without left recursion, without rules that can never end, and not so
# ambiguous that it would take exponential time.
SEEDS = [
    2, 4, 28, 31, 34, 38, 46, 55, 61, 65, 67, 69, 75, 77, 78, 95, 96, 97, 105, 110, 118, 131, 132, 139, 174,
    192, 199, 208, 214, 219, 220, 222, 225, 233, 241, 253, 255, 256, 257, 263, 266, 271, 274, 280, 304, 307,
    309, 320, 321, 326, 328, 345, 354, 356, 360, 361, 370, 383, 384, 393, 404, 413, 416, 417, 418, 425, 429,
    435, 446, 452, 472, 477, 479, 489, 499, 503, 512, 514, 519, 525, 543, 556, 559, 569, 579, 588, 590, 615,
    620, 626, 658, 660, 661, 664, 667, 668, 669, 675, 678, 697, 701, 705, 708, 722, 749, 759, 774, 784, 786,
    787, 792, 793, 794, 801, 805, 814, 819, 836, 839, 847, 850, 855, 857, 864, 867, 872, 873, 876, 878, 882,
    883, 884, 898, 918, 921, 937, 938, 941, 942, 953, 955, 965, 995, 996, 1010, 1015, 1017, 1026, 1027, 1032,
    1039, 1056, 1062, 1063, 1070, 1075, 1076, 1082, 1086, 1094, 1095, 1104, 1105, 1106, 1107, 1112, 1121, 1124,
    1127, 1130, 1139, 1140, 1149, 1155, 1175, 1178, 1182, 1183, 1184, 1191, 1194, 1202, 1204, 1208, 1215, 1218,
    1219, 1243, 1249, 1254, 1255, 1257, 1285, 1304, 1306, 1323, 1325, 1332, 1336, 1339, 1374, 1379, 1380, 1392,
    1395, 1398, 1399, 1401, 1403, 1423, 1427, 1440, 1445, 1451, 1475, 1476, 1479, 1481, 1482, 1483, 1495, 1496,
]  # fmt: skip

GRAMMARS = {
    "json": r"""
root   ::= object
value  ::= object | array | string | number | ("true" | "false" | "null") ws
object ::= "{" ws (string ":" ws value ("," ws string ":" ws value)*)? "}" ws
array  ::= "[" ws (value ("," ws value)*)? "]" ws
string ::= "\"" ([^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}))* "\"" ws
number ::= "-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]+)? ([eE] [-+]? [0-9]{1,3})? ws
ws     ::= | " " | "\n" [ \t]{0,20}
""",
    "arithmetic": r"""
root  ::= (expr "=" ws term "\n")+
expr  ::= term ([-+*/] term)*
term  ::= ident | num | "(" ws expr ")" ws
ident ::= [a-z] [a-z0-9_]* ws
num   ::= [0-9]+ ws
ws    ::= [ \t\n]*
""",
    "statements": r"""
root       ::= (function | comment)*
function   ::= type name "(" (type name ("," ws type name)*)? ")" ws "{" ws statement* "}" ws
type       ::= ("int" | "float" | "char") [ \n]
name       ::= [a-zA-Z_] [a-zA-Z_0-9]*
statement  ::= (type? name ws "=" ws expression ";" | name ws "(" arguments? ")" ";" | "return " expression ";") ws
expression ::= operand (ws [-+*/] ws operand)*
operand    ::= name | [0-9]+ | "(" expression ")" | name "(" arguments? ")"
arguments  ::= expression ("," ws expression)*
comment    ::= "//" [^\n]* "\n" | "/*" ([^*] | "*"+ [^*/])* "*"+ "/" "\n"
ws         ::= [ \n\t]*
""",
    "lists": 'root ::= ("- " item)+\nitem ::= [^\\n]+ "\\n"',
    "moves": r"""
root ::= "1. " move " " move "\n" ([1-9] [0-9]? ". " move " " move "\n")+
move ::= (pawn | piece | "O-O" "-O"?) [+#]?
pawn ::= ([a-h] "x")? [a-h] [1-8] ("=" [NBKQR])?
piece ::= [NBKQR] [a-h]? [1-8]? "x"? [a-h] [1-8]
""",
    "scripts": r"""
root ::= word ([ \t\n] word)*
word ::= (hiragana | katakana | [一-鿿] | accented)+
hiragana ::= [ぁ-ゟ]
katakana ::= [ァ-ヿ]
accented ::= [à-öø-ÿ\U0001F600-\U0001F64F]
""",
    "ambiguous": 'root ::= item* [a-z ]*\nitem ::= [a-z]+ | [a-z]* " " [a-z]* | ("a" | "ab") ("c" | "bc")',
    "an answer in free text": 'root ::= .* "Action:" " " [A-Z_]+ "\\n"?',
    "special tokens are text": 'root ::= "<think>" [^<]* "</think>" ("<" [a-z]+ ">")* .{2,4}',
}


@pytest.fixture(scope="module")
def pieces() -> Iterator[Pieces]:
    with quiet_library() as library, LlamaVocabulary(library, MODEL_FILE) as vocabulary:
        yield Pieces(library, vocabulary)


@pytest.fixture(scope="module")
def vocabulary(pieces: Pieces) -> Vocabulary:
    flags = [TokenFlag.END_OF_GENERATION if n in pieces.ends else TokenFlag(0) for n in range(len(pieces.texts))]
    return Vocabulary(len(pieces.texts), pieces.texts, flags)


@pytest.mark.parametrize("name", GRAMMARS)
def test_grammars(name: str, pieces: Pieces, vocabulary: Vocabulary) -> None:
    constraint = Constraint.gbnf(vocabulary, GRAMMARS[name])
    positions = sum(walk(constraint, GRAMMARS[name], pieces, Random(f"{name} {n}"), TOKENS) for n in range(WALKS))
    assert positions > WALKS * 3


def test_grammars_by_chance(pieces: Pieces, vocabulary: Vocabulary) -> None:
    for seed in SEEDS:
        random = Random(f"llama {seed}")
        text = random_cases.gbnf(random)
        try:
            walk(Constraint.gbnf(vocabulary, text), text, pieces, random, RANDOM_TOKENS)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}\n{text}") from error


def walk(constraint: Constraint, grammar: str, pieces: Pieces, random: Random, n_tokens: int) -> int:
    """Compares the masks, and returns at how many positions."""
    matcher, text = Matcher(constraint), b""
    with LlamaGrammar(pieces, grammar) as theirs:
        for position in range(n_tokens):
            allowed = matcher.allowed()
            assert allowed is not None
            found = set(allowed.tolist())
            expected = {token for token in theirs.allowed() if is_text(text + pieces.texts[token])}
            assert found == expected, f"after {text!r}: {differences(found, expected, pieces)}"
            possible = sorted(found - set(pieces.ends))
            if not possible:
                return position + 1
            token = random.choice([n for n in possible if len(pieces.texts[n]) > 1] or possible)
            assert matcher.accept(token) == Step.IN_SPAN
            theirs.accept(token)
            text += pieces.texts[token]
    return n_tokens


def is_text(text: bytes) -> bool:
    """Whether it is UTF-8, but for a character at its end that is not whole."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        rest = text[error.start :]
        return error.end == len(text) and "unexpected end" in error.reason and len(rest) < 4
    return True


def differences(found: set[int], expected: set[int], pieces: Pieces) -> str:
    more, less = found - expected, expected - found
    return f"allowed but wrong {[pieces.texts[n] for n in more]}, missing {[pieces.texts[n] for n in less]}"
