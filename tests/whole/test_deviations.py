import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pipeline.authoring.lint import Judgement, judge_paths
from tests.support.paths import REPOSITORY

PAGE = REPOSITORY / "docs" / "reference" / "deviations.md"


@dataclass(frozen=True)
class Deviation:
    """Skill with the reference validator's verdict and ours."""

    skill: bytes | Callable[[Path], None]  # its SKILL.md, or what makes its folder
    reference: str | type[Exception]  # "accepts", "refuses", "hangs", or what it raises
    ours: str | None  # the code of the finding that counts against spec_valid, if any does


def with_field(field: str) -> bytes:
    """Return a valid SKILL.md with one more field."""
    return f"---\nname: pdf\ndescription: Reads PDF.\n{field}\n---\nRun it.\n".encode()


GOOD = with_field("license: MIT")


def _spelled_otherwise(folder: Path) -> None:
    (folder / "Skill.md").write_bytes(GOOD)


def _spelled_twice(folder: Path) -> None:
    (folder / "SKILL.md").write_bytes(GOOD)
    (folder / "skill.md").write_bytes(GOOD)


def _linked_from_outside(folder: Path) -> None:
    outside = folder.parent.parent / "elsewhere.md"
    outside.write_bytes(GOOD)
    (folder / "SKILL.md").symlink_to(outside)


def _a_directory(folder: Path) -> None:
    (folder / "SKILL.md").mkdir()


def _a_pipe(folder: Path) -> None:
    os.mkfifo(folder / "SKILL.md")


DEVIATIONS: Mapping[str, Deviation] = {
    "flow-style": Deviation(with_field("allowed-tools: [Read, Grep]"), "refuses", None),
    "byte-order-mark": Deviation(b"\xef\xbb\xbf" + GOOD, "refuses", None),
    "dashes-in-a-value": Deviation(
        b"---\ndescription: Reads PDF --- and forms.\nname: pdf\n---\nRun it.\n", "refuses", None
    ),
    "space-after-a-fence": Deviation(GOOD.replace(b"---\n", b"---\t\n", 1), "refuses", None),
    "tab-before-a-comment": Deviation(with_field("license: \t# none yet"), "refuses", None),
    "comment-glued-to-a-block": Deviation(with_field("license: >-# short\n  MIT"), "refuses", None),
    "plain-merge-and-value-signs": Deviation(with_field("compatibility: <<"), "refuses", None),
    "nested-merge-key": Deviation(with_field("metadata:\n  <<: x"), "refuses", None),
    "unicode-line-ends": Deviation(with_field("license: |\n  MIT\u2028or later"), "refuses", None),
    "another-spelling": Deviation(_spelled_otherwise, "refuses", None),
    "unquoted-null": Deviation(
        b"---\nname: pdf\ndescription: ~\n---\nRun it.\n", "accepts", "description-missing"
    ),
    "top-level-merge-key": Deviation(
        with_field("<<:\n  license: MIT"), "accepts", "field-not-in-specification"
    ),
    "empty-compatibility": Deviation(
        with_field('compatibility: ""'), "accepts", "compatibility-empty"
    ),
    "metadata-without-keys": Deviation(with_field("metadata: text"), "accepts", "metadata-not-map"),
    "metadata-with-a-list": Deviation(
        with_field("metadata:\n  tags:\n    - a"), "accepts", "metadata-value-not-text"
    ),
    "fence-within-a-line": Deviation(
        GOOD.replace(b"\n---\n", b"\n ---\n"), "accepts", "closing-fence-missing"
    ),
    "repeated-behind-dashes": Deviation(
        b"---\nname: pdf\ndescription: Reads PDF --- and forms.\nname: pdf\n---\nRun it.\n",
        "accepts",
        "duplicate-key",
    ),
    "empty-key": Deviation(with_field("metadata:\n  : x"), "accepts", "yaml-invalid"),
    "tab-at-the-start-of-a-block": Deviation(
        b"---\nname: pdf\ndescription: >-\n  \tReads PDF.\n---\nRun it.\n",
        "accepts",
        "yaml-invalid",
    ),
    "surrogate-escape": Deviation(with_field(r'license: "\ud800"'), "accepts", "yaml-invalid"),
    "too-large": Deviation(
        with_field("metadata:\n" + "\n".join(f"  key-{n}: a value" for n in range(1_000))),
        "accepts",
        "frontmatter-too-large",
    ),
    "too-deep": Deviation(
        with_field("metadata:\n" + "\n".join(f"{' ' * n}a:" for n in range(1, 25)) + " b"),
        "accepts",
        "frontmatter-too-large",
    ),
    "two-spellings": Deviation(_spelled_twice, "accepts", "skill-md-twice"),
    "link-out-of-the-root": Deviation(_linked_from_outside, "accepts", "skill-md-not-a-file"),
    "invalid-utf-8": Deviation(GOOD + b"\xff", UnicodeDecodeError, "invalid-utf-8"),
    "forbidden-characters": Deviation(
        with_field("license: \x1b[1mMIT"), AttributeError, "forbidden-characters"
    ),
    "escape-beyond-unicode": Deviation(
        with_field(r'license: "\U00110000"'), ValueError, "yaml-invalid"
    ),
    "directory-named-skill-md": Deviation(_a_directory, IsADirectoryError, "skill-md-not-a-file"),
    "pipe-named-skill-md": Deviation(_a_pipe, "hangs", "skill-md-not-a-file"),
}


@pytest.fixture(params=DEVIATIONS)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Deviation, Path]:
    """Return each deviation with its folder."""
    deviation = DEVIATIONS[request.param]
    folder = tmp_path / "skills" / "pdf"
    folder.mkdir(parents=True)
    if isinstance(deviation.skill, bytes):
        (folder / "SKILL.md").write_bytes(deviation.skill)
    else:
        deviation.skill(folder)
    return deviation, folder


def judged(folder: Path) -> Judgement:
    """Return our judgement by the specification alone."""
    (only,) = judge_paths([folder], profiles=["spec"])
    return only


@pytest.mark.requirement("agent-skills/validator")
def test_the_verdicts_are_those_of_the_page(case: tuple[Deviation, Path]) -> None:
    """The finding gives the reason."""
    deviation, folder = case
    one = judged(folder)
    errors = [found.code for found in one.findings if found.severity == "error"]
    assert errors == ([deviation.ours] if deviation.ours else [])
    assert one.spec_valid == (deviation.ours is None)


def test_the_reference_really_differs(case: tuple[Deviation, Path]) -> None:
    """A deviation that the reference validator no longer shows must be removed."""
    deviation, folder = case
    reference = pytest.importorskip("skills_ref")
    if deviation.reference == "hangs":
        return  # it would wait for somebody to write to the pipe
    if isinstance(deviation.reference, str):
        refuses = bool(reference.validate(folder))
        assert refuses == (deviation.reference == "refuses")
        assert refuses == judged(folder).spec_valid
        return
    with pytest.raises(deviation.reference):
        reference.validate(folder)


def test_page_and_table_agree() -> None:
    """Each deviation has a paragraph with both verdicts, and each paragraph a test."""
    said = re.findall(
        r"^### (\S+)\n\nReference: (.+?)\. skilldrop: (.+?)\.$",
        PAGE.read_text("utf-8"),
        re.MULTILINE,
    )
    assert [slug for slug, _, _ in said] == re.findall(
        r"^### (.+)$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    verdicts = {slug: (reference, ours) for slug, reference, ours in said}
    assert verdicts == {
        slug: (
            each.reference
            if isinstance(each.reference, str)
            else f"crashes with `{each.reference.__name__}`",
            f"`{each.ours}`" if each.ours else "valid",
        )
        for slug, each in DEVIATIONS.items()
    }


def explanation(entry: Mapping[str, Any], raw: bytes) -> str | None:
    """Return the deviation that makes us judge a real skill differently, if one does."""
    reference = entry["skills_ref"]
    if any("JSONesque" in error for error in reference["errors"]):
        return "flow-style"
    if raw.startswith(b"\xef\xbb\xbf"):
        return "byte-order-mark"
    between = raw.split(b"---", 2)[1:2]
    if raw.startswith(b"---") and between and not between[0].endswith((b"\n", b"\r")):
        return "dashes-in-a-value"
    return None


def test_real_skills_have_the_verdict_of_the_reference(corpus: Path) -> None:
    """If it does not crash, the verdicts differ only as the page explains."""
    unexplained = []
    for entry in json.loads((corpus / "manifest.json").read_text("utf-8"))["entries"]:
        skill_md = corpus / entry["sample_path"] / entry["skill_file"]
        reference = entry["skills_ref"]
        valid = judged(skill_md).spec_valid
        same = not valid if reference["crash"] else valid == reference["valid"]
        if not same and explanation(entry, skill_md.read_bytes()) not in DEVIATIONS:
            unexplained.append((entry["sample_path"], valid, reference))
    assert unexplained == []
