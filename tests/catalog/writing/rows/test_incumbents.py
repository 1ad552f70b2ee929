"""Names among skills of one level and root: the incumbent keeps its name."""

import logging
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from catalog.audit import verdicts
from catalog.model.errors import NotInCatalog
from catalog.reading import service_health
from tests.support.records import NOON, judged
from tests.support.roots_of_levels import Roots
from tests.support.skills import SkillWriter


@pytest.fixture
def roots(tmp_path: Path) -> Iterator[Roots]:
    """Return two roots of one level and one of a higher level."""
    made = Roots(tmp_path, [("a", "project"), ("b", "project"), ("company", "enterprise")])
    yield made
    made.store.close()


def scanned(roots: Roots) -> str:
    """Scan, and return the folder of the only active skill; the audit agrees with it."""
    roots.scan()
    assert list(verdicts.of_catalog(roots.store.db)) == []
    (active,) = (path for path, status in roots.statuses().items() if status == "active")
    return active


def conflicts(roots: Roots) -> list[str]:
    """Return the folders in conflict."""
    return [path for path, (value,) in roots.skills("is_conflict").items() if value]


def prefer(roots: Roots, path: str, minutes: int = 0) -> None:
    """Prefer the skill of a folder, given relative to all roots."""
    roots.store.prefer(f"{roots.folder}/{path}", NOON + timedelta(minutes=minutes))


@pytest.mark.requirement("client-guide/collisions")
def test_a_newcomer_does_not_take_a_name(
    roots: Roots, skill: SkillWriter, caplog: pytest.LogCaptureFixture
) -> None:
    """It is shadowed, and reported as a conflict in catalog, health and log."""
    skill(roots.folder / "b/csv-profile")
    assert scanned(roots) == "b/csv-profile"
    skill(roots.folder / "b/aaa", name="csv-profile", body="Other.\n")
    assert scanned(roots) == "b/csv-profile"
    assert conflicts(roots) == ["b/aaa"]
    (reason,) = roots.skills("status_reason")["b/aaa"]
    assert reason.endswith("b/csv-profile, accepted first, with other content")
    (warning,) = (record for record in caplog.records if record.levelno == logging.WARNING)
    assert warning.getMessage().startswith("shadowed aaa (shadowed by the project skill in ")
    assert "`skilldrop prefer PATH`" in warning.getMessage()
    state = service_health.load(roots.store.db)
    details = service_health.summary(state, NOON).details
    assert any(detail.startswith("1 name conflict: ") for detail in details)


def test_the_incumbent_keeps_its_name_over_edits_and_moves(
    roots: Roots, skill: SkillWriter
) -> None:
    """Even in a folder of another name, or with errors by the specification."""
    skill(roots.folder / "b/zzz", name="csv-profile")
    roots.scan()
    skill(roots.folder / "b/csv-profile", body="Other.\n")
    assert scanned(roots) == "b/zzz"
    skill(roots.folder / "b/zzz", name="csv-profile", description="Long. " * 300)
    assert scanned(roots) == "b/zzz"
    (roots.folder / "b/zzz").rename(roots.folder / "b/zzzz")
    assert scanned(roots) == "b/zzzz"


def test_the_next_incumbent_is_the_one_accepted_next(roots: Roots, skill: SkillWriter) -> None:
    """A skill that was away comes last."""
    for folder in ("c", "b", "a"):
        skill(roots.folder / "b" / folder, name="same", body=folder)
        assert scanned(roots) == "b/c"
    shutil.rmtree(roots.folder / "b/c")
    assert scanned(roots) == "b/b"
    skill(roots.folder / "b/c", name="same", body="c")
    shutil.rmtree(roots.folder / "b/b")
    assert scanned(roots) == "b/a"


def test_a_name_given_up_is_lost(roots: Roots, skill: SkillWriter) -> None:
    """A skill that takes another name and returns comes last."""
    skill(roots.folder / "b/x", name="same")
    skill(roots.folder / "b/y", name="same", body="Other.\n")
    assert scanned(roots) == "b/x"
    skill(roots.folder / "b/x", name="other")
    roots.scan()
    skill(roots.folder / "b/x", name="same")
    assert scanned(roots) == "b/y"


def test_among_skills_found_together_the_folder_name_decides(
    roots: Roots, skill: SkillWriter
) -> None:
    """Then validity, then the path."""
    for folder in ("aaa", "csv-profile", "zzz"):
        skill(roots.folder / "b" / folder, name="csv-profile", body=folder)
    assert scanned(roots) == "b/csv-profile"
    for folder in ("aaa", "csv-profile", "zzz"):
        shutil.rmtree(roots.folder / "b" / folder)
    roots.scan()
    skill(roots.folder / "b/1/csv-profile", description="Long. " * 300)
    for number in "23":
        skill(roots.folder / f"b/{number}/csv-profile", body=number)
    assert scanned(roots) == "b/2/csv-profile"


def test_another_spelling_never_shadows_the_name_itself(roots: Roots, skill: SkillWriter) -> None:
    """Even if it came first."""
    skill(roots.folder / "b/PDF-Processing")
    assert scanned(roots) == "b/PDF-Processing"
    skill(roots.folder / "b/pdf-processing", body="Other.\n")
    assert scanned(roots) == "b/pdf-processing"
    assert conflicts(roots) == ["b/PDF-Processing"]


def test_a_clock_that_is_set_back_gives_no_name_away(roots: Roots, skill: SkillWriter) -> None:
    """The order of acceptance counts."""
    skill(roots.folder / "b/zzz", name="same")
    roots.scan()
    roots.store.db.execute("UPDATE skills SET name_since = '2999-01-01T00:00:00.000+00:00'")
    skill(roots.folder / "b/aaa", name="same", body="Other.\n")
    assert scanned(roots) == "b/zzz"


def test_the_same_content_is_no_conflict(roots: Roots, skill: SkillWriter) -> None:
    """Neither is a skill of a higher level, nor a link."""
    skill(roots.folder / "b/pdf")
    skill(roots.folder / "a/pdf")
    (roots.folder / "b/alias").symlink_to("pdf")
    roots.scan()
    skill(roots.folder / "company/pdf", body="Other.\n")
    assert scanned(roots) == "company/pdf"
    assert conflicts(roots) == []


def test_prefer_gives_the_name_to_a_rival(roots: Roots, skill: SkillWriter) -> None:
    """That settles the conflict until another rival comes."""
    skill(roots.folder / "a/pdf")
    skill(roots.folder / "b/pdf", body="Other.\n")
    assert scanned(roots) == "a/pdf"
    assert conflicts(roots) == ["b/pdf"]
    later = 60 * 24 * 365 * 100
    prefer(roots, "b/pdf", later)
    assert (scanned(roots), conflicts(roots)) == ("b/pdf", [])
    prefer(roots, "a/pdf", later)
    assert (scanned(roots), conflicts(roots)) == ("a/pdf", [])
    skill(roots.folder / "b/third", name="pdf", body="Third.\n")
    assert (scanned(roots), conflicts(roots)) == ("a/pdf", ["b/third"])


def test_prefer_within_a_root_by_its_relative_path(roots: Roots, skill: SkillWriter) -> None:
    """A path that several roots have must be given in full."""
    skill(roots.folder / "b/one", name="pdf")
    skill(roots.folder / "b/two", name="pdf", body="Other.\n")
    assert scanned(roots) == "b/one"
    roots.store.prefer("two/", NOON)
    assert scanned(roots) == "b/two"
    skill(roots.folder / "a/two", name="pdf", body="Third.\n")
    roots.scan()
    with pytest.raises(NotInCatalog, match="is in several roots"):
        roots.store.prefer("two", NOON)
    roots.store.prefer(f"{roots.folder}/b/two", NOON)
    assert scanned(roots) == "b/two"


def test_prefer_explains_what_it_refuses(roots: Roots, skill: SkillWriter) -> None:
    """An unknown folder, a rejected one, and one of a lower level."""
    skill(roots.folder / "b/pdf")
    skill(roots.folder / "company/pdf", body="Other.\n")
    skill(roots.folder / "b/broken", files={"SKILL.md": "nothing\n"})
    roots.scan()
    for path, message in (
        ("b/pfd", "The closest are: .*pdf"),
        ("b/broken", "is rejected, so it cannot have the name"),
        ("b/pdf", "The enterprise skill in .*company/pdf has the name .* and a higher level"),
    ):
        with pytest.raises(NotInCatalog, match=message):
            prefer(roots, path)


def test_the_incumbent_keeps_its_name_while_its_new_content_is_rejected(
    roots: Roots, skill: SkillWriter
) -> None:
    """Its last good version stays active, even if the folder is renamed as well."""
    skill(roots.folder / "b/zzz", name="pdf")
    roots.scan()
    skill(roots.folder / "b/pdf", body="Other.\n")
    skill(roots.folder / "b/zzz", files={"SKILL.md": "nothing\n"})
    assert scanned(roots) == "b/zzz"
    (roots.folder / "b/zzz").rename(roots.folder / "b/zzzz")
    assert scanned(roots) == "b/zzzz"


@pytest.mark.parametrize("leave", ["removed", "renamed"])
def test_a_preference_ends_when_the_skill_leaves_its_name(
    roots: Roots, skill: SkillWriter, leave: str
) -> None:
    """When it returns, it comes last."""
    skill(roots.folder / "b/x", name="same")
    skill(roots.folder / "b/y", name="same", body="Other.\n")
    roots.scan()
    prefer(roots, "b/y")
    assert scanned(roots) == "b/y"
    if leave == "removed":
        shutil.rmtree(roots.folder / "b/y")
    else:
        skill(roots.folder / "b/y", name="other")
    roots.scan()
    skill(roots.folder / "b/y", name="same", body="Other.\n")
    assert scanned(roots) == "b/x"


def test_the_last_preference_counts(roots: Roots, skill: SkillWriter) -> None:
    """It ends the earlier ones, also of skills in earlier roots."""
    skill(roots.folder / "a/pdf")
    skill(roots.folder / "b/pdf", body="Other.\n")
    roots.scan()
    for path in ("b/pdf", "a/pdf", "b/pdf"):
        prefer(roots, path)
        assert scanned(roots) == path


def test_a_clock_that_is_set_back_leaves_a_preference_its_meaning(
    roots: Roots, skill: SkillWriter
) -> None:
    """It settles the conflict with known rivals, and not that with later ones."""
    skill(roots.folder / "b/one", name="pdf")
    skill(roots.folder / "b/two", name="pdf", body="Other.\n")
    roots.scan()
    roots.store.db.execute("UPDATE skills SET name_since = '2999-01-01T00:00:00.000+00:00'")
    prefer(roots, "b/two")
    assert (scanned(roots), conflicts(roots)) == ("b/two", [])
    skill(roots.folder / "b/three", name="pdf", body="Third.\n")
    assert (scanned(roots), conflicts(roots)) == ("b/two", ["b/three"])


def test_a_link_to_a_rival_is_no_conflict_of_its_own(roots: Roots, skill: SkillWriter) -> None:
    """The rival itself is one."""
    skill(roots.folder / "b/aaa", name="pdf")
    roots.scan()
    skill(roots.folder / "b/pdf", body="Other.\n")
    (roots.folder / "b/alias").symlink_to("pdf")
    assert scanned(roots) == "b/aaa"
    assert conflicts(roots) == ["b/pdf"]


def test_skills_of_one_scan_take_their_names_together(roots: Roots) -> None:
    """Even in two batches: the folder name decides, not the order of the batches."""
    root = roots.specs[1].path
    scan = roots.store.begin_scan("re-scan", NOON)
    for minute, change in enumerate(
        (judged("aaa", name="pdf", root=root), judged("pdf", root=root))
    ):
        at = NOON + timedelta(minutes=minute)
        roots.store.apply([change], trigger="re-scan", at=at, scan=scan)
    assert roots.statuses() == {"b/aaa": "shadowed", "b/pdf": "active"}
