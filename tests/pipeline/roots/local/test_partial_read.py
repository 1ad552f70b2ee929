import importlib.util
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from catalog.model.finding import Finding
from catalog.model.skill import Place, SkillRecord
from catalog.model.values import Acceptance
from pipeline.dialects.registry import profiles
from pipeline.parsing.document import parse
from pipeline.roots import reader
from pipeline.roots.local import walk as local_walk
from pipeline.roots.local.folder import Folder, Limits
from pipeline.roots.local.partial_read import read_partially
from pipeline.roots.local.walk import DEFAULT_LIMITS
from pipeline.roots.withholding import partial_without_secrets, without_secrets
from tests.pipeline.validation.test_registry import MADE, NOT_FOR_ROOT
from tests.support.bad_samples import BAD, LIMITS
from tests.support.judging import examine, judge
from tests.support.paths import REPOSITORY
from tests.support.skills import SkillWriter

ELF = b"\x7fELF\0\0"


def both(
    root: Path, limits: Limits = DEFAULT_LIMITS, acceptance: Acceptance = "permissive"
) -> Iterator[tuple[tuple[Finding, ...], bool, tuple[Finding, ...], bool]]:
    """Yield findings and validity, after a partial and after a full read."""
    for folder in local_walk.walk(root, "", limits):
        if not isinstance(folder, Folder):
            continue
        place = Place(str(root), folder.path, "project")
        seen, snapshot = read_partially(root, folder, limits), reader.read(root, folder, limits)
        assert seen
        assert snapshot
        seen = partial_without_secrets(seen, "leave-out")
        snapshot = without_secrets(snapshot, "leave-out")
        parsed = parse(seen.skill_md, seen.skill_md_name) if seen.skill_md_name else None
        light = examine(seen, parsed, place, acceptance=acceptance, profiles=tuple(profiles()))
        whole = judge(snapshot, parsed, place, acceptance=acceptance, profiles=tuple(profiles()))
        is_record = isinstance(whole, SkillRecord)
        assert (seen.skill_md_name, seen.skill_md) == (snapshot.skill_md_name, snapshot.skill_md)
        assert (light.description is not None) == is_record
        yield (
            light.findings,
            light.spec_valid,
            whole.findings,
            isinstance(whole, SkillRecord) and whole.spec_valid,
        )


def agree(root: Path, limits: Limits = DEFAULT_LIMITS) -> int:
    """Assert that a partial read of each skill suffices; return the number of skills."""
    count = 0
    for findings, valid, all_findings, all_valid in both(root, limits):
        assert (findings, valid) == (all_findings, all_valid)
        count += 1
    return count


@pytest.mark.parametrize("sample", sorted(BAD.iterdir()), ids=lambda sample: sample.name)
def test_a_partial_read_finds_the_same(sample: Path) -> None:
    """For every sample of a finding."""
    agree(sample, LIMITS.get(sample.name, DEFAULT_LIMITS))


@pytest.mark.parametrize("code", MADE)
def test_a_partial_read_finds_the_same_where_git_cannot_go(
    tmp_path: Path, skill: SkillWriter, code: str
) -> None:
    """With pipes, links and unreadable files."""
    if code in NOT_FOR_ROOT and os.geteuid() == 0:
        pytest.skip("root may read everything")
    MADE[code](skill(tmp_path / "root" / "sample"))
    is_read = code != "ignore-file-refused"
    assert agree(tmp_path / "root") == is_read


def test_a_partial_read_suffices_for_real_skills(corpus: Path) -> None:
    """For every real skill, with all its files."""
    entries = json.loads((corpus / "manifest.json").read_text("utf-8"))["entries"]
    assert agree(corpus) >= len(entries)


def test_a_partial_read_suffices_for_made_skills(tmp_path: Path) -> None:
    """For the skills with which both are measured."""
    source = REPOSITORY / "benchmarks" / "made_skills.py"
    spec = importlib.util.spec_from_file_location("made_skills", source)
    assert spec
    assert spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    made.make_skills(tmp_path, 40)
    assert agree(tmp_path) == 40


@pytest.mark.parametrize(
    ("path", "content", "executable"),
    [
        ("run.exe", ELF, False),
        ("run.EXE", b"text", False),
        ("lib/libx.so.1.2", ELF, False),
        ("bin/run", ELF, True),
        ("bin/run", ELF, False),
        ("bin/run", b"#!/bin/sh\n", True),
        (".hidden", ELF, True),
        ("x.png", ELF, True),
        ("a.so", b"a" * (1 << 20) + b"\xc3", False),
        ("a.so", b"a" * ((1 << 20) - 1) + b"\xc3\xa9", False),
        ("a.so", b"", False),
        ("a.so", b"a" * (1 << 20) + ELF, False),
    ],
)
def test_a_partial_read_recognises_a_program(
    tmp_path: Path, skill: SkillWriter, path: str, content: bytes, executable: bool
) -> None:
    """By name, mode and the same first bytes as a full read."""
    made = skill(tmp_path / "root/sample", files={path: content})
    (made / path).chmod(0o755 if executable else 0o644)
    assert agree(tmp_path / "root") == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_skill_md_that_must_not_be_read_is_none(tmp_path: Path, skill: SkillWriter) -> None:
    """The finding is the same, and the skill has only its folder's name."""
    (skill(tmp_path / "root/sample") / "SKILL.md").chmod(0)
    assert agree(tmp_path / "root") == 1


@pytest.mark.parametrize("change", ["write", "replace", "delete"])
def test_a_skill_md_that_changes_is_not_taken(
    tmp_path: Path, skill: SkillWriter, change: str
) -> None:
    """The walk and the reading must see the same file."""
    made = skill(tmp_path / "root/sample") / "SKILL.md"
    (folder,) = local_walk.walk(tmp_path / "root")
    assert isinstance(folder, Folder)
    if change == "write":
        made.write_text("other")
    else:
        made.rename(tmp_path / "elsewhere.md")
    if change == "replace":
        made.write_bytes((tmp_path / "elsewhere.md").read_bytes())
    assert read_partially(tmp_path / "root", folder, DEFAULT_LIMITS) is None
