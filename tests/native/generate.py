"""Writes the conformance cases as C data (see cases.h), so that the C runner needs no JSON.

    python tests/native/generate.py DIRECTORY_OF_CASES OUTPUT.c
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

STEPS = ["in_span", "span_ended", "span_started", "timed_out", "refused"]  # bits in the order of ELIZA_STEP_*
INFO = ["n_descriptors", "n_leaves", "n_nodes", "longest_leaf_tokens", "widest_node"]
COUNTERS = ["span_tokens", "spans_started", "spans_ended", "timeouts", "illegal"]
FLAGS = ["active", "can_stop", "constrained"]
CASE_KEYS = {
    *("name", "decisions", "vocab_size", "model_id", "error", "info", "expect", "steps"),
    *("payload", "payload_hex", "payload_parts", "payload_hex_parts"),
}
STEP_KEYS = {
    "accept": {"token", "result"},
    "rollback": {"n"},
    "activate": {"path"},
    "deactivate": set(),
    "reset": set(),
    "clone": set(),
    "set_span_timeout": {"n"},
    "set_seed": {"seed"},
    "mask": {"logits", "fill", "n", "kept"},
    "sample": {"logits", "fill", "n", "mode", "temperature", "top_p", "tokens"},
}


def main(source: Path, output: Path) -> None:
    writer = Writer()
    for path in sorted(source.glob("*.json")):
        if path.name == "decisions.json":
            continue
        for case in json.loads(path.read_text("utf-8"))["cases"]:
            for form, parts in payloads(case):
                writer.case(f"{path.stem}: {case['name']} ({form})", case, parts)
    output.write_text(writer.text(), "utf-8")


def payloads(case: dict[str, Any]) -> list[tuple[str, list[tuple[bytes, int]]]]:
    """The payloads of a case, each as its parts: bytes and how often they stand."""
    forms: list[tuple[str, list[tuple[bytes, int]]]] = []
    if "payload" in case:
        forms.append(("text", [(case["payload"].encode(), 1)]))
    if "payload_parts" in case:
        forms.append(("text", [(part.encode(), count) for part, count in case["payload_parts"]]))
    if "payload_hex" in case:
        forms.append(("hex", [(bytes.fromhex(case["payload_hex"]), 1)]))
    if "payload_hex_parts" in case:
        forms.append(("hex", [(bytes.fromhex(part), count) for part, count in case["payload_hex_parts"]]))
    return forms


class Writer:
    def __init__(self) -> None:
        self.arrays: list[str] = []
        self.cases: list[str] = []

    def text(self) -> str:
        head = '/* Made by generate.py from the conformance cases. */\n#include "cases.h"\n#include "eliza_inference.h"\n#include <math.h>\n\n'
        table = f"const conformance_case conformance_cases[] = {{\n{''.join(self.cases)}}};\n"
        count = f"const size_t n_conformance_cases = {len(self.cases)};\n"
        return head + "".join(self.arrays) + table + count

    def array(self, kind: str, items: list[str]) -> str:
        """Defines a static array and gives its name; NULL for an empty one."""
        if not items:
            return "NULL"
        name = f"a{len(self.arrays)}"
        self.arrays.append(f"static const {kind} {name}[] = {{{', '.join(items)}}};\n")
        return name

    def case(self, name: str, case: dict[str, Any], parts: list[tuple[bytes, int]]) -> None:
        check_keys(case, CASE_KEYS, name)
        part_array = self.array("case_part", [f"{{{c_bytes(part)}, {len(part)}, {count}}}" for part, count in parts])
        steps = self.array("case_step", [self.step(step, case) for step in case.get("steps", [])])
        model_id = case.get("model_id")
        fields = [
            f".name = {c_bytes(name.encode())}",
            f".vocab_size = {case['vocab_size']}",
            f".model_id = {c_text(model_id)}, .model_id_length = {len((model_id or '').encode())}",
            f".payload = {part_array}, .n_parts = {len(parts)}",
            f".error = {c_error(case)}",
            f".info = {c_info(case.get('info', {}))}",
            f".expect = {self.expect(case.get('expect', {}))}",
            f".steps = {steps}, .n_steps = {len(case.get('steps', []))}",
        ]
        self.cases.append(f"    {{{', '.join(fields)}}},\n")

    def step(self, step: dict[str, Any], case: dict[str, Any]) -> str:
        kind = step["do"]
        check_keys(step, {"do", "error", "expect", *STEP_KEYS[kind]}, case["name"])
        fields = [f".kind = STEP_{kind.upper()}", f".error = {c_error(step)}"]
        fields.append(f".expect = {self.expect(step.get('expect', {}))}")
        if kind == "accept":
            bits = sum(1 << STEPS.index(name) for name in step.get("result", []))
            fields.append(f".token = {c_int(step['token'])}, .result = {bits}")
        elif kind in ("rollback", "set_span_timeout", "set_seed"):
            fields.append(f".n = {step['seed' if kind == 'set_seed' else 'n']}u")
        elif kind == "activate":
            fields.append(f".path = {c_text(step['path'])}, .path_length = {len(step['path'].encode())}")
        elif kind in ("mask", "sample"):
            fields.extend(self.logits(step, case))
        return f"\n    {{{', '.join(fields)}}}"

    def logits(self, step: dict[str, Any], case: dict[str, Any]) -> list[str]:
        given = [f"{{{token}, {c_float(value)}}}" for token, value in step["logits"].items()]
        fields = [f".n = {step.get('n', case['vocab_size'])}u, .fill = {c_float(step['fill'])}"]
        fields.append(f".logits = {self.array('case_logit', given)}, .n_logits = {len(given)}")
        ids = step.get("kept" if step["do"] == "mask" else "tokens", [])
        fields.append(".ids = NULL" if ids == "all" else f".ids = {self.ids(ids)}, .n_ids = {len(ids)}")
        if step["do"] == "sample":
            fields.append(f".mode = {step['mode']}, .temperature = {c_float(step.get('temperature', 1))}")
            fields.append(f".top_p = {c_float(step.get('top_p', 1))}")
        return fields

    def ids(self, ids: list[int]) -> str:
        return self.array("int32_t", [str(token) for token in ids])

    def expect(self, expect: dict[str, Any]) -> str:
        check_keys(expect, {*FLAGS, *COUNTERS, "descriptor", "allowed", "forced", "leaf"}, "expect")
        given = " | ".join(f"GIVEN_{key.upper()}" for key in expect) or "0"
        fields = [f".given = {given}"]
        fields += [f".{key} = {int(expect[key])}" for key in (*FLAGS, *COUNTERS, "descriptor") if key in expect]
        if expect.get("allowed", "all") != "all":
            fields.append(f".allowed = {self.ids(expect['allowed'])}, .n_allowed = {len(expect['allowed'])}")
        if expect.get("forced"):
            fields.append(f".forced = {self.ids(expect['forced'])}, .n_forced = {len(expect['forced'])}")
        if expect.get("leaf") is not None:
            fields.append(f".leaf = {c_text(expect['leaf'])}, .leaf_length = {len(expect['leaf'].encode())}")
        return f"{{{', '.join(fields)}}}"


def check_keys(given: dict[str, Any], known: set[str], where: str) -> None:
    unknown = given.keys() - known
    if unknown:
        raise SystemExit(f"{where}: unknown keys {sorted(unknown)}")


def c_error(holder: dict[str, Any]) -> str:
    if "error" not in holder:
        return "{0, NULL}"
    return f"{{{holder['error']['status']}, {c_text(holder['error']['message'])}}}"


def c_info(info: dict[str, int]) -> str:
    check_keys(info, set(INFO), "info")
    return "{" + ", ".join(str(info.get(key, -1)) for key in INFO) + "}"


def c_int(value: int) -> str:
    return "INT32_MIN" if value == -(2**31) else str(value)


def c_float(value: float | str) -> str:
    if isinstance(value, str):
        return {"nan": "NAN", "inf": "INFINITY", "-inf": "-INFINITY"}[value]
    return f"{float(value)!r}f"


def c_text(value: str | None) -> str:
    return "NULL" if value is None else c_bytes(value.encode())


def c_bytes(value: bytes) -> str:
    plain = set(range(0x20, 0x7F)) - set(b'"\\?')
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in value) + '"'


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
