"""Control-flow guard in the libraries for Windows: its tables, and that they lack no function that is called."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import lief
import pytest

from release.conftest import Release
from release.machines import MACHINES, NATIVE_TESTS, Programs

HERE = Path(__file__).parent
[WINDOWS] = [machine for machine in MACHINES if machine.name == "win32-x64"]
FLAGS = lief.PE.LoadConfiguration.IMAGE_GUARD


@pytest.mark.parametrize("platform", ["win32-x64", "win32-arm64"])
def test_windows_knows_what_may_be_called(release: Release, platform: str) -> None:
    pe = lief.PE.parse(release.folder / "lib" / platform / "elizainference.dll")
    assert pe is not None
    assert pe.optional_header.has(lief.PE.OptionalHeader.DLL_CHARACTERISTICS.GUARD_CF)
    load = pe.load_configuration
    assert load is not None
    assert load.has(FLAGS.CF_INSTRUMENTED) and load.has(FLAGS.CF_FUNCTION_TABLE_PRESENT)
    check = load.guard_cf_dispatch_function_pointer if platform == "win32-x64" else load.guard_cf_check_function_pointer
    assert check

    table = [function.rva for function in load.guard_cf_functions]
    assert table == sorted(set(table))
    exports = pe.get_export()
    assert exports is not None
    exported = {entry.function_rva for entry in exports.entries}
    assert exported | {pe.optional_header.addressof_entrypoint} <= set(table)
    assert len(table) > 2 * len(exported), "functions whose address the library takes"
    code = pe.get_section(".text")
    assert code is not None
    assert all(code.virtual_address <= place < code.virtual_address + code.virtual_size for place in table)


def test_no_call_of_the_conformance_cases_is_refused(release: Release, tmp_path: Path) -> None:
    """By a check that the program puts where Windows puts its own."""
    cases = tmp_path / "cases.c"
    subprocess.run([sys.executable, NATIVE_TESTS / "generate.py", cases], check=True)
    programs = Programs(WINDOWS, release, tmp_path)
    result = programs.run(programs.compile("guarded", HERE / "guard.c", NATIVE_TESTS / "conformance.c", cases))
    assert result.returncode == 0, result.stderr
    assert "checks passed, 0 failed" in result.stdout
    checked = re.search(r"guard: (\d+) calls checked", result.stdout)
    assert checked is not None and int(checked[1]) > 1_000_000, result.stdout
