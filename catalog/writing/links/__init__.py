"""Directories with one link for each skill, which agents can be pointed at."""
