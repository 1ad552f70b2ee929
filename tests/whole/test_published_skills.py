"""Published skills, as the reference validator of the specification judges them."""

import os
from pathlib import Path
from typing import Any

import pytest

from catalog.database import connection
from catalog.database.queries import Database
from pipeline.config.root_settings import RootSettings
from pipeline.config.settings import Settings
from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import scan_once
from tests.support.skills import write_skill

SHARED = Path(os.environ.get("SKILLDROP_SHARED") or Path(__file__).parents[3] / "shared")
DIRECTORY = "Directory name"

reference: Any = pytest.importorskip("skills_ref")


def published(root: Path, data: Path) -> tuple[Settings, Database]:
    """Return the settings and the catalog after a scan of a root."""
    settings = Settings(roots=(RootSettings(path=root),), data=data, settle_quiet=0)
    store = open_store(settings)
    scan_once(settings, store)
    store.close()
    return settings, connection.open_catalog(settings.catalog_path)


@pytest.mark.requirement("validator/published")
def test_a_published_skill_lies_in_the_folder_of_its_name(tmp_path: Path) -> None:
    """The name of its folder in the root does not matter."""
    source = write_skill(tmp_path / "root" / "Draft (2)", name="word-count")
    assert any(DIRECTORY in error for error in reference.validate(source))
    published(tmp_path / "root", tmp_path / "data")
    assert reference.validate(tmp_path / "data" / "skills" / "word-count") == []


@pytest.mark.parametrize("collection", ["search/skills", "corpus/packages"])
def test_publication_adds_no_error_to_real_skills(tmp_path: Path, collection: str) -> None:
    """Only a name that no folder can have differs from its folder's."""
    if not (SHARED / collection).is_dir():
        pytest.skip("the collection of real skills is not here")
    _, db = published(SHARED / collection, tmp_path / "data")
    skills = {
        row["name"]: Path(row["root"], row["path"])
        for row in db.query(
            "SELECT name, root, path FROM skills WHERE status = 'active' AND model_invocable = 1"
        )
    }
    assert len(skills) > 20
    folders = {folder.name: folder for folder in (tmp_path / "data/skills").glob("[!.]*")}
    for name, source in skills.items():
        if (folder := folders.get(name)) is None:
            assert "/" in name
            continue
        errors = reference.validate(folder)
        assert not errors or set(errors) <= set(reference.validate(source))
        assert not any(DIRECTORY in error for error in errors), name
    db.conn.close()
