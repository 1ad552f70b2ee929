"""The catalog as a web site: Datasette, served read-only by a process of its own."""
