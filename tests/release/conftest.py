"""What `zig build release jni` made, and what is needed to run it."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from release.wheels import HERE, PLATFORMS, build_wheel, installed

ROOT = Path(__file__).resolve().parents[2]
ABI = json.loads((ROOT / "native" / "abi" / "manifest.json").read_text(encoding="utf-8"))
MODEL = ROOT / "tests" / "models" / "eliza-router.gguf"

# What every archive takes along.
LEGAL = {name: (ROOT / name).read_bytes() for name in ("LICENSE", "THIRD_PARTY.md")}


@dataclass(frozen=True)
class ReleaseFile:
    path: Path
    bytes: int
    sha256: str
    target: str | None
    """The Zig triple of a library."""
    exports: list[str] | None


@dataclass(frozen=True)
class Release:
    folder: Path
    version: str
    abi_version: int
    files: dict[str, ReleaseFile]
    """By the path in the release."""

    def libraries(self, name: str = "elizainference") -> dict[str, ReleaseFile]:
        return {
            path: file for path, file in self.files.items() if file.target and file.path.stem in (name, f"lib{name}")
        }


@pytest.fixture(scope="session")
def prefix() -> Path:
    """Where `zig build` installs; another folder than zig-out if ELIZA_INFERENCE_PREFIX says so."""
    return Path(os.environ.get("ELIZA_INFERENCE_PREFIX", ROOT / "zig-out")).resolve()


@pytest.fixture(scope="session")
def release(prefix: Path) -> Release:
    folder = prefix / "release"
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    files = {
        file["path"]: ReleaseFile(folder / file["path"], file["bytes"], file["sha256"], file["target"], file["exports"])
        for file in manifest["files"]
    }
    return Release(folder, manifest["version"], manifest["abi_version"], files)


@pytest.fixture(scope="session")
def llama() -> Path:
    """The libllama of this machine."""
    sys.path.insert(0, str(ROOT / "tests" / "llama"))
    from locate import libllama_path

    return Path(os.environ.get("ELIZA_INFERENCE_LLAMA") or libllama_path())


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A wheel for each platform, by its Zig target."""
    return {target: build_wheel(target, tmp_path_factory.mktemp("wheel")) for target in PLATFORMS}


@pytest.fixture(scope="session")
def clean_python(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel and what it depends on, and nothing else."""
    return installed(tmp_path_factory.mktemp("clean"), wheels[HERE])
