"""Parts in free text, token by token, against the oracle: begin texts, end texts and languages by chance, in tokens
that cut them everywhere. Seeds are fixed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from eliza_inference import Constraint, ConstraintKind, GrammarError, LimitError, Matcher, Tag, TokenFlag

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracles import gbnf, lark_text, recognizer
from oracles.tags import CONTROL, Part, Recognizer, Row
from recognizer_walk import Tokens, Walk

N_DESCRIPTORS = 160
BLOCK = 20  # cases of one test

ARITHMETIC = 'start: sum\nsum: sum "+" product | product\nproduct: "a" | "(" sum ")"'
AMBIGUOUS = 'root ::= root root | "a" | "(" root ")"'

# How a descriptor says them, and their oracles. Some have end texts in them, some may continue after a place to stop.
LANGUAGES: list[tuple[dict[str, Any], Any]] = [
    ({"regex": pattern}, recognizer.of_regex(pattern))
    for pattern in ["a+", "[ab<>/]*", "(ab)*a?", "a(<b)*", "\\(a*\\)"]
]
LANGUAGES += [
    ({"choices": ["a", "ab", "<", "a<b"]}, recognizer.of_regex("a|ab|<|a<b")),
    ({"lark": ARITHMETIC}, lark_text.recognizer_of(ARITHMETIC)),
    ({"gbnf": AMBIGUOUS}, gbnf.Recognizer(gbnf.read(AMBIGUOUS))),
    ({"json_schema": {"enum": [1, 11, "a"]}}, recognizer.of_regex('1|11|"a"')),
]
FRAGMENTS = ["<", ">", "<a>", "<b>", "<<", "b<", "aba", "</", "a", "</a>", "((", "é", "éa"]


SPECIAL, END = TokenFlag.SPECIAL, TokenFlag.END_OF_GENERATION
# Control tokens: one that may lie in texts, one that another begins with, one of which only the number is known.
CONTROLS = [(b"<b>", SPECIAL), (b"<b", SPECIAL), (b"</a>", END | SPECIAL), (b"", SPECIAL)]
NUMBER = 1_000_000
"""In place of the token of which only the number is known."""


def as_oracle_has_it(text: Any, control: list[tuple[bytes, TokenFlag]]) -> bytes:
    """Cut at the longest control tokens."""
    if isinstance(text, dict):
        return bytes([CONTROL + 3])
    rest, found = text.encode(), b""
    while rest:
        fits = [n for n, (token, _) in enumerate(control) if token and rest.startswith(token)]
        longest = max(fits, key=lambda n: len(control[n][0]), default=None)
        n_taken = 1 if longest is None else len(control[longest][0])
        found += rest[:1] if longest is None else bytes([CONTROL + longest])
        rest = rest[n_taken:]
    return found


def by_chance(random: Random) -> tuple[dict[str, Any], Recognizer, Tokens]:
    """A descriptor, its oracle, and tokens that cut its texts. It may be wrong."""
    control = CONTROLS if random.random() < 0.5 else []

    def marker() -> Any:
        if control and random.random() < 0.15:
            return {"token": NUMBER}
        return "".join(random.choices(FRAGMENTS, k=random.randint(1, 2)))

    def bytes_of(text: Any) -> bytes:
        return as_oracle_has_it(text, control)

    def tag() -> tuple[dict[str, Any], Any]:
        content, language = random.choice(LANGUAGES)
        return {"begin": marker(), "end": random.choice(["", marker(), marker()]), **content}, language

    tags: list[dict[str, Any]] = []
    parts = []
    for _ in range(random.randint(1, 3)):
        if random.random() < 0.8:
            one, language = tag()
            tags.append(one)
            parts.append(Part(bytes_of(one["begin"]), bytes_of(one["end"]), language))
            continue
        inner = [tag() for _ in range(random.randint(1, 2))]
        separator = random.choice(["", ",", marker()])
        tags.append({"begin": marker(), "end": marker(), "separator": separator, "tags": [one for one, _ in inner]})
        row = Row(bytes_of(separator), bytes_of(tags[-1]["end"]))
        for one, language in inner:
            begin = bytes_of(one["begin"])
            whole = bytes_of(tags[-1]["begin"]) + begin
            parts.append(Part(whole, bytes_of(one["end"]), language, row, begin))
    descriptor: dict[str, Any] = {"tags": tags}
    triggers = [bytes_of(one["begin"]) for one in tags]
    texts = [one["begin"] for one in tags if isinstance(one["begin"], str)]
    if random.random() < 0.4 and len(texts) == len(tags):
        cuts = {text[: random.randint(1, len(text))] for text in texts}
        descriptor["triggers"] = sorted(one for one in cuts if not any(one != other and other in one for other in cuts))
        triggers = [bytes_of(text) for text in descriptor["triggers"]]
    if random.random() < 0.3:
        descriptor["excludes"] = random.choices(["b", "ba", "aa", "<<b", "()", "é"], k=random.randint(1, 2))
    if random.random() < 0.2:
        descriptor["after"] = random.choice(["a", "aab", "</a>"])
    if random.random() < 0.3:
        descriptor["at_least"] = random.randint(0, 2)
    if random.random() < 0.3:
        descriptor["at_most"] = random.randint(max(1, descriptor.get("at_least", 0)), 3)
    if random.random() < 0.2 and descriptor.get("at_least", 0) < 2:
        descriptor["stop_after_first"] = True
    options = {key: value for key, value in descriptor.items() if key not in ("tags", "triggers")}
    options["excludes"] = [bytes_of(text) for text in options.get("excludes", [])]
    options["after"] = bytes_of(options.get("after", ""))
    ends = bytes(CONTROL + n for n, (_, flag) in enumerate(control) if flag & END)
    oracle = Recognizer(parts, triggers=triggers, end_tokens=ends, **options)
    inner_texts = ["a", "b", "(", ")", "+", "[", "]", '"a"', "1", "11", "aa", "ab", "a)", "x"]
    markers = [one[key] for tag in tags for one in (tag, *tag.get("tags", ())) for key in ("begin", "end")]
    markers += [tag.get("separator", "") for tag in tags]
    markers = [text for text in markers if isinstance(text, str)]
    whole_texts = [text + random.choice(inner_texts) + random.choice(markers) for text in markers]
    pieces = {piece.encode() for piece in inner_texts} | {b","}
    for text in [*whole_texts, *(a + b for a in markers for b in markers), descriptor.get("after", "")]:
        pieces |= {bytes([byte]) for byte in text.encode()}
        for _ in range(10):
            first = random.randint(0, len(text))
            pieces.add(text.encode()[first : random.randint(first, len(text.encode()))])
    # A control token that a token of text spells, too, would not be meant.
    tokens = Tokens(sorted(pieces - {b""} - {token for token, _ in control}), control)
    number = len(pieces - {b""} - {token for token, _ in control}) + 3
    if control:
        descriptor["special_tokens"] = [*(token.decode() for token, _ in control[:3]), number]
    return json.loads(json.dumps(descriptor).replace(str(NUMBER), str(number))), oracle, tokens


@pytest.mark.parametrize("block", range(0, N_DESCRIPTORS, BLOCK))
def test_descriptors_by_chance(block: int) -> None:
    n_compiled = 0
    for seed in range(block, block + BLOCK):
        random = Random(f"tags {seed}")
        descriptor, oracle, tokens = by_chance(random)
        try:
            constraint = Constraint.tags(tokens.vocabulary, descriptor)
        except GrammarError:
            continue
        n_compiled += 1
        for _ in range(3):
            try:
                Walk(constraint, oracle, tokens).at_random(random, 10)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}\n{json.dumps(descriptor)}") from error
    assert n_compiled >= 0.25 * BLOCK


@pytest.mark.parametrize("way", ["compiled", "saved"])
def test_a_text_in_all_its_tokens(way: str, tmp_path: Path) -> None:
    """Begin text, part and end text, cut at every two places."""
    text = b'so <call=f>{"x":1}</call>.'
    pieces = sorted({text[i:j] for i in range(len(text)) for j in range(i + 1, len(text) + 1)})
    tokens = Tokens(pieces)
    schema: dict[str, Any] = {"properties": {"x": {"type": "integer"}}, "required": ["x"]}
    schema |= {"type": "object", "additionalProperties": False}
    constraint = Constraint.tags(
        tokens.vocabulary,
        [Tag("<call=f>", "</call>", json_schema=schema), Tag("<call=g>", "</call>", choices=["1"])],
        triggers=["<call="],
        at_least=1,
    )
    assert constraint.kind == ConstraintKind.TAGS
    if way == "saved":
        constraint.save(tmp_path / "saved")
        constraint = Constraint.open(tokens.vocabulary, tmp_path / "saved")
        assert constraint.kind == ConstraintKind.TAGS
    number = {piece: n for n, piece in enumerate(pieces)}
    for i in range(1, len(text)):
        for j in range(i + 1, len(text) + 1):
            matcher = Matcher(constraint)
            for piece in (text[:i], text[i:j], text[j:]):
                if not piece:
                    continue
                allowed = matcher.allowed()
                assert allowed is not None
                assert number[piece] in allowed.tolist(), (text[:i], text[i:j])
                matcher.accept(number[piece])
            assert matcher.can_stop


def test_long_texts_with_parts_of_all_kinds_of_stacks() -> None:
    """Stacks of one part are dropped while those of others stay, and positions can be gone back to."""
    longer = [b"<l>", b"<g>", b"</>", b"((", b"))", b"aa", b"a</", b")</>"]
    tokens = Tokens([*(bytes([byte]) for byte in range(256)), *longer])
    tags = [Tag("<l>", "</>", lark=ARITHMETIC), Tag("<g>", "</>", gbnf=AMBIGUOUS)]
    constraint = Constraint.tags(tokens.vocabulary, tags)
    oracle = Recognizer(
        [
            Part(b"<l>", b"</>", lark_text.recognizer_of(ARITHMETIC)),
            Part(b"<g>", b"</>", gbnf.Recognizer(gbnf.read(AMBIGUOUS))),
        ]
    )
    walk = Walk(constraint, oracle, tokens)
    for turn in range(60):
        begin, inside = (b"<l>", b"((((a+a)+a)+(a))+a)") if turn % 2 else (b"<g>", b"(a(a(aa(a))a)a)aa")
        for byte in begin + inside + b"</>":
            walk.take(byte)
        if turn % 7 == 0:
            walk.check()
    for n in (1, 20, 300):
        walk.matcher.rollback(n)
        del walk.states[len(walk.states) - n :], walk.taken[len(walk.taken) - n :]
        walk.check()
        walk.check_forced()


ONE = {"const": 1}
STRUCTURAL = {
    "type": "structural_tag",
    "format": {
        "type": "triggered_tags",
        "triggers": ["<f"],
        "tags": [
            {"type": "tag", "begin": "<f=a>", "content": {"type": "json_schema", "json_schema": ONE}, "end": ["</f>"]},
            {"type": "tag", "begin": "<f=b>", "content": {"type": "grammar", "grammar": 'root ::= "b"'}, "end": "</f>"},
            {"type": "tag", "begin": "<f=c>", "content": {"type": "regex", "pattern": "c+"}, "end": "</f>"},
            {"type": "tag", "begin": "<f=d>", "content": {"type": "const_string", "value": "d"}, "end": "</f>"},
            {"type": "tag", "begin": "<f=e>", "content": {"type": "any_text"}, "end": "</f>"},
        ],
        "at_least_one": True,
        "stop_after_first": True,
    },
}
OLDER = {
    "type": "structural_tag",
    "structures": [{"begin": "<f=a>", "schema": {"const": 1}, "end": "</f>"}],
    "triggers": ["<f="],
}


@pytest.mark.parametrize(
    ("descriptor", "texts", "others"),
    [
        (
            STRUCTURAL,
            ["x<f=a>1</f>", "<f=b>b</f>", "<f=c>cc</f>", "<f=d>d</f>", "<f=e>\n<é</f>"],
            ["x", "<f=a>2", "<f=c></f>", "<f=d>d</f>x", "<f=x", "<fx"],
        ),
        (OLDER, ["x<f=a>1</f>y<f=a>1</f>", "x", "<f"], ["<f=b", "<f=a>11", "<f=a>1"]),
    ],
)
def test_structural_tags_of_xgrammar(descriptor: dict[str, Any], texts: list[str], others: list[str]) -> None:
    tokens = Tokens([bytes([byte]) for byte in range(256)])
    constraint = Constraint.tags(tokens.vocabulary, json.dumps(descriptor))
    for text in [*texts, *others]:
        matcher = Matcher(constraint)
        for byte in text.encode():
            matcher.accept(byte)
        assert (matcher.can_stop and matcher.state.span_tokens == len(text.encode())) == (text in texts), text


def row_of(end: str, *begins: str) -> dict[str, Any]:
    return {"begin": "<", "end": end, "tags": [{"begin": begin, "end": "!", "regex": "b"} for begin in begins]}


@pytest.mark.parametrize(
    ("error", "arguments", "message"),
    [
        (GrammarError, {"tags": []}, "tags: there is none"),
        (GrammarError, {"tags": [Tag("", regex="a")]}, "tags[0].begin: empty, or not given"),
        (
            GrammarError,
            {"tags": [Tag("<")]},
            "tags[0]: no part is given: json_schema, regex, lark, gbnf, ebnf or choices",
        ),
        (GrammarError, {"tags": [Tag("<", regex="a", lark="b")]}, "tags[0].lark: the part is already given"),
        (GrammarError, {"tags": [Tag("<", regex="(")]}, "tags[0]: "),
        (GrammarError, {"tags": [Tag("a", regex="a"), Tag("<", regex="[^\\s\\S]")]}, "tags[1]: "),
        (GrammarError, {"tags": [Tag("<", gbnf="root ::= <[9]>")]}, "tags[0]: 1:12: there is no token 9"),
        (GrammarError, {"tags": [Tag("<", json_schema=False)]}, "tags[0]: "),
        (GrammarError, {"tags": [Tag("<", choices=[])]}, "tags[0]: there is no choice"),
        (GrammarError, {"tags": [Tag("<a", regex="a"), Tag("<", regex="a")]}, 'begin: "<a" contains tags[1].begin "<"'),
        (GrammarError, {"tags": [Tag("a<b", regex="a"), Tag("<", regex="a")]}, "contains"),
        (GrammarError, {"tags": [Tag("<", regex="a")] * 2}, "contains"),
        (GrammarError, {"tags": [Tag("<a", regex="a"), Tag("<a", regex="b")], "triggers": ["<"]}, "tags[1].begin"),
        (
            GrammarError,
            {"tags": [Tag("<a", regex="a"), Tag("<ab", regex="a"), Tag("<a", regex="b")], "triggers": ["<"]},
            'tags[2].begin: "<a" is another begin text',
        ),
        (GrammarError, {"tags": {"tags": [row_of(">", "a", "a>", "a")]}}, "tags[0].tags[2].begin"),
        (GrammarError, {"tags": {"tags": [row_of(">", ">a")]}}, "tags[0].tags[0].begin"),
        (GrammarError, {"tags": [Tag("a", regex="a")], "triggers": ["<"]}, 'tags[0].begin: "a" begins with no trigger'),
        (GrammarError, {"tags": [Tag("<a", regex="a")], "triggers": ["<", "b"]}, "triggers[1]: no begin text"),
        (GrammarError, {"tags": [Tag("<a", regex="a")], "triggers": ["<", "x<"]}, "triggers[1]"),
        (GrammarError, {"tags": [Tag("<a", regex="a")], "excludes": ["<a"]}, "excludes[0]"),
        (GrammarError, {"tags": [Tag("<a", regex="a")], "excludes": [""]}, "element 0 of excludes is empty"),
        (GrammarError, {"tags": [Tag("<a", regex="a")], "at_least": 2, "at_most": 1}, "at_most"),
        (GrammarError, {"tags": [Tag("<a", regex="a")], "at_most": 0}, "at_most"),
        (GrammarError, {"tags": [Tag("<a", regex="a")], "at_least": -1}, "at_least: -1 is below 0"),
        (GrammarError, {"tags": [Tag("<a", regex="a")], "at_least": 2, "stop_after_first": True}, "at_least"),
        (LimitError, {"tags": [Tag("<a", regex="a")], "at_least": 1025}, "at_least: 1025 is more than 1024"),
        (LimitError, {"tags": [Tag("<" * 20000, regex="a")]}, "16384"),
        (LimitError, {"tags": [Tag("<", "a" * 128, regex="a")]}, "tags[0].end: 128 bytes are more than 127"),
        (LimitError, {"tags": [Tag(f"<{n}>", regex="a") for n in range(4097)]}, "more than 4096 tags"),
        (GrammarError, {"tags": {"tag": []}}, 'the key "tag" is not known'),
        (GrammarError, {"tags": {"tags": [{"begins": ""}]}}, 'the key "begins" is not known'),
        (GrammarError, {"tags": {"tags": 1}}, "tags: expected an array, found an integer"),
        (GrammarError, {"tags": {"type": "sequence"}}, 'type: the type "sequence" is not supported'),
        (GrammarError, {"tags": '{"tags": ['}, "byte 10 of the descriptor"),
        (GrammarError, {"tags": ""}, "byte 0 of the descriptor"),
        (TypeError, {"tags": [1]}, "tags[0]"),
        (TypeError, {"tags": [Tag(1, regex="a")]}, "tags[0].begin"),  # type: ignore[arg-type]
        (TypeError, {"tags": [Tag("<", token_tree=[1])]}, "tags[0].token_tree"),  # type: ignore[arg-type]
        (TypeError, {"tags": {"tags": {1, 2}}}, "tags"),
    ],
)
def test_what_is_wrong(error: type[Exception], arguments: dict[str, Any], message: str) -> None:
    tokens = Tokens([b"a"])
    with pytest.raises(error) as raised:
        Constraint.tags(tokens.vocabulary, **arguments)
    assert message in str(raised.value)


@pytest.mark.parametrize(("shorter", "longer", "inside"), [("<", "<a", "b"), ("<a", "<ab", "a"), ("<", "<ab", "b")])
def test_a_begin_text_may_begin_another(shorter: str, longer: str, inside: str) -> None:
    """In any order: the longer one counts as long as the text continues with it."""
    tokens = Tokens([b"<", b"<a", b"<ab", b"a", b"b", b"ab", b"bb", b"!", b"x"])
    tags = [Tag(shorter, "!", regex="[ab]*"), Tag(longer, "!", regex="x")]
    parts = [
        Part(shorter.encode(), b"!", recognizer.of_regex("[ab]*")),
        Part(longer.encode(), b"!", recognizer.of_regex("x")),
    ]
    for order in (1, -1):
        constraint = Constraint.tags(tokens.vocabulary, tags[::order], triggers=["<"])
        walk = Walk(constraint, Recognizer(parts, triggers=[b"<"]), tokens)
        for byte in f"{longer}x!{shorter}{inside}b!":
            walk.take(tokens.bytes.index(byte.encode()))
            walk.check()
        Walk(constraint, Recognizer(parts, triggers=[b"<"]), tokens).at_random(Random(longer), 30)


def test_a_begin_text_may_begin_the_end_text_of_its_row() -> None:
    tokens = Tokens([b"<", b"a", b">", b">>", b">a", b">>a", b"a>", b"a>>", b"!", b"x"])
    tag = Tag("<", ">>", tags=[Tag("a", "!", regex="a"), Tag(">", "!", regex="a")])
    constraint = Constraint.tags(tokens.vocabulary, [tag])
    row = Row(b"", b">>")
    language = recognizer.of_regex("a")
    parts = [Part(b"<" + begin, b"!", language, row, begin) for begin in (b"a", b">")]
    walk = Walk(constraint, Recognizer(parts, triggers=[b"<"]), tokens)
    for piece in [b"<", b"a", b"a", b"!", b">", b"a", b"!", b">", b">", b"x"]:
        walk.check()
        walk.take(tokens.bytes.index(piece))
    walk.check()
    for seed in range(5):
        Walk(constraint, Recognizer(parts, triggers=[b"<"]), tokens).at_random(Random(seed), 20)


def test_any_descriptor_may_be_in_messagepack() -> None:
    tokens = Tokens([b"<", b"a", b">", b"x"])
    packed = b"\x82\xa4tags\x91\x83\xa5begin\xa1<\xa3end\xa1>\xa5regex\xa1a\xb0stop_after_first\xc3"
    matcher = Matcher(Constraint.tags(tokens.vocabulary, packed))
    for token in range(3):
        matcher.accept(token)
    assert matcher.can_stop
    assert matcher.state.n_allowed == 1


def test_warnings_say_of_which_part_they_are() -> None:
    tokens = Tokens([bytes([byte]) for byte in range(256)])
    unused = 'start: "a"\nother: "b"'
    constraint = Constraint.tags(tokens.vocabulary, [Tag("<", regex="a"), Tag("[", lark=unused)])
    assert constraint.warnings
    assert all(warning.startswith("tags[1]: ") for warning in constraint.warnings)
