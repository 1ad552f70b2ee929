"""The rows of one batch, gathered table by table so that each is written in one go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from sqlite3 import Connection
from typing import Any

from catalog.database import sql as database_sql
from catalog.database.sql import insert, upsert, write
from catalog.model.naming import version_name
from catalog.writing.rows import dialects, fulltext, ingestions, rows
from catalog.writing.rows.ingestions import Ingestion


@dataclass(slots=True)
class WriteBuffer:
    """Rows to be written, and of which other rows something is to be forgotten."""

    skills: list[database_sql.Row] = field(default_factory=list)
    versions: list[database_sql.Row] = field(default_factory=list)
    files: list[tuple[Any, ...]] = field(default_factory=list)
    findings: list[tuple[Any, ...]] = field(default_factory=list)
    declared: dict[int, dialects.Records] = field(default_factory=dict)  # by skill
    texts: list[rows.SearchDocument] = field(default_factory=list)
    texts_gone: list[int] = field(default_factory=list)
    ingestions: list[Ingestion] = field(default_factory=list)
    superseded: list[tuple[str, int]] = field(default_factory=list)  # when, and which version
    judged_anew: list[tuple[int]] = field(default_factory=list)  # whose findings no longer hold

    def write(self, db: Connection) -> None:
        """Write all but the texts, and name the new versions. Raises sqlite3.Error."""
        execute = db.executemany
        self._name_versions(db)
        execute("DELETE FROM findings WHERE skill = ?", self.judged_anew)
        write(
            db,
            upsert,
            "skills",
            _SKILL_COLUMNS,
            [_in_order(_SKILL_COLUMNS, row) for row in self.skills],
        )
        execute(
            insert("versions", _VERSION_COLUMNS),
            [_in_order(_VERSION_COLUMNS, row) for row in self.versions],
        )
        execute("UPDATE versions SET superseded_at = ? WHERE id = ?", self.superseded)
        write(db, insert, "files", FILE_COLUMNS, self.files)
        write(db, insert, "findings", rows.FINDING_COLUMNS, self.findings)
        dialects.write(db, self.declared)
        ingestions.add(db, self.ingestions)

    def write_texts(self, db: Connection) -> None:
        """Write what is searched. Raises sqlite3.Error."""
        fulltext.remove(db, self.texts_gone)
        fulltext.replace(db, self.texts)

    def _name_versions(self, db: Connection) -> None:
        """Name each version by its time, behind all others of its skill_id."""
        newest: dict[str, str] = {}
        for slug, version in db.execute(
            "SELECT wanted.value, (SELECT max(version) FROM versions"
            " WHERE skill_id = wanted.value) FROM json_each(?) AS wanted",
            [database_sql.to_json(sorted({row["skill_id"] for row in self.versions}))],
        ):
            newest[slug] = version or ""
        for row in self.versions:
            at = datetime.fromisoformat(row["ingested_at"])
            row["version"] = newest[row["skill_id"]] = version_name(at, newest[row["skill_id"]])


def _in_order(columns: Sequence[str], row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(map(row.get, columns))


FILE_COLUMNS = ("version", "path", "kind", "size", "sha256", "mode", "is_text", "text")
_SKILL_COLUMNS = (
    "id",
    "skill_id",
    "name",
    "display_name",
    "description",
    "status",
    "status_reason",
    "shadowed_by",
    "spec_valid",
    "level",
    "plugin",
    "root",
    "path",
    "is_alias",
    "author",
    "license",
    "compatibility",
    "allowed_tools",
    "category",
    "tags",
    "priority",
    "model_invocable",
    "user_invocable",
    "body_lines",
    "estimated_tokens",
    "file_inventory",
    "frontmatter",
    "skill_md_name",
    "skill_md_hash",
    "digest",
    "seen_digest",
    "fingerprint",
    "current_version_id",
    "pinned_version_id",
    "package_path",
    "newest_rejected_at",
    "pending_since",
    "pending_reason",
    "held_cause",
    "coalesced",
    "first_seen",
    "last_changed",
)
_VERSION_COLUMNS = (
    "id",
    "skill",
    "skill_id",
    "version",
    "ingested_at",
    "digest",
    "skill_md_hash",
    "file_inventory",
    "frontmatter",
    "skill_md_content",
    "described",
)
