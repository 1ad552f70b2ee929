"""Unit of work of a batch: the rows that its changes read and write."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from sqlite3 import Connection
from typing import Any

from catalog.database import sql as database_sql
from catalog.database.queries import Database
from catalog.database.sql import columns, insert, upsert, write
from catalog.model import finding as model_finding
from catalog.model.change import Change, ChangeResult, Judged, Removal
from catalog.model.fields import EMPTY
from catalog.model.finding import Finding
from catalog.model.naming import version_name
from catalog.model.retention import Retention
from catalog.model.skill import SkillRecord, SkillReference
from catalog.model.values import FolderOutcome, ReviewState, Trigger
from catalog.text import humanize
from catalog.text.confusables import skeleton
from catalog.text.humanize import iso
from catalog.text.suggestions import few
from catalog.writing import events
from catalog.writing.events import Ingestion
from catalog.writing.rows import dialects, fulltext, mapping, reviews, texts
from catalog.writing.rows import references as rows_references


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
        rows_references.write(db, self.references)
        events.add_ingestions(db, self.ingestions)

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


class UnitOfWork:
    """The stored rows of the places in a batch, and its unwritten new rows."""

    def __init__(
        self, db: Database, trigger: Trigger, at: datetime, scan: int | None, retention: Retention
    ) -> None:
        """Begin a batch in the caller's transaction."""
        self.db = db
        self.clock, self.retention = at, retention
        self.trigger, self.scan = trigger, scan
        self.at = iso(at)
        self.old: dict[tuple[str, str], database_sql.Row] = {}
        self.policies = reviews.policies(db)
        self.next_skill = self._highest("skills") + 1
        self.next_version = self._highest("versions") + 1
        self._commits: dict[str, str | None] = dict(
            db.execute("SELECT root, git_commit FROM mirrors").fetchall()
        )
        self.applied: list[ChangeResult] = []
        self.buffer = WriteBuffer()
        self.contested: set[str] = set()
        self.purged: list[int] = []

    def load(self, changes: Iterable[Change]) -> None:
        """Load the stored rows of a batch; a renamed folder keeps its row."""
        moved = [
            change.moved_from
            for change in changes
            if isinstance(change, Judged) and change.moved_from
        ]
        rows = self.db.query(
            "SELECT s.* FROM json_each(?) AS place JOIN skills AS s"
            " ON s.root = json_extract(place.value, '$[0]')"
            " AND s.path = json_extract(place.value, '$[1]')",
            [database_sql.to_json([*map(place_of, changes), *moved])],
        )
        self.old = {(row["root"], row["path"]): row for row in rows}
        for change in changes:
            if (
                isinstance(change, Judged)
                and change.moved_from in self.old
                and (place_of(change) not in self.old)
            ):
                self.old[place_of(change)] = self.old.pop(change.moved_from)

    def version_row(self, version: int) -> database_sql.Row:
        """Return the row of a version."""
        return next(iter(self.db.query("SELECT * FROM version_contents WHERE id = ?", [version])))

    def stored_version(self, skill: int, record: SkillRecord) -> database_sql.Row | None:
        """Return the newest version of a skill if it has this content, with its id and review."""
        rows = self.db.query(
            "SELECT id, review, digest, skill_id FROM versions WHERE skill = ?"
            " ORDER BY id DESC LIMIT 1",
            [skill],
        )
        content = (record.digest, record.skill_id)
        return next((row for row in rows if (row["digest"], row["skill_id"]) == content), None)

    def review_of(self, record: SkillRecord, old: database_sql.Row | None) -> ReviewState | None:
        """Return the review state of accepted content; see `reviews.state_of`."""
        policy = self.policies.get(record.place.root, reviews.NONE)
        return reviews.state_of(self.db, policy, record, old["id"] if old else None)

    def set_review(self, version: database_sql.Row, review: ReviewState | None) -> None:
        """Store the review state of a version, whose row has its id and its present state."""
        if version["review"] != review:
            self.db.execute("UPDATE versions SET review = ? WHERE id = ?", [review, version["id"]])

    def describe(self, version: int, record: SkillRecord) -> None:
        """Store a new verdict with the version of its content.

        The folder has another name since, another release judged it, or the catalog was lost, and
        with it the commit.
        """
        described = mapping.version(record, mapping.accepted(record))["described"]
        self.db.execute(
            "UPDATE versions SET described = ?1, git_commit = ifnull(git_commit, ?2) WHERE id = ?3"
            " AND (described != ?1 OR git_commit IS NULL AND ?2 IS NOT NULL)",
            [described, self._commits.get(record.place.root), version],
        )

    def holds(self, skill: database_sql.Row, files: Iterable[tuple[str, str]]) -> bool:
        """Return whether the current version of a skill has one of these (path, sha256)."""
        return any(
            self.db.execute(
                "SELECT 1 FROM files WHERE version = ? AND path = ? AND sha256 = ?",
                [skill["current_version_id"], *file],
            ).fetchone()
            for file in files
        )

    def is_stored(
        self, old: database_sql.Row, fields: database_sql.Row, findings: Iterable[Finding]
    ) -> bool:
        """Return whether this verdict is already stored; a pending skill names its status."""
        if (old["status"] in ("removed", "pending") and "status" not in fields) or any(
            old[column] != value for column, value in fields.items()
        ):
            return False
        stored = self.db.execute(
            f"SELECT {columns(mapping.FINDING_COLUMNS)} FROM findings WHERE skill = ?"
            f" AND code NOT IN ({', '.join('?' * len(model_finding.ON_OTHERS))})"
            " ORDER BY id",
            [old["id"], *model_finding.ON_OTHERS],
        ).fetchall()
        return stored == [mapping.finding(old["id"], old["root"], old["path"], f) for f in findings]

    def touch(self, old: database_sql.Row, fingerprint: str) -> None:
        """Store the fingerprint of a folder whose verdict is already stored."""
        if old["fingerprint"] != fingerprint:
            self.db.execute(
                "UPDATE skills SET fingerprint = ? WHERE id = ?", [fingerprint, old["id"]]
            )

    def write_skill(self, old: database_sql.Row | None, fields: database_sql.Row) -> None:
        """Add or change the row of a skill."""
        base = old or _NEW_ROW | {"first_seen": self.at}
        row = base | fields | {"last_changed": self.moment(old)}
        if row["status"] not in PRESENT or row["skill_id"] != base.get("skill_id"):
            row |= NO_NAME
        row["skeleton"] = skeleton(row["skill_id"])
        self.buffer.skills.append(row)

    def moment(self, old: database_sql.Row | None) -> str:
        """Return the time of a change, never before the last one, even after a clock change."""
        return max(self.at, str(old["last_changed"])) if old else self.at

    def add_version(
        self,
        skill: int,
        old: database_sql.Row | None,
        record: SkillRecord,
        fields: database_sql.Row,
        moment: str,
        review: ReviewState | None,
    ) -> int:
        """Add accepted content as a version, and return its id."""
        version, self.next_version = self.next_version, self.next_version + 1
        self.buffer.versions.append(
            mapping.version(record, fields)
            | {
                "id": version,
                "skill": skill,
                "ingested_at": moment,
                "git_commit": self._commits.get(record.place.root),
                "review": review,
            }
        )
        self.buffer.files.extend(mapping.file(version, entry) for entry in record.files)
        if old and old["current_version_id"]:
            self.buffer.superseded.append((moment, old["current_version_id"]))
        return version

    def readdressed(self, old: database_sql.Row, fields: database_sql.Row) -> database_sql.Row:
        """Return the columns of published content under a new skill_id or level."""
        published = self.version_row(old["current_version_id"])
        fields |= {"pinned_version_id": None, "digest": published["digest"]}
        if fields["skill_id"] == old["skill_id"]:
            return fields
        version, self.next_version = self.next_version, self.next_version + 1
        content = mapping.readdressed(published, fields) | {
            "id": version,
            "ingested_at": self.moment(old),
        }
        files = self.db.execute(
            f"SELECT {columns(FILE_COLUMNS[1:])} FROM file_contents WHERE version = ? ORDER BY id",
            [old["current_version_id"]],
        ).fetchall()
        self.buffer.versions.append(content)
        self.buffer.files.extend((version, *file) for file in files)
        text = mapping.restored_text(old["id"], content, [path for path, *_ in files])
        self.buffer.texts.append(text)
        self.buffer.superseded.append((self.moment(old), old["current_version_id"]))
        return fields | {"current_version_id": version}

    def replace_findings(
        self,
        skill: int,
        root: str,
        path: str,
        findings: Iterable[Finding],
        old: database_sql.Row | None,
    ) -> None:
        """Replace the findings of a skill."""
        if old:
            self.buffer.judged_again.append((skill,))
        self.buffer.findings.extend(
            mapping.finding(skill, root, path, finding) for finding in findings
        )

    def note(
        self,
        skill: int,
        place: tuple[str, str],
        name: str,
        outcome: FolderOutcome,
        judged: Judged | None,
        version: int | None,
        old: database_sql.Row | None = None,
        detail: str | None = None,
        review: ReviewState | None = None,
    ) -> None:
        """Add the result of a change, and its row of history.

        A new version that agents do not get is withheld in the history.
        """
        detail = _detail(outcome, judged, version, old) or detail
        if review in reviews.UNPUBLISHABLE:
            detail = _IN_REVIEW[review]
        if old and _gives_up_its_place(outcome, judged, old):
            users = rows_references.users_of(self.db, skill)
            parts = (detail, f"used by {few(users)}" if users else None)
            detail = "; ".join(filter(None, parts)) or None
        self.applied.append(ChangeResult(*place, name, outcome, detail))
        self.buffer.ingestions.append(
            Ingestion(
                skill,
                *place,
                self.scan,
                self.trigger,
                "withheld" if review in reviews.UNPUBLISHABLE else outcome,
                detail,
                version,
                self._started_at(judged, old),
                judged.took_ms if judged else 0.0,
                judged.steps if judged else "[]",
            )
        )

    def _started_at(self, judged: Judged | None, old: database_sql.Row | None) -> str:
        started = judged.started_at if judged else self.at
        return max(started, str(old["last_changed"])) if old else started

    def note_unchanged(self, place: tuple[str, str], name: str) -> None:
        """Add the result of a folder that has not changed."""
        self.applied.append(ChangeResult(*place, name, "unchanged"))

    def new_skill(self) -> int:
        """Return the id of a new skill."""
        skill, self.next_skill = self.next_skill, self.next_skill + 1
        return skill

    def _highest(self, table: str) -> int:
        """Return the highest id of a table; with one writer, ids can be assigned here."""
        return int(self.db.execute(f"SELECT ifnull(max(id), 0) FROM {table}").fetchone()[0])


def _detail(
    outcome: FolderOutcome,
    judged: Judged | None,
    version: int | None,
    old: database_sql.Row | None,
) -> str | None:
    """Return the errors of a rejection, the old place of a renamed skill, or what was missed."""
    if outcome == "rejected" and judged:
        errors = (f.code for f in judged.verdict.findings if f.severity == "error")
        return ", ".join(dict.fromkeys(errors))
    if outcome == "renamed" and judged and judged.moved_from:
        return f"from {judged.moved_from[1]}"
    if version and old and old["coalesced"] > 1:
        missed = humanize.count(old["coalesced"] - 1, "state")
        return f"{missed} before it followed too quickly to be stored"
    return None


def _gives_up_its_place(
    outcome: FolderOutcome, judged: Judged | None, old: database_sql.Row
) -> bool:
    """Return whether links of other skills to a skill may be broken by a change."""
    is_renamed = judged and outcome == "updated" and judged.verdict.skill_id != old["skill_id"]
    return outcome in ("removed", "renamed") or bool(is_renamed)


def place_of(change: Change) -> tuple[str, str]:
    """Return (root, path) of a change."""
    place = change if isinstance(change, Removal) else change.verdict.place
    return (place.root, place.path)


_IN_REVIEW: Mapping[ReviewState | None, str] = {
    "waits": "waits for review",
    "rejected": "was rejected in review",
}
PRESENT = ("active", "shadowed")
"""Statuses of accepted content, which competes for a skill_id."""
NO_NAME: database_sql.Row = {"name_since": None, "preferred_at": None, "is_conflict": 0}
"""Columns of a skill that has just taken its skill_id, or has none; see `shadowing`."""
_NEW_ROW: database_sql.Row = {
    **EMPTY,
    "is_alias": 0,
    "is_conflict": 0,
    "coalesced": 0,
    "files_left_out": "[]",
    "status_reason": None,
}
