"""Command that copies skills, as called by people and programs."""

import json
from pathlib import Path

import pytest

from tests.support.linking import names_in
from tests.support.program import run
from tests.support.skills import write_skill


@pytest.fixture(autouse=True)
def scanned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scan two skills."""
    monkeypatch.setenv("SKILLDROP_SETTLE_QUIET", "0")
    write_skill(Path("watched/pdf"))
    write_skill(Path("watched/xlsx"))
    assert run("scan").returncode == 0


def test_skills_are_copied() -> None:
    """The counts say what changed; --json names the folders."""
    done = run("export", "out/skills")
    assert done.returncode == 0
    assert done.stdout == "out/skills: 2 added, 0 unchanged\n  added pdf\n  added xlsx\n"
    assert names_in(Path("out/skills")) == [".skilldrop-lock", "pdf", "skilldrop.lock", "xlsx"]
    done = run("export", "out/skills", "--only", "pdf", "--json")
    assert json.loads(done.stdout) == {
        "added": [],
        "updated": [],
        "unchanged": ["pdf"],
        "removed": ["xlsx"],
        "edited": [],
        "taken": [],
        "failed": {},
        "repaired": [],
        "withheld": [],
        "reason": "",
        "directory": "out/skills",
    }


def test_without_a_published_skill_nothing_is_copied() -> None:
    """No filter is blamed where none was given."""
    Path("none").mkdir()
    run("--watched", "none", "--data", "other", "scan")
    done = run("--data", "other", "export", "out")
    assert "No skill for agents is published; `skilldrop --data" in done.stderr


def test_most_skills_are_removed_only_if_that_is_meant() -> None:
    """Without `--yes` all stay; a typo is an error with or without it."""
    write_skill(Path("watched/docx"))
    run("scan")
    run("export", "out")
    before = (Path("out") / "skilldrop.lock").read_bytes()
    done = run("export", "out", "--only", "pdf")
    assert done.returncode == 1
    assert "choose another DIR. Not removed: docx, xlsx" in done.stdout
    for words in (["--only", "pfd"], ["--only", "pfd", "--yes"], ["--tag", "x", "--yes"]):
        assert run("export", "out", *words).returncode == 2
    assert names_in(Path("out"))[1:] == ["docx", "pdf", "skilldrop.lock", "xlsx"]
    assert (Path("out") / "skilldrop.lock").read_bytes() == before
    done = run("export", "out", "--only", "pdf", "--yes")
    assert done.stdout.startswith("out: 1 unchanged, 2 removed\n")


def test_a_taken_name_is_told() -> None:
    """By exit code and in a line of its own."""
    write_skill(Path("out/pdf"), description="Is mine.")
    done = run("export", "out")
    assert done.returncode == 1
    assert "  not copied: pdf: the name is taken there; move that away to get it\n" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Missing argument 'DIRECTORY'."),
        (["watched/out"], "export to a place outside of it."),
        (["var"], "export to a place outside of it."),
        (["watched.toml/out"], "Not a directory"),
        (["watched.toml"], "watched.toml is not a directory."),
        (["loop"], "loop is not a directory."),
        (["out", "--index", "none"], "There is no index 'none'."),
        (["out", "--only", "pfd"], "The closest are: pdf."),
    ],
)
def test_a_wrong_destination_is_a_usage_error(words: list[str], message: str) -> None:
    """In one sentence."""
    Path("watched.toml").write_text("")
    Path("loop").symlink_to("loop")
    done = run("export", *words)
    assert done.returncode == 2
    assert message in done.stderr
