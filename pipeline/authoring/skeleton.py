"""Skeletons of new skills, to fill in: a plain one, or a package of a dialect."""

from collections.abc import Mapping
from pathlib import Path

from catalog.model.errors import NotAdded
from catalog.model.naming import is_slug
from catalog.text.suggestions import shown

PLAIN: Mapping[str, str] = {
    "SKILL.md": """\
---
name: {name}
description: Describes {words} in one sentence. Use when someone asks for {words}.
---

# {title}

Say in one sentence what this skill achieves.

## Steps

1. Name the input, and how to get it.
2. Name each step, in the order of the work.
3. Name the result, and how to check it.

## Example

> A request of a person, in their words.

The answer that this skill gives.
"""
}
"""Texts of a new skill by path; name, words, title and intent in braces are filled in."""


def make(name: str, parent: Path, texts: Mapping[str, str] = PLAIN) -> Path:
    """Write a skill with a name below a directory, and return its folder.

    Raises NotAdded if the name is none that the specification allows, or the folder exists.
    """
    if not name.isascii() or not is_slug(name) or not name or len(name) > 64:
        raise NotAdded(
            f"{shown(name)} cannot be the name of a skill: it needs 1 to 64 of a-z, 0-9 and "
            "single hyphens between them, such as csv-profile."
        )
    words = name.replace("-", " ")
    folder = parent / name
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise NotAdded(f"{folder} exists already; choose another name.") from None
    except OSError as error:
        raise NotAdded(f"{folder} was not made: {error.strerror}.") from error
    for path, text in texts.items():
        file = folder / path
        file.parent.mkdir(exist_ok=True)
        filled = text.format(
            name=name, words=words, title=words.capitalize(), intent=name.replace("-", "_")
        )
        file.write_text(filled, encoding="utf-8")
    return folder
