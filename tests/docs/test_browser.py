"""The site in Chromium, 1,280 and 400 pixels wide."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from examples import run
from web.browsers import serving

CHROMIUM = shutil.which("chromium")


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_pages_fit_and_fetch_nothing_from_elsewhere(site: Path) -> None:
    assert CHROMIUM
    with serving(site) as server:
        assert json.loads(run("node", Path(__file__).with_name("look.mjs"), f"{server.url}/", CHROMIUM)) == []
