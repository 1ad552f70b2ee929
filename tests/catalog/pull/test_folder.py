"""A pulled folder follows its site, and whatever skilldrop did not make stays."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from catalog.pull import folder as pull_folder
from catalog.pull.folder import Folder, NotPossible, Pulled
from catalog.pull.site import Site, SiteError
from tests.support.pull_sites import PullSite, pull_site

SKILL_MD = "---\nname: x\ndescription: Does x.\n---\n"


@pytest.fixture
def served() -> Iterator[PullSite]:
    """Yield a site with three skills."""
    with pull_site() as site:
        for name in ("a", "b", "c"):
            site.publish(name, {"SKILL.md": SKILL_MD + name, "scripts/run.sh": "#!/bin/sh\n"})
        yield site


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return the folder to fill."""
    return tmp_path / "skills"


def pull(place: Path, served: PullSite, *, yes: bool = False, query: str = "") -> Pulled:
    """Pull once."""
    return Folder(place).pull(Site(served.url), query, lambda _: yes, lambda *_: None)


def tree(place: Path) -> dict[str, str]:
    """Return the texts of all files of skills."""
    files = (path for path in place.rglob("*") if path.is_file() and path.parent != place)
    return {path.relative_to(place).as_posix(): path.read_text() for path in files}


def test_all_files_arrive_with_their_executable_bits(place: Path, served: PullSite) -> None:
    """What is published is what the agent reads."""
    assert pull(place, served).added == ["a", "b", "c"]
    assert tree(place)["b/SKILL.md"] == SKILL_MD + "b"
    assert os.access(place / "a/scripts/run.sh", os.X_OK)
    assert not os.access(place / "a/SKILL.md", os.X_OK)


def test_an_unchanged_site_is_asked_once(place: Path, served: PullSite) -> None:
    """The second request is conditional."""
    pull(place, served)
    served.paths()
    assert pull(place, served).unchanged == ["a", "b", "c"]
    assert served.paths() == ["/pull.json?"]


def test_only_a_changed_skill_is_fetched_again(place: Path, served: PullSite) -> None:
    """The others are compared with their digests."""
    pull(place, served)
    served.publish("b", {"SKILL.md": SKILL_MD + "new"})
    served.paths()
    assert pull(place, served).updated == ["b"]
    assert all("/skills/b/" in path for path in served.paths()[1:])
    assert {path for path in tree(place) if path.startswith("b/")} == {"b/SKILL.md"}


def test_an_unpublished_skill_is_removed(place: Path, served: PullSite) -> None:
    """Its folder goes as a whole."""
    pull(place, served)
    del served.skills["c"]
    assert pull(place, served).removed == ["c"]
    assert not (place / "c").exists()


def test_a_deleted_copy_comes_back(place: Path, served: PullSite) -> None:
    """Also while the site has not changed."""
    pull(place, served)
    shutil.rmtree(place / "a")
    pull(place, served)
    assert (place / "a/SKILL.md").exists()


def test_a_folder_of_others_stays(place: Path, served: PullSite) -> None:
    """A skill of the same name is not copied, and that is said."""
    (place / "b").mkdir(parents=True)
    (place / "b/SKILL.md").write_text("mine")
    result = pull(place, served)
    assert (result.taken, result.added) == (["b"], ["a", "c"])
    del served.skills["b"]
    pull(place, served)
    assert (place / "b/SKILL.md").read_text() == "mine"


@pytest.mark.parametrize("edit", ["changed", "added", "deleted", "linked"])
def test_an_edited_copy_stays(edit: str, place: Path, served: PullSite, tmp_path: Path) -> None:
    """Neither a new version nor the end of the skill touches it."""
    pull(place, served)
    match edit:
        case "changed":
            (place / "b/SKILL.md").write_text("mine")
        case "added":
            (place / "b/notes.md").write_text("mine")
        case "deleted":
            (place / "b/scripts/run.sh").unlink()
        case _:
            shutil.move(place / "b", tmp_path / "b")
            (place / "b").symlink_to(tmp_path / "b")
    before = tree(place)
    served.publish("b", {"SKILL.md": SKILL_MD + "new"})
    assert pull(place, served).edited == ["b"]
    del served.skills["b"]
    assert pull(place, served).edited == ["b"]
    assert tree(place) == before
    assert (tmp_path / "b/SKILL.md").exists() == (edit == "linked")


def test_what_a_system_leaves_is_no_edit(place: Path, served: PullSite) -> None:
    """A script that was run leaves compiled modules."""
    pull(place, served)
    (place / "b/scripts/__pycache__").mkdir()
    (place / "b/scripts/__pycache__/x.pyc").write_bytes(b"")
    (place / "b/.DS_Store").write_bytes(b"")
    served.publish("b", {"SKILL.md": SKILL_MD + "new"})
    assert pull(place, served).updated == ["b"]


def test_most_skills_are_removed_only_if_somebody_agrees(place: Path, served: PullSite) -> None:
    """An empty site may be a mistake."""
    pull(place, served)
    served.skills.clear()
    result = pull(place, served)
    assert (result.withheld, result.removed) == (["a", "b", "c"], [])
    assert result.reason == (
        "3 of 3 skills would be removed. Add --yes to agree, or choose another DIR."
    )
    assert pull(place, served, yes=True).removed == ["a", "b", "c"]


def test_nothing_is_removed_while_the_catalog_is_built(place: Path, served: PullSite) -> None:
    """Not even if somebody agrees; new skills arrive."""
    pull(place, served)
    served.is_complete = False
    del served.skills["c"]
    served.publish("d", {"SKILL.md": SKILL_MD})
    result = pull(place, served, yes=True)
    assert (result.added, result.withheld) == (["d"], ["c"])


def test_another_catalog_changes_nothing_unless_somebody_agrees(
    place: Path, served: PullSite
) -> None:
    """Its skills may have the same names and other contents."""
    pull(place, served)
    before = tree(place)
    served.catalog = "another"
    served.publish("a", {"SKILL.md": SKILL_MD + "other"})
    assert not pull(place, served).is_whole
    assert tree(place) == before
    assert pull(place, served, yes=True).updated == ["a"]


def test_an_interrupted_exchange_is_ended_by_the_next_pull(
    place: Path, served: PullSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither version counts as an edit."""
    pull(place, served)
    for name in ("a", "b"):
        served.publish(name, {"SKILL.md": SKILL_MD + "new"})
    replace = os.replace

    def fail(source: Path, target: Path) -> None:
        if target == place / "b":
            raise OSError("the power failed")
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(OSError, match="power"):
            pull(place, served)
    assert sorted(pull(place, served).updated + pull(place, served).unchanged)[-1:] == ["c"]
    assert tree(place)["b/SKILL.md"] == SKILL_MD + "new"


def test_a_skill_that_fails_keeps_its_former_version(place: Path, served: PullSite) -> None:
    """The others are updated."""
    pull(place, served)
    before = tree(place)["a/SKILL.md"]
    served.publish("a", {"SKILL.md": SKILL_MD + "new"})
    served.publish("b", {"SKILL.md": SKILL_MD + "new"})
    served.answers = {path: body for path, body in served.answers.items() if "/a/" not in path}
    result = pull(place, served)
    assert (list(result.failed), result.updated) == (["a"], ["b"])
    assert tree(place)["a/SKILL.md"] == before


@pytest.mark.parametrize("change", ["file", "archive", "digest"])
def test_bytes_that_differ_from_the_digest_are_refused(
    change: str, place: Path, served: PullSite
) -> None:
    """Nothing of the skill is placed."""
    path = next(path for path in served.answers if path.startswith("/skills/a/"))
    bundle = path.replace("files/", "bundle.zip")
    match change:
        case "file":
            served.answers[bundle] = served.answers[bundle].replace(b"Does x", b"Does y")
        case "archive":
            served.answers[bundle] = b"no archive"
        case _:
            served.skills["a"]["digest"] = "sha256:" + "0" * 64
    assert list(pull(place, served).failed) == ["a"]
    assert not (place / "a").exists()


@pytest.mark.parametrize("path", ["../x", "/x", "a/../../x", "a//x", "x\0y"])
def test_a_path_that_leads_out_is_refused(
    path: str, place: Path, served: PullSite, tmp_path: Path
) -> None:
    """Nothing is written anywhere."""
    served.publish("a", {"SKILL.md": SKILL_MD, path: "out"})
    assert list(pull(place, served).failed) == ["a"]
    assert {entry.name for entry in tmp_path.iterdir()} == {"skills"}


@pytest.mark.parametrize("folder", ["../x", "x/y", ".skilldrop-next", "", "..", "skilldrop.lock"])
def test_a_folder_without_a_plain_name_is_refused(
    folder: str, place: Path, served: PullSite, tmp_path: Path
) -> None:
    """The other skills arrive."""
    served.publish("a", {"SKILL.md": SKILL_MD}, folder=folder)
    result = pull(place, served)
    assert result.added == ["b", "c"]
    assert [*result.failed, *result.taken] == [folder]
    assert {entry.name for entry in tmp_path.iterdir()} == {"skills"}


@pytest.mark.parametrize(
    "path", ["aux.md", "a:b", "a\\b", "end.", "end ", "q?.md", "scripts/CON", "com1.txt"]
)
def test_a_name_that_windows_cannot_have_is_refused_there(
    path: str, place: Path, served: PullSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other skills arrive."""
    served.publish("a", {"SKILL.md": SKILL_MD, path: "text"})
    monkeypatch.setattr("catalog.pull.site.ON_WINDOWS", True)
    result = pull(place, served)
    assert result.added == ["b", "c"]
    assert "Windows cannot have" in result.failed["a"]


def test_a_redirect_is_not_followed(place: Path, served: PullSite) -> None:
    """It might carry the token elsewhere."""
    served.redirect = "http://127.0.0.1:9/pull.json"
    with pytest.raises(SiteError, match="leads to another address"):
        pull(place, served)


def test_a_catalog_folder_is_refused(place: Path) -> None:
    """The published skills beside a catalog are not ours to change."""
    place.mkdir()
    (place / ".skilldrop").write_text("skilldrop skills 1\n")
    with pytest.raises(NotPossible, match="belongs to a catalog"):
        Folder(place)


@pytest.mark.parametrize(
    "text", ["", "[]", '{"lock_version": 1, "skills": []}', '{"lock_version": "pull 1"}']
)
def test_a_damaged_lock_file_stops_everything(place: Path, text: str) -> None:
    """Without it, nobody knows what is ours."""
    place.mkdir()
    (place / "skilldrop.lock").write_text(text)
    with pytest.raises(NotPossible, match="not a lock file of a pull"):
        Folder(place)


def test_a_path_out_of_the_lock_file_is_refused(place: Path, served: PullSite) -> None:
    """An edited lock file cannot make it remove foreign folders."""
    pull(place, served)
    lock = json.loads((place / "skilldrop.lock").read_text())
    lock["skills"][0]["folder"] = "../elsewhere"
    (place / "skilldrop.lock").write_text(json.dumps(lock))
    with pytest.raises(NotPossible, match="not a lock file"):
        Folder(place)


def test_two_pulls_at_once_do_not_mix(place: Path, served: PullSite) -> None:
    """The second one says that the first runs."""
    folder = Folder(place)
    with folder._alone(), pytest.raises(NotPossible, match="is running"):
        pull(place, served)


def test_a_skill_that_is_edited_during_the_downloads_is_not_removed(
    place: Path, served: PullSite
) -> None:
    """Its state is looked at when it would go."""
    pull(place, served)
    del served.skills["c"]
    served.publish("a", {"SKILL.md": SKILL_MD + "new"})

    def edit(*_: int) -> None:
        (place / "c/SKILL.md").write_text("mine")

    result = Folder(place).pull(Site(served.url), "", lambda _: False, edit)
    assert (result.updated, result.edited, result.removed) == (["a"], ["c"], [])
    assert (place / "c/SKILL.md").read_text() == "mine"


def test_a_work_folder_of_others_is_refused(place: Path, served: PullSite) -> None:
    """Nothing in it is removed."""
    (place / pull_folder.NEXT).mkdir(parents=True)
    (place / pull_folder.NEXT / "file").write_text("mine")
    with pytest.raises(NotPossible, match="was not made by a pull"):
        pull(place, served)
    assert (place / pull_folder.NEXT / "file").read_text() == "mine"


def test_a_link_in_place_of_the_work_folder_is_refused(
    place: Path, served: PullSite, tmp_path: Path
) -> None:
    """A removal follows no link."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/file").write_text("mine")
    place.mkdir()
    (place / pull_folder.NEXT).symlink_to(tmp_path / "mine")
    with pytest.raises(NotPossible, match="is a link"):
        pull(place, served)
    assert (tmp_path / "mine/file").read_text() == "mine"
