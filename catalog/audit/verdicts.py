"""Differences between the catalog and fresh verdicts, and inside the catalog; reads only."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal, NamedTuple

from catalog.database.expressions import HAS_APPROVAL
from catalog.database.queries import Database, Row, columns, to_json
from catalog.model.finding import PUBLICATION_CODES, Finding
from catalog.model.skill import LeftOutFile, Rejection, SkillRecord, Verdict
from catalog.model.values import Json, ReviewState
from catalog.writing.rows import derived, references, reviews, shadowing


@dataclass(frozen=True, slots=True)
class Difference:
    """One disagreement between roots, catalog, packages, prompt indexes and links."""

    kind: Literal["folder", "catalog", "package", "index", "link"]  # the side that is wrong
    folder: str  # absolute path of a root, of a folder that skilldrop writes to
    path: str  # in that folder; empty for the folder itself
    message: str  # the rest of the sentence that begins with the path
    package_path: str | None = None  # `<skill_id>/<version>` where the files of a version are wrong

    @property
    def where(self) -> str:
        """The absolute path, as it is shown."""
        return f"{self.folder}/{self.path}" if self.path else self.folder

    def as_json(self) -> dict[str, Json]:
        """Return the fields as they are published."""
        return {"kind": self.kind, "where": self.where, "message": self.message}


class StoredFolder(NamedTuple):
    """Row of a skill folder that the catalog has not marked as removed."""

    status: str
    fingerprint: str
    is_held: bool
    is_pending: bool


def stored_folders(db: Database, root: str) -> dict[str, StoredFolder]:
    """Return the skill folders that a root has according to the catalog, by path."""
    rows = db.execute(
        "SELECT path, status, fingerprint, is_held, pending_since IS NOT NULL"
        " FROM skills WHERE root = ? AND status != 'removed'",
        [root],
    )
    return {
        path: StoredFolder(status, fingerprint, bool(held), bool(pending))
        for path, status, fingerprint, held, pending in rows
    }


def unconfigured(db: Database, roots: Sequence[str]) -> list[tuple[str, str, bool]]:
    """Return root, path and "removal is held" for the skills in other roots than those."""
    return db.execute(
        "SELECT s.root, s.path, s.is_held FROM roots AS r"
        " CROSS JOIN skills AS s ON s.root = r.path"
        " WHERE s.status != 'removed' AND r.path NOT IN (SELECT value FROM json_each(?))",
        [to_json(roots)],
    ).fetchall()


# Against a verdict


def contradictions(db: Database, verdict: Verdict) -> list[str]:
    """Return a sentence for each difference between the catalog and a fresh verdict on a folder."""
    place = (verdict.place.root, verdict.place.path)
    row = db.row("SELECT * FROM skills WHERE root = ? AND path = ?", place)
    if row is None or row["status"] == "removed":
        return ["it is missing from the catalog"]
    of_content = (
        _of_record(db, row, verdict)
        if isinstance(verdict, SkillRecord)
        else _of_rejection(row, verdict)
    )
    return [
        *of_content,
        *_of_findings(db, row, verdict.findings),
        *_of_left_out(db, row, verdict.left_out),
    ]


def _of_record(db: Database, row: Row, record: SkillRecord) -> Iterator[str]:
    review = reviews.state_of(db, record, row["id"], reviews.policies(db))
    is_present = row["status"] in ("active", "shadowed")
    if not _has_review(db, row, record, review):
        yield "the review of its content is wrong"
    is_unpublished = review in reviews.UNPUBLISHABLE
    if row["pinned_version_id"] or (is_unpublished and is_present):
        # The folder's content is not the published one.
        if row["seen_digest"] != record.digest:
            yield "its current content has not been validated"
        return
    expected = derived.accepted(record)
    if review and is_unpublished:
        expected |= reviews.unpublished(db, review, record.digest)
    del expected["files_left_out"]  # compared below, for rejected folders, too
    wrong = [column for column, value in expected.items() if row[column] != value]
    if wrong:
        yield f"the catalog has the wrong {', '.join(wrong)}"
    if not references.has(db, row["id"], record.references):
        yield "the catalog has the wrong references to other skills"
    if not is_present and not is_unpublished:
        yield f"its content is accepted, but its status is {row['status']}"
    if row["newest_rejected_at"]:
        yield "its content is accepted, but the catalog records it as rejected"
    if row["digest"] == record.digest and not _has_content(db, row["current_version_id"], record):
        yield "its version does not have the accepted content"


def _has_review(db: Database, row: Row, record: SkillRecord, review: ReviewState | None) -> bool:
    """Return whether the newest version, if it has this content, is held as it should be."""
    newest = db.execute(
        "SELECT review FROM versions WHERE skill = ? AND digest = ? AND id ="
        " (SELECT max(id) FROM versions WHERE skill = ?)",
        [row["id"], record.digest, row["id"]],
    ).fetchone()
    held = reviews.UNPUBLISHABLE
    return newest is None or (newest[0] in held) == (review in held)


def _has_content(db: Database, version: int | None, record: SkillRecord) -> bool:
    stored = db.execute(
        "SELECT digest, skill_md_hash, skill_md_content FROM version_contents WHERE id = ?",
        [version],
    ).fetchone()
    files = db.query(
        "SELECT version, path, kind, size, sha256, mode, is_text,"
        " iif(kind = 'skill_md', NULL, text) AS text FROM file_contents WHERE version = ?",
        [version],
    )
    expected = [derived.file(version or 0, entry) for entry in record.files]
    return stored == (record.digest, record.skill_md_hash, record.skill_md_content) and (
        sorted(files, key=itemgetter("path")) == sorted(expected, key=itemgetter("path"))
    )


def _of_rejection(row: Row, rejection: Rejection) -> Iterator[str]:
    if row["seen_digest"] != rejection.digest:
        yield "its current content has not been validated"
    if row["status"] in ("active", "shadowed"):
        if not row["newest_rejected_at"]:
            yield "its content is rejected, but the catalog does not record that"
    elif row["status"] != "rejected":
        yield f"its content is rejected, but its status is {row['status']}"


def _of_findings(db: Database, row: Row, findings: Iterable[Finding]) -> Iterator[str]:
    expected = [
        derived.finding_row(row["id"], row["root"], row["path"], finding) for finding in findings
    ]
    if _findings(db, "skill = ?", [row["id"]]) != sorted(expected, key=repr):
        yield "the catalog has the wrong findings"


def _of_left_out(db: Database, row: Row, left_out: Iterable[LeftOutFile]) -> Iterator[str]:
    stored = db.execute(
        "SELECT path, reason, detail FROM left_out_files WHERE skill = ? ORDER BY path",
        [row["id"]],
    )
    if stored.fetchall() != sorted(left_out):
        yield "the catalog has the wrong files that are left out"


def has_loose_findings(db: Database, root: str, loose: Iterable[tuple[str, Finding]]) -> bool:
    """Return whether these are the findings that the catalog has of no skill of a root."""
    expected = [derived.finding_row(None, root, folder, finding) for folder, finding in loose]
    return _findings(db, "skill IS NULL AND root = ?", [root]) == sorted(expected, key=repr)


def _findings(db: Database, condition: str, values: list[object]) -> list[derived.FindingRow]:
    result = db.execute(
        f"SELECT {columns(derived.FINDING_COLUMNS)} FROM findings"
        f" WHERE {condition} AND code NOT IN ({', '.join('?' * len(PUBLICATION_CODES))})",
        [*values, *PUBLICATION_CODES],
    )
    return sorted(result, key=repr)


def of_catalog(db: Database) -> Iterator[Difference]:
    """Yield wrong winners and reasons among rivals, and unapproved versions."""
    rivals: dict[str, list[Row]] = defaultdict(list)
    for row in db.query(_ACCEPTED):
        rivals[row["skill_id"]].append(row)
    for skill_id, group in rivals.items():
        yield from _of_rivals(db, skill_id, group)
    for root, path in db.execute(_UNAPPROVED).fetchall():
        yield Difference("catalog", root, path, "it is at a version that nobody has approved")


def _of_rivals(db: Database, skill_id: str, group: Sequence[Row]) -> Iterator[Difference]:
    winner = shadowing.winner_of(group)
    for row, expected in shadowing.standings_of(db, group):
        if (row["status"], row["shadowed_by"]) != expected[:2]:
            status = "withheld" if winner["is_withheld"] else "active"
            yield Difference(
                "catalog",
                row["root"],
                row["path"],
                f"of the skills with the skill_id {skill_id}, {winner['path']} should be {status}",
            )
        elif row is not winner and tuple(row[name] for name in expected._fields) != expected:
            yield Difference("catalog", row["root"], row["path"], "its status_reason is outdated")


_ACCEPTED = f"""
    SELECT {shadowing.RIVAL}
    FROM skills AS s JOIN roots AS r ON r.path = s.root
    WHERE s.status IN ('active', 'shadowed')
"""
_UNAPPROVED = f"""
    SELECT s.root, s.path FROM versions AS v
    JOIN skills AS s INDEXED BY skills_by_current_version_id ON s.current_version_id = v.id
    WHERE v.review IS NOT NULL AND s.status IN ('active', 'shadowed')
        AND NOT (v.review = 'approved' AND {HAS_APPROVAL})
"""
