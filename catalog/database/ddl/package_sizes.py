"""Column with the size of a version, in the index of the versions that have a package."""

PACKAGE_SIZES = """
ALTER TABLE versions ADD COLUMN bytes INTEGER
    GENERATED ALWAYS AS (json_extract(file_inventory, '$.totalSizeBytes')) VIRTUAL;
-- The sum of all packages comes from this index; the rows of versions are large.
DROP INDEX versions_packaged;
CREATE INDEX versions_packaged ON versions (package_path, bytes) WHERE package_path IS NOT NULL;
"""
