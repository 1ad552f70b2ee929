"""Index of the changes of each scan."""

CHANGES_BY_SCAN = """
CREATE INDEX ingestions_by_scan ON ingestions (scan);
"""
