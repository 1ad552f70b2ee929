"""Skills in namespaces, found by their qualified and their bare names."""

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from catalog.model.errors import NotInCatalog
from catalog.reading import lookup
from catalog.reading.files.published import package_of
from pipeline.config.root_settings import RootSettings
from tests.support.linking import Linking
from tests.support.skills import write_skill


@pytest.fixture
def it(tmp_path: Path) -> Linking:
    """Return the folder of two teams, each a namespace, scanned."""
    made = Linking(tmp_path)
    made.with_settings(roots=(RootSettings(path=made.root, namespace="folder"),))
    for path in ("red/review", "blue/review", "red/skills/csv", "alone"):
        write_skill(made.root / path, body=path)
    made.scan()
    return made


def test_skills_of_two_namespaces_share_a_bare_name(it: Linking) -> None:
    """Neither shadows the other; a skill directly in the root has no namespace."""
    store = it.open()
    rows = store.db.execute("SELECT name, namespace, status FROM skills ORDER BY name").fetchall()
    store.close()
    assert rows == [
        ("alone", None, "active"),
        ("blue:review", "blue", "active"),
        ("red:csv", "red", "active"),
        ("red:review", "red", "active"),
    ]
    assert sorted(os.listdir(it.skills)) == [
        ".skilldrop",
        "alone",
        "blue--review",
        "red--csv",
        "red--review",
    ]
    assert it.differences() == []


def test_a_bare_name_finds_the_only_skill(it: Linking) -> None:
    """A qualified name finds its own."""
    store = it.open()
    packages = it.settings.packages_folder
    for asked, found in (("csv", "red:csv"), ("blue:review", "blue:review"), ("alone", "alone")):
        assert lookup.find_skill(store.db, asked)["name"] == found
        assert package_of(store.db, packages, asked).skill == found
    with pytest.raises(NotInCatalog, match="There is no skill"):
        lookup.find_skill(store.db, "nothing-like-it")
    store.close()


def test_the_name_of_a_folder_is_answered_with_its_path(it: Linking) -> None:
    """A skill may have another name than its folder."""
    write_skill(it.root / "red/lower", name="Upper")
    it.scan()
    store = it.open()
    with pytest.raises(
        NotInCatalog, match=r"no skill 'lower'\. Name the folder by its path: red/lo"
    ):
        lookup.find_skill(store.db, "lower")
    store.close()


def test_a_folder_finds_its_skill_and_a_bare_name_also_one_that_agents_do_not_get(
    it: Linking,
) -> None:
    """An active skill comes before a removed one of the same bare name."""
    write_skill(it.root / "green/csv", body="Green.\n")
    it.scan()
    store = it.open()
    for asked in ("red/skills/csv", f"{it.root}/red/skills/csv"):
        assert lookup.find_skill(store.db, asked)["name"] == "red:csv"
    store.close()
    shutil.rmtree(it.root / "red/skills/csv")
    it.scan()
    store = it.open()
    assert lookup.find_skill(store.db, "csv")["name"] == "green:csv"
    store.close()
    shutil.rmtree(it.root / "green/csv")
    it.scan()
    store = it.open()
    with pytest.raises(NotInCatalog, match=r"2 skills have the name .*: green:csv, red:csv"):
        lookup.find_skill(store.db, "csv")
    store.close()


def test_a_bare_name_of_several_skills_finds_the_preferred(it: Linking) -> None:
    """Without a preference, the error lists their names."""
    store = it.open()
    with pytest.raises(NotInCatalog, match=r"2 skills have the name .*blue:review.*red:review"):
        lookup.find_skill(store.db, "review")
    for folder in ("red/review", "blue/review"):
        store.prefer(folder, datetime.now(UTC))
        found = lookup.find_skill(store.db, "review")["path"]
        assert found == folder
    store.close()


def test_a_shadowed_skill_makes_no_bare_name_ambiguous(it: Linking) -> None:
    """Only active skills count."""
    write_skill(it.root / "red/old/csv", body="Other.\n")
    it.scan()
    store = it.open()
    assert lookup.find_skill(store.db, "csv")["path"] == "red/skills/csv"
    store.close()


def test_a_new_rule_renames_the_skills_of_a_root(it: Linking) -> None:
    """The next scan does; nothing is left of the old names."""
    it.with_settings(roots=(RootSettings(path=it.root, namespace="folder"),))
    it.scan()
    it.with_settings(roots=(RootSettings(path=it.root, namespace="path"),))
    it.scan()
    store = it.open()
    names = [row[0] for row in store.db.execute("SELECT name FROM skills ORDER BY name")]
    store.close()
    assert names == ["alone", "blue:review", "red.skills:csv", "red:review"]
    assert it.differences() == []
