"""Findings for people: lists and explanations."""
