"""The cases that are measured: languages, and documents that are in them."""

import random
from collections.abc import Callable
from functools import cache

from bench.grammars import cases as grammars
from bench.paths import ACTIONS
from bench.prompts import read_names
from bench.recognizers import files
from bench.recognizers.case import Case

SEED = 20261121
N_DOCUMENTS = 250
"""Texts of a case whose texts are short."""

DATE_TIME = (
    r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)"
    r"(\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
)
EMAIL = r"[a-zA-Z0-9._%+-]{1,64}@([a-zA-Z0-9-]{1,63}\.){1,8}[a-zA-Z]{2,63}"


def load(name: str) -> Case:
    return (CASES[name] if name in CASES else grammars.CASES[name])()


def _choices(count: int) -> Case:
    names = read_names(ACTIONS) if count == 30 else _names(count)
    documents = random.Random(SEED).sample(names, min(count, N_DOCUMENTS))
    return Case(f"choices-{count}", f"enum, {count:,}", documents, choices=names)


def _names(count: int) -> list[str]:
    """Names as those of functions and files are, such as `order_merge_kit_482`: all different."""
    source = random.Random(SEED)
    syllables = [a + b for a in "bcdfghklmnprstvw" for b in ("a", "e", "i", "o", "u", "ar", "en", "ist")]
    words = sorted({"".join(source.choices(syllables, k=source.randint(1, 3))) for _ in range(4000)})
    verbs = ["get", "set", "list", "create", "delete", "update", "send", "read", "open", "merge", "find", "sync"]
    names: dict[str, None] = {}
    while len(names) < count:
        parts = [source.choice(verbs), *source.choices(words, k=source.randint(1, 3))]
        if source.random() < 0.3:
            parts.append(str(source.randint(1, 999)))
        names["_".join(parts)] = None
    return list(names)


def _letters() -> Case:
    source = random.Random(SEED)
    documents = [name.partition("_")[2].replace("_", "") for name in _names(4 * N_DOCUMENTS)]
    fitting = [text for text in documents if text.isalpha() and len(text) <= 20]
    return Case("letters", "[a-z]{1,20}", source.sample(fitting, N_DOCUMENTS), pattern="[a-z]{1,20}")


def _date_times() -> Case:
    source = random.Random(SEED)

    def one() -> str:
        day = f"{source.randint(1970, 2038)}-{source.randint(1, 12):02}-{source.randint(1, 28):02}"
        time = f"{source.randint(0, 23):02}:{source.randint(0, 59):02}:{source.randint(0, 59):02}"
        fraction = source.choice(["", f".{source.randint(0, 999):03}", f".{source.randint(0, 999999):06}"])
        return f"{day}T{time}{fraction}{source.choice(['Z', '+02:00', '-05:30'])}"

    return Case("date-time", "date-time", [one() for _ in range(N_DOCUMENTS)], pattern=DATE_TIME)


def _emails() -> Case:
    source = random.Random(SEED)
    names = _names(2 * N_DOCUMENTS)
    hosts = ["example.com", "mail.example.org", "users.noreply.example.net", "cs.uni-example.de", "example.co.uk"]

    def one(name: str, tag: str) -> str:
        local = name.replace("_", source.choice([".", "_", "-"]))
        return f"{local}{source.choice(['', '+' + tag.partition('_')[0]])}@{source.choice(hosts)}"

    documents = [one(*pair) for pair in zip(names[:N_DOCUMENTS], names[N_DOCUMENTS:], strict=True)]
    return Case("email", "email", documents, pattern=EMAIL)


def _json() -> Case:
    return Case("json", "JSON", files.json_files(), grammar="json")


def _c11() -> Case:
    return Case("c11", "C", files.c_files(), grammar="c11")


def _of_choices(count: int) -> Callable[[], Case]:
    return lambda: _choices(count)


CASES: dict[str, Callable[[], Case]] = {
    **{f"choices-{count}": cache(_of_choices(count)) for count in (30, 5000, 100_000, 1_000_000)},
    "letters": _letters,
    "date-time": _date_times,
    "email": _emails,
    "json": _json,
    "c11": _c11,
}
