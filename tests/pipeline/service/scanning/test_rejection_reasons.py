"""Reasons of a rejected skill, as status and site tell them."""

from pathlib import Path

import pytest

from catalog.reading import status
from catalog.reading.findings import finding_lists
from pipeline.config.settings import Settings
from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import scan_once


@pytest.mark.requirement("own/package-reason")
def test_a_rejection_begins_with_the_error_that_rejects(tmp_path: Path) -> None:
    """Errors that reject nothing follow, even those on earlier lines."""
    folder = tmp_path / "root" / "draft"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: Other\nfoo: x\ndescription:\n---\nCount.\n")
    settings = Settings(watched=tmp_path / "root", data=tmp_path / "data", settle_quiet=0)
    store = open_store(settings)
    scan_once(settings, store)
    (row,) = store.db.query("SELECT id, status, status_reason FROM skills")
    assert row["status"] == "rejected"
    assert row["status_reason"].startswith("description is missing or blank. name")
    for findings in (
        status.load(store.db)["errors"],
        finding_lists.findings(store.db, row["id"]),
        finding_lists.listed_findings(store.db, skill=row["id"]),
    ):
        codes = [finding["code"] for finding in findings]
        assert (codes[0], len(codes) > 1) == ("description-missing", True)
    store.close()
