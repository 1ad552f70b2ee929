"""Recommendations of the specification."""
