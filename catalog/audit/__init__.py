"""Read-only consistency checks over catalog, verdicts and published files."""
