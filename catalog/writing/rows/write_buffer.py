"""The rows of one batch, collected by table, so that each table is written at once."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from sqlite3 import Connection
from typing import Any

from catalog.database import packed_texts
from catalog.database import sql as database_sql
from catalog.database.short_texts import FRONTMATTER
from catalog.database.sql import insert, upsert, write
from catalog.model.naming import version_name
from catalog.model.skill import SkillReference
from catalog.writing.rows import (
    dialects,
    facets,
    fulltext,
    ingestions,
    mapping,
    references,
    sketches,
)
from catalog.writing.rows.facets import Facets
from catalog.writing.rows.ingestions import Ingestion


@dataclass(slots=True)
class WriteBuffer:
    """Rows to write, and ids of rows to delete or change."""

    skills: list[database_sql.Row] = field(default_factory=list)
    versions: list[database_sql.Row] = field(default_factory=list)
    files: list[tuple[Any, ...]] = field(default_factory=list)  # see `add_files`
    sketches: list[tuple[int, bytes]] = field(default_factory=list)  # by version
    facets: dict[int, Facets] = field(default_factory=dict)  # by version
    findings: list[tuple[Any, ...]] = field(default_factory=list)
    declared: dict[int, dialects.Records] = field(default_factory=dict)  # by skill
    references: dict[int, Sequence[SkillReference]] = field(default_factory=dict)  # by skill
    texts: list[mapping.SearchDocument] = field(default_factory=list)
    texts_gone: list[int] = field(default_factory=list)
    ingestions: list[Ingestion] = field(default_factory=list)
    superseded: list[tuple[str, int]] = field(default_factory=list)  # time and version
    judged_again: list[tuple[int]] = field(
        default_factory=list
    )  # skills whose findings are replaced

    def add_files(self, skill_md: str, files: Iterable[tuple[Any, ...]]) -> None:
        """Add the files of a version with this SKILL.md, as rows of FILE_COLUMNS."""
        self.files.extend((*file, packed_texts.pack_file(text, skill_md)) for *file, text in files)

    def write(self, db: Connection) -> None:
        """Write all but the texts, and name the new versions. Raises sqlite3.Error."""
        execute = db.executemany
        self._name_versions(db)
        execute("DELETE FROM findings WHERE skill = ?", self.judged_again)
        _write_rows(db, upsert, "skills", list(map(FRONTMATTER.short, self.skills)))
        _write_rows(db, insert, "versions", list(map(packed_texts.pack_version, self.versions)))
        execute("UPDATE versions SET superseded_at = ? WHERE id = ?", self.superseded)
        write(db, insert, "files", (*FILE_COLUMNS[:-1], packed_texts.PACKED), self.files)
        sketches.add(db, self.sketches)
        facets.replace(db, self.facets)
        write(db, insert, "findings", mapping.FINDING_COLUMNS, self.findings)
        dialects.write(db, self.declared)
        references.write(db, self.references)
        ingestions.add(db, self.ingestions)

    def write_texts(self, db: Connection) -> None:
        """Write the full-text rows. Raises sqlite3.Error."""
        fulltext.remove(db, self.texts_gone)
        fulltext.replace(db, self.texts)

    def _name_versions(self, db: Connection) -> None:
        """Name each version by its time, later than all others of its skill_id."""
        newest: dict[str, str] = {}
        for slug, version in db.execute(
            "SELECT new.value, (SELECT max(version) FROM versions"
            " WHERE skill_id = new.value) FROM json_each(?) AS new",
            [database_sql.to_json(sorted({row["skill_id"] for row in self.versions}))],
        ):
            newest[slug] = version or ""
        for row in self.versions:
            at = datetime.fromisoformat(row["ingested_at"])
            row["version"] = newest[row["skill_id"]] = version_name(at, newest[row["skill_id"]])


def _write_rows(
    db: Connection,
    statement: Callable[[str, Sequence[str], int], str],
    table: str,
    rows: Sequence[database_sql.Row],
) -> None:
    """Write rows to all columns of a table that are not generated; a missing value is NULL."""
    if not rows:
        return
    names = [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]
    write(db, statement, table, names, [tuple(map(row.get, names)) for row in rows])


FILE_COLUMNS = ("version", "path", "kind", "size", "sha256", "mode", "is_text", "text")
