"""Counts of reads of skills and prompt indexes in their own database, without names of readers."""
