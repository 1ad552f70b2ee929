"""Questions to the catalog, and the safe way to a file."""
