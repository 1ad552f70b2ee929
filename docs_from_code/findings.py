"""Reference of the findings: each code with its severity, fix and source."""

from catalog.model.finding import OURS, FindingType
from docs_from_code.markdown import prose
from pipeline.cli.commands.rule import PURPOSES, REJECTS, examples
from pipeline.cli.output.finding_types import REGISTRY
from pipeline.dialects.registry import OF_PROFILES

_OPENING = """\
# Findings

<!-- Generated from the registry by `make docs`; edit the codes.py beside the rules instead. -->

This page lists every message of `skilldrop` about a skill, by profile. A skill is valid by the
specification (`spec_valid`) if it has only the specification's six fields, and no error of profile
`spec`. The acceptance of the root decides whether an error rejects the skill: `strict`, `lenient`
(the default) or `permissive`; warnings and infos never do. By default, a version with a danger
waits for [review](../how-to/review-skills.md). The specification and the guides are those of Agent
Skills; a finding without a source is skilldrop's own.

Examples are lines of a file, or paths: those with - raise the finding, those with + do not. In
them, → is a tab, [U+200B] and the like are invisible characters, <FF> and the like are bytes that
are not UTF-8, and […] stands for omitted text.
"""

_SHORT = {
    "OWASP Top 10 for LLM Applications, ": "OWASP ",  # which numbers them LLM01 and so on
    "ApexBridge, Skill format, ": "ApexBridge, ",
    "Claude Code documentation, ": "Claude Code, ",
    "Agent Skills specification": "specification",
    "Agent Skills guide for client implementers": "guide for clients",
    "Agent Skills guide": "guide",
}


def page() -> str:
    """Return the page: for each profile its codes, then a section for each code."""
    parts = [_OPENING]
    for profile in ("reading", *OF_PROFILES, "outcome"):
        types = [type_ for type_ in REGISTRY.values() if type_.profile == profile]
        parts += [f"## `{profile}`\n\n{PURPOSES[profile]}\n", *map(_section, types)]
    return "\n".join(parts)


def _short(source: str) -> str:
    """Return a source without the parts of its name that go without saying."""
    for name, short in _SHORT.items():
        source = source.replace(name, short)
    return source


def _section(type_: FindingType) -> str:
    source = "" if type_.source == OURS else f" **Source:** {prose(_short(type_.source))}."
    rejects = f"; {REJECTS[type_.rejects]}" if type_.severity == "error" else ""
    return (
        f"### `{type_.code}`\n\n"
        f"{prose(type_.summary)}\n\n"
        f"**Fix:** {prose(type_.fix)}\n\n"
        f"**Severity:** {type_.severity}{rejects}.{source}\n"
        + (f"\n{example.as_markdown()}" if (example := examples().get(type_.code)) else "")
    )
