"""Schemas of the shapes of public ones that many conditions, branches or patterns make hard: they compile, and can be
written to their end."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from eliza_inference import Constraint, Matcher, Step, Vocabulary

from json_schema_texts import byte_vocabulary

Json = Any

STRING = {"type": "string"}
OBJECT = {"type": "object"}


def ref(name: str) -> Json:
    return {"$ref": f"#/definitions/{name}"}


def closed(properties: Json, **more: Json) -> Json:
    return {**OBJECT, "additionalProperties": False, "properties": properties, **more}


# Traefik: exactly one of many objects of one member each, within each other.
MIDDLEWARES = {
    "oneOf": [
        closed(
            {
                f"m{number}": closed(
                    {
                        "prefix": STRING,
                        "rules": {
                            "type": "array",
                            "items": {"oneOf": [closed({f"m{number}r{rule}": STRING}) for rule in range(3)]},
                        },
                    }
                )
            }
        )
        for number in range(24)
    ]
}
TRAEFIK = {
    **OBJECT,
    "properties": {
        "http": closed(
            {"middlewares": {**OBJECT, "minProperties": 1, "patternProperties": {"[a-zA-Z0-9-]+": MIDDLEWARES}}}
        )
    },
}

# pyrseas: a pattern of keys for each kind of object, within each other.
KINDS = (
    "schema", "extension", "table", "view", "materialized view", "sequence", "function", "type", "domain", "aggregate",
    "operator", "collation", "foreign table", "cast", "trigger",
)  # fmt: skip
PYRSEAS = closed(
    {},
    patternProperties={
        f"^{kind} .*$": closed(
            {"owner": STRING},
            patternProperties={f"^{inner} .*$": {**OBJECT, "properties": {"owner": STRING}} for inner in KINDS},
        )
        for kind in KINDS
    },
)

# CityJSON: one of 33 kinds of objects, each told by a required member that another schema requires.
CITY_OBJECTS = {
    f"C{number}": {
        "allOf": [
            ref("abstract"),
            {
                "properties": {
                    "type": {"enum": [f"C{number}"]},
                    "attributes": {"properties": {f"a{number}": {"type": "number"}, "shared": STRING}},
                    "geometry": {
                        "type": "array",
                        "items": {
                            "oneOf": [
                                {"properties": {"type": {"enum": [one]}, "lod": STRING}, "required": ["type", "lod"]}
                                for one in ("Solid", "MultiSurface", "MultiPoint")
                            ]
                        },
                    },
                }
            },
        ]
    }
    for number in range(33)
}
CITY_JSON = {
    **OBJECT,
    "required": ["CityObjects"],
    "properties": {"CityObjects": {**OBJECT, "additionalProperties": {"oneOf": [ref(name) for name in CITY_OBJECTS]}}},
    "definitions": {
        "abstract": {
            **OBJECT,
            "properties": {"type": STRING, "attributes": OBJECT, "children": {"type": "array", "items": STRING}},
            "required": ["type"],
        },
        **CITY_OBJECTS,
    },
}

# AsyncAPI 2.4: the meta-schema with more, extensions by a pattern, and conditions on one optional member.
EXTENSIONS = {"patternProperties": {"^x-[\\w\\d\\.\\x2d_]+$": True}}
TRAIT = {"oneOf": [ref("reference"), ref("trait")]}
PAYLOAD = {"properties": {"payload": ref("schema")}}
ASYNC_API = {
    **OBJECT,
    "required": ["asyncapi"],
    "properties": {
        "asyncapi": {"enum": ["2.4.0"]},
        "channels": {**OBJECT, "additionalProperties": closed({"publish": ref("operation")}, **EXTENSIONS)},
    },
    "definitions": {
        "reference": {**OBJECT, "required": ["$ref"], "properties": {"$ref": STRING}},
        "operation": closed({"message": ref("message"), "traits": {"type": "array", "items": TRAIT}}, **EXTENSIONS),
        "trait": closed({"summary": STRING}, **EXTENSIONS),
        "message": {
            "oneOf": [
                ref("reference"),
                {
                    "oneOf": [
                        closed({"oneOf": {"type": "array", "items": ref("message")}}, required=["oneOf"]),
                        closed(
                            {"payload": {"anyOf": [ref("schema"), True]}, "schemaFormat": STRING},
                            **EXTENSIONS,
                            allOf=[
                                {"if": {"not": {"required": ["schemaFormat"]}}, "then": PAYLOAD},
                                *(
                                    {
                                        "if": {
                                            "required": ["schemaFormat"],
                                            "properties": {"schemaFormat": {"enum": [f"{name};version=2.4.0"]}},
                                        },
                                        "then": PAYLOAD,
                                    }
                                    for name in "abcdefg"
                                ),
                            ],
                        ),
                    ]
                },
            ]
        },
        "schema": {
            "allOf": [
                {"$ref": "http://json-schema.org/draft-07/schema#"},
                {
                    **EXTENSIONS,
                    "properties": {
                        "items": {"anyOf": [ref("schema"), {"type": "array", "items": ref("schema")}]},
                        "oneOf": {"type": "array", "items": ref("schema")},
                        "discriminator": STRING,
                    },
                },
            ]
        },
    },
}

# pyproject: members that others need, and exactly one of some that a dependency names.
DYNAMIC = {"contains": {"const": "version"}}
POINTERS = ("rev", "branch", "tag")
DEPENDENCY = {
    **OBJECT,
    "properties": dict.fromkeys(("git", *POINTERS), STRING),
    "oneOf": [
        *({"required": [name]} for name in POINTERS),
        {"not": {"anyOf": [{"required": [name]} for name in POINTERS]}},
    ],
}
PYPROJECT = {
    **OBJECT,
    "properties": {
        "project": {
            **OBJECT,
            "properties": {
                **dict.fromkeys(("name", "version"), STRING),
                "dynamic": {"type": "array", "items": {"enum": [*(f"f{number}" for number in range(16)), "version"]}},
                **{f"f{number}": STRING for number in range(16)},
            },
            "required": ["name"],
            "oneOf": [
                {"required": ["dynamic"], "properties": {"dynamic": DYNAMIC}},
                {"required": ["version"], "properties": {"dynamic": {"not": DYNAMIC}}},
            ],
            "dependencies": {f"f{number}": [f"f{number + 8}"] for number in range(8)},
        },
        "poetry": {
            **OBJECT,
            "dependencies": {f"k{number}": [f"d{number}"] for number in range(12)},
            "additionalProperties": {"anyOf": [STRING, DEPENDENCY]},
        },
    },
}

# airplane: exactly one of ten builders, and of the options of a parameter.
BUILDERS = ("docker", "python", "node", "shell", "sql", "rest", "builtin", "image", "graphql", "mongodb")
AIRPLANE = {
    **OBJECT,
    "properties": {
        "params": {
            "type": "array",
            "items": {
                **OBJECT,
                "properties": {"slug": STRING, "type": STRING},
                "required": ["slug"],
                "oneOf": [
                    {"required": [f"option{number}"], "properties": {f"option{number}": OBJECT}} for number in range(14)
                ],
            },
        },
        **dict.fromkeys(BUILDERS, OBJECT),
    },
    "oneOf": [{"required": [name]} for name in BUILDERS],
}

# A schema, documents that are valid, and others that are not.
SHAPES: dict[str, tuple[Json, list[Json], list[Json]]] = {
    "Traefik": (
        TRAEFIK,
        [{"http": {"middlewares": {"a": {"m3": {"prefix": "x", "rules": [{"m3r1": "s"}]}}}}}],
        [{"http": {"middlewares": {"a": {"m3": {}, "m4": {}}}}}, {"http": {"middlewares": {"a": {}}}}],
    ),
    "pyrseas": (
        PYRSEAS,
        [{"schema a": {"owner": "x", "table t": {"owner": "y"}}}],
        [{"other a": {}}, {"schema a": {"table t": {"owner": 1}}}],
    ),
    "CityJSON": (
        CITY_JSON,
        [{"CityObjects": {"a": {"type": "C4", "attributes": {"a4": 1}}, "b": {"type": "C32", "geometry": []}}}],
        [{"CityObjects": {"a": {"type": "C"}}}, {"CityObjects": {"a": {"type": "C4", "attributes": {"a4": "x"}}}}],
    ),
    "AsyncAPI": (
        ASYNC_API,
        [
            {
                "asyncapi": "2.4.0",
                "channels": {"c": {"publish": {"message": {"payload": {"type": "object"}, "x-a": 1}}}},
            },
            {"asyncapi": "2.4.0", "channels": {"c": {"publish": {"message": {"oneOf": [{"$ref": "a"}, {}]}}}}},
        ],
        [{"asyncapi": "2.4.0", "channels": {"c": {"publish": {"message": {"payload": {"type": "other"}}}}}}],
    ),
    "pyproject": (
        PYPROJECT,
        [
            {
                "project": {"name": "a", "version": "1", "f0": "x", "f8": "y"},
                "poetry": {"k1": "s", "d1": {"git": "u", "rev": "r"}},
            },
            {"project": {"name": "a", "dynamic": ["version"]}},
        ],
        [{"project": {"name": "a"}}, {"project": {"name": "a", "version": "1", "f0": "x"}}],
    ),
    "airplane": (
        AIRPLANE,
        [{"params": [{"slug": "a", "option3": {}}], "python": {}}],
        [{"python": {}, "node": {}}, {"params": [{"slug": "a"}], "python": {}}],
    ),
}


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return byte_vocabulary()


@pytest.mark.parametrize("order", ["declared", "any"])
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_of_public_schemas(vocabulary: Vocabulary, shape: str, order: Any) -> None:
    schema, valid, invalid = SHAPES[shape]
    validator = jsonschema.Draft7Validator(schema)
    constraint = Constraint.json_schema(vocabulary, schema, order=order, draft="7")
    for document in (*valid, *invalid):
        is_valid = document in valid
        assert validator.is_valid(document) == is_valid
        assert follows(constraint, json.dumps(document)) == is_valid, document


def follows(constraint: Constraint, text: str) -> bool:
    """Whether a text is accepted, by masks that are found at each of its bytes."""
    matcher = Matcher(constraint)
    for byte in text.encode():
        allowed = matcher.allowed()
        is_allowed = allowed is None or byte in allowed
        assert is_allowed == (Step.REFUSED not in matcher.accept(byte))
        if not is_allowed:
            return False
    return matcher.can_stop
