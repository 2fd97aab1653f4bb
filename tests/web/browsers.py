"""Headless browsers that open a page, which sends back what it found."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SECONDS_MAX = 120

# The browsers' own traffic is off: they need no network but the page's server.
COMMANDS = {
    "chromium": [
        *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
        *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
        "--user-data-dir={profile}",
    ],
    "firefox": ["firefox-esr", "--headless", "--no-remote", "--profile", "{profile}"],
}


class Site(ThreadingHTTPServer):
    """Serves a folder; what is posted to it is kept."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
        self.posted: str | None = None
        self.is_posted = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(SimpleHTTPRequestHandler):
    def guess_type(self, path: object) -> str:
        types = {".wasm": "application/wasm", ".js": "text/javascript"}
        return types.get(Path(str(path)).suffix) or super().guess_type(str(path))

    def do_POST(self) -> None:
        site = self.server
        assert isinstance(site, Site)
        site.posted = self.rfile.read(int(self.headers["Content-Length"])).decode()
        site.is_posted.set()
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(folder: Path) -> Iterator[Site]:
    with Site(folder) as site:
        thread = threading.Thread(target=site.serve_forever)
        thread.start()
        try:
            yield site
        finally:
            site.shutdown()
            thread.join()


def posted_by(browser: str, folder: Path, page: str, profile: Path) -> Any:
    """What the page in this folder posts, as JSON."""
    words = [word.format(profile=profile) for word in COMMANDS[browser]]
    if shutil.which(words[0]) is None:
        raise FileNotFoundError(f"{words[0]} is not installed; on Debian: apt-get install {words[0]}")
    if browser == "firefox":
        profile.mkdir()
    with serving(folder) as site:
        process = subprocess.Popen(
            [*words, f"{site.url}/{page}"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        try:
            if not site.is_posted.wait(SECONDS_MAX):
                process.kill()
                raise TimeoutError(f"{browser} posted nothing: {process.communicate()[1][-2000:]}")
        finally:
            process.terminate()
            process.communicate()
    return json.loads(site.posted or "null")
