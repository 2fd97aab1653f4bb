"""The manifest of the ABI, and what is written from it.

    python native/abi/abi.py generate           renews all that README.md lists, and tells what changed in the ABI
    python native/abi/abi.py check [HEADER]     fails if something is stale

Needs the Python package pycparser.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from c_header import HeaderError, read_header
from outputs import Manifest, exports_map, first_sizes_header, manifest_json, rust_module, typescript_module

ROOT = Path(__file__).resolve().parents[2]
HEADER = ROOT / "native" / "include" / "eliza_inference.h"
MANIFEST = ROOT / "native" / "abi" / "manifest.json"
OUTPUTS = {
    MANIFEST: manifest_json,
    ROOT / "native" / "abi" / "eliza_inference.map": exports_map,
    ROOT / "bindings-ts" / "src" / "abi.generated.ts": typescript_module,
    ROOT / "bindings-rust" / "src" / "sys.rs": rust_module,
    ROOT / "tests" / "native" / "first_sizes.h": first_sizes_header,
}


def main() -> int:
    parser = argparse.ArgumentParser(description="The manifest of the ABI, and what is written from it.")
    parser.add_argument("command", choices=["generate", "check"])
    parser.add_argument("header", type=Path, nargs="?", default=HEADER)
    chosen = parser.parse_args()
    recorded = json.loads(MANIFEST.read_text("utf-8"))
    try:
        manifest = keep_first_sizes(read_header(chosen.header.read_text("utf-8")), recorded)
    except HeaderError as error:
        print(f"{chosen.header.name}: {error}")
        return 1
    for change in changes(recorded, manifest):
        print(change)
    if chosen.command == "check":
        return check(manifest)
    for path, write in OUTPUTS.items():
        path.write_text(write(manifest), "utf-8", newline="\n")
    return 0


def check(manifest: Manifest) -> int:
    stale = [path for path, write in OUTPUTS.items() if path.read_text("utf-8") != write(manifest)]
    for path in stale:
        print(f"stale: {path.relative_to(ROOT).as_posix()}")
    if stale:
        print("If this is meant: python native/abi/abi.py generate")
    return 1 if stale else 0


def keep_first_sizes(manifest: Manifest, recorded: Manifest) -> Manifest:
    """Gives each struct the first size that was recorded for this version of the ABI.

    A new field where an older caller's struct has padding would be read from bytes that the caller never set.
    """
    if manifest["abi_version"] != recorded["abi_version"]:
        return manifest
    before = {struct["name"]: struct for struct in recorded["structs"] if "first_size" in struct}
    for struct in manifest["structs"]:
        if struct["name"] not in before or "first_size" not in struct:
            continue
        known = before[struct["name"]]
        struct["first_size"] = known["first_size"]
        for width, size in known["size"].items():
            offsets = {field["offset"][width] for field in known["fields"]}
            for field in struct["fields"]:
                if field["offset"][width] < size and field["offset"][width] not in offsets:
                    raise HeaderError(f"{struct['name']}.{field['name']} lies in what was padding with {width} bits")
    return manifest


def changes(recorded: Manifest, manifest: Manifest) -> list[str]:
    before, now = facts(recorded), facts(manifest)
    gone = [f"recorded, not in the header: {fact}" for fact in before if fact not in set(now)]
    added = [f"in the header, not recorded: {fact}" for fact in now if fact not in set(before)]
    if gone:
        added.append("What was recorded does not hold any more: that takes a new ELIZA_INFERENCE_ABI_VERSION.")
    return gone + added


def facts(manifest: Manifest) -> list[str]:
    """All that a caller is compiled against, a line each. A struct that knows its size may grow."""
    lines = [f"{constant['name']} {constant['value']}" for constant in manifest["constants"]]
    lines += [f"typedef {alias['type']} {alias['name']}" for alias in manifest["aliases"]]
    for struct in manifest["structs"]:
        if "first_size" not in struct:
            lines.append(f"{struct['name']}: size {sizes(struct['size'])}")
        for field in struct["fields"]:
            lines.append(f"{struct['name']}: {field['type']} {field['name']} at {sizes(field['offset'])}")
    for function in manifest["callbacks"] + manifest["functions"]:
        parameters = ", ".join(f"{parameter['type']} {parameter['name']}" for parameter in function["parameters"])
        prototype = f"{function['returns']['type']} {function['name']}({parameters})"
        lines.append(prototype.replace("* ", "*"))
    return lines


def sizes(by_width: dict[str, int]) -> str:
    """As `16`, or `28 (32 bits), 48 (64 bits)` where the two differ."""
    if len(set(by_width.values())) == 1:
        return str(by_width["64"])
    return ", ".join(f"{size} ({width} bits)" for width, size in by_width.items())


if __name__ == "__main__":
    sys.exit(main())
