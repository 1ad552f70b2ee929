"""Versions of a skill as rows."""

import json

from catalog.model.fields import EMPTY
from catalog.reading.skills.versions import restored


def test_a_version_from_before_a_column_restores_its_empty_value() -> None:
    """A pin to it does not fail for a field that it does not know."""
    known = {column: "x" for column in EMPTY if column != "category"}
    version = dict.fromkeys(
        ("id", "skill_id", "digest", "skill_md_hash", "file_inventory", "frontmatter"), ""
    )
    row = restored(version | {"described": json.dumps(known)})
    assert (row["category"], row["author"]) == (None, "x")
