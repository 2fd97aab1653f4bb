"""The files that are looked at."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Tree:
    """A folder, and the paths of its files relative to it."""

    root: Path
    files: tuple[str, ...]

    def under(self, *folders: str, suffix: str = "") -> list[str]:
        starts = tuple(f"{folder}/" for folder in folders)
        return [path for path in self.files if path.startswith(starts) and path.endswith(suffix)]

    def ending(self, *suffixes: str) -> list[str]:
        return [path for path in self.files if path.endswith(suffixes)]

    def text(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")


def repository() -> Tree:
    """What git has or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = sorted(set(listed.stdout.split("\0")) - {""})
    return Tree(ROOT, tuple(path for path in paths if (ROOT / path).is_file()))


def folder(root: Path) -> Tree:
    """All files of a folder."""
    return Tree(root, tuple(sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())))
