"""The linter in an existing collection: ignored findings, one new fault, and its fix."""

import json
import shutil
from pathlib import Path

import pytest

from tests.support.paths import SEARCH
from tests.support.program import run

SKILLS = SEARCH / "skills"


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """Return a project with a copy of every fourth skill of the collection."""
    if not SKILLS.is_dir():
        pytest.skip("the collection is not beside this repository")
    for skill in sorted(path.parent for path in SKILLS.rglob("SKILL.md"))[::4]:
        copy = tmp_path / "skills" / skill.relative_to(SKILLS)
        shutil.copytree(skill, copy, copy_function=shutil.copyfile, dirs_exist_ok=True)
    return tmp_path


def test_a_collection_adopts_the_linter(collection: Path) -> None:
    """With its present findings ignored by path it passes; one new fault fails alone."""
    found: dict[str, set[str]] = {}
    for one in json.loads(run("validate", "skills", "--json").stdout):
        for finding in one["findings"]:
            found.setdefault(f"/{one['path']}/", set()).add(finding["code"])
    lines = [f"{json.dumps(path)} = {json.dumps(sorted(codes))}" for path, codes in found.items()]
    settings = "\n".join(["[validate.per-path-ignores]", *lines])
    (collection / "skilldrop.toml").write_text(settings)
    assert run("validate", "skills", "--fail-on", "warning").returncode == 0

    document = min(collection.glob("skills/*/*/SKILL.md"))
    good = document.read_bytes()
    document.write_bytes(good.replace(b"---\n", b"---\nowner: us\n", 1) + b"\nOne more line.\n")
    result = run("validate", "skills", "--json")
    (found_now,) = [f for one in json.loads(result.stdout) for f in one["findings"]]
    assert (found_now["code"], result.returncode) == ("field-not-in-specification", 0)

    before = contents(collection)
    assert run("validate", "skills", "--fix").returncode == 0
    changed = {path for path, data in contents(collection).items() if before[path] != data}
    assert changed == {document}
    assert b"  owner: us\n" in document.read_bytes()
    mended = document.read_bytes()
    assert run("validate", "skills", "--fix").returncode == 0
    assert document.read_bytes() == mended


def contents(project: Path) -> dict[Path, bytes]:
    """Return the content of every SKILL.md."""
    return {path: path.read_bytes() for path in project.glob("skills/**/SKILL.md")}
