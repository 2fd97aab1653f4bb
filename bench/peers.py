"""Whether texts are accepted and refused as the tests of other engines say, grammar by grammar."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, Literal, get_args

from eliza_inference import Constraint, ElizaError, Matcher, TokenFlag, Vocabulary

from bench import machine
from bench.paths import REPORTS, use_llama
from bench.requirement import Requirement
from bench.tables import Table, requirements

BAR = 0.92

ABOUT = """
`python -m bench peers FILE --imports FOLDER --report`. FILE has a case a line: `source`, `notation` (`lark`, `gbnf`,
`ebnf` of XGrammar, `json-schema`), `grammar`, its `start`, the grammars that it refers to, and texts with what the
tests of that engine say of them: complete, refused, or to be gone on with. A case is the same if it compiles and each
of its texts is as they say. FOLDER has grammars that `%import` names: those of Lark's own tests, from its source
distribution. A case that refers to what is neither in FILE nor in FOLDER is not judged, and not counted in shares.

Grammars are taken unchanged, first; those that are not the same then, once more with the directives that say what is
the default there: of XGrammar, that `i` folds ASCII alone and that nothing is ignored before the first lexeme. The
vocabulary has the 256 bytes, the special tokens that the grammar names, and a few words as tokens where a case counts
tokens or names them by number. Where Lark's own tests ran several parsers, its Earley parser counts.
"""

REMARKS = """
What stays different, and why: keys, and strings with a length or a pattern, have one spelling, so `\\u00e9` is no other
way to write a letter there. An anchor stands at the ends of a
pattern; conditional groups, and terminals that code after the lexer makes (INDENT), are unsupported. JSON Schema's
integers have any number of digits, and `-0` is one; white space may differ from place to place in a document. A
repetition of 50,000 needs more states than a lexer has. Two cases expect an empty text, or the end of a text, from
rules whose marker has not come.
"""

Verdict = Literal["same", "same with directives", "differs", "refused", "not recorded"]

# The tokens that texts of the cases are made of, where grammars name them by number, or count them.
NUMBERED = {5431: b"foo", 9003: b"reh", 29730: b"zott"}
N_NUMBERED = 40_000
WORDS = [b"Em", b"ily", b" Carter", b" a", b" b", b" q", b" x", b" y"]

DIRECTIVES = {"XGrammar test_lark": '%case ascii\n%grammar_options {"allow_initial_skip": false}\n'}
# Whose tests tell what is refused from what continues.
TELL_PREFIXES = ("llguidance",)
# Of errors: what is referred to is not given.
UNRECORDED = re.compile(r"there is no grammar (or schema )?\S+ (to import from|among those given)")
BYTES = [bytes([byte]) for byte in range(256)]


@dataclass(frozen=True, slots=True)
class Case:
    source: str
    notation: str
    name: str
    grammar: str
    starts: list[str]
    """A text may be of any of these."""
    named: dict[str, str | None]
    """What the grammar refers to; None: it was not recorded."""
    texts: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Outcome:
    case: Case
    verdict: Verdict
    reason: str = ""


def read(path: Path) -> Iterator[Case]:
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        start = row.get("start")
        yield Case(
            row["source"],
            _notation(row),
            row["name"],
            row["grammar"],
            start if isinstance(start, list) else [start] if start else [],
            row.get("named", {}),
            [(text, _expected(what)) for text, what in row["strings"] if text is not None],
        )


def imports(folder: Path) -> dict[str, str]:
    """The grammars below a folder, by their names from there and from each folder on the way."""
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*.lark")):
        parts = path.relative_to(folder).with_suffix("").parts
        found |= {".".join(parts[i:]): path.read_text(encoding="utf-8") for i in range(len(parts))}
    return found


def judge(case: Case, imported: dict[str, str]) -> Outcome:
    outcome = _judge(case, imported)
    directives = DIRECTIVES.get(case.source)
    if directives is None or outcome.verdict in ("same", "not recorded"):
        return outcome
    verdict = _judge(replace(case, grammar=directives + case.grammar), imported).verdict
    return replace(outcome, verdict="same with directives") if verdict == "same" else outcome


def _judge(case: Case, imported: dict[str, str]) -> Outcome:
    try:
        constraints = list(_compile(case, imported))
    except ElizaError as error:
        return Outcome(case, "not recorded" if UNRECORDED.search(str(error)) else "refused", str(error))
    for text, expected in case.texts:
        found = min(_found(constraint, text) for constraint in constraints)
        if not _agree(expected, found, case.source):
            return Outcome(case, "differs", f"{text!r}: {expected} there, {found} here")
    return Outcome(case, "same")


def bars(outcomes: list[Outcome]) -> list[Requirement]:
    found = []
    for source, counts in _by_source(outcomes):
        n_same = counts["same"] + counts["same with directives"]
        share = n_same / (counts.total() - counts["not recorded"])
        found.append(Requirement(f"{source}: the same", f"≥ {BAR:.0%}", f"{share:.1%}", share >= BAR, "peers FILE"))
    return found


def sources_table(outcomes: list[Outcome]) -> Table:
    verdicts = get_args(Verdict)
    rows = [
        [source, f"{counts.total()}", *(f"{counts[verdict]}" for verdict in verdicts)]
        for source, counts in _by_source(outcomes)
    ]
    return Table(["source", "cases", *verdicts], rows)


def others_table(outcomes: list[Outcome]) -> Table:
    """Those that are not the same."""
    rows = [
        [each.case.source, _cell(each.case.name), each.verdict, _cell(each.reason)]
        for each in outcomes
        if not each.verdict.startswith("same")
    ]
    return Table(["source", "test", "", "why"], rows, n_left=4)


def write(outcomes: list[Outcome]) -> Path:
    use_llama()
    sections = [
        f"# Grammars of other engines' tests, {date.today().isoformat()}",
        Table(["", ""], list(map(list, machine.description().items())), n_left=2).markdown(),
        ABOUT.strip(),
        requirements(bars(outcomes)).markdown(),
        sources_table(outcomes).markdown(),
        "## Those that are not the same",
        REMARKS.strip(),
        others_table(outcomes).markdown(),
    ]
    path = REPORTS / f"{date.today().isoformat()}-peers.md"
    path.write_text("\n\n".join(sections) + "\n", encoding="utf-8")
    return path


def _expected(what: Any) -> str:
    if isinstance(what, str):
        return what
    return str(next(what[parser] for parser in ("earley", "lalr", "cyk") if parser in what))


def _notation(row: dict[str, Any]) -> str:
    """llama.cpp's tests give Lark's notation and GBNF to one parser, and record GBNF."""
    if not row["source"].startswith("llama.cpp") or row["notation"] == "json-schema":
        return str(row["notation"])
    return "gbnf" if "::=" in row["grammar"] else "lark"


def _compile(case: Case, imported: dict[str, str]) -> Iterator[Constraint]:
    vocabulary = _vocabulary(case.grammar)
    if case.notation == "json-schema":
        yield Constraint.json_schema(vocabulary, case.grammar)
    elif case.notation in ("gbnf", "ebnf"):
        for root in case.starts or ["root"]:
            yield Constraint.gbnf(vocabulary, case.grammar, root, ebnf=case.notation == "ebnf")
    else:
        named = {name: text for name, text in case.named.items() if text is not None}
        for start in case.starts or ["start"]:
            yield Constraint.lark(vocabulary, case.grammar, start=start, imports=imported | named)


def _vocabulary(grammar: str) -> Vocabulary:
    names = [name.encode() for name in sorted(set(re.findall(r"<\|?[A-Za-z_/][\w/|.-]*>", grammar)))]
    words = WORDS if "max_tokens" in grammar else []
    tokens = [*BYTES, *words, *names]
    flags = [0] * (256 + len(words)) + [int(TokenFlag.SPECIAL)] * len(names)
    if "<[" in grammar:
        for token in range(len(tokens), N_NUMBERED):
            tokens.append(NUMBERED.get(token, b""))
            flags.append(0 if token in NUMBERED else int(TokenFlag.SPECIAL))
    return Vocabulary(len(tokens) + 1, [*tokens, b""], [*flags, int(TokenFlag.END_OF_GENERATION)])


def _found(constraint: Constraint, text: str) -> str:
    matcher = Matcher(constraint)
    if not matcher.accept_tokens(_tokens(text.encode(), constraint.vocabulary)):
        return "reject"
    return "accept" if matcher.can_stop else "prefix"


def _tokens(text: bytes, vocabulary: Vocabulary) -> Iterator[int]:
    """The longest at each place. Texts spell no special token."""
    n = vocabulary.info.n_tokens
    words = NUMBERED if n > N_NUMBERED else {256 + i: word for i, word in enumerate(WORDS) if 256 + i < n}
    words = {token: word for token, word in words.items() if vocabulary.token_bytes(token) == word}
    while text:
        token = max(
            (token for token in words if text.startswith(words[token])), key=lambda t: len(words[t]), default=-1
        )
        yield text[0] if token < 0 else token
        text = text[1 if token < 0 else len(words[token]) :]


def _agree(expected: str, found: str, source: str) -> bool:
    if expected == "notstop":
        return found == "prefix"
    if expected == "no" or (expected == "reject" and source not in TELL_PREFIXES):
        return found != "accept"
    return expected == found


def _by_source(outcomes: Iterable[Outcome]) -> Iterator[tuple[str, Counter[str]]]:
    found: dict[str, Counter[str]] = {}
    for each in outcomes:
        found.setdefault(each.case.source, Counter())[each.verdict] += 1
    yield from found.items()


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")[:160]
