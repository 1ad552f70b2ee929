"""Commands that keep links to skills, alone and beside a running service."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from pipeline.cli.entry import main
from tests.support.linking import links_in, names_in
from tests.support.program import run
from tests.support.serving import Serving
from tests.support.skills import write_skill


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory of an agent beside a scanned catalog, in a home of the test."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SKILLDROP_SETTLE_QUIET", "0")
    write_skill(Path("watched/pdf"))
    write_skill(Path("watched/xlsx"))
    assert run("scan").returncode == 0
    return tmp_path / "home" / ".claude" / "skills"


def test_links_are_made_and_removed(agent: Path) -> None:
    """The directory is remembered: the next scan updates it, and the status has it."""
    done = run("link", agent)
    told = "told to the model of Claude Code: 2 whole\n"
    assert (done.returncode, done.stdout) == (
        0,
        f"Linked 2 skills in {agent}.\n{told}",
    )
    shutil.rmtree("watched/pdf")
    run("scan")
    assert list(links_in(agent)) == ["xlsx"]
    assert f"links {agent}: 1 skill\n" in run("status").stdout
    done = run("unlink", agent, "--json")
    assert json.loads(done.stdout)["removed"] == ["xlsx"]
    assert names_in(agent) == []
    assert str(agent) not in run("status").stdout


def test_the_agent_and_what_it_tells_its_model_are_known(agent: Path) -> None:
    """By the command, in the status, and for each skill; another directory may be named."""
    for number in range(40):
        write_skill(Path(f"watched/long-{number:02}"), description="x" * 1000)
    run("scan")
    text = "told to the model of Claude Code: 25 whole, 17 name alone\n    name alone: long-23, "
    assert text in run("link", agent).stdout
    assert text.replace("\n", "\n    ") in run("status").stdout
    for command in ("show", "status"):
        assert f"Claude Code ({agent}): name alone" in run(command, "long-39").stdout
        assert f"Claude Code ({agent}): described whole" in run(command, "xlsx").stdout
    fits = "told to the model of Claude Code: 24 whole, 19 left to the search\n"
    assert run("link", agent, "--fit").stdout == f"Linked 24 skills in {agent}.\n{fits}"
    assert f"    {fits}" in run("status").stdout
    assert "told" not in run("link", "beside").stdout
    assert "Codex: 2 whole, 40 cut short" in run("link", "beside", "--for", "codex").stdout
    assert "): cut short after " in run("show", "long-39").stdout


def test_skills_that_only_people_may_start_are_counted_apart(agent: Path) -> None:
    """So the numbers of the links and of what the model is told agree."""
    write_skill(Path("watched/release"), more="disable-model-invocation: true")
    run("scan")
    told = "told to the model of Claude Code: 2 whole, 1 for people alone\n"
    assert run("link", agent).stdout == f"Linked 3 skills in {agent}.\n{told}"
    assert f"    {told}" in run("status").stdout


def test_a_directory_that_moved_behind_a_link_can_be_unlinked(agent: Path) -> None:
    """By the path that `link` was given, or the real one; the links go, and nothing else."""
    real = agent.with_name("moved")
    run("link", agent)
    agent.rename(real)
    agent.symlink_to(real)
    (real / "mine").mkdir()
    assert run("unlink", agent).stdout == f"Removed 2 skills from {agent}.\n"
    assert names_in(real) == ["mine"]
    run("link", agent)
    assert run("unlink", agent).stdout == f"Removed 2 skills from {real}.\n"
    assert agent.is_symlink()


def test_a_filter_can_be_changed(agent: Path) -> None:
    """A second `link` takes the place of the first."""
    run("link", agent)
    done = run("link", agent, "--only", "pdf", "--json")
    assert json.loads(done.stdout) == {
        "directory": str(agent),
        "linked": 1,
        "taken": [],
        "made": [],
        "removed": ["xlsx"],
        "told": {
            "agent": "claude-code",
            "whole": 1,
            "cut": [],
            "name": [],
            "none": [],
            "left_out": 0,
        },
    }
    assert list(links_in(agent)) == ["pdf"]
    run("link", agent, "--index", "default")
    assert list(links_in(agent)) == ["pdf", "xlsx"]


def test_most_links_are_removed_only_if_that_is_meant(agent: Path) -> None:
    """Nobody can be asked without a terminal, so `--yes` says it; half of the links need none."""
    write_skill(Path("watched/docx"))
    run("scan")
    run("link", agent)
    done = run("link", agent, "--only", "pdf")
    assert done.returncode == 2
    assert f"This removes 2 of 3 links in {agent}." in done.stderr
    assert list(links_in(agent)) == ["docx", "pdf", "xlsx"]
    run("scan")
    assert list(links_in(agent)) == ["docx", "pdf", "xlsx"]  # the filter is not remembered
    assert run("link", agent, "--only", "pdf", "--yes").returncode == 0
    assert list(links_in(agent)) == ["pdf"]


def test_the_filter_of_an_index_may_remove_most_links_only_if_that_is_meant(agent: Path) -> None:
    """The filter counts as the settings have it now."""
    run("link", agent)
    Path("skilldrop.toml").write_text('[[indexes]]\nname = "few"\nnames = ["gone"]\n')
    done = run("link", agent, "--index", "few")
    assert (done.returncode, list(links_in(agent))) == (2, ["pdf", "xlsx"])
    assert "This removes 2 of 2 links" in done.stderr


def test_a_taken_name_is_told(agent: Path) -> None:
    """By exit code, in the answer, and in the status."""
    write_skill(agent / "pdf", description="Is mine.")
    done = run("link", agent)
    assert (done.returncode, done.stdout) == (
        1,
        (
            f"Linked 1 skill in {agent}.\nnot linked, because the name is taken there: pdf\n"
            "told to the model of Claude Code: 1 whole\n"
        ),
    )
    assert "name is taken there: pdf" in run("status").stdout
    (directory,) = [
        row for row in json.loads(run("status", "--json").stdout)["links"] if row["taken"]
    ]
    assert (directory["path"], directory["taken"]) == (str(agent), ["pdf"])
    assert "Is mine" in (agent / "pdf" / "SKILL.md").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["link", "watched"], "are inside one another; a scan would find each skill twice."),
        (["link", "watched/links"], "a scan would find each skill twice."),
        (["link", "var/skills"], "can be pointed at"),
        (["link", "no/parent"], "/no does not exist; make it first."),
        (["link", "~nobody-has-this-name/x"], "does not exist; make it first."),
        (["link", "loop"], "/loop"),
        (["link", "bad\udcff"], "is not valid UTF-8"),
        (["link", "here", "--index", "none"], "but the indexes are: default."),
        (["link", "here", "--only", "pfd"], "has the name 'pfd'. The closest are: pdf."),
        (
            ["link", "here", "--only", "pdf", "--only", "x"],
            "has the name 'x'. There are: pdf, xlsx.",
        ),
        (["link", "here", "--tag", "office"], "has the tag 'office'. The catalog has none yet."),
        (["link", "here", "--level", "plugin"], "No published skill passes this filter"),
        (["unlink", "elsewhere"], "is not a directory that skilldrop keeps links in."),
        (["unlink", "var/skills"], "its skills are always kept."),
        (["link", "here", "--index", "default", "--tag", "a"], "--index has a filter"),
    ],
)
@pytest.mark.usefixtures("agent")
def test_a_wrong_directory_is_a_usage_error(words: list[str], message: str) -> None:
    """In one sentence, and nothing is remembered."""
    Path("loop").symlink_to("loop")
    done = run(*words)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()[-1:] if "Usage" in done.stderr else done.stderr.splitlines()
    assert message in line
    assert len(json.loads(run("status", "--json").stdout)["links"]) == 1


def test_configured_directories_are_changed_in_the_settings(agent: Path) -> None:
    """`~` is the home, and other paths start from the file."""
    Path("skilldrop.toml").write_text(
        '[[links]]\npath = "~/.claude/skills"\nnames = ["pdf"]\n[[links]]\npath = "beside"\n'
    )
    assert run("scan").returncode == 0
    assert list(links_in(agent)) == ["pdf"]
    assert list(links_in(Path("beside"))) == ["pdf", "xlsx"]
    for word in ("link", "unlink"):
        assert "is in the settings" in run(word, agent).stderr


def test_a_running_service_carries_it_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And follows the skills from then on, within a moment."""
    up, agent = Serving(tmp_path), tmp_path / "agent"
    write_skill(up.root / "pdf")
    up.start()
    try:
        up.settle()
        options = ["--watched", str(up.root), "--data", str(up.settings.data)]
        monkeypatch.setattr(sys, "argv", ["skilldrop", *options, "link", str(agent)])
        with pytest.raises(SystemExit, match="0"):
            main()
        assert f" in {agent}." in capsys.readouterr().out
        assert "pdf" in links_in(agent)
        write_skill(up.root / "docx")
        shutil.rmtree(up.root / "pdf")
        up.wait_for(lambda: "docx" in links_in(agent) and "pdf" not in links_in(agent))
        (agent / "docx").unlink()
        up.rescan()
        up.wait_for(lambda: "docx" in links_in(agent))
        monkeypatch.setattr(sys, "argv", ["skilldrop", *options, "unlink", str(agent)])
        with pytest.raises(SystemExit, match="0"):
            main()
        assert names_in(agent) == []
    finally:
        up.stop()
