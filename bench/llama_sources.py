"""Files out of the sources of llama.cpp, which the npm package node-llama-cpp carries as a git bundle."""

import base64
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

CACHE = Path(__file__).resolve().parent / ".cache"

PACKAGE = "node-llama-cpp@3.22.1"
"""The version whose libllama the tests run on."""
PACKAGE_SHA512 = "bltIipuWmc123H7tMIgDGKSsSrhmhlQYeVUC48XTjVW7XGJJiJJyCdlTMzQ/LiWoPkGDpcL4FviDpgw7qfTiDw=="
BUNDLE = "package/llama/gitRelease.bundle"
VOCABULARY = "models/ggml-vocab-llama-bpe.gguf"
GRAMMARS = ("json", "c", "japanese", "chess", "arithmetic", "list")
FILES = (VOCABULARY, *(f"grammars/{name}.gbnf" for name in GRAMMARS))


def fetch(path: str) -> Path:
    """One of FILES, in `.cache`; from the registry only the first time."""
    if not all(_cached(each).is_file() for each in FILES):
        print(f"fetching {PACKAGE}", file=sys.stderr)
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            _extract(Path(folder))
    return _cached(path)


def _cached(path: str) -> Path:
    return CACHE / Path(path).name


def _extract(folder: Path) -> None:
    """Downloads the package and takes the files out of the git bundle that is in it."""
    npm, git = _find_tool("npm"), _find_tool("git")
    subprocess.run([npm, "pack", "--silent", PACKAGE], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (archive,) = folder.glob("*.tgz")
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if digest != PACKAGE_SHA512:
        sys.exit(f"{PACKAGE} has the SHA-512 {digest}, expected {PACKAGE_SHA512}")
    with tarfile.open(archive) as package:
        package.extract(BUNDLE, folder)
    sources = str(folder / "sources")
    subprocess.run([git, "clone", "--quiet", "--bare", str(folder / BUNDLE), sources], check=True)
    for path in FILES:
        partial = folder / Path(path).name
        with partial.open("wb") as output:
            subprocess.run([git, "-C", sources, "show", f"HEAD:{path}"], check=True, stdout=output)
        partial.rename(_cached(path))


def _find_tool(name: str) -> str:
    return shutil.which(name) or sys.exit(f"{name} is not installed")
