"""The linter in continuous integration: the pre-commit hook, the action and its dependencies."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.paths import REPOSITORY
from tests.support.skills import SkillWriter

SKILLDROP = Path(sys.executable).with_name("skilldrop")
HOOK = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text("utf-8"))[0]
ACTION = yaml.safe_load((REPOSITORY / "action.yml").read_text("utf-8"))
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))

pytestmark = pytest.mark.skipif(not SKILLDROP.exists(), reason="skilldrop is not installed")


def hooked(repository: Path) -> subprocess.CompletedProcess[str]:
    """Run the hook as pre-commit does: with its arguments and no names."""
    program, verb = str(HOOK["entry"]).split()
    return subprocess.run(
        [SKILLDROP.with_name(program), verb, *HOOK["args"]],
        cwd=repository,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_hook_fails_when_only_a_referenced_file_has_gone(
    tmp_path: Path, skill: SkillWriter
) -> None:
    """It always runs, and on all skills, because no changed file names the broken one."""
    assert (HOOK["language"], HOOK["always_run"], HOOK["pass_filenames"]) == ("python", True, False)
    body = "Read [the notes](notes.md).\n"
    skill(tmp_path / "skills/one", body=body, files={"notes.md": "A note.\n"})
    (tmp_path / "skilldrop.toml").write_text(
        '[validate]\nseverity = {reference-missing = "error"}\n'
    )
    assert hooked(tmp_path).returncode == 0
    (tmp_path / "skills/one/notes.md").unlink()
    result = hooked(tmp_path)
    assert (result.returncode, "reference-missing" in result.stdout) == (1, True)


def test_the_action_validates_the_named_paths(tmp_path: Path, skill: SkillWriter) -> None:
    """Its last step fails for an error; inputs are variables, never parts of the script."""
    skill(tmp_path / "skills/one", name="other")
    skill(tmp_path / "more/three", name="other")
    skill(tmp_path / "drafts/two", name="other")
    binaries = tmp_path / "runner/skilldrop/bin"
    binaries.mkdir(parents=True)
    (binaries / "skilldrop").symlink_to(SKILLDROP)
    step = ACTION["runs"]["steps"][-1]
    given = {"PATHS": "skills\nmore\n", "ARGS": "--no-comments"}
    result = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]],
        cwd=tmp_path,
        env={**os.environ, **given, "RUNNER_TEMP": str(tmp_path / "runner")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 1, result.stderr
    for folder in ("skills/one", "more/three"):
        assert f"::error file={folder}/SKILL.md,line=2" in result.stdout
    assert "drafts" not in result.stdout
    assert set(step["env"]) == {"PATHS", "ARGS"}
    assert "${{" not in step["run"]


def test_the_linter_imports_only_its_own_group_of_dependencies(
    tmp_path: Path, skill: SkillWriter
) -> None:
    """Neither the site, its server nor the watchers are needed to validate and to mend."""
    group = PROJECT["dependency-groups"]["lint"]
    assert set(group) <= {
        line.split(" #")[0].strip() for line in PROJECT["project"]["dependencies"]
    }
    tests = '[{"query": "the weather", "should_trigger": true}]'
    skill(tmp_path / "one", name="One", more="license: @MIT", files={"evals/a.json": tests})
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("x/\n")
    (tmp_path / "bad.toml").write_text("[validate]\nselct = []\n")
    code = (
        "import sys\nfrom importlib.metadata import packages_distributions\n"
        "from catalog.model.errors import NotPossible\nfrom pipeline.cli.app import cli\n"
        "for words in (['validate', '.', '--fix'], ['validate', '.', '--format', 'github'],"
        " ['rule', 'name-missing'], ['migrate', 'one']):\n"
        "    cli.main(words, standalone_mode=False)\n"
        "try:\n    cli.main(['--config', 'bad.toml', 'validate', '.'], standalone_mode=False)\n"
        "except NotPossible as error:\n    print(error)\n"
        "tops = {name.split('.')[0] for name in sys.modules}\n"
        "by_top = packages_distributions()\n"
        "print('\\n', *sorted({d for t in tops for d in by_top.get(t, ())}))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "route-missed" in result.stdout
    assert "did you mean select?" in result.stdout
    used = {name.lower().replace("_", "-") for name in result.stdout.splitlines()[-1].split()}
    others = {
        line.partition(">")[0].partition("[")[0] for line in PROJECT["project"]["dependencies"]
    }
    named = {line.partition(">")[0] for line in group}
    assert used.isdisjoint(others - named), used & (others - named)


def test_the_hook_installs_the_linters_dependencies_and_theirs() -> None:
    """And no others; pip resolves none for it."""
    no_deps, *named = HOOK["additional_dependencies"]
    assert no_deps == "--no-deps"
    assert named == sorted(_with_their_own(PROJECT["dependency-groups"]["lint"]))


def _with_their_own(lines: Iterable[str]) -> set[str]:
    """Return the names of requirements and of all that they require here."""
    found: set[str] = set()
    waiting = list(lines)
    while waiting:
        requirement = Requirement(waiting.pop())
        name = canonicalize_name(requirement.name)
        if name in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        waiting += metadata.requires(name) or []
    return found
