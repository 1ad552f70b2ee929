"""Baselines: known findings are not reported, and new ones are."""

from pathlib import Path

import pytest

from catalog.model.errors import NotPossible
from pipeline.authoring.baseline import Baseline
from pipeline.authoring.lint import Judgement, judge_paths
from tests.support.skills import SkillWriter


@pytest.fixture
def file(tmp_path: Path, skill: SkillWriter) -> Path:
    """Return a baseline of two skills with a wrong name each; one has a missing file, too."""
    skill(tmp_path / "skills/one", name="other")
    skill(tmp_path / "skills/two", name="another", body="See [it](a.md).\n")
    baseline = Baseline(tmp_path / "base.json")
    assert baseline.write(judge(tmp_path)) == 3
    return baseline.file


def judge(folder: Path) -> list[Judgement]:
    """Return the judgements of the skills below a folder."""
    return list(judge_paths([folder], profiles=["advice"], cores=1))


def new(file: Path) -> list[str]:
    """Return the codes that are new to a baseline."""
    baseline = Baseline.read(file)
    return [f.code for one in judge(file.parent) for f in baseline.new_only(one).findings]


def test_known_findings_are_not_reported_wherever_their_lines_move(
    file: Path, skill: SkillWriter
) -> None:
    """Path, code and the text of the line identify a finding."""
    assert new(file) == []
    skill(
        file.parent / "skills/two",
        name="another",
        more="license: MIT",
        body="A line.\n\n  See [it](a.md).\n",
    )
    assert new(file) == []


def test_another_finding_of_a_known_code_is_new(file: Path, skill: SkillWriter) -> None:
    """Its line differs."""
    skill(file.parent / "skills/two", name="another", body="See [it](a.md).\n\nAnd [it](b.md).\n")
    assert new(file) == ["reference-missing"]


def test_a_new_baseline_leaves_out_what_is_gone(file: Path, skill: SkillWriter) -> None:
    """A finding that comes back is new."""
    skill(file.parent / "skills/one")
    Baseline(file).write(judge(file.parent))
    skill(file.parent / "skills/one", name="other")
    assert new(file) == ["name-not-folder"]


@pytest.mark.parametrize("content", ["", "[]", '{"version": 2}', '{"version": 1, "findings": 3}'])
def test_another_file_is_refused(tmp_path: Path, content: str) -> None:
    """The sentence says how to write a baseline."""
    (tmp_path / "base.json").write_text(content)
    with pytest.raises(NotPossible, match="--write-baseline"):
        Baseline.read(tmp_path / "base.json")
    with pytest.raises(NotPossible, match="cannot be read"):
        Baseline.read(tmp_path / "missing.json")
