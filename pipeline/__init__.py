"""The way from a change in a watched folder to a verdict in the catalog."""
