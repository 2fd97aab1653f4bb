"""`python -m bench`: see README.md here."""

import sys

try:
    from bench.cli import main

    main()
except ModuleNotFoundError as error:
    if (error.name or "").startswith("bench"):
        raise
    sys.exit(f"bench: {error.name} is missing: pip install --no-deps -r bench/requirements.txt")
