"""Names of the listeners to changes of the catalog; see `catalog.writing.events`."""

LOG = "log"
INDEXES = "indexes"
ALL = (LOG, INDEXES)
"""Those of every catalog; each hook is one more."""
