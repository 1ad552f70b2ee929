"""Brings the catalog up to the roots."""
