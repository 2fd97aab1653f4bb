"""`python -m eliza_inference.cli`."""

from eliza_inference.cli import main

main()
