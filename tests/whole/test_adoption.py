"""The linter in an existing collection: ignored findings, one new fault, and its fix."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import SEARCH

SKILLDROP = Path(sys.executable).with_name("skilldrop")
SKILLS = SEARCH / "skills"


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """Return a project with a copy of every fourth skill of the collection."""
    if not (SKILLS.is_dir() and SKILLDROP.exists()):
        pytest.skip("the collection is not beside this repository")
    for skill in sorted(path.parent for path in SKILLS.rglob("SKILL.md"))[::4]:
        copy = tmp_path / "skills" / skill.relative_to(SKILLS)
        shutil.copytree(skill, copy, copy_function=shutil.copyfile, dirs_exist_ok=True)
    return tmp_path


def validate(project: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the linter."""
    return subprocess.run(
        [SKILLDROP, "validate", "skills", *options],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_collection_adopts_the_linter(collection: Path) -> None:
    """With its present findings ignored by path it passes; one new fault fails alone."""
    found: dict[str, set[str]] = {}
    for one in json.loads(validate(collection, "--json").stdout):
        for finding in one["findings"]:
            found.setdefault(f"/{one['path']}/", set()).add(finding["code"])
    lines = [f"{json.dumps(path)} = {json.dumps(sorted(codes))}" for path, codes in found.items()]
    settings = "\n".join(["[validate.per-path-ignores]", *lines])
    (collection / "skilldrop.toml").write_text(settings)
    assert validate(collection, "--fail-on", "warning").returncode == 0

    document = min(collection.glob("skills/*/*/SKILL.md"))
    good = document.read_bytes()
    document.write_bytes(good.replace(b"---\n", b"---\nowner: us\n", 1) + b"\nOne more line.\n")
    result = validate(collection, "--json")
    (found_now,) = [f for one in json.loads(result.stdout) for f in one["findings"]]
    assert (found_now["code"], result.returncode) == ("field-not-in-specification", 0)

    before = contents(collection)
    assert validate(collection, "--fix").returncode == 0
    changed = {path for path, data in contents(collection).items() if before[path] != data}
    assert changed == {document}
    assert b"  owner: us\n" in document.read_bytes()
    mended = document.read_bytes()
    assert validate(collection, "--fix").returncode == 0
    assert document.read_bytes() == mended


def contents(project: Path) -> dict[Path, bytes]:
    """Return the content of every SKILL.md."""
    return {path: path.read_bytes() for path in project.glob("skills/**/SKILL.md")}
