"""Output formats of the commands."""
