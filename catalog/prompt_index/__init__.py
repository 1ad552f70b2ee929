"""Ranked skills and a budget, made into text."""
