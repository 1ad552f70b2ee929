"""The process that serves the site."""
