"""Profile of dangerous content."""
