"""Rules of the Agent Skills specification, to the letter.

Errors, and fields that are not the specification's, are those of the reference validator
(skills-ref), and three that it passes over: an empty compatibility, and a metadata that is no map
of texts. Other forms are a warning, and info where clients read them.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import chain
from typing import NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from catalog.model.fields import (
    CLAUDE_CODE_NAMES,
    NAME_LIMIT,
    SPECIFICATION_NAMES,
    FieldLimits,
    normalised,
    spaced_tools,
)
from catalog.model.finding import Finding, FindingType
from catalog.text import humanize
from catalog.text.visible import kind_of, printable, quoted
from pipeline.validation.profile import Profile
from pipeline.validation.profiles.spec import codes
from pipeline.validation.skill import Skill

_MOST_SHOWN = 10
_BETWEEN_WORDS = re.compile(r"[^\w]+|_+")
_LONGEST_MISSPELT = 30  # characters; a longer field is not a misspelling
_BY_SPELLING = {name.replace("_", "-"): name for name in (*CLAUDE_CODE_NAMES, *SPECIFICATION_NAMES)}


class _Kinds(NamedTuple):
    """Finding types for a field: its type is wrong, it is missing or blank, or it is too long."""

    wrong: FindingType
    missing: FindingType | None = None
    long: FindingType | None = None


_KINDS = {
    "name": _Kinds(codes.NAME_NOT_TEXT, codes.NAME_MISSING, codes.NAME_TOO_LONG),
    "description": _Kinds(
        codes.DESCRIPTION_NOT_TEXT, codes.DESCRIPTION_MISSING, codes.DESCRIPTION_TOO_LONG
    ),
    "compatibility": _Kinds(
        codes.COMPATIBILITY_NOT_TEXT, codes.COMPATIBILITY_EMPTY, codes.COMPATIBILITY_TOO_LONG
    ),
    "license": _Kinds(codes.LICENSE_NOT_TEXT),
    "metadata": _Kinds(codes.METADATA_NOT_MAP),
    "allowed-tools": _Kinds(codes.ALLOWED_TOOLS_NOT_TEXT),
}
_EXPECTED = {"metadata": "a map", "allowed-tools": "a single space-separated text"}


def fields_keep_limits(skill: Skill) -> Iterator[Finding]:
    """Find fields that are missing, blank, too long or of the wrong type."""
    if skill.parsed.frontmatter is None:
        return  # the parser has reported it, and missing fields would add nothing
    try:
        FieldLimits.model_validate(skill.frontmatter)
    except ValidationError as problems:
        errors = problems.errors(include_url=False)
        values = [error for error in errors if len(error["loc"]) > 1]  # of metadata
        yield from (_beyond_limit(skill, error) for error in errors if error not in values)
        if values:
            yield _not_text(skill, values)


def tools_are_spaced(skill: Skill) -> Iterator[Finding]:
    """Find allowed-tools with commas between the tools."""
    tools = skill.frontmatter.get("allowed-tools")
    if isinstance(tools, str) and spaced_tools(tools) != " ".join(tools.split()):
        message = "allowed-tools has commas between its tools, which some clients do not read."
        yield skill.finding(codes.ALLOWED_TOOLS_NOT_TEXT, message, field="allowed-tools")


def _beyond_limit(skill: Skill, error: ErrorDetails) -> Finding:
    field = str(error["loc"][0])
    kinds, value = _KINDS[field], error["input"]
    if error["type"] in ("missing", "string_too_short"):
        return skill.finding(kinds.missing or kinds.wrong, field=field)
    if error["type"] == "string_too_long":
        limit = error["ctx"]["max_length"]
        message = f"{field} is {len(value):,} characters; the limit is {limit:,}."
        return skill.finding(kinds.long or kinds.wrong, message, field=field)
    expected = _EXPECTED.get(field, "text")
    message = f"{field} is {kind_of(value)}, not {expected}."
    found = skill.finding(kinds.wrong, message, field=field)
    is_list_of_tools = field == "allowed-tools" and isinstance(spaced_tools(value), str)
    return found._replace(severity="info") if is_list_of_tools else found


def _not_text(skill: Skill, errors: Sequence[ErrorDetails]) -> Finding:
    """Return the finding about the values of metadata that are no texts, of no client if any."""
    readers = {f"metadata.{at['loc'][1]}": at for at in errors}
    others = [field for field in readers if not skill.declaration.readers(field)]
    field, *more = others or readers
    message = f"{printable(field)} is {kind_of(readers[field]['input'])}, not text."
    if more:
        message += f" The same is true of {humanize.count(len(more), 'more value')}."
    if others:
        return skill.finding(codes.METADATA_VALUE_NOT_TEXT, message, field=field)
    clients = humanize.listed(skill.declaration.readers(field))
    fix = f"Keep it as it is for {clients}; other clients ignore it."
    found = skill.finding(codes.METADATA_VALUE_NOT_TEXT, message, field=field, fix=fix)
    return found._replace(severity="info")


def name_form(skill: Skill) -> Iterator[Finding]:
    """Find a name that is not lower-case words joined by hyphens, or not the folder's name.

    One finding names every problem, because one correction fixes them all.
    """
    name = normalised(skill.frontmatter.get("name"))
    if not name or not isinstance(name, str):
        return
    problems = list(_problems(name, unicodedata.normalize("NFKC", skill.folder)))
    if not problems:
        return
    kind = next((kind for kind, _ in problems if kind == codes.NAME_CHARACTERS), problems[0][0])
    listed = humanize.listed([words for _, words in problems])
    yield skill.finding(
        kind, f"name {quoted(name)} {listed}.", field="name", fix=_fix(name, skill.folder)
    )


def no_other_fields(skill: Skill) -> Iterator[Finding]:
    """Find fields that the specification does not define; those that clients read are info."""
    kind, of_clients = codes.FIELD_NOT_IN_SPECIFICATION, dict[tuple[str, ...], list[str]]()
    for field in skill.frontmatter:
        if field not in SPECIFICATION_NAMES:
            of_clients.setdefault(skill.declaration.readers(field), []).append(field)
    if unknown := of_clients.pop((), []):
        message = f"{_counted(unknown)}: {_shown(unknown)}."
        yield skill.finding(kind, message, field=unknown[0], fix=_correction(unknown))
    if known := [*chain.from_iterable(of_clients.values())]:
        groups = "; ".join(f"{_shown(read)} ({', '.join(by)})" for by, read in of_clients.items())
        message, fix = f"{_counted(known)}: {groups}.", "Keep what your clients need."
        found = skill.finding(kind, message, field=known[0], fix=fix)
        yield found._replace(severity="info")


def _counted(fields: Sequence[str]) -> str:
    return f"{humanize.count(len(fields), 'field')} not of the specification"


def _shown(fields: Sequence[str]) -> str:
    return ", ".join(map(printable, fields[:_MOST_SHOWN]))


SPEC = Profile(
    "spec", codes.TYPES, (fields_keep_limits, tools_are_spaced, name_form, no_other_fields)
)


def _right_name(name: str, folder: str) -> str | None:
    """Return a name that the specification allows: the folder's, else a corrected one.

    None if no valid name can be made of either.
    """
    words = _BETWEEN_WORDS.sub("-", unicodedata.normalize("NFKC", name).lower()).strip("-")
    for candidate in (unicodedata.normalize("NFKC", folder), words):
        if is_valid_name(candidate):
            return candidate
    return None


def _problems(name: str, folder: str) -> Iterator[tuple[FindingType, str]]:
    """Yield each problem of a name, in words that follow the name."""
    if name != name.lower():
        yield codes.NAME_NOT_LOWER_CASE, "is not all lower case"
    if name.startswith("-") or name.endswith("-"):
        yield codes.NAME_OUTER_HYPHEN, "begins or ends with a hyphen"
    if "--" in name:
        yield codes.NAME_DOUBLE_HYPHEN, "has two hyphens in a row"
    if name != folder:
        yield codes.NAME_NOT_FOLDER, f"differs from the folder's name, {quoted(folder)}"
    if not name.replace("-", "a").isalnum():
        other = dict.fromkeys(c for c in name if not (c.isalnum() or c == "-"))
        shown = ", ".join(_character(c) for c in list(other)[:_MOST_SHOWN])
        yield (
            codes.NAME_CHARACTERS,
            f"contains characters other than letters, digits and hyphens: {shown}",
        )


def _fix(name: str, folder: str) -> str | None:
    right = _right_name(name, folder)
    if right is None:
        return None
    if right == name:
        return f"Rename the folder to {printable(right)}."
    if right == unicodedata.normalize("NFKC", folder):
        other = f", or rename the folder to {printable(name)}" if is_valid_name(name) else ""
        return f"Write {printable(right)}{other}."
    return f"Write {printable(right)}, and rename the folder to it."


def is_valid_name(name: str) -> bool:
    """Return whether the specification allows a name, in a folder of the same name."""
    return 0 < len(name) <= NAME_LIMIT and not any(_problems(name, name))


def _character(character: str) -> str:
    if character == " ":
        return "a space"
    code = f"U+{ord(character):04X}"
    if unicodedata.category(character)[0] in "CMZ":  # invisible, or combined with its neighbour
        return code
    return f"“{character}”" if character.isascii() else f"“{character}” ({code})"


def _correction(fields: Iterable[str]) -> str | None:
    """Return the advice for the first field that is probably misspelt, else None."""
    for field in fields:
        spelling = field.lower().replace("_", "-")
        if len(field) <= _LONGEST_MISSPELT and (
            close := get_close_matches(spelling, _BY_SPELLING, n=1, cutoff=0.8)
        ):
            right = _BY_SPELLING[close[0]]
            return (
                f"Write {right} for {printable(field)} if you meant it; move others under metadata."
            )
    return None
