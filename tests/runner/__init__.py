"""What tests/run.py runs: steps, their set-up, and how they are run. For any Python 3.10, without packages."""
