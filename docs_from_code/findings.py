"""Reference of the findings: each code with its severity, fix and source."""

from collections.abc import Sequence

from catalog.model.finding import ALWAYS, IF_STRICT, NEVER, UNLESS_PERMISSIVE, FindingType
from docs_from_code.examples import EXAMPLES
from docs_from_code.markdown import cell, prose
from pipeline.cli.output.finding_types import REGISTRY
from pipeline.dialects.registry import PROFILES

_OPENING = """\
# Findings

<!-- Generated from the registry by `make docs`; edit the codes.py beside the rules instead. -->

This page lists every message of `skilldrop` about a skill. Each finding has a stable code, a
severity and a profile, and gives the file, the line and a fix. A skill is valid by the
specification (`spec_valid`) if it has no finding of profile `spec` and severity `error`. The
acceptance of the root decides whether a finding rejects the skill: `strict`, `lenient` (the
default) or `permissive`.

Findings that lines of a file or a few paths can show have a bad and a good example. In them, → is a
tab, <U+200B> and the like are invisible characters, <FF> and the like are bytes that are not UTF-8,
and […] stands for omitted text.
"""

_PROFILES = {
    "reading": "Raised while a folder is read, whatever the profiles.",
    "spec": "The Agent Skills specification, to the letter; always checked.",
    "advice": "Recommendations of the specification and its guides that help agents find and "
    "follow a skill.",
    "safety": "Text that could deceive a reader, mislead an agent or run on its machine. Skills "
    "are untrusted text; after such a finding a person should check the line.",
    "claude-code": "Fields and lines that Claude Code reads differently from their apparent "
    "meaning.",
    "apexbridge": "Declarations and files that an ApexBridge package needs; see "
    "[ApexBridge packages](../how-to/apexbridge.md). Checked only if it is named, because other "
    "skills are not such packages.",
    "outcome": "Problems of a file that a runtime dropped after a run, not of a skill. See "
    "[Outcomes](outcomes.md).",
}

_REJECTS = {
    ALWAYS: "rejects the skill",
    UNLESS_PERMISSIVE: "rejects the skill unless the root is permissive",
    IF_STRICT: "rejects the skill if the root is strict",
    NEVER: "never rejects",
}


def page() -> str:
    """Return the page: for each profile a table, then a section for each code."""
    parts = [_OPENING]
    for profile in ("reading", *PROFILES, "outcome"):
        types = [type_ for type_ in REGISTRY.values() if type_.profile == profile]
        parts += [_overview(profile, types), *map(_section, types)]
    return "\n".join(parts)


def _overview(profile: str, types: Sequence[FindingType]) -> str:
    rows = (
        f"| [{type_.code}](#{type_.code}) | {type_.severity} | {cell(type_.summary)} |\n"
        for type_ in types
    )
    return (
        f"## `{profile}`\n\n{_PROFILES[profile]}\n\n"
        f"| code | severity | problem |\n|---|---|---|\n{''.join(rows)}"
    )


def _section(type_: FindingType) -> str:
    return (
        f"### `{type_.code}`\n\n"
        f"{prose(type_.summary)}\n\n"
        f"- **Fix:** {prose(type_.fix)}\n"
        f"- **Severity:** {type_.severity}; {_REJECTS[type_.rejects]}.\n"
        f"- **Source:** {prose(type_.source)}.\n"
        + (f"\n{example.as_markdown()}" if (example := EXAMPLES.get(type_.code)) else "")
    )
