"""Profiles: named sets of rules, one folder each."""
