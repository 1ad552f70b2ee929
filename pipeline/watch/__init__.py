"""Watch over the roots: events of the system, settled hints, and polling as a fallback."""
