"""Automatic fixes of findings that have only one meaning."""
