"""Mapping of verdicts to rows; pure, and without SQL."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, NamedTuple

from catalog.database.sql import Row, to_json
from catalog.model.fields import EMPTY
from catalog.model.finding import Finding
from catalog.model.skill import FileEntry, Inventory, Rejection, SkillRecord
from catalog.text import search_terms
from catalog.text.body import body_of


def accepted(record: SkillRecord) -> Row:
    """Return the columns of `skills` for accepted content."""
    return {column: _stored(getattr(record, column)) for column in EMPTY} | {
        "skill_id": record.skill_id,
        "level": record.place.level,
        "plugin": record.place.plugin,
        "namespace": record.place.namespace,
        "root": record.place.root,
        "path": record.place.path,
        "is_alias": int(record.place.is_alias),
        "file_inventory": _inventory(record.inventory),
        "frontmatter": to_json(record.frontmatter),
        "files_left_out": to_json(record.left_out),
        "skill_md_hash": record.skill_md_hash,
        "digest": record.digest,
        "seen_digest": record.digest,
    }


def _stored(value: Any) -> Any:
    """Return a value of a record as stored in its column."""
    if isinstance(value, bool):
        return int(value)
    return to_json(value) if isinstance(value, tuple) else value


def rejected(rejection: Rejection) -> Row:
    """Return the columns of `skills` for a folder without accepted content."""
    return {
        "skill_id": rejection.skill_id,
        "name": rejection.name,
        "level": rejection.place.level,
        "plugin": rejection.place.plugin,
        "namespace": rejection.place.namespace,
        "root": rejection.place.root,
        "path": rejection.place.path,
        "is_alias": int(rejection.place.is_alias),
        "spec_valid": 0,
        "file_inventory": _inventory(rejection.inventory),
        "frontmatter": to_json(rejection.frontmatter),
        "files_left_out": to_json(rejection.left_out),
        "seen_digest": rejection.digest,
    }


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


def readdressed(version: Row, skill: Row) -> Row:
    """Return the row of a version under another name and skill_id."""
    described = json.loads(version["described"]) | {"name": skill["name"]}
    unpublished = dict.fromkeys(("package_path", "verified_at", "retired_at", "superseded_at"))
    return (
        version
        | unpublished
        | {
            "skill_id": skill["skill_id"],
            "described": to_json(described),
        }
    )


class SearchDocument(NamedTuple):
    """Row of `skill_text`: what is searched beside the columns of `skills` and SKILL.md itself."""

    id: int  # of the skill
    version: int
    headings: str
    file_names: str
    body_from: int  # first byte of the body in SKILL.md, from 1
    body_bytes: int
    body_grams: str


def search_document(skill: int, version: int, record: SkillRecord) -> SearchDocument:
    """Return the searchable text of accepted content."""
    paths = (entry.path for entry in record.files)
    text = record.skill_md_content
    return _document(skill, version, record.headings, paths, text, record.body_chars)


def restored_text(skill: int, version: Row, paths: Iterable[str]) -> SearchDocument:
    """Return the searchable text of a version, given the paths of its files."""
    described = json.loads(version["described"])
    headings, chars = described["headings"], described["body_chars"]
    text = version["skill_md_content"]
    return _document(skill, version["id"], headings, paths, text, chars)


def _document(
    skill: int,
    version: int,
    headings: Iterable[str],
    paths: Iterable[str],
    skill_md: str,
    body_chars: int,
) -> SearchDocument:
    body = body_of(skill_md, body_chars)
    return SearchDocument(
        skill,
        version,
        "\n".join(headings),
        " ".join(paths),
        body.first_byte,
        body.size,
        search_terms.pairs_of(body.text),
    )


def file(version_id: int, entry: FileEntry) -> Row:
    """Return a row of `files`, with its text instead of the id of that."""
    return entry._asdict() | {
        "version": version_id,
        "mode": f"{entry.mode:o}",
        "is_text": int(entry.is_text),
    }


def finding(skill: int | None, root: str, folder: str, finding: Finding) -> Row:
    """Return a row of `findings`."""
    return {"skill": skill, "root": root, "folder": folder, **finding._asdict()}


FINDING_COLUMNS = ("skill", "root", "folder", *Finding._fields)


def _inventory(inventory: Inventory) -> str:
    return to_json(inventory.as_json())
