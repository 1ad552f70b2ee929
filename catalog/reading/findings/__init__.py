"""Findings for people: grades, lists and explanations."""
