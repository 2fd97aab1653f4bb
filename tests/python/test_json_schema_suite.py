"""JSON Schema's official suite: mandatory instances are accepted or refused as it says, in each mode of white space."""

from __future__ import annotations

import functools
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from eliza_inference import Constraint, GrammarError, Vocabulary

from json_schema_texts import accepted_order, accepts, byte_vocabulary, load, spell

Json = Any

SOURCES = Path(__file__).resolve().parents[1] / "suites" / "sources"

DRAFTS = {
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft4": "http://json-schema.org/draft-04/schema#",
}
SPACES = ("compact", "spaced", "loose")
FILES_MIN = 190
INSTANCES_MIN = 4600

OTHERS = "http://localhost:1234/"
"""Where the suite's other documents are."""

ENFORCED = "only an annotation by default"
"""Ends the names of instances of a wrong format, which are refused here."""


@functools.cache
def suite() -> dict[str, list[Json]]:
    """By draft and file: the groups, each a schema with instances."""
    return {
        path.removeprefix("tests/").removesuffix(".json"): load(text)
        for path, text in files().items()
        if path.count("/") == 2 and path.startswith("tests/") and path.split("/")[1] in DRAFTS
    }


@functools.cache
def files() -> dict[str, str]:
    """The texts of the suite, by path."""
    (archive,) = SOURCES.glob("jsonschema-*.tar.gz")
    found: dict[str, str] = {}
    with tarfile.open(archive) as members:
        for member in members:
            path = member.name.partition("/json/")[2]
            if path.endswith(".json") and member.isfile():
                content = members.extractfile(member)
                assert content is not None
                found[path] = content.read().decode()
    return found


def other_document(uri: str) -> str | None:
    """One of those that the suite's schemas refer to."""
    return files().get("remotes/" + uri.removeprefix(OTHERS)) if uri.startswith(OTHERS) else None


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return byte_vocabulary()


def test_the_suite_is_there() -> None:
    assert len(suite()) > FILES_MIN
    assert sum(len(group["tests"]) for groups in suite().values() for group in groups) > INSTANCES_MIN


@pytest.mark.parametrize("name", sorted(suite()))
def test_instances_are_accepted_as_the_suite_says(vocabulary: Vocabulary, name: str) -> None:
    wrong = []
    for group in suite()[name]:
        constraints = constraints_of(vocabulary, of_draft(group["schema"], DRAFTS[name.split("/")[0]]))
        for test in group["tests"]:
            found = accepted_order(constraints["compact"], test["data"], "compact") if constraints["compact"] else []
            for space, constraint in constraints.items():
                text = spell(next(iter(found), test["data"]), space)
                if (constraint is not None and accepts(constraint, text)) != (
                    test["valid"] and ENFORCED not in test["description"]
                ):
                    wrong.append((group["description"], test["description"], space, test["valid"]))
    assert wrong == []


def of_draft(schema: Json, draft: str) -> Json:
    return {"$schema": draft, **schema} if isinstance(schema, dict) and "$schema" not in schema else schema


def constraints_of(vocabulary: Vocabulary, schema: Json) -> dict[str, Constraint | None]:
    """By mode of white space, None where no document is valid."""
    text = json.dumps(schema, default=float)
    try:
        return {
            space: Constraint.json_schema(
                vocabulary,
                text,
                space=space,  # type: ignore[arg-type]
                documents=other_document,
            )
            for space in SPACES
        }
    except GrammarError as error:
        if "no document is valid" in str(error):
            return dict.fromkeys(SPACES)
        raise
