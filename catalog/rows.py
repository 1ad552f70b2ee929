"""How verdicts are written as rows; pure, and without a word of SQL."""

import json
from typing import Any, TypeAlias

from catalog import ngrams
from catalog.record import FileEntry, Finding, Inventory, Json, Rejection, SkillRecord

Row: TypeAlias = dict[str, Any]

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def to_json(value: Json) -> str:
    """Return compact JSON with its non-ASCII text readable."""
    return _encode(value)


def accepted(record: SkillRecord) -> Row:
    """Return what the `skills` table holds of accepted content."""
    return {
        "skill_id": record.skill_id,
        "name": record.name,
        "display_name": record.display_name,
        "description": record.description,
        "spec_valid": int(record.spec_valid),
        "level": record.place.level,
        "plugin": record.place.plugin,
        "root": record.place.root,
        "path": record.place.path,
        "author": record.author,
        "license": record.license,
        "compatibility": record.compatibility,
        "allowed_tools": record.allowed_tools,
        "category": record.category,
        "tags": to_json(record.tags),
        "priority": record.priority,
        "model_invocable": int(record.model_invocable),
        "user_invocable": int(record.user_invocable),
        "body_lines": record.body_lines,
        "estimated_tokens": record.estimated_tokens,
        "file_inventory": _inventory(record.inventory),
        "frontmatter": to_json(record.frontmatter),
        "skill_md_name": record.skill_md_name,
        "skill_md_hash": record.skill_md_hash,
        "digest": record.digest,
        "seen_digest": record.digest,
    }


def rejected(rejection: Rejection) -> Row:
    """Return what the `skills` table holds of a folder that has no accepted content."""
    return {
        "skill_id": rejection.skill_id,
        "name": rejection.name,
        "level": rejection.place.level,
        "plugin": rejection.place.plugin,
        "root": rejection.place.root,
        "path": rejection.place.path,
        "spec_valid": 0,
        "file_inventory": _inventory(rejection.inventory),
        "frontmatter": to_json(rejection.frontmatter),
        "seen_digest": rejection.digest,
    }


def version(record: SkillRecord, skill: Row) -> Row:
    """Return what the `versions` table holds of accepted content, given its row of `skills`."""
    shared = ("skill_id", "digest", "skill_md_hash", "file_inventory", "frontmatter")
    return {column: skill[column] for column in shared} | {
        "skill_md_content": record.skill_md_content,
    }


def file(version_id: int, entry: FileEntry) -> tuple[Any, ...]:
    """Return a row of `files`: version, path, kind, size, sha256, mode, is_text, text."""
    return (version_id, entry.path, entry.kind, entry.size, entry.sha256, f"{entry.mode:o}",
            int(entry.is_text), entry.text)


def finding(skill: int | None, root: str, folder: str, found: Finding) -> tuple[Any, ...]:
    """Return a row of `findings`, in the order of FINDING_COLUMNS."""
    return (skill, root, folder, found.code, found.severity, found.profile, found.field,
            found.path, found.line, found.column, found.message, found.fix, found.before,
            found.after)


FINDING_COLUMNS = ("skill", "root", "folder", "code", "severity", "profile", "field", "path",
                   "line", "column", "message", "fix", "before", "after")


def searchable(skill: int, record: SkillRecord) -> tuple[Any, ...]:
    """Return a row of `skill_text`: id, name, description, tags, headings, files, body, grams.

    What a skill is triggered by finds it as its tags do.
    """
    package = record.apexbridge
    tags = " ".join((*record.tags, *(package.phrases + package.intents if package else ())))
    return (
        skill, f"{record.name} {record.display_name or ''}".strip(), record.description, tags,
        "\n".join(record.headings), " ".join(entry.path for entry in record.files), record.body,
        ngrams.terms(f"{record.name} {record.display_name or ''} {record.description} {tags}"),
    )


def _inventory(inventory: Inventory) -> str:
    return to_json(inventory.as_json())
