"""Whether the grammar of C takes SQLite and zlib, whole: `.venv/bin/python tests/long/c_sources.py`. Some minutes.

Both come from pinned npm packages, and are preprocessed by the compiler of the tests, with musl's headers and nothing
that only GCC knows: their macros do not look like C. SQLite is its amalgamation; this zlib has K&R definitions.
"""

import base64
import hashlib
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

from eliza_inference import Constraint, Matcher, Step, TokenFlag, Vocabulary

GRAMMAR = Path(__file__).resolve().parents[2] / "native" / "grammars" / "c11.lark"

PACKAGES = {
    "better-sqlite3@11.8.1": (
        "9BxNaBkblMjhJW8sMRZxnxVTRgbRmssZW0Oxc1MPBTfiR+WW21e2Mk4qu8CzrcZb1LwPCnFsfDEzq+SNcBU8eg==",
        ["package/deps/sqlite3/sqlite3.c"],
    ),
    "grpc@1.24.11": (
        "8/AQdFCzCeCDWW3SoaMNp6ccbRvTQEH1O1u1uFtt29eWsg5gSZCJ3m6fbkduEIh3smY7WAPP+LgVJ5n3nZRxcA==",
        [
            f"package/deps/grpc/third_party/zlib/{name}.c"
            for name in (
                *("adler32", "compress", "crc32", "deflate", "gzclose", "gzlib", "gzread", "gzwrite", "infback"),
                *("inffast", "inflate", "inftrees", "trees", "uncompr", "zutil"),
            )
        ],
    ),
}
"""SHA-512 of the archive, and files in it."""


def main() -> None:
    flags = [TokenFlag.NORMAL] * 256 + [TokenFlag.END_OF_GENERATION]
    vocabulary = Vocabulary(257, [*(bytes([byte]) for byte in range(256)), b""], flags)
    constraint = Constraint.lark(vocabulary, GRAMMAR.read_text(encoding="utf-8"))
    n_refused = 0
    with tempfile.TemporaryDirectory() as folder:
        for package, (digest, paths) in PACKAGES.items():
            extract(package, digest, Path(folder))
            for path in paths:
                started = time.monotonic()
                text = preprocessed(Path(folder) / path)
                told = where_refused(constraint, text) or "taken"
                n_refused += told != "taken"
                print(f"{path}: {len(text):,} bytes: {told}, {time.monotonic() - started:.1f} s", flush=True)
    sys.exit(f"{n_refused} files refused" if n_refused else None)


def extract(package: str, digest: str, folder: Path) -> None:
    packed = subprocess.run(["npm", "pack", "--silent", package], cwd=folder, check=True, stdout=subprocess.PIPE)
    archive = folder / packed.stdout.decode().strip().splitlines()[-1]
    found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if found != digest:
        sys.exit(f"{package} has the SHA-512 {found}, expected {digest}")
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")


def preprocessed(file: Path) -> bytes:
    options = [
        "-target",
        "x86_64-linux-musl",
        "-E",
        "-P",
        "-std=c11",
        "-U__GNUC__",
        "-U__clang__",
        "-D__attribute__(x)=",
    ]
    command = [sys.executable, "-m", "ziglang", "cc", *options, str(file)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def where_refused(constraint: Constraint, text: bytes) -> str | None:
    matcher = Matcher(constraint)
    for at, byte in enumerate(text):
        if Step.REFUSED in matcher.accept(byte):
            return f"refused at byte {at}: {text[max(0, at - 80) : at]!r} ^ {text[at : at + 20]!r}"
    return None if matcher.can_stop else "not complete"


if __name__ == "__main__":
    main()
