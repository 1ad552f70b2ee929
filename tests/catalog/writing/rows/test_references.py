"""References between skills follow the folders that they lead to, and the names they want."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from catalog.audit import verdicts
from catalog.writing.rows import derived, references
from tests.support.linking import Linking
from tests.support.records import NOON
from tests.support.roots_of_levels import Roots
from tests.support.skills import SkillWriter


@pytest.fixture
def roots(tmp_path: Path) -> Roots:
    """Return a root and its catalog."""
    return Roots(tmp_path, [("b", "project")])


@pytest.fixture
def problem(roots: Roots) -> Callable[[], str | None]:
    """Return a function that scans, and returns the problem of the only reference."""

    def scanned() -> str | None:
        roots.scan()
        assert list(verdicts.of_catalog(roots.store.db)) == []
        ((found,),) = roots.store.db.execute("SELECT problem FROM skill_references").fetchall()
        messages = roots.store.db.execute(
            "SELECT message FROM findings WHERE code IN (?, ?)", references.CODES
        ).fetchall()
        assert [found in message for (message,) in messages] == [True] * bool(found)
        return None if found is None else str(found)

    return scanned


Problem = Callable[[], str | None]


def link(skill: SkillWriter, roots: Roots, target: str = "../other/SKILL.md") -> Path:
    """Write a skill with a link to another one."""
    return skill(roots.folder / "b/user", body=f"See [the other]({target}).\n")


def test_a_link_follows_the_skill_that_comes_and_goes(
    roots: Roots, skill: SkillWriter, problem: Problem
) -> None:
    """The catalog notices without a change of the skill with the link."""
    link(skill, roots)
    assert problem() == f"leads to {roots.folder}/b/other/SKILL.md, where no accepted skill is"
    other = skill(roots.folder / "b/other")
    assert problem() is None
    other.rename(roots.folder / "b/moved")
    assert "no accepted skill" in (problem() or "")
    (roots.folder / "b/moved").rename(other)
    assert problem() is None
    (other / "SKILL.md").write_text("no frontmatter")
    assert problem() is None  # its last good version stays published
    (other / "SKILL.md").unlink()
    assert "no accepted skill" in (problem() or "")


def test_a_link_follows_the_name_of_the_other_skill(
    roots: Roots, skill: SkillWriter, problem: Problem
) -> None:
    """Among the published skills it lies under its name, not under that of its folder."""
    link(skill, roots)
    skill(roots.folder / "b/other", name="renamed")
    assert "where that is ../renamed/SKILL.md" in (problem() or "")
    skill(roots.folder / "b/other", name="other")
    assert problem() is None


def test_a_link_to_a_missing_file_is_broken_until_the_file_comes(
    roots: Roots, skill: SkillWriter, problem: Problem
) -> None:
    """Folders count as files, and so does the whole skill."""
    link(skill, roots, "../other/references/a.md")
    assert "where no accepted skill is" in (problem() or "")
    skill(roots.folder / "b/other")
    assert problem() == "leads to the skill other, which has no references/a.md"
    skill(roots.folder / "b/other", files={"references/a.md": "A.\n"})
    assert problem() is None
    for target in ("../other/references", "../other/", "../other"):
        link(skill, roots, target)
        assert problem() is None


def test_a_link_to_a_shadowed_skill_is_broken(
    roots: Roots, skill: SkillWriter, problem: Problem
) -> None:
    """Agents get the other skill of that name, unless it has the same content."""
    skill(roots.folder / "b/a/other")
    roots.scan()
    skill(roots.folder / "b/other", body="Different.\n")
    link(skill, roots)
    assert problem() == "leads to the skill other, which is not published"
    skill(roots.folder / "b/other")
    assert problem() is None  # the same content
    skill(roots.folder / "b/other", body="Different.\n")
    assert problem() == "leads to the skill other, which is not published"
    roots.store.prefer(f"{roots.folder}/b/other", NOON)
    assert problem() is None


def test_a_link_between_groups_of_folders_works_only_in_the_root(
    roots: Roots, skill: SkillWriter, problem: Problem
) -> None:
    """The published skills are not grouped; the finding says where the other one is."""
    skill(roots.folder / "b/one/user", body="See [it](../../two/other/SKILL.md).\n")
    skill(roots.folder / "b/two/other")
    assert "where that is ../other/SKILL.md" in (problem() or "")
    ((fix,),) = roots.store.db.execute(
        "SELECT fix FROM findings WHERE code = 'skill-reference-broken'"
    ).fetchall()
    assert fix.startswith("Let the folders of both skills lie side by side")


def test_a_link_between_an_outer_and_an_inner_skill_is_broken_both_ways(
    roots: Roots, skill: SkillWriter
) -> None:
    """Both are published side by side; each finding says where the other one is."""
    body = "[it](inner/SKILL.md) [its](inner/x.md) [none](lost/SKILL.md)\n"
    skill(roots.folder / "b/outer", body=body)
    skill(roots.folder / "b/outer/inner", body="[it](../SKILL.md)\n", files={"x.md": "X\n"})
    roots.scan()
    findings = roots.store.db.execute(
        "SELECT s.name, f.message FROM findings AS f JOIN skills AS s ON s.id = f.skill"
        " WHERE f.code LIKE '%reference%' ORDER BY s.name, f.id"
    ).fetchall()
    among = "in its folder, but not among the published skills, where that is"
    assert findings == [
        ("inner", f"“../SKILL.md” leads to the skill outer {among} ../outer/SKILL.md."),
        ("outer", f"“inner/SKILL.md” leads to the skill inner {among} ../inner/SKILL.md."),
        ("outer", f"“inner/x.md” leads to the skill inner {among} ../inner/x.md."),
        ("outer", "“lost/SKILL.md” leads to the skill outer, which has no lost/SKILL.md."),
    ]


def test_a_reference_has_at_most_one_finding(tmp_path: Path, skill: SkillWriter) -> None:
    """None if it works; the advice on files leaves relative links to the catalog."""
    linking = Linking(tmp_path)
    linking.add("other")
    body = "[works](../other/SKILL.md) [not](../none/SKILL.md) [in](in/SKILL.md) [no](/docs/a.md)\n"
    skill(linking.root / "user", body=body)
    linking.scan()
    store = linking.open()
    codes = store.db.execute("SELECT code FROM findings WHERE code LIKE '%reference%' ORDER BY id")
    assert [code for (code,) in codes] == [
        "reference-outside-folder",
        "skill-reference-broken",
        "skill-reference-broken",
    ]
    store.close()


def test_dependencies_of_an_apexbridge_package_count_if_they_are_skills(
    roots: Roots, skill: SkillWriter
) -> None:
    """Its format names modules there, so an unknown name is no problem."""
    skill(
        roots.folder / "b/user",
        more="type: service\ncapabilities: [x]\nprotocol: abp\ndependencies: [other, axios]",
    )
    skill(roots.folder / "b/other")
    roots.scan()
    rows = roots.store.db.execute(
        "SELECT r.field, r.target, s.name, r.problem FROM skill_references AS r"
        " LEFT JOIN skills AS s ON s.id = r.to_skill ORDER BY r.id"
    ).fetchall()
    assert rows == [
        ("dependencies", "other", "other", None),
        ("dependencies", "axios", None, None),
    ]


def test_a_link_of_another_markdown_file_starts_there(
    roots: Roots, skill: SkillWriter, problem: Problem
) -> None:
    """It has its file and its line."""
    skill(
        roots.folder / "b/user",
        files={"references/more.md": "# More\n\nSee [it](../../other/SKILL.md).\n"},
    )
    skill(roots.folder / "b/other")
    assert problem() is None
    assert roots.store.db.execute("SELECT path, line FROM skill_references").fetchall() == [
        ("references/more.md", 3)
    ]


def test_a_declared_skill_is_found_by_its_name(
    roots: Roots, skill: SkillWriter, problem: Problem
) -> None:
    """Wherever it lies, and whatever its folder is called."""
    skill(roots.folder / "b/user", more="depends_on: [other]")
    assert problem() == "no published skill has that name"
    skill(roots.folder / "b/deep/folder", name="other")
    assert problem() is None
    skill(roots.folder / "b/deep/folder", name="renamed")
    assert problem() == "no published skill has that name"


def test_a_pinned_skill_has_the_references_of_its_version(roots: Roots, skill: SkillWriter) -> None:
    """Its folder has others."""
    user = link(skill, roots, "../one/SKILL.md")
    roots.scan()
    store = roots.store
    link(skill, roots, "../two/SKILL.md")
    roots.scan()
    stored = "SELECT target FROM skill_references"
    assert store.db.execute(stored).fetchall() == [("../two/SKILL.md",)]
    store.db.execute("UPDATE skills SET current_version_id = (SELECT min(id) FROM versions)")
    derived.write(store.db, [1])
    assert store.db.execute(stored).fetchall() == [("../one/SKILL.md",)]
    assert user.exists()


def test_versions_of_earlier_releases_get_their_references(
    roots: Roots, skill: SkillWriter
) -> None:
    """With the next verdict, so that a skill that is no longer pinned has them."""
    user = link(skill, roots)
    roots.scan()
    db = roots.store.db
    db.execute("UPDATE versions SET described = json_remove(described, '$.references')")
    db.execute("DELETE FROM skill_references")
    db.execute("UPDATE skills SET pinned_version_id = current_version_id, fingerprint = ''")
    roots.scan()
    roots.store.unpin("user", NOON)
    assert db.execute("SELECT target FROM skill_references").fetchall() == [("../other/SKILL.md",)]
    assert user.exists()


def test_the_log_names_the_users_of_a_removed_skill(
    roots: Roots, skill: SkillWriter, caplog: pytest.LogCaptureFixture
) -> None:
    """The same is in the history."""
    caplog.set_level(logging.INFO)
    link(skill, roots)
    other = skill(roots.folder / "b/other")
    roots.scan()
    (other / "SKILL.md").unlink()
    roots.scan()
    assert "removed other (used by user)" in caplog.messages


def test_only_the_skills_concerned_are_resolved(
    roots: Roots, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change of one skill reads its own references and those to it."""
    for number in range(5):
        skill(roots.folder / f"b/user-{number}", body=f"[x](../other-{number}/SKILL.md)\n")
    roots.scan()
    resolved: list[int] = []
    resolve_skills = references.resolve_skills

    def noted(db: object, skills: list[int]) -> None:
        resolved.extend(skills)
        resolve_skills(db, skills)  # type: ignore[arg-type]

    monkeypatch.setattr(references, "resolve_skills", noted)
    skill(roots.folder / "b/other-3")
    roots.scan()
    names = [name for (name,) in roots.store.db.execute("SELECT name FROM skills ORDER BY id")]
    assert sorted(names[skill - 1] for skill in resolved) == ["other-3", "user-3"]
