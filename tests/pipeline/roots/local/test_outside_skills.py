"""Findings about what lies in a root and is part of no skill."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from pipeline.roots.local.folder import LooseFinding
from tests.support import roots
from tests.support.skills import write_skill


def write(root: Path, *paths: str) -> None:
    """Write files, and for a path that ends with a slash a directory."""
    for path in paths:
        if path.endswith("/"):
            (root / path).mkdir(parents=True, exist_ok=True)
        else:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text("x")


def told(root: Path, paths: Iterable[str] = ("",)) -> list[tuple[str, str]]:
    """Return path and code of each loose finding of walks."""
    return sorted(
        (result.path, result.finding.code)
        for path in paths
        for result in roots.walk(root, path)
        if isinstance(result, LooseFinding)
    )


@pytest.mark.parametrize(
    "name",
    [
        "SKILL.MD.txt",
        "SKILLS.md",
        "skill.markdown",
        "SKILL",
        "skill.txt",
        "SKILL.md.md",
        "SKILL (1).md",
    ],
)
def test_a_name_like_skill_md_is_told(tmp_path: Path, name: str) -> None:
    """The advice is to rename it; the folder needs no finding of its own."""
    write(tmp_path, f"s/{name}")
    assert told(tmp_path) == [(f"s/{name}", "skill-md-misnamed")]


@pytest.mark.parametrize("name", ["x.rar", "x.7z", "group/X.RAR", "x.tar.lz", "x.tar.xz"])
def test_an_archive_of_another_kind_is_told(tmp_path: Path, name: str) -> None:
    """It must be packed again."""
    write(tmp_path, name)
    assert told(tmp_path) == [(name, "archive-not-read")]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        pytest.param(["notes.md"], [("notes.md", "file-outside-skills")], id="lone file"),
        pytest.param(["s/"], [("s", "folder-without-skill")], id="empty folder"),
        pytest.param(["s/README.md"], [("s", "folder-without-skill")], id="only a README"),
        pytest.param(["s/a/"], [("s/a", "folder-without-skill")], id="empty folder in a folder"),
        pytest.param(
            ["s/notes.md", "s/scripts/run.py", "s/assets/deep/x.bin"],
            [("s", "folder-without-skill")],
            id="one finding for a tree",
        ),
        pytest.param(
            ["s/scripts/run.py", "s/docs/x.md"],
            [("s/docs", "folder-without-skill"), ("s/scripts", "folder-without-skill")],
            id="one for each tree without files above",
        ),
    ],
)
def test_what_is_no_skill_is_told(
    tmp_path: Path, paths: list[str], expected: list[tuple[str, str]]
) -> None:
    """The outermost folder with files speaks for those below it."""
    write_skill(tmp_path / "good", files={"references/x.md": "x", "empty.rar": "x"})
    write(tmp_path, *paths)
    assert told(tmp_path) == expected


@pytest.mark.parametrize(
    "path",
    [
        *("README.md", "LICENSE", "LICENSE.txt", "CHANGELOG.md", ".gitignore", "CLAUDE.md"),
        *(".git/config", ".github/workflows/x.yml", ".claude-plugin/marketplace.json"),
        *("group/README.md", "package.json", "node_modules/x/y.js", "index.json"),
    ],
)
def test_what_is_plainly_no_skill_is_not_told(tmp_path: Path, path: str) -> None:
    """Files of a project, hidden folders, leftovers, and folders that hold skills are quiet."""
    write_skill(tmp_path / "group/good")
    write(tmp_path, path)
    assert told(tmp_path) == []


def test_an_ignored_file_is_not_told(tmp_path: Path) -> None:
    """A .skillignore says that somebody knows."""
    write(tmp_path, "notes.md", "docs/x.md", "old.rar")
    (tmp_path / ".skillignore").write_text("notes.md\ndocs/\n*.rar\n")
    assert told(tmp_path) == []


def test_parts_of_a_root_tell_the_same_as_the_whole(tmp_path: Path) -> None:
    """Also where each entry of the root is walked alone."""
    write_skill(tmp_path / "group/good")
    write(
        tmp_path, "notes.md", "x.rar", "group/notes.md", "group/docs/deep/y.md", "group/SKILL.txt"
    )
    write(tmp_path, "a/b/c/x.md", "a/b/d/", "e/", ".hidden/x.md", "group/sub/x.7z")
    whole = told(tmp_path)
    assert len(whole) == 8
    assert told(tmp_path, (entry.name for entry in tmp_path.iterdir())) == whole


def test_a_walk_from_within_tells_the_same(tmp_path: Path) -> None:
    """A folder below one with a finding is quiet even where the walk begins there."""
    write(tmp_path, "group/notes.md", "group/docs/y.md", "group/docs/z.rar")
    assert told(tmp_path, ["group/docs"]) == [("group/docs/z.rar", "archive-not-read")]
    assert told(tmp_path, ["group/docs/y.md"]) == []
