"""Kinds, inventory, digest and fingerprint of a skill's files."""

import os
from pathlib import Path

import pytest

from catalog.model.skill import FileEntry, Inventory
from catalog.model.values import FileKind
from pipeline.roots.codes import SPECIAL_FILE
from pipeline.roots.snapshot import digest, fingerprint, kind_of

A = FileEntry("a.txt", 3, "1" * 64, 0o644, "other", True)
B = FileEntry("b.txt", 4, "2" * 64, 0o644, "other", True)


@pytest.mark.requirement(
    "agent-skills/references",
    "agent-skills/assets",
    "prd/inventory-scripts",
    "prd/inventory-references",
    "prd/inventory-references-beside",
    "prd/inventory-templates",
)
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("SKILL.md", "skill_md"),
        ("REFERENCE.md", "reference"),
        ("forms.markdown", "reference"),
        ("README.md", "other"),
        ("Changelog.MD", "other"),
        ("LICENSE.md", "other"),
        ("LICENSE.txt", "other"),
        ("references/api.txt", "reference"),
        ("reference/deep/api.md", "reference"),
        ("references/README.md", "reference"),
        ("docs/api.md", "other"),
        ("scripts/run.py", "script"),
        ("scripts/lib/run.md", "script"),
        ("run.py", "other"),
        ("templates/letter.md", "template"),
        ("assets/templates/letter.md", "template"),
        ("assets/templates.json", "asset"),
        ("assets/logo.png", "asset"),
        ("tests/SKILL.md", "test"),
        ("evals/one.json", "test"),
        ("config/a.txt", "config"),
        ("package.json", "config"),
        ("Scripts/run.py", "other"),
    ],
)
def test_a_file_has_its_kind_from_where_it_lies(path: str, kind: FileKind) -> None:
    """The folder decides; beside SKILL.md, the file name extension."""
    assert kind_of(path, "SKILL.md") == kind


def test_the_spelling_that_was_read_is_the_skill_md() -> None:
    """A `skill.md` in the role of SKILL.md is not a reference."""
    assert kind_of("skill.md", "skill.md") == "skill_md"
    assert kind_of("skill.md", None) == "reference"


@pytest.mark.requirement(
    "prd/inventory-skill-md",
    "prd/inventory-has-scripts",
    "prd/inventory-has-references",
    "prd/inventory-scripts",
    "prd/inventory-references",
    "prd/inventory-references-beside",
    "prd/inventory-templates",
    "prd/inventory-files",
    "prd/inventory-size",
)
def test_an_inventory_lists_what_the_kinds_say() -> None:
    """The three lists of files and the two yes-or-no fields follow from the kinds alone."""
    paths = ["SKILL.md", "FORMS.md", "README.md", "scripts/a.py", "assets/templates/t.md"]
    files = [FileEntry(p, 2, "", 0o644, kind_of(p, "SKILL.md"), True) for p in paths]
    assert Inventory.of(files).as_json() == {
        "hasSkillMd": True,
        "hasScripts": True,
        "hasReferences": True,
        "scriptFiles": ("scripts/a.py",),
        "referenceFiles": ("FORMS.md",),
        "templateFiles": ("assets/templates/t.md",),
        "totalFiles": 5,
        "totalSizeBytes": 10,
    }


def test_a_digest_is_what_it_was_in_every_release() -> None:
    """Stored digests stay comparable: the hashed bytes never change."""
    assert digest([A, B]) == (
        "sha256:a7e7218d98847f521649ac224cd99bbf5c6a42cbf46d8ac56829db3ba959ddeb"
    )


def test_a_digest_does_not_depend_on_the_order_of_the_files() -> None:
    """File systems list files in any order."""
    assert digest([A, B]) == digest([B, A])


@pytest.mark.parametrize(
    "change", [{"path": "c.txt"}, {"size": 5}, {"sha256": "3" * 64}, {"mode": 0o755}], ids=str
)
def test_a_digest_changes_with_what_is_published(change: dict[str, object]) -> None:
    """Path, size, content and the right to execute each count."""
    assert digest([A._replace(**change), B]) != digest([A, B])  # type: ignore[arg-type]


def test_no_file_name_can_spell_another_manifest() -> None:
    """A name that contains the rest of a manifest line does not equal two files."""
    rest = f"{A.mode:o}:{A.size}:{A.sha256}\n"
    swallowing = B._replace(path=f"{A.path}{rest}{len(B.path)}:{B.path}")
    assert digest([swallowing]) != digest([A, B])


@pytest.mark.parametrize(
    "change", [{"mode": 0o100755}, {"inode": 8}, {"size": 9}, {"mtime": 2}, {"ctime": 3}], ids=str
)
def test_a_fingerprint_changes_with_each_part_of_a_stat(change: dict[str, int]) -> None:
    """Size and times alone would miss a file replaced by an identical one."""
    assert fingerprint([("a", stat_of(**change))]) != fingerprint([("a", stat_of())])


def stat_of(
    *, mode: int = 0o100644, inode: int = 7, size: int = 1, mtime: int = 1, ctime: int = 1
) -> os.stat_result:
    """Return a stat; times are in nanoseconds."""
    return os.stat_result(
        (mode, inode, 0, 1, 0, 0, size, 0, 0, 0), {"st_mtime_ns": mtime, "st_ctime_ns": ctime}
    )


def test_a_fingerprint_changes_with_names_stats_and_problems(tmp_path: Path) -> None:
    """Each part of it counts, and equal parts give equal fingerprints."""
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("1")
    other.write_text("22")
    problem = SPECIAL_FILE.at(path="pipe")
    first, second = os.stat(one), os.stat(other)
    prints = [
        fingerprint([]),
        fingerprint([("a", first)]),
        fingerprint([("b", first)]),
        fingerprint([("a", second)]),
        fingerprint([("a", first), ("b", second)]),
        fingerprint([("a", first)], [problem]),
        fingerprint([("a", first)], [problem._replace(path="hose")]),
    ]
    assert len(set(prints)) == len(prints)
    assert fingerprint([("a", first)]) == fingerprint([("a", os.stat(one))])
