"""The benchmarks: `python -m bench --help`."""
