"""Dialects: the fields and rules of one system each, one folder per dialect."""
