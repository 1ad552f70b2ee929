"""Profile of Claude Code's own fields."""
