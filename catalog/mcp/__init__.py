"""The catalog for agents, over the Model Context Protocol."""
