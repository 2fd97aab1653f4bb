"""The ABI is what was recorded, and a change of it does not go unseen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from release.conftest import ROOT, Release

HEADER = ROOT / "native" / "include" / "eliza_inference.h"
RECORDED = ROOT / "native" / "abi" / "recorded-names.txt"


def check(header: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "native" / "abi" / "abi.py"), "check", str(header)]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_header_is_what_was_recorded() -> None:
    result = check(HEADER)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("int eliza_inference_matcher_accept(", "int eliza_inference_matcher_take(", "eliza_inference_matcher_accept"),
        ("void eliza_inference_free_string(char *string)", "void eliza_inference_free_string(int string)", "int"),
        ("    float top_p;       /* 1", "    double top_p;       /* 1", "eliza_sampling_t"),
        ("    int32_t grammar_off; ", "    int32_t more; int32_t grammar_off; ", "eliza_llm_stream_stats_t"),
        ("#define ELIZA_ERR_BUSY (-8)", "#define ELIZA_ERR_BUSY (-80)", "ELIZA_ERR_BUSY (-8)"),
        ("#define ELIZA_INFERENCE_ABI_VERSION 15", "#define ELIZA_INFERENCE_ABI_VERSION 16", "ABI_VERSION 15"),
    ],
    ids=["function", "parameter", "type of a field", "new field", "constant", "version"],
)
def test_a_change_is_told(tmp_path: Path, before: str, after: str, told: str) -> None:
    text = HEADER.read_text("utf-8")
    assert before in text
    changed = tmp_path / "eliza_inference.h"
    changed.write_text(text.replace(before, after), "utf-8")
    result = check(changed)
    assert result.returncode == 1
    assert told in result.stdout
    assert "python native/abi/abi.py record" in result.stdout


def test_every_library_exports_what_was_recorded(release: Release) -> None:
    recorded = {line for line in RECORDED.read_text("utf-8").splitlines() if " " not in line}
    assert release.abi_version == int(RECORDED.read_text("utf-8").splitlines()[0].split()[1])
    libraries = release.libraries()
    assert len(libraries) == 11
    for path, library in libraries.items():
        # Zig's linker exports two names of its own from a library for macOS.
        own = {"__dso_handle", "_mh_dylib_header"} if path.endswith(".dylib") else set()
        assert set(library.exports or []) - own == recorded, path
