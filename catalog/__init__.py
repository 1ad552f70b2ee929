"""The stored catalog, packages and indexes, useful without a watched folder."""
