"""The manifest of the ABI: what is read from the header, what a change of it means, and that nothing is stale."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEADER = ROOT / "native" / "include" / "eliza_inference.h"
MANIFEST = json.loads((ROOT / "native" / "abi" / "manifest.json").read_text("utf-8"))

sys.path.insert(0, str(ROOT / "native" / "abi"))
from abi import changes, keep_first_sizes  # noqa: E402
from c_header import HeaderError, read_header  # noqa: E402

BREAKS = "that takes a new ELIZA_INFERENCE_ABI_VERSION"


def check(header: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "native" / "abi" / "abi.py"), "check", str(header)]
    return subprocess.run(command, capture_output=True, text=True)


def changed_header(before: str, after: str) -> str:
    text = HEADER.read_text("utf-8")
    assert text.count(before) == 1
    return text.replace(before, after)


def named(kind: str, name: str) -> Any:
    return next(entry for entry in MANIFEST[kind] if entry["name"] == name)


# ---- What is stale ---------------------------------------------------------------------------------------------------


def test_the_manifest_and_what_is_written_from_it_are_those_of_the_header() -> None:
    result = check(HEADER)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("int eliza_inference_matcher_accept(", "int eliza_inference_matcher_take(", "eliza_inference_matcher_accept("),
        ("_span_timeout(eliza_matcher *matcher, uint32_t", "_span_timeout(eliza_matcher *matcher, int", "int n_tokens"),
        ("    float top_p;       /* 1", "    int32_t top_p;       /* 1", "eliza_sampling_t: int32_t top_p at 12"),
        ("    int32_t top_k;  ", "    int32_t k, top_k;  ", "eliza_llm_stream_config_t: size 64 (32 bits), 88"),
        ("    uint64_t hits;", "    uint64_t more; uint64_t hits;", "eliza_trie_cache_stats_t: uint64_t hits at 32"),
        ("#define ELIZA_ERR_BUSY (-8)", "#define ELIZA_ERR_BUSY (-80)", "ELIZA_ERR_BUSY -8"),
        ("(*eliza_cancel_callback)(void *", "(*eliza_cancel_callback)(const void *", "_cancel_callback(const void *"),
        ("#define ELIZA_INFERENCE_ABI_VERSION 15", "#define ELIZA_INFERENCE_ABI_VERSION 16", "ABI_VERSION 15"),
    ],
    ids=["function", "parameter", "field", "size", "offset", "constant", "callback", "version"],
)  # fmt: skip
def test_a_change_that_breaks_callers_is_told(tmp_path: Path, before: str, after: str, told: str) -> None:
    changed = tmp_path / "eliza_inference.h"
    changed.write_text(changed_header(before, after), "utf-8")
    result = check(changed)
    assert result.returncode == 1
    assert told in result.stdout
    assert BREAKS in result.stdout
    assert "stale: native/abi/manifest.json" in result.stdout
    assert "python native/abi/abi.py generate" in result.stdout


# ---- How structs grow ------------------------------------------------------------------------------------------------

LAST_FIELD = "    float top_p;       /* 1 or more, or <= 0: off; the most likely token always stays */\n"


def grown(field: str) -> dict[str, Any]:
    text = changed_header(f"{LAST_FIELD}}} eliza_sampling_t;", f"{LAST_FIELD}    {field};\n}} eliza_sampling_t;")
    return keep_first_sizes(read_header(text), MANIFEST)


def test_a_struct_that_grows_keeps_its_first_size_and_breaks_nobody() -> None:
    manifest = grown("uint64_t top_k")
    struct = next(struct for struct in manifest["structs"] if struct["name"] == "eliza_sampling_t")
    assert struct["first_size"] == named("structs", "eliza_sampling_t")["size"] == {"32": 16, "64": 16}
    assert struct["size"] == {"32": 24, "64": 24}
    assert changes(MANIFEST, manifest) == ["in the header, not recorded: eliza_sampling_t: uint64_t top_k at 16"]


def test_a_field_in_the_padding_of_an_older_struct_is_refused() -> None:
    """An older caller's struct reaches over it, and holds there whatever was in memory."""
    odd = grown("uint64_t a; uint32_t b")
    assert next(s for s in odd["structs"] if s["name"] == "eliza_sampling_t")["size"]["64"] == 32
    later = "uint64_t a; uint32_t b; uint32_t c"
    text = changed_header(f"{LAST_FIELD}}} eliza_sampling_t;", f"{LAST_FIELD}    {later};\n}} eliza_sampling_t;")
    with pytest.raises(HeaderError, match=r"eliza_sampling_t\.c lies in what was padding with 32 bits"):
        keep_first_sizes(read_header(text), odd)


def test_a_struct_that_does_not_know_its_size_must_not_grow() -> None:
    text = changed_header("} eliza_llm_stream_config_t;", "int32_t more, and_more; } eliza_llm_stream_config_t;")
    assert BREAKS in changes(MANIFEST, keep_first_sizes(read_header(text), MANIFEST))[-1]


# ---- What is read ----------------------------------------------------------------------------------------------------


def test_the_layout_is_that_of_c_compilers(tmp_path: Path) -> None:
    platforms = {"64": ["x86_64-linux-gnu", "aarch64-macos", "x86_64-windows-gnu"], "32": ["arm-linux-musleabihf"]}
    for width, targets in platforms.items():
        lines = ['#include "eliza_inference.h"']
        for struct in MANIFEST["structs"]:
            name = struct["name"]
            lines.append(f'_Static_assert(sizeof({name}) == {struct["size"][width]}, "size of {name}");')
            for field in struct["fields"]:
                where = f"offsetof({name}, {field['name']}) == {field['offset'][width]}"
                lines.append(f'_Static_assert({where}, "{name}.{field["name"]}");')
        source = tmp_path / f"layout{width}.c"
        source.write_text("\n".join([*lines, ""]), "utf-8")
        for target in targets:
            command = [sys.executable, "-m", "ziglang", "cc", "-target", target, "-c", f"-I{HEADER.parent}"]
            subprocess.run([*command, source, "-o", tmp_path / "layout.o"], check=True)


def test_who_owns_what_is_handed_out() -> None:
    def parameter(function: str, name: str) -> Any:
        return next(entry for entry in named("functions", function)["parameters"] if entry["name"] == name)

    def owner(function: str, name: str) -> tuple[str, str]:
        entry = parameter(function, name)
        return entry["direction"], entry["owner"]

    assert named("functions", "eliza_inference_version")["returns"]["owner"] == "static"
    assert named("functions", "eliza_inference_create")["returns"]["owner"] == "freed by eliza_inference_destroy"
    assert owner("eliza_inference_vocab_create", "out_vocab") == ("out", "freed by eliza_inference_vocab_free")
    assert owner("eliza_inference_vocab_create", "out_error") == ("out", "freed by eliza_inference_free_string")
    assert owner("eliza_inference_vocab_free", "vocab") == ("in", "freed")
    assert owner("eliza_inference_vocab_token", "out_bytes") == ("out", "lent by vocab")
    assert owner("eliza_inference_matcher_allowed", "out_ids") == ("out", "borrowed from matcher")
    assert owner("eliza_inference_set_log_callback", "user_data") == ("in", "kept until replaced")
    assert parameter("eliza_inference_matcher_mask_logits", "logits")["direction"] == "inout"
    assert parameter("eliza_inference_matcher_fill_bitmaps", "matchers")["direction"] == "in"


def test_a_string_without_a_length_ends_with_a_zero() -> None:
    passed = {entry["name"]: entry["ffi"] for entry in named("functions", "eliza_inference_vocab_save")["parameters"]}
    assert passed == {"vocab": "pointer", "path": "pointer", "path_len": "usize", "out_error": "pointer"}
    assert named("functions", "eliza_inference_create")["parameters"][0]["ffi"] == "cstring"


@pytest.mark.parametrize(
    ("declaration", "error"),
    [
        ("int f(long x);", "f, x: the ABI has no place for the type long"),
        ("double f(void);", "what f returns: the ABI has no place for the type double"),
        ("int f(struct unknown *x);", "f, x: the ABI has no place for the type struct unknown *"),
        ("typedef struct s { uint8_t x; } s;", "s.x: the ABI has no place for the type uint8_t"),
        ("typedef struct s { int x[2]; } s;", "arrays, unions and enumerations have no place in the ABI"),
        ("typedef union u { int x; } u;", "u is no function, struct, callback or pointer"),
        ("#define X sizeof(int)\n", "#define X: sizeof(int) is not an integer"),
        ("/* Says nothing. */\nconst char *f(void);", "what f returns: no comment says whose it is"),
        ("/* Says nothing. */\nint f(const char **out);", "f, out: no comment says whose it is"),
    ],
)
def test_what_is_not_understood_is_an_error(declaration: str, error: str) -> None:
    with pytest.raises(HeaderError, match=re.escape(error)):
        read_header(f"#define ELIZA_INFERENCE_ABI_VERSION 1\n{declaration}\n")


# ---- What is written by hand -----------------------------------------------------------------------------------------


def test_java_has_the_numbers_of_the_header() -> None:
    java = ROOT / "android" / "java" / "eliza" / "inference"
    number = {constant["name"]: constant["value"] for constant in MANIFEST["constants"]}
    errors = re.findall(r"static final int (\w+) = (-\d+);", (java / "ElizaException.java").read_text("utf-8"))
    assert len(errors) == 2
    for name, value in errors:
        assert number[f"ELIZA_ERR_{name}"] == int(value)
    for file, prefix in (("StopReason", "ELIZA_STOP_"), ("Mode", "ELIZA_MODE_")):
        names = re.findall(r"^    ([A-Z_]+),?$", (java / f"{file}.java").read_text("utf-8"), re.MULTILINE)
        in_header = sorted((value, name) for name, value in number.items() if name.startswith(prefix))
        own_names = {"LISTENER": "CALLBACK"}
        assert [(i, prefix + own_names.get(name, name)) for i, name in enumerate(names)] == in_header
