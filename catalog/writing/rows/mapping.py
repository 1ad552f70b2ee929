"""Mapping of verdicts to rows; pure, and without SQL."""

from dataclasses import asdict
from typing import Any

from catalog.database.queries import Row, to_json
from catalog.model.fields import EMPTY
from catalog.model.finding import Finding
from catalog.model.skill import FileEntry, Place, Rejection, SkillRecord


def accepted(record: SkillRecord) -> Row:
    """Return the columns of `skills` for accepted content."""
    declared = {column: _stored(getattr(record, column)) for column in EMPTY}
    content = {"skill_md_hash": record.skill_md_hash, "digest": record.digest}
    return declared | _of_folder(record) | content | {"seen_digest": record.digest}


def _stored(value: Any) -> Any:
    """Return a value of a record as stored in its column."""
    if isinstance(value, bool):
        return int(value)
    return to_json(value) if isinstance(value, tuple) else value


def rejected(rejection: Rejection) -> Row:
    """Return the columns of `skills` for a folder without accepted content."""
    own = {"name": rejection.name, "spec_valid": 0, "seen_digest": rejection.digest}
    return _of_folder(rejection) | own


def _of_folder(verdict: SkillRecord | Rejection) -> Row:
    return {"skill_id": verdict.skill_id, **of_place(verdict.place)} | {
        "file_inventory": to_json(verdict.inventory.as_json()),
        "frontmatter": to_json(verdict.frontmatter),
        "files_left_out": to_json(verdict.left_out),
    }


def of_place(place: Place) -> Row:
    """Return the columns of `skills` for a place."""
    return place._asdict() | {"plugin": place.plugin, "is_alias": int(place.is_alias)}


def version(record: SkillRecord, skill: Row) -> Row:
    """Return the columns of `versions` for accepted content, given its row of `skills`."""
    shared = ("skill_id", "digest", "skill_md_hash", "file_inventory", "frontmatter")
    return {column: skill[column] for column in shared} | {
        "skill_md_content": record.skill_md_content,
        "described": to_json(
            {column: skill[column] for column in EMPTY}
            | {"headings": record.headings, "body_chars": record.body_chars}
            | {name: asdict(declared) for name, declared in record.dialects.items()}
            | {"references": list(map(list, record.references))}
        ),
    }


def file(version_id: int, entry: FileEntry) -> Row:
    """Return a row of `files`, with its text instead of the text's id."""
    return entry._asdict() | {
        "version": version_id,
        "mode": f"{entry.mode:o}",
        "is_text": int(entry.is_text),
    }


def finding(skill: int | None, root: str, folder: str, finding: Finding) -> Row:
    """Return a row of `findings`."""
    return {"skill": skill, "root": root, "folder": folder, **finding._asdict()}


FINDING_COLUMNS = ("skill", "root", "folder", *Finding._fields)
