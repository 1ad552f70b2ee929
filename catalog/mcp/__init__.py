"""Access to the catalog for agents, over the Model Context Protocol."""
