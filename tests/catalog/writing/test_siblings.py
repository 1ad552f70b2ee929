"""Links to other skills beside the versions of a package."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from catalog.model.naming import entry_name
from catalog.writing.packager import Packager
from pipeline.sync.reconcile import compare_once, repair
from tests.support.linking import Linking, links_in
from tests.support.paths import SEARCH
from tests.support.skills import write_skill

REAL_SKILLS = SEARCH / "skills"
WORKING = """
    SELECT DISTINCT s.name, s.skill_id,
        r.path, r.target, r.place
    FROM skill_references AS r JOIN skills AS s ON s.id = r.skill
    WHERE r.kind = 'link' AND r.problem IS NULL AND s.status = 'active'
"""


@pytest.fixture
def linking(tmp_path: Path) -> Linking:
    """Return a catalog of skills that link to each other in a circle, and of one to both."""
    made = Linking(tmp_path)
    write_skill(made.root / "a", body="See [b](../b/SKILL.md).\n", files={"x.md": "A.\n"})
    write_skill(made.root / "b", body="See [a](../a/SKILL.md) and [it](../a/x.md).\n")
    write_skill(made.root / "c", files={"references/r.md": "[a](../../a/x.md), [b](../../b).\n"})
    made.scan()
    return made


def siblings_of(linking: Linking, skill_id: str) -> dict[str, str]:
    """Return the links beside the versions of a skill, without `current`."""
    links = links_in(linking.settings.packages_folder / skill_id)
    return {name: target for name, target in links.items() if name != "current"}


def test_the_system_gets_from_skill_to_skill(linking: Linking) -> None:
    """From the links for agents, from `current` and from the folder of the version."""
    packages = linking.settings.packages_folder
    for start in (linking.skills / "a", packages / "a/current", (packages / "a/current").resolve()):
        opened = Path(f"{start}/../b/SKILL.md")  # joined, but not shortened
        assert opened.read_bytes() == (linking.root / "b/SKILL.md").read_bytes()
        assert Path(f"{start}/../b/../a/x.md").read_text() == "A.\n"
    assert Path(f"{linking.skills}/c/references/../../a/x.md").read_text() == "A.\n"


def test_links_follow_the_references(linking: Linking) -> None:
    """They come, change and go with the references, the names and the other skills."""
    assert [siblings_of(linking, name) for name in "abc"] == [
        {"b": "../b/current"},
        {"a": "../a/current"},
        {"a": "../a/current", "b": "../b/current"},
    ]
    write_skill(linking.root / "a", body="No more.\n")
    (linking.root / "b").rename(linking.root / "d")
    linking.scan()
    assert [siblings_of(linking, name) for name in ("a", "c")] == [{}, {"a": "../a/current"}]
    assert linking.differences() == []
    write_skill(linking.root / "d", name="d", body="See [a](../a/SKILL.md).\n")
    write_skill(linking.root / "c", body="See [d](../d/SKILL.md).\n")
    linking.scan()
    assert siblings_of(linking, "c") == {"a": "../a/current", "d": "../d/current"}
    assert linking.differences() == []


def test_a_skill_that_is_gone_leaves_no_links(linking: Linking) -> None:
    """Nor has a skill a link to it."""
    for file in (linking.root / "a").iterdir():
        file.unlink()
    (linking.root / "a").rmdir()
    linking.scan()
    assert [siblings_of(linking, name) for name in "ab"] == [{}, {}]
    assert linking.differences() == []


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda folder: (folder / "a").unlink(), "b/a: it does not lead to ../a/current"),
        (
            lambda folder: ((folder / "a").unlink(), os.symlink("../c/current", folder / "a")),
            "b/a: it does not lead to ../a/current",
        ),
        (
            lambda folder: os.symlink("../c/current", folder / "c"),
            "b/c: the skill has no working link to such a skill",
        ),
    ],
    ids=["missing", "wrong", "superfluous"],
)
def test_a_false_link_is_a_difference_and_is_corrected(
    linking: Linking, harm: Callable[[Path], object], message: str
) -> None:
    """By `reconcile`, and by each start."""
    before = siblings_of(linking, "b")
    harm(linking.settings.packages_folder / "b")
    differences = compare_once(linking.settings).differences
    assert [f"{each.path}: {each.message}" for each in differences] == [message]
    assert repair(linking.settings).left == ()
    assert siblings_of(linking, "b") == before


def test_a_link_that_leads_elsewhere_is_never_removed(linking: Linking) -> None:
    """Somebody else made it: it keeps its name, or gets another where ours needs the name."""
    folder, elsewhere = linking.settings.packages_folder / "b", linking.root.parent / "elsewhere"
    elsewhere.mkdir()
    (folder / "a").unlink()
    for name in ("a", "mine"):
        (folder / name).symlink_to(elsewhere)
    linking.scan()
    assert (folder / "a").readlink() == Path("../a/current")
    assert [(folder / name).readlink() for name in ("a.~1~", "mine")] == [elsewhere, elsewhere]
    foreign = "skilldrop did not create it and leaves it alone; move it away"
    assert linking.differences() == [f"b/{name}: {foreign}" for name in ("a.~1~", "mine")]


def test_a_folder_in_place_of_a_link_is_kept_under_another_name(linking: Linking) -> None:
    """It may be the copy of a backup that follows links, or somebody's own."""
    folder = linking.settings.packages_folder / "b"
    (folder / "a").unlink()
    (folder / "a").mkdir()
    (folder / "a/mine").write_text("mine")
    linking.scan()
    assert siblings_of(linking, "b") == {"a": "../a/current"}
    assert (folder / "a.~1~/mine").read_text() == "mine"


@pytest.mark.parametrize("name", ["current", "20261122-190000"])
def test_a_name_that_versions_have_is_never_taken(linking: Linking, name: str) -> None:
    """The finding says so, since agents that resolve links would read the wrong skill."""
    write_skill(linking.root / name)
    write_skill(linking.root / "a", body=f"See [it](../{name}/SKILL.md).\n")
    linking.scan()
    assert siblings_of(linking, "a") == {}
    store = linking.open()
    problems = store.db.execute("SELECT problem FROM skill_references WHERE wanted = ?", [name])
    assert problems.fetchall() == [
        (f"leads to the skill {name}; agents that resolve links take that name for a version",)
    ]
    store.close()


def test_a_crash_before_the_links_is_repaired_at_the_next_start(
    linking: Linking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The catalog is ahead of the folder then."""
    write_skill(linking.root / "a", body="See [c](../c/SKILL.md).\n")
    with monkeypatch.context() as crashing:
        crashing.setattr(Packager, "note_links", lambda *_: None)
        linking.scan()
    assert siblings_of(linking, "a") == {"b": "../b/current"}
    linking.open().close()
    assert siblings_of(linking, "a") == {"c": "../c/current"}


@pytest.mark.skipif(not REAL_SKILLS.is_dir(), reason="needs ../shared/search")
def test_all_working_links_of_real_skills_lead_there_both_ways(tmp_path: Path) -> None:
    """Joined as text, and opened by the system, which follows links first."""
    shutil.copytree(REAL_SKILLS, tmp_path / "root")
    linking = Linking(tmp_path)
    linking.scan()
    store = linking.open()
    rows = store.db.execute(WORKING).fetchall()
    store.close()
    assert len(rows) > 100
    for name, skill_id, path, target, place in rows:
        folder = Path(path).parent
        shown = linking.skills / entry_name(name, skill_id) / folder
        joined, opened = Path(os.path.normpath(shown / target)), Path(f"{shown}/{target}")
        package = (linking.settings.packages_folder / skill_id / "current").resolve() / folder
        of_package = Path(f"{package}/{target}")
        assert joined.resolve() == opened.resolve() == of_package.resolve(), target
        if Path(place).is_file():
            assert opened.read_bytes() == Path(place).read_bytes()
        assert opened.exists()
    assert linking.differences() == []
