"""Columns with the address of the site that a running service keeps."""

SITE_ADDRESS = """
ALTER TABLE health ADD COLUMN site_host TEXT;
ALTER TABLE health ADD COLUMN site_port INTEGER;
"""
