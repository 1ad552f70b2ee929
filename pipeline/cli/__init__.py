"""Command line: commands and their output."""
