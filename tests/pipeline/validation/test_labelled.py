"""Precision and recall of findings over texts that people labelled."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import yaml

from catalog.model.skill import FileEntry, Place
from pipeline.cli.output.finding_types import REGISTRY
from pipeline.parsing.document import parse
from pipeline.roots.secrets import in_file
from pipeline.roots.snapshot import Snapshot
from pipeline.roots.words import found
from tests.support.judging import judge
from tests.support.parsed_skills import DESCRIPTION, codes, skill
from tests.support.paths import REPOSITORY

LABELLED = REPOSITORY / "tests/samples/labelled"
LEAST_PRECISION = 0.95
LEAST_RECALL = 0.90
FEWEST = 10
FEWEST_CASES = 600
GOOD = {"name": "name: sample", "description": f"description: {DESCRIPTION}"}


@dataclass(frozen=True)
class Case:
    """Text, where it stands, and whether it should raise a code."""

    code: str
    text: str
    is_wrong: bool
    group: Mapping[str, Any]  # of its list: field, file, files, times
    is_frontmatter: bool

    @property
    def is_raised(self) -> bool:
        """Whether the rules raise the code."""
        if self.code == "secret-left-out":
            return in_file("notes.md", self.text, found(self.text.encode())) is not None
        if self.is_frontmatter:
            return self.code in codes_of_frontmatter(self.text)
        text, files = self.text * self.group.get("times", 1), self.group.get("files", ())
        if "field" in self.group:
            of = skill(**{self.group["field"]: text})
        elif path := self.group.get("file"):
            texts = self.group.get("texts", {})
            others = (each for each in files if each not in texts)
            of = skill(f"Read `{path}`.", *others, texts={path: text, **texts})
        else:
            of = skill(text, *files)
        return self.code in codes(REGISTRY[self.code].profile, of)


@dataclass(frozen=True)
class Score:
    """Precision and recall of one code."""

    code: str
    cases: tuple[Case, ...]

    @property
    def missed(self) -> list[str]:
        """The wrong texts without a finding."""
        return [case.text for case in self.cases if case.is_wrong and not case.is_raised]

    @property
    def false(self) -> list[str]:
        """The good texts with a finding."""
        return [case.text for case in self.cases if not case.is_wrong and case.is_raised]

    @property
    def row(self) -> str:
        """The line of a table."""
        wrong = sum(case.is_wrong for case in self.cases)
        found, false = wrong - len(self.missed), len(self.false)
        precision = found / (found + false) if found + false else 1.0
        recall = found / wrong if wrong else 1.0
        few = "" if len(self.cases) > FEWEST else "  few"
        below = "  <--" if precision < LEAST_PRECISION or recall < LEAST_RECALL else few
        return (
            f"{self.code:28}{wrong:>6}{len(self.cases) - wrong:>6}{precision:>11.2f}{recall:>8.2f}"
            f"{below}"
        )


def cases() -> Iterator[Case]:
    """Yield every labelled case."""
    for file in sorted(LABELLED.glob("*.yml")):
        for code, group in yaml.load(file.read_text("utf-8"), yaml.CSafeLoader).items():
            is_frontmatter = file.stem == "frontmatter" or "frontmatter" in group
            for label in ("wrong", "fine"):
                for text in group[label]:
                    yield Case(code, text, label == "wrong", group, is_frontmatter)


def codes_of_frontmatter(lines: str) -> set[str]:
    """Return the codes for a good frontmatter with these lines added."""
    field = lines.partition(":")[0]
    kept = [line for name, line in GOOD.items() if name != field]
    text = "\n".join(["---", *kept, lines, "---", "", "# Count words", "", "Read the file.", ""])
    document = FileEntry("SKILL.md", len(text), "", 0o644, "skill_md", is_text=True)
    snapshot = Snapshot("sample", "SKILL.md", text.encode(), (document,), "", "", ())
    place = Place("/skills", "sample", "project")
    profiles = ("spec", "advice", "safety", "claude-code")
    parsed = parse(text.encode(), "SKILL.md")
    verdict = judge(snapshot, parsed, place, acceptance="lenient", profiles=profiles)
    return {finding.code for finding in verdict.findings}


CASES = tuple(cases())
CODES = sorted({case.code for case in CASES})


@pytest.fixture(scope="session")
def scores() -> Mapping[str, Score]:
    """Return the score of each code."""
    return {code: Score(code, tuple(c for c in CASES if c.code == code)) for code in CODES}


@pytest.mark.parametrize("code", CODES)
def test_a_finding_is_right_and_misses_little(code: str, scores: Mapping[str, Score]) -> None:
    """At least 95 % of a code's findings are right, and at least 90 % of the faults are found."""
    score = scores[code]
    table = "\n".join(
        (f"{'code':28}{'wrong':>6}{'fine':>6}{'precision':>11}{'recall':>8}", score.row)
    )
    assert "<--" not in score.row, f"{table}\nmissed: {score.missed}\nfalse: {score.false}"


def test_the_set_is_large() -> None:
    """The set has at least 600 cases, and for most codes more than ten of each label."""
    assert len(CASES) >= FEWEST_CASES
