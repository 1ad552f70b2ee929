"""Exclusion of paths: patterns, .gitignore files and folders made by skilldrop."""

from pathlib import Path

import pytest

from pipeline.authoring.lint import judge_paths
from tests.support.made_archives import make_zip
from tests.support.skills import SkillWriter


@pytest.fixture
def tree(tmp_path: Path, skill: SkillWriter) -> Path:
    """Return a work tree with four skills, one of them in an archive."""
    for name in ("kept", "build/made", "old/first"):
        skill(tmp_path / "tree" / name)
    make_zip(tmp_path / "tree/packed.zip", {"SKILL.md": "---\nname: packed\n---\n"})
    return tmp_path / "tree"


def judged(*paths: Path, patterns: tuple[str, ...] = ()) -> list[str]:
    """Return the names of the folders that are judged."""
    top = str(paths[0].parent if paths[0].name != "tree" else paths[0])
    exclude = ((top, patterns),) if patterns else ()
    return [Path(one.path).name for one in judge_paths(paths, exclude=exclude, cores=1)]


def test_patterns_leave_out_folders_and_archives(tree: Path) -> None:
    """They are those of a .gitignore."""
    assert judged(tree) == ["made", "kept", "first", "packed.zip!"]
    assert judged(tree, patterns=("build/", "*.zip")) == ["kept", "first"]
    assert judged(tree, patterns=("/old/*", "!/old/first")) == [
        "made",
        "kept",
        "first",
        "packed.zip!",
    ]


def test_ignore_files_below_the_named_folder_are_respected(tree: Path) -> None:
    """A deeper file takes precedence."""
    (tree / ".gitignore").write_text("build/\nfirst\n*.zip\n")
    assert judged(tree) == ["kept"]
    (tree / "old/.gitignore").write_text("!first\n")
    assert judged(tree) == ["kept", "first"]
    (tree / ".gitignore").rename(tree / ".skillignore")
    assert judged(tree) == ["kept", "first"]


def test_a_named_path_is_always_validated(tree: Path) -> None:
    """So an editor can validate a file of an ignored folder."""
    made = tree / "build/made"
    for folder in (tree, made.parent):
        (folder / ".gitignore").write_text("build/\nmade/\n")
    for patterns in ((), ("made/",), ("build/",)):
        assert judged(made, patterns=patterns) == ["made"]
        assert judged(made / "SKILL.md", patterns=patterns) == ["made"]


def test_folders_of_a_catalog_are_never_validated(tree: Path) -> None:
    """A marker shows that skilldrop writes to a folder of any name."""
    packages = (tree / "old").rename(tree / "packages")
    (packages / ".skilldrop").write_text("{}")
    assert judged(tree) == ["made", "kept", "packed.zip!"]
    assert judged(packages / "first") == ["first"]
