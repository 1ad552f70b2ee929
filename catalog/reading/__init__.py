"""Queries of the catalog, and safe reading of published files."""
