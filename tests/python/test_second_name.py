"""Both names of the library in one process, as in an app that has its host's too: each works, and neither leads into
the other. As a script, with the paths of both, it is that process."""

from __future__ import annotations

import ctypes
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from eliza_inference import library_path
from eliza_inference._abi import ffi

from conftest import MODEL_FILE, TESTS

PAYLOAD = '{"modelId":"","names":"labels","descriptors":[{"path":"p","leaves":[{"name":"%s","tokens":[3,4]}]}]}'

Places = list[tuple[int, int, bool]]


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Path:
    prefix = tmp_path_factory.mktemp("second")
    command = [sys.executable, "-m", "ziglang", "build", "-Dname=elizaconstrain", "--prefix", str(prefix)]
    subprocess.run(command, cwd=TESTS.parent, check=True)
    return prefix / "lib" / "libelizaconstrain.so"


@pytest.mark.parametrize("is_second_first", [False, True])
def test_both_names_in_one_process(second: Path, is_second_first: bool) -> None:
    paths = [str(path.resolve()) for path in (library_path(), second)]
    ordered = paths[::-1] if is_second_first else paths
    done = subprocess.run([sys.executable, __file__, *ordered], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def use_both(paths: list[str]) -> None:
    """With all names of both in the one scope that the loader searches first."""
    libraries = [ffi.dlopen(path, ffi.RTLD_NOW | ffi.RTLD_GLOBAL) for path in paths]
    places = [places_of(path) for path in paths]
    for index, library in enumerate(libraries):
        assert [n_cached(each) for each in libraries] == [1] * index + [0] * (2 - index)
        assert chosen(library, paths[index]) == paths[index]
    for own, other in (places, places[::-1]):
        words = [word for start, end, is_readable in own if is_readable for word in words_of(start, end)]
        assert any(is_inside(word, own) for word in words)
        assert not any(is_inside(word, other) for word in words)


def chosen(library: Any, name: str) -> str:
    """A name out of a stream."""
    context = library.eliza_inference_create(bytes(MODEL_FILE), ffi.NULL)
    config = ffi.new("eliza_llm_stream_config_t *", {"context_size": 64, "n_gpu_layers": -1})
    stream = library.eliza_inference_llm_stream_open(context, config, ffi.NULL)
    payload = (PAYLOAD % name).encode()
    assert library.eliza_inference_set_token_trie(stream, payload, len(payload), 0) == 0
    assert library.eliza_inference_llm_stream_prefill(stream, [1, 2], 2, ffi.NULL) == 0
    tokens, n = ffi.new("int32_t[8]"), ffi.new("size_t *")
    assert library.eliza_inference_llm_stream_next(stream, tokens, 8, n, ffi.NULL, 0, ffi.NULL, ffi.NULL, ffi.NULL) == 0
    leaf = ffi.new("char **")
    assert library.eliza_inference_llm_stream_leaf(stream, leaf, n) == 0
    found: str = ffi.buffer(leaf[0], n[0])[:].decode()
    library.eliza_inference_llm_stream_close(stream)
    library.eliza_inference_destroy(context)
    return found


def n_cached(library: Any) -> int:
    """Payloads in its cache, of which a process has one for each library."""
    stats = ffi.new("eliza_trie_cache_stats_t *", {"struct_size": ffi.sizeof("eliza_trie_cache_stats_t")})
    assert library.eliza_inference_trie_cache_stats(stats) == 0
    return int(stats.entries)


def places_of(path: str) -> Places:
    """Where a file lies in memory, and whether that can be read."""
    found = []
    for line in Path("/proc/self/maps").read_text("utf-8").splitlines():
        place, access, _, _, _, *file = line.split(maxsplit=5)
        if file == [path]:
            start, end = place.split("-")
            found.append((int(start, 16), int(end, 16), "r" in access))
    assert found
    return found


def words_of(start: int, end: int) -> tuple[int, ...]:
    return struct.unpack(f"{(end - start) // 8}Q", ctypes.string_at(start, end - start))


def is_inside(address: int, places: Places) -> bool:
    return any(start <= address < end for start, end, _ in places)


if __name__ == "__main__":
    use_both(sys.argv[1:])
