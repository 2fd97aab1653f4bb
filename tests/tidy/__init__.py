"""Style as a test: what imports what, what nobody uses or runs, and what a line or a link looks like."""
