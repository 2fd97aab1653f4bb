"""Which way each parameter goes, and who owns what a function hands out: the "Conventions" of the header.

A type says most of it. The rest is said in brackets at the end of a comment; where that is missing, it is an error.
"""

from __future__ import annotations

import re
from typing import Any

Entry = dict[str, Any]

TAG = re.compile(r"\[(static|lent by|borrowed from|freed by|keeps|updates)(?: ([\w, ]+))?\]")


class OwnershipError(Exception):
    """Nobody says whose something is."""


def add_ownership(functions: dict[str, Entry], handles: set[str], comments: dict[str, str]) -> None:
    """Adds `direction` and `owner`. `handles` are the types of which callers know only pointers."""
    destructors = {}
    for function in functions.values():
        for parameter in function["parameters"]:
            parameter["direction"] = "out" if is_written(parameter["type"], handles) else "in"
        if is_destructor(function):
            (freed,) = function["parameters"]
            freed |= {"direction": "in", "owner": "freed"}
            destructors[freed["type"]] = function["name"]
    for name, function in functions.items():
        tags = dict(TAG.findall(" ".join(comments[name].split())))
        for parameter in function["parameters"]:
            if parameter["name"] in tags.get("updates", "").split(", "):
                parameter["direction"] = "inout"
            elif parameter["name"] in tags.get("keeps", "").split(", "):
                parameter["owner"] = "kept until replaced"
            elif parameter["direction"] == "out" and parameter["type"].endswith("**"):
                handed_out = parameter["type"].removesuffix("*")
                parameter["owner"] = owner(destructors.get(handed_out), tags, f"{name}, {parameter['name']}")
        if function["returns"]["type"].endswith("*"):
            handed_out = function["returns"]["type"]
            function["returns"]["owner"] = owner(destructors.get(handed_out), tags, f"what {name} returns")


def is_written(type_: str, handles: set[str]) -> bool:
    """A pointer is written through, unless it points to const or is a handle."""
    if not type_.endswith("*"):
        return False
    pointee = type_.removesuffix("*").rstrip()
    if pointee.endswith("*"):
        return True
    return not pointee.startswith("const ") and not pointee.endswith("const") and pointee not in handles | {"void"}


def is_destructor(function: Entry) -> bool:
    types = [parameter["type"] for parameter in function["parameters"]]
    return function["returns"]["type"] == "void" and len(types) == 1 and bool(types[0].endswith("*"))


def owner(destructor: str | None, tags: dict[str, str], what: str) -> str:
    if destructor is not None:
        return f"freed by {destructor}"
    for kind in ("static", "lent by", "borrowed from", "freed by"):
        if kind in tags:
            return f"{kind} {tags[kind]}".rstrip()
    raise OwnershipError(f"{what}: no comment says whose it is, such as [static] or [lent by x]")


def add_field_owner(field: Entry, comment: str) -> None:
    """For a pointer in a struct that a function fills."""
    if (tag := TAG.search(comment)) and field["type"].endswith("*"):
        field["owner"] = f"{tag[1]} {tag[2] or ''}".rstrip()
