"""Writes the conformance cases as C data (see cases.h), so that the C runner needs no JSON.

python tests/native/generate.py OUTPUT.c
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Literal

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import conformance_cases as conformance
import recognizer_cases as recognizers


def main(output: Path) -> None:
    writer = Writer()
    for case in conformance.cases():
        unknown = conformance.unknown_keys(case.data)
        if unknown:
            raise SystemExit(f"{case.id}: unknown: {unknown}")
        writer.case(case)
    for recognizer in recognizers.cases():
        unknown = recognizers.unknown_keys(recognizer.data)
        if unknown:
            raise SystemExit(f"{recognizer.id}: unknown: {unknown}")
        writer.recognizer(recognizer)
    output.write_text(writer.text(), "utf-8")


class Writer:
    def __init__(self) -> None:
        self.arrays: list[str] = []
        self.cases: list[str] = []

    def text(self) -> str:
        head = "/* Made by generate.py from the conformance cases. */\n"
        head += '#include "cases.h"\n#include "eliza_inference.h"\n#include <math.h>\n\n'
        head += "static const int32_t no_ids[1] = {0};\n"
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

    def case(self, case: conformance.Case) -> None:
        data = case.data
        parts = self.parts(case.parts)
        steps = self.array("case_step", [self.step(step, data["vocab_size"]) for step in data.get("steps", [])])
        model_id = data.get("model_id")
        named = f".model_id = {c_text(model_id)}, .model_id_length = {len((model_id or '').encode())}"
        fields = [
            f".name = {c_text(case.id)}",
            f".vocabulary = {{.size = {data['vocab_size']}, {named}}}, .span_timeout = {data.get('span_timeout', 0)}",
            f".source = SOURCE_TOKEN_TRIE, .kind = -1, .payload = {parts}, .n_parts = {len(case.parts)}",
            f".error = {c_error(data)}",
            f".info = {c_info(data.get('info', {}))}",
            f".expect = {self.expect(data.get('expect', {}))}",
            f".steps = {steps}, .n_steps = {len(data.get('steps', []))}",
        ]
        self.cases.append(f"    {{{', '.join(fields)}}},\n")

    def recognizer(self, case: recognizers.Case) -> None:
        data = case.data
        source, flags, parts = source_of(case)
        steps = self.array("case_step", [self.step(step, len(case.tokens)) for step in data.get("steps", [])])
        notes = "".join(f"{note}\n" for note in data["notes"])[:-1] if "notes" in data else None
        kind = recognizers.KINDS.index(data["kind"]) if "kind" in data else -1
        fields = [
            f".name = {c_text(case.id)}",
            f".vocabulary = {self.vocabulary(data)}, .span_timeout = {data.get('span_timeout', 0)}",
            f".source = SOURCE_{source.upper()}, .flags = {flags}",
            f".payload = {self.parts(parts)}, .n_parts = {len(parts)}",
            *c_budget(data.get("budget", {})),
            f".open = {self.open(data['open']) if 'open' in data else '{0}'}",
            f".has_end = {int('end' in data)}",
            f".end = {self.ids(data.get('end', []))}, .n_end = {len(data.get('end', []))}",
            f".notes = {c_text(notes)}, .kind = {kind}",
            f".error = {c_error(data)}",
            f".info = {c_info({})}",
            f".expect = {self.expect(data.get('expect', {}))}",
            f".steps = {steps}, .n_steps = {len(data.get('steps', []))}",
        ]
        self.cases.append(f"    {{{', '.join(fields)}}},\n")

    def vocabulary(self, data: dict[str, Any]) -> str:
        """Of a recognizer's case, or of what its constraint is opened for."""
        tokens = data["tokens"]
        own = self.parts([recognizers.part_of(token) for token in tokens])
        flags = self.array("uint8_t", [str(recognizers.flags_of(token)) for token in tokens])
        size = len(recognizers.tokens_of(data))
        return f"{{.size = {size}, .has_bytes = 1, .own = {own}, .n_own = {len(tokens)}, .own_flags = {flags}}}"

    def open(self, opened: dict[str, Any]) -> str:
        other = f"&{self.array('case_vocabulary', [self.vocabulary(opened['for'])])}[0]" if "for" in opened else "NULL"
        fields = [
            f".path = {c_text(opened.get('path', opened['as']))}, .as_vocabulary = {int(opened['as'] == 'vocabulary')}",
            f".flip = {opened.get('flip', 'UNCHANGED')}, .length = {opened.get('length', 'UNCHANGED')}",
            f".other = {other}",
        ]
        return f"{{{', '.join(fields)}}}"

    def parts(self, parts: list[tuple[bytes, int]]) -> str:
        return self.array("case_part", [f"{{{c_bytes(part)}, {len(part)}, {count}}}" for part, count in parts])

    def step(self, step: dict[str, Any], vocab_size: int) -> str:
        kind = step["do"]
        fields = [f".kind = STEP_{kind.upper()}", f".error = {c_error(step)}"]
        fields.append(f".expect = {self.expect(step.get('expect', {}))}")
        if kind == "accept":
            bits = sum(1 << conformance.STEP_RESULTS.index(name) for name in step.get("result", []))
            fields.append(f".token = {c_int(step['token'])}, .result = {bits}")
        elif kind == "text":
            text = step["text"].encode()
            fields.append(f".path = {c_bytes(text)}, .path_length = {len(text)}, .n = {step.get('count', 1)}u")
        elif kind in ("rollback", "set_span_timeout", "set_seed"):
            fields.append(f".n = {step['seed' if kind == 'set_seed' else 'n']}u")
        elif kind == "activate":
            fields.append(f".path = {c_text(step['path'])}, .path_length = {len(step['path'].encode())}")
        elif kind in ("mask", "sample"):
            fields.extend(self.logits(step, vocab_size))
        elif kind == "fill_bitmaps":
            rows = self.array("case_row", [self.row(row) for row in step["rows"]])
            fields.append(f".rows = {rows}, .n_rows = {len(step['rows'])}, .n_threads = {step.get('n_threads', 0)}u")
            fields.append(f".n = {step.get('n_words', -(-vocab_size // 32))}u")
        return f"\n    {{{', '.join(fields)}}}"

    def logits(self, step: dict[str, Any], vocab_size: int) -> list[str]:
        given = [f"{{{token}, {c_float(value)}}}" for token, value in step["logits"].items()]
        fields = [f".n = {step.get('n', vocab_size)}u, .fill = {c_float(step['fill'])}"]
        fields.append(f".logits = {self.array('case_logit', given)}, .n_logits = {len(given)}")
        ids = step.get("kept" if step["do"] == "mask" else "tokens", [])
        fields.append(".ids = NULL" if ids == "all" else f".ids = {self.ids(ids)}, .n_ids = {len(ids)}")
        if step["do"] == "sample":
            fields.append(f".mode = {step['mode']}, .temperature = {c_float(step.get('temperature', 1))}")
            fields.append(f".top_p = {c_float(step.get('top_p', 1))}")
        return fields

    def row(self, row: dict[str, Any]) -> str:
        fields = [f".rollback = {row.get('rollback', 0)}u", *self.allowed(row["allowed"])]
        return f"{{{', '.join(fields)}}}"

    def allowed(self, allowed: list[int] | Literal["all"]) -> list[str]:
        if allowed == "all":
            return []
        return [f".allowed = {self.ids(allowed) if allowed else 'no_ids'}, .n_allowed = {len(allowed)}"]

    def ids(self, ids: list[int]) -> str:
        return self.array("int32_t", [str(token) for token in ids])

    def expect(self, expect: dict[str, Any]) -> str:
        given = " | ".join(f"GIVEN_{key.upper()}" for key in expect) or "0"
        fields = [f".given = {given}"]
        plain = (*conformance.EXPECT_FLAGS, *conformance.EXPECT_NUMBERS)
        fields += [f".{key} = {int(expect[key])}" for key in plain if key in expect]
        fields += self.allowed(expect.get("allowed", "all"))
        if expect.get("forced"):
            fields.append(f".forced = {self.ids(expect['forced'])}, .n_forced = {len(expect['forced'])}")
        if expect.get("forced_bytes"):
            octets = recognizers.bytes_of_text(expect["forced_bytes"])
            fields.append(f".forced_bytes = {c_bytes(octets)}, .n_forced_bytes = {len(octets)}")
        if expect.get("leaf") is not None:
            fields.append(f".leaf = {c_text(expect['leaf'])}, .leaf_length = {len(expect['leaf'].encode())}")
        return f"{{{', '.join(fields)}}}"


def source_of(case: recognizers.Case) -> tuple[str, int, list[tuple[bytes, int]]]:
    """What is compiled, its flags, and the text in parts."""
    if case.source == "choices":
        return "choices", int(case.data.get("canonical", False)), [(text.encode(), 1) for text in case.data["choices"]]
    value = case.data[case.source]
    parts = [(case.text.encode(), 1)] if isinstance(value, str) else [(text.encode(), n) for text, n in value]
    if case.source == "regex":
        return "regex", int(case.data.get("ignore_case", False)), parts
    return "lark", 0, parts


def c_error(holder: dict[str, Any]) -> str:
    if "error" not in holder:
        return "{0, NULL}"
    return f"{{{holder['error']['status']}, {c_text(holder['error'].get('message'))}}}"


def c_budget(budget: dict[str, Any]) -> list[str]:
    bounds = [f".{key} = {value}u" for key, value in budget.items() if key != "cancel"]
    return bounds + ([f".has_cancel = 1, .cancel = {int(budget['cancel'])}"] if "cancel" in budget else [])


def c_info(info: dict[str, int]) -> str:
    return "{" + ", ".join(str(info.get(key, -1)) for key in conformance.INFO_KEYS) + "}"


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
    main(Path(sys.argv[1]))
