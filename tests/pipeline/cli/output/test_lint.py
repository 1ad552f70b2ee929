import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.model.finding import Finding
from pipeline.authoring.lint import Judgement, judge_paths
from pipeline.cli.output import lint
from pipeline.cli.output.finding_types import REGISTRY
from pipeline.cli.output.lint import FORMATS, WIDTH, LintOutput, excerpt
from pipeline.parsing.codes import BYTE_ORDER_MARK, UNQUOTED_COLON, YAML_INVALID
from pipeline.roots.codes import LINK_DANGLING, SPECIAL_FILE, TOO_MANY_FILES
from pipeline.validation.profiles.advice.codes import BODY_EMPTY
from tests.support.skills import SkillWriter

HOSTILE = YAML_INVALID.at(
    "Bad\n::error::\x1b[31m%0A",
    path="SKILL.md",
    line=2,
    column=7,
    fix="Mend it.",
)


def judgement(*findings: Finding, path: str = "my-skill", text: str = "") -> Judgement:
    """Return a judgement of a skill with these findings."""
    return Judgement(path, "my-skill", False, True, findings, "SKILL.md", text)


def printed(form: str, *judged: Judgement) -> str:
    """Return the output of a format, without colours."""
    return click.unstyle("\n".join(FORMATS[form](judged)))


def test_text_shows_the_line_the_place_and_the_fix(tmp_path: Path, skill: SkillWriter) -> None:
    """A finding is its message, its line with a caret, and the advice, in four lines."""
    skill(tmp_path / "a", more="colour: red")
    (one,) = judge_paths([Path("a")], profiles=["spec"])
    message = "1 field not of the specification: colour."
    assert printed("text", one).splitlines() == [
        f"a/SKILL.md:4:1: error field-not-in-specification {message}",
        "    4 | colour: red",
        "      | ^",
        "    Move them under metadata, or remove them.",
        (
            'a: is outside the specification; a root with acceptance = "lenient" (the default) '
            "still publishes it."
        ),
    ]


def test_text_shows_the_repaired_line() -> None:
    """The author can copy it."""
    repair = UNQUOTED_COLON.at(path="SKILL.md", line=2, before="x: a: b", after="x: 'a: b'")
    lines = printed("text", judgement(repair, text="---\nx: a: b\n---\n")).splitlines()
    assert lines[1:3] == ["    2 | x: a: b", "      + x: 'a: b'"]


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (SPECIAL_FILE.at(path="pipe"), "---\n"),
        (TOO_MANY_FILES.at(), "---\n"),
        (YAML_INVALID.at(path="SKILL.md", line=9), "---\n"),
        (YAML_INVALID.at(path="other.md", line=1), "---\n"),
        (BODY_EMPTY.at(path="SKILL.md", line=2), "---\n\n"),
    ],
)
def test_text_shows_no_line_if_the_finding_has_none(found: Finding, text: str) -> None:
    """It is about another file, the folder, a place beyond the end, or an empty line."""
    lines = printed("text", judgement(found, text=text)).splitlines()
    assert len(lines) == (3 if found.severity == "error" else 2)


def test_untrusted_text_is_escaped_on_the_terminal() -> None:
    """Neither path nor message nor source line can move the cursor or hide text."""
    one = judgement(HOSTILE, path="a\nb\u202e", text="---\nname: \u202e\x1b[2J\u200b\n")
    shown = printed("text", one)
    assert len(shown.splitlines()) == 5
    assert all(line.isprintable() for line in shown.splitlines())
    assert "    2 | name: [U+202E][U+001B][2J[U+200B]" in shown


def test_json_is_one_list_with_an_object_per_skill() -> None:
    """The keys are the published ones; without skills the list is empty."""
    said = json.loads(printed("json", judgement(HOSTILE), judgement(path="会议")))
    assert [one["path"] for one in said] == ["my-skill", "会议"]
    assert set(said[0]) == {"path", "name", "spec_valid", "loadable", "findings"}
    assert said[0]["findings"][0]["message"] == HOSTILE.message
    assert json.loads(printed("json")) == []


def test_github_commands_cannot_be_forged() -> None:
    """A finding is one command; line ends and separators in its text are escaped."""
    (line,) = printed("github", judgement(HOSTILE, path="50%,a:b")).split("\n")
    assert line == (
        "::error file=50%25%2Ca%3Ab/SKILL.md,line=2,col=7,title=yaml-invalid::"
        "Bad[U+000A]::error::[U+001B][31m%250A%0AMend it."
    )


def test_github_commands_hide_nothing() -> None:
    """A bidi control in a path is spelt out, in the property and in the message."""
    line = printed("github", judgement(HOSTILE, path="a\u202egnp.sh"))
    assert "file=a[U+202E]gnp.sh" in line
    assert line.isascii()


def test_a_repair_of_many_lines_counts_the_hidden_ones() -> None:
    """Three are shown; the others are counted."""
    repair = UNQUOTED_COLON.at(path="SKILL.md", line=2, before="x", after="a\nb\nc\nd\ne")
    assert "… and 2 more lines" in printed("text", judgement(repair, text="---\nx\n---\n"))


def test_github_annotates_a_file_even_for_a_folder() -> None:
    """Severities are mapped to GitHub's, and a finding without a line has none."""
    said = printed("github", judgement(BYTE_ORDER_MARK.at(), SPECIAL_FILE.at()))
    assert [line.partition("title=")[0] for line in said.splitlines()] == [
        "::notice file=my-skill/SKILL.md,",
        "::warning file=my-skill/SKILL.md,",
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_prints_while_skills_are_judged(form: str) -> None:
    """The first finding is printed before the second skill is read."""
    asked = []

    def judged() -> Iterator[Judgement]:
        for number in range(3):
            asked.append(number)
            yield judgement(HOSTILE)

    lines = FORMATS[form](judged())
    first = next(
        line
        for line in lines
        if "yaml-invalid" in click.unstyle(line) and "shortDescription" not in line
    )
    assert first
    assert asked == [0]


def test_the_summary_counts_skills_and_findings() -> None:
    """Skills, loadable skills, and findings by severity; loose findings are no skills."""
    tally = LintOutput()
    stray = Judgement("x", None, False, False, (LINK_DANGLING.at(),))
    heard: list[int] = []
    passed = list(tally.counting([judgement(HOSTILE), judgement(), stray], heard.append))
    assert len(passed) == 3
    assert heard == [1, 2, 2]
    outside = "2 outside the specification (`--profile spec` says why)"
    assert tally.summary() == f"2 skills, none rejected, {outside}; 1 error, 1 warning, 0 info."


@pytest.mark.parametrize(
    ("code", "error", "warning"),
    [
        ("yaml-invalid", True, True),
        ("link-dangling", False, True),
        ("byte-order-mark", False, False),
    ],
)
def test_a_severity_includes_the_worse_ones(code: str, error: bool, warning: bool) -> None:
    """A run fails for findings at least as bad as the given severity."""
    tally = LintOutput()
    list(tally.counting([judgement(REGISTRY[code].at())], lambda _: None))
    assert (tally.reaches("error"), tally.reaches("warning")) == (error, warning)


def test_errors_only_drops_other_findings() -> None:
    """Quiet output has only errors."""
    one = judgement(BYTE_ORDER_MARK.at(), HOSTILE, LINK_DANGLING.at())
    assert lint.errors_only(one).findings == (HOSTILE,)


def test_only_the_text_format_has_colours() -> None:
    """The other formats are for programs."""
    one = judgement(HOSTILE)
    styled = {form for form in FORMATS if "\x1b" in "".join(FORMATS[form]([one]))}
    assert styled == {"text"}
    assert re.search("\x1b.31m.*error", next(iter(FORMATS["text"]([one]))))


@pytest.mark.parametrize(
    ("line", "column", "below"),
    [
        ("name: a", 7, "a"),
        ("name: a", 1, "n"),
        ("会议: x", 5, "x"),
        ("e\u0301: x", 5, "x"),
        ("\u202e\t: x", 5, "x"),
        ("x" * 500 + "!" + "x" * 500, 501, "!"),
        ("会" * 500 + "!" + "会" * 500, 501, "!"),
    ],
)
def test_the_caret_is_below_its_column(line: str, column: int, below: str) -> None:
    """Wide, combining and invisible characters, or a cut, do not move it."""
    shown, caret = excerpt(line, column)
    assert caret is not None
    assert caret.strip() == "^"
    columns = "".join(_filled(shown))
    assert columns[caret.index("^")] == below


def _filled(shown: str) -> list[str]:
    """Return the text in each column of a terminal."""
    return [c * (2 if c >= "\u4e00" else 1) for c in shown if c != "\u0301"]


@pytest.mark.parametrize("column", [None, 0, 9, 1_000])
def test_without_a_place_in_the_line_there_is_no_caret(column: int | None) -> None:
    """The line is shown from its start."""
    assert excerpt("name: a", column) == ("name: a", None)


def test_a_place_may_be_the_end_of_a_line() -> None:
    """A missing character is missing after the last one."""
    assert excerpt("name: a", 8) == ("name: a", "       ^")


def test_a_long_line_is_cut_on_both_sides() -> None:
    """Marks show the cuts, and the place of the finding stays visible."""
    shown, caret = excerpt("a" * 400 + "here" + "b" * 400, 401)
    assert caret is not None
    assert shown[caret.index("^") :].startswith("hereb")
    assert (shown[0], shown[-1]) == ("…", "…")
    assert excerpt("a" * 400)[0] == "a" * WIDTH + "…"


@given(st.text(max_size=400), st.none() | st.integers(-2, 500))
def test_an_excerpt_is_one_short_visible_line(line: str, column: int | None) -> None:
    """For any line and any place."""
    shown, caret = excerpt(line, column)
    assert shown.isprintable()
    assert len(shown) <= 2 * WIDTH
    assert caret is None or len(caret) <= WIDTH + 1
