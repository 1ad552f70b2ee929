"""Rules for dangerous content."""
