"""Listeners that are told of changes in the catalog, by name; see `catalog.writing.events`."""

LOG = "log"
INDEXES = "indexes"
ALL = (LOG, INDEXES)
