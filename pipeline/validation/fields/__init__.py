"""Typed fields of the frontmatter."""
