"""Filters, lists of skills, and searches with and without words."""
