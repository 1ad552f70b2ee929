"""Rules of the specification about a skill's name."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from itertools import islice

from catalog.model.finding import Finding, FindingType
from catalog.text import humanize
from catalog.text.visible import kind_of, printable, quoted
from pipeline.validation.fields.frontmatter import (
    CLAUDE_CODE_NAMES,
    SPECIFICATION,
    SPECIFICATION_NAMES,
)
from pipeline.validation.profile import Profile
from pipeline.validation.profiles.spec.codes import (
    ALLOWED_TOOLS_NOT_TEXT,
    COMPATIBILITY_EMPTY,
    COMPATIBILITY_NOT_TEXT,
    COMPATIBILITY_TOO_LONG,
    DESCRIPTION_MISSING,
    DESCRIPTION_NOT_TEXT,
    DESCRIPTION_TOO_LONG,
    FIELD_NOT_IN_SPECIFICATION,
    FIELDS_OF_DIALECT,
    LICENSE_NOT_TEXT,
    METADATA_NOT_MAP,
    METADATA_VALUE_NOT_TEXT,
    NAME_CHARACTERS,
    NAME_DOUBLE_HYPHEN,
    NAME_MISSING,
    NAME_NOT_FOLDER,
    NAME_NOT_LOWER_CASE,
    NAME_NOT_TEXT,
    NAME_OUTER_HYPHEN,
    NAME_TOO_LONG,
    TYPES,
)
from pipeline.validation.skill import Skill

NAME_LIMIT = 64
"""In characters. Source: Agent Skills specification, Frontmatter, name."""

_MOST_SHOWN = 10
_BETWEEN_WORDS = re.compile(r"[^\w]+|_+")


def name_length(skill: Skill) -> Iterator[Finding]:
    """Find a name of more than 64 characters."""
    if len(name := _declared_name(skill)) > NAME_LIMIT:
        yield skill.finding(
            NAME_TOO_LONG,
            f"name is {len(name):,} characters; the limit is {NAME_LIMIT}.",
            field="name",
        )


def name_form(skill: Skill) -> Iterator[Finding]:
    """Find a name that is not lower-case words joined by hyphens, or not the folder's name.

    One finding names every problem, because one correction mends them all.
    """
    name = _declared_name(skill)
    problems = list(_problems(name, unicodedata.normalize("NFKC", skill.folder))) if name else []
    if not problems:
        return
    kind_of = next(
        (kind_of for kind_of, _ in problems if kind_of == NAME_CHARACTERS), problems[0][0]
    )
    said = [words for _, words in problems]
    listed = " and ".join(filter(None, (", ".join(said[:-1]), said[-1])))
    yield skill.finding(
        kind_of, f"name {quoted(name)} {listed}.", field="name", fix=_fix(name, skill.folder)
    )


def _declared_name(skill: Skill) -> str:
    """Return the name as the reference validator normalises it, or "" if there is none."""
    name = skill.frontmatter.get("name")
    return unicodedata.normalize("NFKC", name.strip()) if isinstance(name, str) else ""


def _right_name(name: str, folder: str) -> str | None:
    """Return the name that the specification allows: the folder's, else one of the same words.

    None if no valid name can be made of either.
    """
    words = _BETWEEN_WORDS.sub("-", unicodedata.normalize("NFKC", name).lower()).strip("-")
    for candidate in (unicodedata.normalize("NFKC", folder), words):
        if 0 < len(candidate) <= NAME_LIMIT and not any(_problems(candidate, candidate)):
            return candidate
    return None


def _problems(name: str, folder: str) -> Iterator[tuple[FindingType, str]]:
    """Yield each problem of a name, in words that follow the name."""
    if name != name.lower():
        yield NAME_NOT_LOWER_CASE, "is not all lower case"
    if name.startswith("-") or name.endswith("-"):
        yield NAME_OUTER_HYPHEN, "begins or ends with a hyphen"
    if "--" in name:
        yield NAME_DOUBLE_HYPHEN, "has two hyphens in a row"
    if name != folder:
        yield NAME_NOT_FOLDER, f"differs from the folder's name, {quoted(folder)}"
    if not name.replace("-", "a").isalnum():
        other = dict.fromkeys(c for c in name if not (c.isalnum() or c == "-"))
        shown = ", ".join(_character(c) for c in list(other)[:_MOST_SHOWN])
        yield (
            NAME_CHARACTERS,
            f"contains characters other than letters, digits and hyphens: {shown}",
        )


def _fix(name: str, folder: str) -> str | None:
    right = _right_name(name, folder)
    if right is None:
        return None
    if right == name:
        return f"Rename the folder to {printable(right)}."
    if right == unicodedata.normalize("NFKC", folder):
        other = f", or rename the folder to {printable(name)}" if _is_valid(name) else ""
        return f"Write {printable(right)}{other}."
    return f"Write {printable(right)}, and rename the folder to it."


def _is_valid(name: str) -> bool:
    return not any(_problems(name, name))


def _character(character: str) -> str:
    if character == " ":
        return "a space"
    code = f"U+{ord(character):04X}"
    if unicodedata.category(character)[0] in "CMZ":  # invisible, or combined with its neighbour
        return code
    return f"“{character}”" if character.isascii() else f"“{character}” ({code})"


DESCRIPTION_LIMIT = 1_024
COMPATIBILITY_LIMIT = 500
"""Both in characters. Source: Agent Skills specification, Frontmatter."""

_LONGEST_MISSPELT = 30  # characters; a longer field is not a misspelling
_BY_SPELLING = {name.replace("_", "-"): name for name in (*CLAUDE_CODE_NAMES, *SPECIFICATION_NAMES)}


def name_required(skill: Skill) -> Iterator[Finding]:
    """Find a name that is missing, empty or not text."""
    if skill.parsed.frontmatter is None:
        return  # the parser has reported it, and missing fields would add nothing
    name = skill.frontmatter.get("name")
    if _is_blank(name):
        yield skill.finding(NAME_MISSING, field="name")
    elif not isinstance(name, str):
        yield skill.finding(NAME_NOT_TEXT, f"name is {kind_of(name)}, not text.", field="name")


def description_required(skill: Skill) -> Iterator[Finding]:
    """Find a description that is missing, blank or not text."""
    if skill.parsed.frontmatter is None:
        return
    description = skill.frontmatter.get("description")
    if _is_blank(description):
        yield skill.finding(DESCRIPTION_MISSING, field="description")
    elif not isinstance(description, str):
        yield skill.finding(
            DESCRIPTION_NOT_TEXT,
            f"description is {kind_of(description)}, not text.",
            field="description",
        )


def description_length(skill: Skill) -> Iterator[Finding]:
    """Find a description of more than 1,024 characters."""
    description = skill.frontmatter.get("description")
    if not isinstance(description, str) or _is_blank(description):
        return
    if len(description) > DESCRIPTION_LIMIT:
        yield skill.finding(
            DESCRIPTION_TOO_LONG,
            f"description is {len(description):,} characters; the limit is {DESCRIPTION_LIMIT:,}.",
            field="description",
        )


def compatibility_length(skill: Skill) -> Iterator[Finding]:
    """Find a compatibility that is not a text of 1 to 500 characters."""
    if "compatibility" not in skill.frontmatter:
        return
    compatibility = skill.frontmatter["compatibility"]
    if _is_blank(compatibility):
        yield skill.finding(COMPATIBILITY_EMPTY, field="compatibility")
    elif not isinstance(compatibility, str):
        yield skill.finding(
            COMPATIBILITY_NOT_TEXT,
            f"compatibility is {kind_of(compatibility)}, not text.",
            field="compatibility",
        )
    elif len(compatibility) > COMPATIBILITY_LIMIT:
        yield skill.finding(
            COMPATIBILITY_TOO_LONG,
            f"compatibility is {len(compatibility):,} characters; "
            f"the limit is {COMPATIBILITY_LIMIT}.",
            field="compatibility",
        )


def license_is_text(skill: Skill) -> Iterator[Finding]:
    """Find a license that is a list or a map."""
    value = skill.frontmatter.get("license")
    if value is not None and not isinstance(value, str):
        yield skill.finding(
            LICENSE_NOT_TEXT, f"license is {kind_of(value)}, not text.", field="license"
        )


def metadata_maps_to_texts(skill: Skill) -> Iterator[Finding]:
    """Find metadata that is not a map, or that has values that are not text."""
    metadata = skill.frontmatter.get("metadata")
    if isinstance(metadata, Mapping):
        other = {
            key: value
            for key, value in metadata.items()
            if value is not None and not isinstance(value, str)
        }
        for key, value in islice(other.items(), 1):
            more = humanize.count(len(other) - 1, "more value")
            also = f" The same is true of {more}." if len(other) > 1 else ""
            yield skill.finding(
                METADATA_VALUE_NOT_TEXT,
                f"metadata.{printable(key)} is {kind_of(value)}, not text.{also}",
                field=f"metadata.{key}",
            )
    elif metadata:
        yield skill.finding(
            METADATA_NOT_MAP, f"metadata is {kind_of(metadata)}, not a map.", field="metadata"
        )


def allowed_tools_is_text(skill: Skill) -> Iterator[Finding]:
    """Find allowed-tools that are a list or a map."""
    value = skill.frontmatter.get("allowed-tools")
    if value is not None and not isinstance(value, str):
        yield skill.finding(
            ALLOWED_TOOLS_NOT_TEXT,
            f"allowed-tools is {kind_of(value)}, not a single space-separated text.",
            field="allowed-tools",
        )


def no_other_fields(skill: Skill) -> Iterator[Finding]:
    """Find each field that the specification does not define; those of dialects together."""
    of_dialects: dict[str, list[str]] = {}
    for field in skill.frontmatter:
        owner = skill.declaration.owner(field)
        if owner in skill.declaration.systems:
            of_dialects.setdefault(owner, []).append(field)
        elif owner is None:
            yield skill.finding(
                FIELD_NOT_IN_SPECIFICATION,
                f"{printable(field)} is not a field of the specification.",
                field=field,
                fix=_correction(field),
            )
        elif owner != SPECIFICATION:
            yield skill.finding(
                FIELD_NOT_IN_SPECIFICATION,
                f"{field} is a field of {owner}, not of the specification.",
                field=field,
                fix=f"Keep it if {owner} needs it; otherwise move it under metadata or remove it.",
            )
    for system, fields in of_dialects.items():
        yield skill.finding(
            FIELDS_OF_DIALECT,
            f"{humanize.count(len(fields), 'field')} for {system}, not of the specification: "
            f"{', '.join(map(printable, fields))}.",
            field=fields[0],
        )


SPEC = Profile(
    "spec",
    TYPES,
    (
        name_required,
        name_length,
        name_form,
        description_required,
        description_length,
        compatibility_length,
        license_is_text,
        metadata_maps_to_texts,
        allowed_tools_is_text,
        no_other_fields,
    ),
)


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _correction(field: str) -> str | None:
    """Return the advice for a field that is probably misspelt, else None."""
    if len(field) > _LONGEST_MISSPELT:
        return None
    close = get_close_matches(field.lower().replace("_", "-"), _BY_SPELLING, n=1, cutoff=0.8)
    if not close:
        return None
    return f"Write {_BY_SPELLING[close[0]]} if you meant that; otherwise move it under metadata."
