"""Rules of Claude Code's own fields."""
