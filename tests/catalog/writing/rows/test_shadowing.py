"""Precedence among skills of one name, with real roots of every level and real scans."""

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.made_archives import make_zip
from tests.support.roots_of_levels import Roots
from tests.support.skills import SkillWriter

LEVELS = [
    ("plugins", "plugin"),
    ("late", "project"),
    ("project", "project"),
    ("personal", "personal"),
    ("company", "enterprise"),
]


@pytest.fixture
def roots(tmp_path: Path) -> Iterator[Roots]:
    """Return roots of all levels, configured in an unrelated order."""
    made = Roots(tmp_path, LEVELS)
    yield made
    made.store.close()


@pytest.mark.requirement("client-guide/precedence", "textbook/levels-order", "own/levels-next")
def test_the_higher_level_wins_and_the_next_takes_over(roots: Roots, skill: SkillWriter) -> None:
    """A removed, rejected or renamed skill leaves its name to the next one at once."""
    for root in ("late", "personal", "company", "project"):
        skill(roots.folder / root / "pdf")
    roots.scan()
    rest = {"late/pdf": "shadowed", "project/pdf": "shadowed", "personal/pdf": "shadowed"}
    assert roots.statuses() == rest | {"company/pdf": "active"}
    assert roots.skills("status_reason")["late/pdf"] == (
        f"shadowed by the enterprise skill in {roots.folder}/company/pdf, with the same content",
    )
    shutil.rmtree(roots.folder / "company/pdf")
    roots.scan()
    assert roots.statuses() == rest | {"personal/pdf": "active"}
    skill(roots.folder / "personal/pdf", name="other")
    roots.scan()
    assert roots.statuses() == rest | {"personal/pdf": "active", "late/pdf": "active"}
    shutil.rmtree(roots.folder / "late/pdf")
    skill(roots.folder / "company/pdf")
    roots.scan()
    assert roots.statuses() == {
        "company/pdf": "active",
        "project/pdf": "shadowed",
        "personal/pdf": "active",
    }


def test_a_folder_that_was_never_accepted_does_not_compete(
    roots: Roots, skill: SkillWriter
) -> None:
    """A rejected folder of a higher level leaves the name to a lower one."""
    skill(roots.folder / "company/pdf", files={"SKILL.md": "nothing\n"})
    skill(roots.folder / "project/pdf")
    roots.scan()
    assert roots.statuses() == {"company/pdf": "rejected", "project/pdf": "active"}


@pytest.mark.requirement("client-guide/collisions")
def test_within_a_level_root_depth_and_path_decide(roots: Roots, skill: SkillWriter) -> None:
    """In this order; an archive competes like a folder."""
    for path in ("project/a", "late/A/deep", "late/y", "late/b"):
        skill(roots.folder / path, name="same")
    make_zip(roots.folder / "late/a.zip", {"SKILL.md": "---\nname: same\ndescription: x\n---\n"})
    for winner in ("late/a.zip!", "late/b", "late/y", "late/A/deep", "project/a"):
        roots.scan()
        active = [path for path, status in roots.statuses().items() if status == "active"]
        assert active == [winner]
        place = roots.folder / winner.rstrip("!")
        shutil.rmtree(place) if place.is_dir() else place.unlink()


@pytest.mark.requirement("textbook/plugin-apart")
def test_a_plugins_skills_compete_among_themselves(roots: Roots, skill: SkillWriter) -> None:
    """A qualified name never shadows a bare one; the folder of a plugin is `plugin:plugin`."""
    skill(roots.folder / "project/pdf")
    for path in ("office/skills/pdf", "office", "other/pdf"):
        skill(roots.folder / "plugins" / path, name="pdf")
    make_zip(
        roots.folder / "plugins/zipped.zip",
        {
            "SKILL.md": "---\nname: x\ndescription: y\n---\n",
            "skills/a/SKILL.md": "---\nname: a\ndescription: y\n---\n",
        },
    )
    (roots.folder / "plugins/SKILL.md").write_text("---\nname: x\ndescription: y\n---\n")
    roots.scan()
    assert roots.skills("name", "skill_id", "status") == {
        "project/pdf": ("pdf", "pdf", "active"),
        "plugins/office": ("office:office", "office--office", "active"),
        "plugins/office/skills/pdf": ("office:pdf", "office--pdf", "active"),
        "plugins/other/pdf": ("other:pdf", "other--pdf", "active"),
        "plugins/zipped.zip!": ("zipped:zipped", "zipped--zipped", "active"),
        "plugins/zipped.zip!/skills/a": ("zipped:a", "zipped--a", "active"),
    }
    assert roots.store.db.execute("SELECT code FROM findings WHERE skill IS NULL").fetchall() == [
        ("skill-md-in-root",)
    ]


def test_a_skill_that_moves_between_roots_keeps_its_row(roots: Roots, skill: SkillWriter) -> None:
    """A move found in one scan is a rename, and gives it the level of its new root."""
    skill(roots.folder / "project/pdf")
    roots.scan()
    before = roots.skills("id", "level")["project/pdf"]
    (roots.folder / "project/pdf").rename(roots.folder / "company/pdf")
    assert roots.scan().outcomes == {"renamed": 1}
    assert roots.skills("id", "level") == {"company/pdf": (before[0], "enterprise")}


def test_a_link_never_wins_over_its_target(roots: Roots, skill: SkillWriter) -> None:
    """At any depth, and also after folder and link change places."""
    top = roots.folder / "project"
    skill(top / "deep/down/real", name="same")
    (top / "a").symlink_to("deep/down/real")
    (top / "b").symlink_to("deep")
    make_zip(top / "deep/packed.zip", {"SKILL.md": "---\nname: packed\ndescription: x\n---\n"})
    (top / "a.zip").symlink_to("deep/packed.zip")
    roots.scan()
    real = {"project/deep/down/real": "active", "project/deep/packed.zip!": "active"}
    assert roots.statuses() == real | dict.fromkeys(
        ("project/a", "project/a.zip!", "project/b/down/real", "project/b/packed.zip!"), "shadowed"
    )
    (top / "a").unlink()
    (top / "deep/down/real").rename(top / "a")
    (top / "deep/down/real").symlink_to("../../a")
    roots.scan()
    assert roots.statuses()["project/a"] == "active"
    assert roots.statuses()["project/deep/down/real"] == "shadowed"


@pytest.mark.requirement("client-guide/collisions-told")
def test_shadowing_is_logged(
    roots: Roots, skill: SkillWriter, caplog: pytest.LogCaptureFixture
) -> None:
    """Its end is logged, too; terminal escapes in a path are made visible."""
    caplog.set_level(logging.INFO, "skilldrop")
    skill(roots.folder / "project/pdf\n\x1b", name="pdf")
    roots.scan()
    caplog.clear()
    skill(roots.folder / "company/pdf")
    roots.scan()
    shutil.rmtree(roots.folder / "company/pdf")
    roots.scan()
    lower, higher = "pdf[U+000A][U+001B]", f"{roots.folder}/company/pdf"
    assert caplog.messages == [
        "added pdf",
        f"shadowed {lower} (shadowed by the enterprise skill in {higher}, with the same content)",
        "removed pdf",
        f"active {lower}",
    ]
    assert all(message.isprintable() for message in caplog.messages)


def test_a_missing_root_does_not_affect_others(roots: Roots, skill: SkillWriter) -> None:
    """It is reported, and its skills win until they are removed."""
    skill(roots.folder / "company/pdf")
    skill(roots.folder / "project/pdf")
    roots.scan()
    (roots.folder / "company").rename(roots.folder / "away")
    skill(roots.folder / "project/new")
    report = roots.scan()
    assert list(report.troubles) == [f"{roots.folder}/company"]
    assert roots.statuses() == {
        "company/pdf": "active",
        "project/pdf": "shadowed",
        "project/new": "active",
    }
