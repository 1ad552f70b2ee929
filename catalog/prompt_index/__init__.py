"""Prompt indexes: ranked skills within a budget, as text."""
