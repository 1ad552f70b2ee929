"""Unit of work of a batch: the stored rows of its skills, and the new rows to write."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import count
from typing import Any

from catalog.database.queries import Database, Row, Writer, columns, to_json
from catalog.database.tables import TABLES
from catalog.model import finding as model_finding
from catalog.model.change import Change, ChangeResult, Columns, Judged
from catalog.model.fields import EMPTY
from catalog.model.finding import Finding
from catalog.model.naming import version_name
from catalog.model.skill import SkillRecord
from catalog.model.values import FolderOutcome, ReviewState, Trigger
from catalog.reading.skills import references as reading_references
from catalog.reading.skills import versions
from catalog.text.humanize import iso
from catalog.text.suggestions import few
from catalog.writing.events import Ingestion
from catalog.writing.rows import derived, reviews, sources, version_changes


class UnitOfWork:
    """The stored rows of the skills in a batch, and the new rows, written table by table."""

    def __init__(
        self,
        db: Writer,
        trigger: Trigger,
        at: datetime,
        scan: int | None,
        named_after: str,
    ) -> None:
        """Begin a batch in the caller's transaction; new versions get names after `named_after`."""
        self.db = db
        self.at, self._named_after = iso(at), named_after
        self._trigger, self._scan = trigger, scan
        self.old: dict[tuple[str, str], Row] = {}  # stored rows of skills, by root and path
        self.new_skills = _new_ids(db, "skills")
        self._new_versions = _new_ids(db, "versions")
        self.policies = reviews.policies(db)
        mirrors = db.execute("SELECT root, git_commit, url FROM mirrors").fetchall()
        self._commits: dict[str, str | None] = {root: commit for root, commit, _ in mirrors}
        self._repositories: dict[str, str] = {root: url for root, _, url in mirrors}
        # Results
        self.applied: list[ChangeResult] = []
        self.contested: set[str] = set()  # each skill_id whose active skill must be decided again
        # Rows to write, and skills and versions to change
        self._skills: list[Row] = []
        self._versions: list[Row] = []
        self._files: list[Row] = []
        self._findings: list[derived.FindingRow] = []
        self.described: list[int] = []  # skills whose derived rows are replaced
        self._texts: dict[int, tuple[Any, ...]] = {}  # of `skill_text`, by the new version
        self._ingestions: list[Ingestion] = []
        self._superseded: list[tuple[str, int]] = []  # time and version

    # Stored rows

    def load(self, changes: Iterable[Change]) -> None:
        """Load the stored rows of a batch; a renamed folder keeps its row."""
        rows = self.db.query(
            "SELECT s.* FROM json_each(?) AS place JOIN skills AS s"
            " ON s.root = json_extract(place.value, '$[0]')"
            " AND s.path = json_extract(place.value, '$[1]')",
            [to_json([place for change in changes for place in change.places])],
        )
        self.old = {(row["root"], row["path"]): row for row in rows}
        for change in changes:
            place, *former = change.places
            if place not in self.old and former and former[0] in self.old:
                self.old[place] = self.old.pop(former[0])

    def version_row(self, version: int) -> Row:
        """Return the row of a version."""
        return next(self.db.query("SELECT * FROM version_contents WHERE id = ?", [version]))

    def newest_version(self, skill: int) -> Row | None:
        """Return the newest version of a skill."""
        return self.db.row(_NEWEST_VERSION, [skill])

    def has_file(self, skill: Row, files: Iterable[tuple[str, str]]) -> bool:
        """Return whether the current version of a skill has one of these (path, sha256)."""
        return any(
            self.db.execute(
                "SELECT 1 FROM files WHERE version = ? AND path = ? AND sha256 = ?",
                [skill["current_version_id"], *file],
            ).fetchone()
            for file in files
        )

    def is_unchanged(
        self, old: Row, fields: Row, findings: Iterable[Finding], fingerprint: str
    ) -> bool:
        """Return whether a verdict is already stored, and add that result.

        The columns for a pending skill include its status.
        """
        if (old["status"] in ("removed", "pending") and "status" not in fields) or any(
            old[column] != value for column, value in fields.items()
        ):
            return False
        stored = self.db.execute(
            f"SELECT {columns(derived.FINDING_COLUMNS)} FROM findings WHERE skill = ?"
            f" AND code NOT IN ({', '.join('?' * len(model_finding.ON_OTHERS))})"
            " ORDER BY id",
            [old["id"], *model_finding.ON_OTHERS],
        )
        place = (old["root"], old["path"])
        if stored.fetchall() != [derived.finding_row(old["id"], *place, each) for each in findings]:
            return False
        if old["fingerprint"] != fingerprint:
            self.db.execute(
                "UPDATE skills SET fingerprint = ? WHERE id = ?", [fingerprint, old["id"]]
            )
        self.applied.append(ChangeResult(*place, old["name"], "unchanged"))
        return True

    def moment(self, old: Row | None) -> str:
        """Return the time of a change, never before the last one, even after a clock change."""
        return max(self.at, str(old["last_changed"])) if old else self.at

    # New rows

    def change(
        self,
        change: Change,
        old: Row | None,
        fields: Row,
        findings: Iterable[Finding],
        outcome: FolderOutcome,
        version: int | None = None,
        review: ReviewState | None = None,
    ) -> None:
        """Add or change a skill with its findings, its result and its row of history.

        A new version that agents do not get is withheld in the history.
        """
        judged = change if isinstance(change, Judged) else None
        place = change.places[0]
        base = old or _NEW_ROW | {"first_seen": self.at}
        row = base | fields | {"last_changed": self.moment(old)}
        if judged:
            row["fingerprint"] = judged.verdict.fingerprint
        if row["status"] not in PRESENT or row["skill_id"] != base.get("skill_id"):
            row |= NO_NAME
        self._skills.append(row)
        self._findings += [derived.finding_row(row["id"], *place, finding) for finding in findings]
        if old or outcome != "rejected":
            self.contested |= {row["skill_id"], (old or row)["skill_id"]}
        name = judged.verdict.name if outcome == "rejected" and judged else row["name"]
        detail = self._detail(outcome, judged, version, old)
        if review in reviews.UNPUBLISHABLE:
            detail = versions.UNFIT[review]
        self.applied.append(ChangeResult(*place, name, outcome, detail))
        started = judged.started_at if judged else self.at
        self._ingestions.append(
            Ingestion(
                row["id"],
                *place,
                self._scan,
                self._trigger,
                "withheld" if review in reviews.UNPUBLISHABLE else outcome,
                detail,
                version,
                max(started, str(old["last_changed"])) if old else started,
                judged.took_ms if judged else 0.0,
                judged.steps if judged else "[]",
            )
        )

    def _detail(
        self, outcome: FolderOutcome, judged: Judged | None, version: int | None, old: Row | None
    ) -> str | None:
        """Return the errors of a rejection, the former place, and the users."""
        detail = None
        if outcome == "rejected" and judged:
            errors = (f.code for f in judged.verdict.findings if f.severity == "error")
            detail = ", ".join(dict.fromkeys(errors))
        elif outcome == "renamed" and judged and judged.moved_from:
            detail = f"folder moved from {judged.moved_from[1]}"
        if old and _gives_up_its_place(outcome, judged, old):
            users = reading_references.used_by(self.db, old["id"])
            parts = (detail, f"used by {few(users)}" if users else None)
            detail = "; ".join(filter(None, parts)) or None
        return detail

    def add_version(
        self,
        skill: int,
        record: SkillRecord,
        content: Columns,
        moment: str,
        review: ReviewState | None,
        before: Row | None,
    ) -> int:
        """Add accepted content as a version after the one before, and return its id."""
        version = next(self._new_versions)
        self._texts[version] = content.text
        self._versions.append(
            {
                **content.version,
                "id": version,
                "skill": skill,
                "ingested_at": moment,
                "git_commit": self._commits.get(record.place.root),
                "review": review,
                "changes": before
                and version_changes.in_words(self.db, before, record, content.version["described"]),
            }
        )
        self._files += [derived.file(version, entry) for entry in record.files]
        return version

    def update_version(
        self, version: Row, content: Columns, root: str, review: ReviewState | None
    ) -> None:
        """Store a new verdict and review with the stored version of its content.

        The folder has another name since, another release judged it, or the catalog was lost, and
        with it the commit.
        """
        self.db.execute(
            "UPDATE versions SET described = ?1, git_commit = ifnull(git_commit, ?2) WHERE id = ?3"
            " AND (described != ?1 OR git_commit IS NULL AND ?2 IS NOT NULL)",
            [content.version["described"], self._commits.get(root), version["id"]],
        )
        if version["review"] != review:
            self.db.execute("UPDATE versions SET review = ? WHERE id = ?", [review, version["id"]])

    def supersede(self, old: Row | None) -> None:
        """Note that the current version of a skill, if it has one, gives way to another."""
        if old and old["current_version_id"]:
            self._superseded.append((self.moment(old), old["current_version_id"]))

    def readdressed(self, old: Row, fields: Row) -> Row:
        """Return the columns of published content under a new skill_id or level."""
        published = self.version_row(old["current_version_id"])
        fields |= {"pinned_version_id": None, "digest": published["digest"]}
        if fields["skill_id"] == old["skill_id"]:
            return fields
        version = next(self._new_versions)
        described = json.loads(published["described"]) | {"name": fields["name"]}
        unpublished = ("package_path", "verified_at", "retired_at", "superseded_at", "changes")
        self._versions.append(
            published
            | dict.fromkeys(unpublished)
            | {
                "id": version,
                "skill_id": fields["skill_id"],
                "described": to_json(described),
                "ingested_at": self.moment(old),
            }
        )
        files = self.db.query(
            "SELECT path, kind, size, sha256, mode, is_text, text FROM file_contents"
            " WHERE version = ? ORDER BY id",
            [old["current_version_id"]],
        )
        self._files += [file | {"version": version} for file in files]
        self.described.append(old["id"])
        self.supersede(old)
        return fields | {"current_version_id": version}

    # Writing

    def write(self) -> None:
        """Name the new versions, and write all new rows. Raises sqlite3.Error."""
        execute = self.db.conn.executemany
        self._name_versions()
        sources.assign(self.db, self._skills, self.old.values(), self._repositories)
        execute("DELETE FROM findings WHERE skill = :id", self._skills)
        # Setting the id, too, would let SQLite look through all skills for references to it.
        changed = [name for name in TABLES["skills"] if name != "id"]
        assignments = ", ".join(f'"{name}" = excluded."{name}"' for name in changed)
        self.db.insert_searched(
            *_table("skills", self._skills), f" ON CONFLICT (id) DO UPDATE SET {assignments}"
        )
        self._write_content()
        execute("UPDATE versions SET superseded_at = ? WHERE id = ?", self._superseded)
        self.db.insert("findings", derived.FINDING_COLUMNS, self._findings)
        derived.write(self.db, self.described, self._texts)
        self.db.insert("ingestions", Ingestion._fields, self._ingestions)

    def _name_versions(self) -> None:
        """Name each version by its time, later than all others of its skill_id."""
        newest: dict[str, str] = {}
        for slug, version in self.db.execute(
            "SELECT new.value, (SELECT max(version) FROM versions"
            " WHERE skill_id = new.value) FROM json_each(?) AS new",
            [to_json(sorted({row["skill_id"] for row in self._versions}))],
        ):
            newest[slug] = max(version or "", self._named_after)
        for row in self._versions:
            at = datetime.fromisoformat(row["ingested_at"])
            row["version"] = newest[row["skill_id"]] = version_name(at, newest[row["skill_id"]])

    def _write_content(self) -> None:
        """Write texts, and the versions and files that refer to them."""
        wanted = {row["skill_md_hash"]: row["skill_md_content"] for row in self._versions} | {
            file["sha256"]: file["text"] for file in self._files if file["text"] is not None
        }
        ids = self._text_ids(wanted)
        for row in self._versions:
            row["text_id"] = ids[row["skill_md_hash"]]
        self.db.insert(*_table("versions", self._versions))
        for file in self._files:
            has_text = file["text"] is not None or file["kind"] == "skill_md"
            file["text_id"] = ids.get(file["sha256"]) if has_text else None
        self.db.insert(*_table("files", self._files))

    def _text_ids(self, texts: Mapping[str, str]) -> dict[str, int]:
        """Store texts, by hash, that are not stored yet; return the id of each by its hash."""
        stored = self.db.execute(_TEXTS, [to_json(list(texts))]).fetchall()
        damaged = [(texts[each], text_id) for each, text_id, text in stored if text != texts[each]]
        if damaged:
            self.db.conn.executemany("UPDATE texts SET text = ? WHERE id = ?", damaged)
            derived.rebuild_search(self.db)
        ids = {sha256: text_id for sha256, text_id, _ in stored}
        new_ids = _new_ids(self.db, "texts")
        new = [(next(new_ids), sha256, texts[sha256]) for sha256 in texts if sha256 not in ids]
        self.db.insert("texts", tuple(TABLES["texts"]), new)
        return ids | {sha256: text_id for text_id, sha256, _ in new}


def _table(name: str, rows: Iterable[Row]) -> tuple[str, Sequence[str], list[list[Any]]]:
    """Return a table with its columns and rows; a missing one is NULL, and SQLite gives the id."""
    names = tuple(TABLES[name])
    return name, names, [list(map(row.get, names)) for row in rows]


def _new_ids(db: Database, table: str) -> Iterator[int]:
    """Return the ids of new rows; with one writer, they can be assigned here."""
    return count(db.execute(f"SELECT ifnull(max(id), 0) + 1 FROM {table}").fetchone()[0])


def _gives_up_its_place(outcome: FolderOutcome, judged: Judged | None, old: Row) -> bool:
    """Return whether links of other skills to a skill may be broken by a change."""
    is_renamed = judged and outcome == "updated" and judged.verdict.skill_id != old["skill_id"]
    return outcome in ("removed", "renamed") or bool(is_renamed)


_NEWEST_VERSION = """
    SELECT id, review, digest, skill_id, described FROM versions WHERE skill = ?
    ORDER BY id DESC LIMIT 1
"""
_TEXTS = """
    SELECT t.sha256, t.id, t.text FROM json_each(?) AS wanted
    CROSS JOIN texts AS t ON t.sha256 = wanted.value
"""
PRESENT = ("active", "shadowed")
"""Statuses of accepted content, which competes for a skill_id."""
NO_NAME: Row = {"name_since": None, "preferred_at": None, "is_conflict": 0}
"""Columns of a skill that has just taken its skill_id, or has none; see `shadowing`."""
_NEW_ROW: Row = {
    **EMPTY,
    "is_alias": 0,
    "is_conflict": 0,
    "files_left_out": "[]",
    "status_reason": None,
}
