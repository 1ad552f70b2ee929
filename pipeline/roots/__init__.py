"""Sources of skill folders and their snapshots."""
