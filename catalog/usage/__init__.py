"""Counts of reads of skills in their own database, without names of readers."""
