"""Package directories."""
