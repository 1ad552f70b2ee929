"""The rows of one batch, collected by table, so that each table is written at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from sqlite3 import Connection
from typing import Any

from catalog.database import sql as database_sql
from catalog.database.sql import insert, upsert, write
from catalog.model.naming import version_name
from catalog.model.skill import SkillReference
from catalog.writing.rows import dialects, fulltext, ingestions, mapping, references, texts
from catalog.writing.rows.ingestions import Ingestion


@dataclass(slots=True)
class WriteBuffer:
    """Rows to write, and ids of rows to delete or change."""

    skills: list[database_sql.Row] = field(default_factory=list)
    versions: list[database_sql.Row] = field(default_factory=list)
    files: list[tuple[Any, ...]] = field(default_factory=list)  # of FILE_COLUMNS
    findings: list[tuple[Any, ...]] = field(default_factory=list)
    declared: dict[int, dialects.Records] = field(default_factory=dict)  # by skill
    references: dict[int, Sequence[SkillReference]] = field(default_factory=dict)  # by skill
    texts: list[mapping.SearchDocument] = field(default_factory=list)
    texts_gone: list[int] = field(default_factory=list)
    ingestions: list[Ingestion] = field(default_factory=list)
    superseded: list[tuple[str, int]] = field(default_factory=list)  # time and version
    named_after: str = ""  # version whose name is before those of all new ones
    judged_again: list[tuple[int]] = field(
        default_factory=list
    )  # skills whose findings are replaced

    def write(self, db: Connection) -> None:
        """Write all but the texts, and name the new versions. Raises sqlite3.Error."""
        execute = db.executemany
        self._name_versions(db)
        execute("DELETE FROM findings WHERE skill = ?", self.judged_again)
        _write_rows(db, upsert, "skills", self.skills)
        self._write_content(db)
        execute("UPDATE versions SET superseded_at = ? WHERE id = ?", self.superseded)
        write(db, insert, "findings", mapping.FINDING_COLUMNS, self.findings)
        dialects.write(db, self.declared)
        references.write(db, self.references)
        ingestions.add(db, self.ingestions)

    def _write_content(self, db: Connection) -> None:
        """Write texts, and the versions and files that refer to them."""
        whole = [row for row in self.versions if row["digest"]]  # a lost one has no text
        wanted = {row["skill_md_hash"]: row["skill_md_content"] for row in whole}
        wanted |= {sha256: text for *_, sha256, _, _, text in self.files if text is not None}
        ids = texts.ids_of(db, wanted)
        versions = [row | {"text_id": ids.get(row["skill_md_hash"])} for row in self.versions]
        _write_rows(db, insert, "versions", versions)
        files = [
            (
                *file,
                ids.get(file[_SHA256]) if text is not None or file[_KIND] == _SKILL_MD else None,
            )
            for *file, text in self.files
        ]
        write(db, insert, "files", (*FILE_COLUMNS[:-1], "text_id"), files)

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
            newest[slug] = max(version or "", self.named_after)
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
_KIND, _SHA256 = FILE_COLUMNS.index("kind"), FILE_COLUMNS.index("sha256")
_SKILL_MD = "skill_md"
"""Kind of the file whose text is that of its version."""
