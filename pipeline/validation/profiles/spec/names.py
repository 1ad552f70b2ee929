"""Rules of the specification about a skill's name."""

import re
import unicodedata
from collections.abc import Iterator

from catalog.model.finding import Finding, FindingType
from catalog.text.quoting import printable, quoted
from pipeline.validation.profiles.spec.codes import (
    NAME_CHARACTERS,
    NAME_DOUBLE_HYPHEN,
    NAME_NOT_FOLDER,
    NAME_NOT_LOWER_CASE,
    NAME_OUTER_HYPHEN,
    NAME_TOO_LONG,
)
from pipeline.validation.skill import Skill

NAME_LIMIT = 64
"""In characters. Source: Agent Skills specification, Frontmatter, name."""

_MOST_SHOWN = 10
_BETWEEN_WORDS = re.compile(r"[^\w]+|_+")


def name_length(skill: Skill) -> Iterator[Finding]:
    """Find a name of more than 64 characters."""
    if len(name := declared_name(skill)) > NAME_LIMIT:
        yield skill.finding(
            NAME_TOO_LONG,
            f"name is {len(name):,} characters; the limit is {NAME_LIMIT}.",
            field="name",
        )


def name_form(skill: Skill) -> Iterator[Finding]:
    """Find a name that is not lower-case words joined by hyphens, or not the folder's name.

    One finding names every problem, because one correction mends them all.
    """
    name = declared_name(skill)
    problems = list(_problems(name, unicodedata.normalize("NFKC", skill.folder))) if name else []
    if not problems:
        return
    kind = next((kind for kind, _ in problems if kind == NAME_CHARACTERS), problems[0][0])
    said = [words for _, words in problems]
    listed = " and ".join(filter(None, (", ".join(said[:-1]), said[-1])))
    yield skill.finding(
        kind, f"name {quoted(name)} {listed}.", field="name", fix=_fix(name, skill.folder)
    )


def declared_name(skill: Skill) -> str:
    """Return the name as the reference validator normalises it, or "" if there is none."""
    name = skill.frontmatter.get("name")
    return unicodedata.normalize("NFKC", name.strip()) if isinstance(name, str) else ""


def right_name(name: str, folder: str) -> str | None:
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
    right = right_name(name, folder)
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
