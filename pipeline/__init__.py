"""How we come to know it: from a path hint on a watched folder to a verdict in the catalog."""
