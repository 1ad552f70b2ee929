"""What can be said about a skill: one module of finding types a profile, and their registry."""
