"""Rendering of data, Markdown and templates as HTML."""
