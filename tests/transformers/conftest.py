"""Where `tests/run.py test transformers` has put transformers and torch: behind everything else, so that what is
installed anyway is what is used."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "build" / "transformers"))
