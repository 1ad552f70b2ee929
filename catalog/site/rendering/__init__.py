"""HTML from data."""
