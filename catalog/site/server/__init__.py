"""Process that serves the site."""
