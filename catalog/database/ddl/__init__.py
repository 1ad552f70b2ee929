"""The tables, views and triggers, by subject."""
