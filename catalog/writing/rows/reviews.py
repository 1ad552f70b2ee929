"""Review states of versions: which accepted contents may be published.

The newest decision on a digest counts, in every folder that has the content.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, cast

from catalog.database.expressions import HAS_APPROVAL, MAY_BE_PUBLISHED
from catalog.database.queries import Database, Row
from catalog.model.finding import Finding
from catalog.model.skill import SkillRecord
from catalog.model.values import Review, ReviewState

UNPUBLISHABLE: tuple[ReviewState, ...] = ("waits", "rejected")
"""States of versions that agents do not get."""
_WAITS = "its content waits for review"


class Policy(NamedTuple):
    """Settings of a root about reviews."""

    review: Review
    first: int  # id of the first version stored under the present rules

    def concerns(self, findings: Iterable[Finding]) -> bool:
        """Return whether content with these findings needs a review, if it is new."""
        if self.review == "dangers":
            return any(finding.severity == "danger" for finding in findings)
        if self.review == "findings":
            return any(each.profile == "safety" and each.severity != "info" for each in findings)
        return self.review == "always"


def policies(db: Database) -> dict[str, Policy]:
    """Return the settings about reviews of each root that has any."""
    return {root: Policy(*row) for root, *row in db.execute(_POLICIES)}


def state_of(
    db: Database, record: SkillRecord, skill: int | None, policies: Mapping[str, Policy]
) -> ReviewState | None:
    """Return the state of the accepted content of a skill; None if it needs no review.

    A decision on the content counts, even where the root would not ask for one. Content that
    this skill or a published one of its root had before the present rules needs none.
    """
    if not (policy := policies.get(record.place.root)):
        return None
    if decision := newest_decision(db, record.digest):
        return cast(ReviewState, decision["decision"])
    if not policy.concerns(record.findings):
        return None
    values = {
        "skill": skill,
        "digest": record.digest,
        "root": record.place.root,
        "first": policy.first,
    }
    return None if db.execute(_IS_OLD, values).fetchone()[0] else "waits"


def newest_decision(db: Database, digest: str) -> Row | None:
    """Return the row of the newest decision on a content, if there is one."""
    return db.row("SELECT * FROM reviews WHERE digest = ? ORDER BY id DESC LIMIT 1", [digest])


def newest_publishable(db: Database, skill: int, but: str | None = None) -> Row | None:
    """Return the newest version of a skill that may be published and has another digest."""
    return db.row(_NEWEST_PUBLISHABLE, [skill, but])


def unpublished(db: Database, state: ReviewState, digest: str) -> Row:
    """Return the status of a skill without a version that may be published."""
    if state == "waits":
        return {"status": "pending", "status_reason": _WAITS}
    return {"status": "rejected", "status_reason": rejection(db, digest)}


def rejection(db: Database, digest: str) -> str:
    """Return the reviewer and the reason of a rejection, as part of a sentence."""
    decision = newest_decision(db, digest)
    return clause(decision) if decision else "rejected in review"


def clause(decision: Row) -> str:
    """Return a decision as part of a sentence."""
    why = f": {decision['why'].rstrip('.')}" if decision["why"] else ""
    return f"{decision['decision']} in review by {decision['decided_by']}{why}"


_POLICIES = "SELECT path, review, review_from FROM roots WHERE review != 'none'"
_IS_OLD = f"""
    SELECT EXISTS (SELECT 1 FROM versions WHERE skill = :skill AND digest = :digest
                   AND id < :first AND review IS NULL)
        OR EXISTS (SELECT 1 FROM skills AS s JOIN versions AS v ON v.id = s.current_version_id
                   WHERE s.digest = :digest AND s.root = :root AND v.id < :first
                       AND s.status IN ('active', 'shadowed') AND {MAY_BE_PUBLISHED.format("v")})
"""
_NEWEST_PUBLISHABLE = f"""
    SELECT * FROM version_contents AS v
    WHERE skill = ? AND digest IS NOT ?
        AND (review IS NULL OR review = 'approved' AND {HAS_APPROVAL})
    ORDER BY id DESC LIMIT 1
"""
