"""Commands as people and programs call them."""

import json
import re
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli import app
from pipeline.cli.commands import scan
from tests.support.indexes import location_of
from tests.support.skills import SkillWriter


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs a command line and returns its exit code and output."""

    def run(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["skilldrop", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            app.main()
        out, err = capfd.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out, err

    monkeypatch.setenv("SKILLDROP_SETTLE_QUIET", "0")
    return run


@pytest.fixture
def watched(tmp_path: Path, skill: SkillWriter) -> Path:
    """Return the default root with two good skills and a bad one."""
    skill(tmp_path / "watched" / "count-words", body="# Steps\n\nRun `wc -w` on the text.\n")
    skill(tmp_path / "watched" / "会议纪要", description="把会议录音整理成纪要。用于会议之后。")
    skill(tmp_path / "watched" / "broken", files={"SKILL.md": "no frontmatter\n"})
    return tmp_path / "watched"


def test_a_scan_prints_its_counts(call: Any, watched: Path) -> None:
    """One line for people, the published keys for programs."""
    code, out, _ = call("scan")
    assert code == 0
    assert "3 skill folders scanned" in out
    assert "2 added, 1 rejected" in out
    code, out, _ = call("scan", "--json")
    assert json.loads(out) | {"seconds": 0} == {
        "seen": 3,
        "added": 0,
        "updated": 0,
        "unchanged": 3,
        "renamed": 0,
        "rejected": 0,
        "removed": 0,
        "held": 0,
        "pending": 0,
        "to_review": 0,
        "active": 2,
        "shadowed": 0,
        "seconds": 0,
    }


def test_a_scan_that_waited_for_an_archive_counts_the_skills_in_it(
    call: Any, watched: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that was still changing is counted once, with its final result."""
    monkeypatch.setenv("SKILLDROP_SETTLE_QUIET", "0.3")
    made = shutil.make_archive(str(watched.parent / "pack"), "zip", watched)
    shutil.rmtree(watched / "count-words")
    shutil.rmtree(watched / "会议纪要")
    Path(made).rename(watched / "pack.zip")
    code, out, _ = call("scan", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["seen"], found["added"], found["rejected"]) == (4, 2, 2)


@pytest.mark.requirement("prd/index-prebuilt", "prd/index-active")
def test_the_index_holds_the_active_skills(call: Any, watched: Path) -> None:
    """The file and the output of the command are equal."""
    call("scan")
    code, out, _ = call("index")
    assert code == 0
    assert location_of(out, "count-words") == f"{watched.parent}/var/skills/count-words/SKILL.md"
    assert out == (watched.parent / "var/index/default.txt").read_text(encoding="utf-8")
    _, out, _ = call("index", "--budget-chars", len(out) - 1, "--json")
    report = json.loads(out)["report"]
    assert (report["full"], report["shortened"], report["left_out"]) == (1, 1, 0)


@pytest.mark.requirement("textbook/budget-told")
def test_an_index_can_be_explained(call: Any, watched: Path, skill: SkillWriter) -> None:
    """It gives the included and excluded skills with reasons: a table, or all details as JSON."""
    skill(watched / "secret", more="disable-model-invocation: true")
    call("scan")
    code, out, _ = call("index", "--explain", "--only", "count-words")
    assert code == 0
    assert re.search(r"^ +1  count-words +full +\d+  Takes", out, re.MULTILINE)
    assert "left out, as disable-model-invocation in its SKILL.md asks: 1\n  secret" in out
    assert "left out by the filter of the index: 1\n  会议纪要" in out
    told = json.loads(call("index", "--explain", "--json", "--budget-chars", 1)[1])
    assert told["left_out"]["over_budget"] == {"count": 2, "names": ["count-words", "会议纪要"]}
    assert (told["text"], told["entries"]) == ("", [])


def test_options_of_index_replace_the_settings(call: Any, watched: Path) -> None:
    """The published index does not change."""
    call("scan")
    published = (watched.parent / "var/index/default.txt").read_text(encoding="utf-8")
    assert "\ncount-words: " in published
    _, out, _ = call("index", "--format", "json", "--only", "会议纪要")
    assert [skill["name"] for skill in json.loads(out)["skills"]] == ["会议纪要"]
    assert len(call("index", "--format", "markdown", "--budget-chars", "210")[1]) <= 210
    assert (watched.parent / "var/index/default.txt").read_text(encoding="utf-8") == published


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--only", "count-wrods"], "has the name 'count-wrods'. The closest are: count-words."),
        (["--only", "secret"], "has the name 'secret'"),
        (["--tag", "nowhere"], "has the tag 'nowhere'. The catalog has none yet."),
        (["--level", "plugin"], "No published skill passes this filter"),
    ],
)
def test_a_filter_of_an_index_that_no_skill_passes_is_an_error(
    call: Any, watched: Path, skill: SkillWriter, words: list[str], sentence: str
) -> None:
    """An empty text would look like a catalog without skills; `--explain` says why it is empty."""
    skill(watched / "secret", more="disable-model-invocation: true")
    call("scan")
    code, out, err = call("index", *words)
    assert (code, out) == (2, "")
    assert sentence in err
    assert call("index", "--explain", *words)[0] == 0


def test_search_finds_english_and_chinese(call: Any, watched: Path) -> None:
    """Names and snippets for people, fields for programs, a sentence for nothing found."""
    call("scan")
    assert "[纪要]" not in call("search", "wc")[1]
    assert [hit["name"] for hit in json.loads(call("search", "纪要", "--json")[1])] == ["会议纪要"]
    assert call("search", "纪要", "xyzzy")[2] == "No published skill contains 'xyzzy'.\n"
    code, out, _ = call("search", "nowhere", '"NEAR(')
    assert (code, out) == (0, "No active skill has any of these words.\n")


def test_search_has_filters(call: Any, watched: Path, skill: SkillWriter) -> None:
    """With words or without; an unknown value is answered by the known ones."""
    skill(watched / "licensed", more="license: MIT")
    call("scan")
    for words in ([], ["licensed"]):
        out = call("search", *words, "--license", "mit", "--changed-since", "7d", "--json")[1]
        assert [hit["name"] for hit in json.loads(out)] == ["licensed"]
    code, out, err = call("search", "licensed", "--license", "GPL")
    assert (code, out) == (0, "No skill found.\n")
    assert err == "No skill has the license 'GPL'; known: MIT.\n"
    assert call("search")[0] == call("search", "x", "--level", "team")[0] == 2
    assert "12h, 7d or 2w" in call("search", "x", "--changed-since", "soon")[2]


def test_search_shows_the_other_skills_of_a_name(
    call: Any, watched: Path, skill: SkillWriter
) -> None:
    """With their number and places; a shadowed skill has its own place."""
    for number in range(3):
        skill(watched / f"{number}/same", name="same")
    call("scan")
    out = call("search", "same")[1]
    assert f"    +2 others of this name: {watched}/1/same, {watched}/2/same\n" in out
    assert "same (shadowed)\n" in call("search", "same", "--status", "shadowed")[1]


@pytest.mark.requirement("client-guide/diagnostics")
def test_status_lists_problems_with_reasons(call: Any, watched: Path) -> None:
    """The state of the service, the counts, and each rejected folder with its reason."""
    call("scan")
    code, out, _ = call("status")
    assert code == 0
    assert "Not watching" in out
    assert "2 active, 1 rejected" in out
    assert "error: broken/SKILL.md:1  frontmatter-missing" in out
    assert "rejected: broken  The file does not start with frontmatter" in out
    found = json.loads(call("status", "--json")[1])
    assert [row["path"] for row in found["rejected"]] == ["broken"]


def test_validate_prints_every_problem_with_its_line(
    call: Any, tmp_path: Path, skill: SkillWriter
) -> None:
    """`path:line:column: severity code message`, the advice, a summary, and exit code 1."""
    skill(tmp_path / "Bad_Name", description="x" * 1100, more="colour: red")
    code, out, _ = call("validate", "Bad_Name")
    assert code == 1
    lines = out.splitlines()
    assert len([line for line in lines if line.startswith("Bad_Name/SKILL.md:")]) >= 3
    assert "\nBad_Name/SKILL.md:3:1: error description-too-long" in out
    assert lines[-1].startswith("1 skill, none rejected, 1 outside the specification; ")


def test_validate_of_a_good_skill_prints_only_the_summary(
    call: Any, tmp_path: Path, skill: SkillWriter
) -> None:
    """The path may be its folder, its SKILL.md or the tree around it."""
    skill(tmp_path / "tree/good")
    for path in ("tree", "tree/good", "tree/good/SKILL.md"):
        code, out, _ = call("validate", path)
        assert (code, out) == (0, "1 skill, none rejected; 0 errors, 0 warnings, 0 info.\n")
    _, out, _ = call("validate", "tree", "--format", "json")
    assert json.loads(out) == [
        {"path": "tree/good", "name": "good", "spec_valid": True, "loadable": True, "findings": []}
    ]


@pytest.mark.requirement("card/validate")
def test_strict_acceptance_rejects_skills_that_lenient_loads(
    call: Any, tmp_path: Path, skill: SkillWriter
) -> None:
    """The findings are the same, and the verdict differs."""
    skill(tmp_path / "a", name="other")
    assert [
        json.loads(call("validate", "a", "--json", "--acceptance", how)[1])[0]["loadable"]
        for how in ("lenient", "strict")
    ] == [True, False]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["scan"], "watched cannot be read"),
        (["--watched", "nowhere", "up"], "nowhere cannot be read"),
        (["search", "x"], "There is no catalog"),
        (["index"], "There is no catalog"),
        (["status"], "There is no catalog"),
        (["serve"], "There is no catalog"),
        (["validate", "nowhere"], "does not exist"),
        (["--config", "nowhere.toml", "scan"], "nowhere.toml"),
        (["--data", "watched/var", "--watched", "watched", "scan"], "watched"),
        (["frobnicate"], "No such command"),
    ],
)
def test_a_usage_error_is_one_clear_sentence(call: Any, words: list[str], said: str) -> None:
    """Exit code 2, the sentence on standard error, and never a traceback."""
    code, out, err = call(*words)
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err


def test_an_unknown_index_lists_the_known_ones(call: Any, watched: Path) -> None:
    """The error message has the names."""
    call("scan")
    code, _, err = call("index", "big")
    assert code == 2
    assert "The indexes are: default." in err


@pytest.mark.parametrize("command", ["scan", "up", "search", "status"])
def test_a_foreign_database_is_refused_in_one_sentence(
    call: Any, watched: Path, command: str
) -> None:
    """The database of another program is not changed."""
    (watched.parent / "var").mkdir()
    with sqlite3.connect(watched.parent / "var/catalog.db") as db:
        db.execute("CREATE TABLE diary (day TEXT)")
    db.close()
    code, _, err = call(command, *(["x"] if command == "search" else []))
    assert code == 2
    assert "catalog.db" in err
    assert "Traceback" not in err


def test_an_internal_error_is_reported_as_one(
    call: Any, watched: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 3, one sentence, and the traceback in a file to report."""
    monkeypatch.setattr(scan, "scan_once", lambda *_, **__: 1 / 0)
    code, _, err = call("scan")
    assert code == 3
    assert "internal error: ZeroDivisionError" in err
    log = Path(err.rsplit(" ", 1)[1].strip().rstrip("."))
    assert "Traceback" in log.read_text()
    log.unlink()


def test_the_example_skills_load_and_are_indexed(call: Any, examples: Path) -> None:
    """The skills in watched/ work in the main use case."""
    _, out, _ = call("--watched", examples, "scan", "--json")
    assert json.loads(out)["active"] == 4
    _, out, _ = call("index")
    assert "会议纪要" in out
    assert "release-checklist" not in out  # only people may start it


def test_status_check_fails_without_a_running_service(call: Any, watched: Path) -> None:
    """It prints only health, and sets the exit code for a monitor."""
    call("scan")
    code, out, _ = call("status", "--check")
    assert code == 1
    assert out.startswith("Not watching; last full scan")
    assert "rejected" not in out
