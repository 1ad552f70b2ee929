"""Settings: defaults, file, environment and their checks."""
