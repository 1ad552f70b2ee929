"""Web site of the catalog: Datasette, served read-only by a separate process."""
