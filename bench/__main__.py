"""`python -m bench`: see README.md here."""

from bench.cli import main

main()
