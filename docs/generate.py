"""Writes the pages of this folder that are made from the code: run `python docs/generate.py`."""

from collections.abc import Sequence
from pathlib import Path

from pipeline.findings.finding_type import (
    ALWAYS,
    IF_STRICT,
    NEVER,
    UNLESS_PERMISSIVE,
    FindingType,
)
from pipeline.findings.registry import REGISTRY
from pipeline.rules.checks import PROFILES

HERE = Path(__file__).parent

_OPENING = """\
# Findings

<!-- Made by docs/generate.py from the registry; edit pipeline/findings/ instead. -->

Everything that `skilldrop` can say about a skill. Each finding has a stable code, a severity and
a profile, and names the file, the line and what to do next. `spec_valid` is no as soon as there
is one finding of profile `spec` and severity `error`. What a finding means for loading the skill
depends on the acceptance of its root: `strict`, `lenient` (the default) or `permissive`.
"""

_PROFILES = {
    "reading": "What is met while a folder is read, whichever profiles are asked for.",
    "spec": "The Agent Skills specification, to the letter; it is always asked.",
    "advice": "What the specification and its guides recommend, so that a skill is found "
    "and followed.",
    "safety": "What could deceive a reader, mislead an agent or run on its machine. Skills are "
    "untrusted text; a finding here means that a person should look at that line.",
    "claude-code": "What Claude Code reads differently from how it was meant.",
}

_REJECTS = {
    ALWAYS: "rejects the skill",
    UNLESS_PERMISSIVE: "rejects the skill unless the root is permissive",
    IF_STRICT: "rejects the skill if the root is strict",
    NEVER: "never rejects",
}


def findings_page() -> str:
    """Return the text of findings.md."""
    parts = [_OPENING]
    for profile in ("reading", *PROFILES):
        kinds = [kind for kind in REGISTRY.values() if kind.profile == profile]
        parts += [_overview(profile, kinds), *map(_paragraph, kinds)]
    return "\n".join(parts)


def _overview(profile: str, kinds: Sequence[FindingType]) -> str:
    rows = (f"| [{kind.code}](#{kind.code}) | {kind.severity} | {_cell(kind.summary)} |\n"
            for kind in kinds)
    return (f"## `{profile}`\n\n{_PROFILES[profile]}\n\n"
            f"| code | severity | what is wrong |\n|---|---|---|\n{''.join(rows)}")


def _paragraph(kind: FindingType) -> str:
    return (f"### `{kind.code}`\n\n"
            f"{_prose(kind.summary)}\n\n"
            f"- **Do:** {_prose(kind.fix)}\n"
            f"- **Severity:** {kind.severity}; {_REJECTS[kind.rejects]}.\n"
            f"- **Source:** {_prose(kind.source)}.\n")


def _prose(text: str) -> str:
    """Return a text that Markdown shows as it is written; what stands in backticks stays code."""
    pieces = text.split("`")
    for at in range(0, len(pieces), 2):
        for mark in r"\*_<>[]#":
            pieces[at] = pieces[at].replace(mark, f"\\{mark}")
    return "`".join(pieces)


def _cell(text: str) -> str:
    return _prose(text).replace("|", r"\|")


if __name__ == "__main__":
    (HERE / "findings.md").write_text(findings_page(), "utf-8")
