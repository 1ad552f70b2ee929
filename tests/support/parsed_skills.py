"""Skills as the rules get them, made from frontmatter, body and files."""

from collections.abc import Mapping
from typing import Any

import yaml

from catalog.model.finding import Finding
from catalog.model.skill import FileEntry
from pipeline.parsing.document import Parsed
from pipeline.parsing.yaml_reader import Position
from pipeline.roots.snapshot import kind_of
from pipeline.validation.skill import Skill
from tests.support.judging import check, declare

DESCRIPTION = "Takes a text file and gives its word count. Use when asked how long a text is."
BODY = "# Count words\n\nRead the file."
BODY_LINE = 6
_WITH_UNDERSCORES = {"when_to_use", "input_schema", "output_schema"}


def file(path: str, *, executable: bool = False, is_text: bool = True, size: int = 1) -> FileEntry:
    """Return a file of a skill as the reader gives it."""
    return FileEntry(
        path, size, "0" * 64, 0o755 if executable else 0o644, kind_of(path, "SKILL.md"), is_text
    )


def skill(
    body: str = BODY,
    *files: str | FileEntry,
    whole: bool = True,
    texts: Mapping[str, str] | None = None,
    **fields: Any,
) -> Skill:
    """Return a skill with this body, these files beside SKILL.md and these fields.

    In most names of fields `_` stands for `-`. Those not given are good ones. `texts` are files
    whose text rules read.
    """
    texts = texts or {}
    named = {
        name if name in _WITH_UNDERSCORES else name.replace("_", "-"): value
        for name, value in fields.items()
    }
    frontmatter: Mapping[str, Any] = {"name": "sample", "description": DESCRIPTION, **named}
    positions = {field: Position(2 + number, 1) for number, field in enumerate(frontmatter)}
    head = yaml.safe_dump(dict(frontmatter), sort_keys=False, allow_unicode=True, width=2**20)
    text = f"---\n{head}---\n\n{body}"
    parsed = Parsed(frontmatter, positions, text, body.strip(), BODY_LINE, ())
    others = (*files, *(file(path, size=len(text.encode())) for path, text in texts.items()))
    entries = [each if isinstance(each, FileEntry) else file(each) for each in others]
    declaration = declare(frontmatter)
    unread = {entry.path: "" for entry in entries if entry.is_text and entry.path not in texts}
    return Skill(
        *("sample", "SKILL.md", parsed, declaration),
        (file("SKILL.md"), *sorted(entries)),
        whole,
        {**texts, **unread},
    )


def found(profile: str, of: Skill) -> tuple[Finding, ...]:
    """Return the findings of the rules of a profile."""
    return check(of, [profile])


def codes(profile: str, of: Skill) -> set[str]:
    """Return the codes of the findings of a profile."""
    return {finding.code for finding in found(profile, of)}
