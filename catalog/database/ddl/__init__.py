"""Tables, views and triggers, by subject."""
