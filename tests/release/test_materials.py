"""The bill of materials and the checksums of a release."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from referencing import Registry, Resource

from release.conftest import ROOT, Release


@pytest.fixture(scope="module")
def bill(release: Release) -> dict[str, Any]:
    return dict(json.loads((release.folder / "sbom.cdx.json").read_text("utf-8")))


def test_the_checksums_are_those_of_all_files(release: Release) -> None:
    command = ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"]
    subprocess.run(command, cwd=release.folder, check=True)
    lines = (release.folder / "SHA256SUMS").read_text("utf-8").splitlines()
    found = {str(path.relative_to(release.folder)) for path in release.folder.rglob("*") if path.is_file()}
    assert {line[66:] for line in lines} == found - {"SHA256SUMS"}


def test_the_bill_is_valid(bill: dict[str, Any]) -> None:
    """By CycloneDX's own schemas."""
    package = importlib.util.find_spec("cyclonedx")
    assert package is not None and package.origin is not None
    folder = Path(package.origin).parent / "schema" / "_res"
    schemas = {path.name: json.loads(path.read_text("utf-8")) for path in folder.glob("*.schema.json")}
    place = "http://cyclonedx.org/schema/"  # where they refer to one another by the names of their files
    resources = [(place + name, Resource.from_contents(schema)) for name, schema in schemas.items()]
    schema = schemas["bom-1.6.SNAPSHOT.schema.json"]
    jsonschema.Draft7Validator(schema, registry=Registry().with_resources(resources)).validate(bill)


def test_the_bill_lists_what_the_licences_list(bill: dict[str, Any], release: Release) -> None:
    text = (ROOT / "THIRD_PARTY.md").read_text("utf-8")
    listed = re.findall(r"^\| (?!part|-)(.+?) \| .+? \| (.+?) \|$", text, re.MULTILINE)
    assert len(listed) == len(bill["components"]) >= 5
    ids = {
        "MIT": "MIT",
        "ZPL 2.1": "ZPL-2.1",
        "ISC": "ISC",
        "Unicode v3": "Unicode-3.0",
        "BSD, 3 clauses": "BSD-3-Clause",
    }
    for (part, licence), component in zip(listed, bill["components"], strict=True):
        assert component["name"] in (part, part.removeprefix("tables made from the ").partition(", without")[0])
        assert component["licenses"] == [{"license": {"id": ids[licence]}}]
    assert bill["metadata"]["component"]["version"] == release.version


def test_the_versions_are_those_that_are_built_with(bill: dict[str, Any]) -> None:
    versions = {component["bom-ref"]: component["version"] for component in bill["components"]}
    requirements = (ROOT / "tests" / "requirements.txt").read_text("utf-8")
    assert f"ziglang=={versions['zig']}" in requirements
    assert versions["mingw-w64"].endswith(versions["zig"])
    package = json.loads((ROOT / "bindings-ts" / "package.json").read_text("utf-8"))
    assert package["dependencies"]["@msgpack/msgpack"] == versions["msgpack"]
    tables = (ROOT / "native/src/shell/compile/regex/unicode_tables.zig").read_text("utf-8")
    assert versions["unicode"] in tables[:500]
