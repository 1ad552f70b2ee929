"""The loop that runs for months."""
