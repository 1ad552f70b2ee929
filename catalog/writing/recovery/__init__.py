"""Recovery of a damaged catalog."""
