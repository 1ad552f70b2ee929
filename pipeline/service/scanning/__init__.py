"""Scans: from paths in the roots to rows of the catalog."""
