"""What recognizers must do, written the slow and obvious way; see `recognizer.py`."""
