"""Counts of reads of skills and prompt indexes, in a database of their own; without readers."""
