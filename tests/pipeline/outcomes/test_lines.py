"""JSON Lines: a file with an outcome in each line, which usually grows."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from catalog.writing.store import Store
from pipeline.outcomes import files
from pipeline.outcomes.collect import OutcomeReport, judge_file
from tests.pipeline.outcomes.test_collect import folder, rows, store, take

__all__ = ["folder", "store"]

OUTPUTS = "SELECT output, line FROM outcomes ORDER BY id"


def append(folder: Path, *lines: str, name: str = "meetings/runs.jsonl") -> Path:
    """Append to a file as a runtime would."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file:
        file.write("".join(lines))
    return path


def line(output: Any, **fields: Any) -> str:
    """Return an outcome as a line."""
    return json.dumps({"output": output, **fields}) + "\n"


@pytest.mark.requirement("apexbridge/outcome-lines")
@pytest.mark.parametrize("name", ["meetings/runs.jsonl", "meetings/runs.ndjson"])
def test_each_line_is_an_outcome(store: Store, folder: Path, name: str) -> None:
    """Blank lines and other line ends do not matter."""
    append(folder, line(1), "\n", '{"output": 2}\r\n', '{"output": 3}', name=name)
    assert take(store, folder).stored == [name] * 3
    assert rows(store, OUTPUTS) == [("1", 1), ("2", 3), ("3", 4)]
    assert take(store, folder) == OutcomeReport()


def test_only_the_new_lines_of_a_grown_file_are_judged(store: Store, folder: Path) -> None:
    """Lines go on counting, also after a last line without an end."""
    append(folder, line(1), '{"output": 2}')
    take(store, folder)
    append(folder, "\n", line(3))
    assert take(store, folder).stored == ["meetings/runs.jsonl"]
    append(folder, line(4))
    assert take(store, folder).stored == ["meetings/runs.jsonl"]
    assert rows(store, OUTPUTS) == [("1", 1), ("2", 2), ("3", 3), ("4", 4)]


def test_equal_lines_are_different_runs(store: Store, folder: Path) -> None:
    """Each counts, in whichever portions the file grows."""
    append(folder, line("ok"), line("ok"))
    take(store, folder)
    append(folder, line("ok"))
    take(store, folder)
    assert rows(store, "SELECT count(DISTINCT run_id) FROM outcomes WHERE revision = 1") == [(3,)]


def test_a_rewritten_file_repeats_no_run(store: Store, folder: Path) -> None:
    """Known lines stay what they are, wherever they stand now."""
    append(folder, line(1), line("ok"), line("ok")).unlink()
    append(folder, line("first"), line("ok"), line("ok"))
    take(store, folder)
    (folder / "meetings/runs.jsonl").unlink()
    append(folder, line("ok"), line("new"), line("ok"))
    assert len(take(store, folder).stored) == 1
    assert rows(store, "SELECT output FROM outcomes ORDER BY id") == [
        ('"first"',),
        ('"ok"',),
        ('"ok"',),
        ('"new"',),
    ]


def test_lines_of_one_run_are_its_revisions(store: Store, folder: Path) -> None:
    """A file that is rewritten adds none."""
    path = append(folder, line(None, runId="r", status="running"), line(1, runId="r"))
    report = take(store, folder)
    assert len(report.stored) == 2
    content = path.read_text()
    path.unlink()
    append(folder, "\n", content)
    assert take(store, folder) == OutcomeReport()
    assert rows(store, "SELECT run_id, revision, is_newest FROM outcomes") == [
        ("r", 1, 0),
        ("r", 2, 1),
    ]


def test_bad_lines_are_copied_and_the_file_stays(store: Store, folder: Path) -> None:
    """The good ones are stored, and bad ones are told once with their numbers."""
    path = append(folder, line(1), "{\n", line(2), '{"status": "ok"}\n')
    report = take(store, folder)
    assert len(report.stored) == 2
    assert report.rejected == {
        "meetings/runs.jsonl": "Line 2: It is not JSON: Expecting property name enclosed in double "
        "quotes. Line 4: output is missing."
    }
    assert path.is_file()
    quarantined = folder / "quarantine/meetings"
    assert (quarantined / "runs.jsonl").read_text() == '{\n{"status": "ok"}\n'
    assert (quarantined / "runs.findings.txt").read_text().startswith("line 2: error ")
    assert rows(store, "SELECT lines, findings ->> '$[1].line' FROM outcome_rejections") == [
        ("[2,4]", 4)
    ]
    append(folder, line(3))
    assert take(store, folder) == OutcomeReport(stored=["meetings/runs.jsonl"])


def test_a_last_line_that_was_not_complete_is_judged_again(store: Store, folder: Path) -> None:
    """Its runtime may have been writing it."""
    append(folder, line(1), '{"outp')
    assert take(store, folder).rejected
    append(folder, 'ut": 2}\n')
    assert take(store, folder) == OutcomeReport(stored=["meetings/runs.jsonl"])
    assert rows(store, OUTPUTS) == [("1", 1), ("2", 2)]


def test_a_large_file_is_read_in_parts(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look takes complete lines up to a limit, and the file is known at the end."""
    monkeypatch.setattr(files, "MOST_BYTES", 100)
    append(folder, *(line(number) for number in range(30)))
    portions = []
    while (report := take(store, folder)) != OutcomeReport():
        portions.append(len(report.stored))
        assert bool(report.unsettled) == (sum(portions) < 30)
    assert sum(portions) == 30
    assert len(portions) > 3
    assert rows(store, "SELECT count(*), max(line) FROM outcomes") == [(30, 30)]


def test_a_line_above_the_limit_is_refused(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file goes to quarantine, as it can never be read further."""
    monkeypatch.setattr(files, "MOST_BYTES", 100)
    append(folder, line("x" * 200))
    take(store, folder)
    assert rows(store, "SELECT findings ->> '$[0].code' FROM outcome_rejections") == [
        ("outcome-too-large",)
    ]
    assert (folder / "quarantine/meetings/runs.jsonl").is_file()


def test_lines_in_a_file_of_one_are_refused_with_advice(store: Store, folder: Path) -> None:
    """The name says how a file is read."""
    append(folder, line(1), line(2), name="meetings/runs.json")
    take(store, folder)
    assert "more than one JSON value" in rows(store, "SELECT reason FROM outcome_rejections")[0][0]


def test_files_are_taken_oldest_first(store: Store, folder: Path) -> None:
    """Memories are handed on in this order."""
    for name, age in (("b", 30), ("a", 20), ("c", 10)):
        path = append(folder, line(name), name=f"meetings/{name}.json")
        moment = time.time_ns() - age * 10**9
        os.utime(path, ns=(moment, moment))
    assert take(store, folder).stored == [f"meetings/{name}.json" for name in "bac"]


def test_a_file_of_lines_is_judged_by_hand(tmp_path: Path) -> None:
    """Each line has its findings."""
    path = append(tmp_path, line(1), "[]\n", name="x/runs.jsonl")
    good, bad = judge_file(path)
    assert (good.file.line, bad.file.line, bad.findings[0].line) == (1, 2, 2)
