"""The Rust crate, built without a network against the library and run."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from examples import EXAMPLES, expected_output

ROOT = Path(__file__).resolve().parents[2]
CRATE = ROOT / "bindings-rust"


def cargo(*arguments: str, folder: Path = CRATE) -> str:
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(Path(os.environ["ELIZA_INFERENCE_LIBRARY"]).parent),  # for the documentation's programs
        "CARGO_TARGET_DIR": str(ROOT / "build" / "rust"),
        "CARGO_NET_OFFLINE": "true",
        "RUSTFLAGS": "--deny warnings",
    }
    command = ["cargo", arguments[0], "--quiet", *arguments[1:]]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.parametrize("target", ["--tests", "--doc"])
def test_its_own_tests_pass(target: str) -> None:
    """The conformance cases, a test for each promise of the safe part, and the program in its documentation."""
    output = cargo("test", target)
    passed = sum(int(number) for number in re.findall(r"test result: ok\. (\d+) passed; 0 failed; 0 ignored", output))
    assert passed >= {"--tests": 9, "--doc": 1}[target], output


def test_the_example_prints_what_it_says() -> None:
    assert cargo("run", "--example", "router") == expected_output((EXAMPLES / "rust" / "router.rs").read_text("utf-8"))


def test_what_is_published_has_the_licence() -> None:
    assert set(cargo("package", "--list", "--allow-dirty").split()) >= {
        "LICENSE",
        "README.md",
        "build.rs",
        "src/sys.rs",
    }
    assert (CRATE / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_a_matcher_cannot_be_shared_nor_lent_tokens_kept(tmp_path: Path) -> None:
    """What the types forbid does not compile."""
    use = "#![allow(unused_imports)]\nuse eliza_inference::*;\nfn main() {}\n"
    wrong = {
        "cannot be shared between threads safely": "fn shared<T: Sync>() {}\npub fn f() { shared::<Matcher>() }",
        "cannot borrow `*m` as mutable more than once": (
            "pub fn f(m: &mut Matcher) { let lent = m.allowed(); m.reset().unwrap(); drop(lent) }"
        ),
    }
    (tmp_path / "src").mkdir()
    package = '[package]\nname = "wrong"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n'
    (tmp_path / "Cargo.toml").write_text(f'{package}[dependencies]\neliza-inference = {{ path = "{CRATE}" }}\n')
    for message, code in wrong.items():
        (tmp_path / "src" / "main.rs").write_text(use + code)
        with pytest.raises(AssertionError, match=re.escape(message)):
            cargo("check", folder=tmp_path)
    (tmp_path / "src" / "main.rs").write_text(use)
    cargo("check", folder=tmp_path)
