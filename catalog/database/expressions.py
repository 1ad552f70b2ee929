"""SQL expressions on a skill s, shared by queries."""

from collections.abc import Mapping
from typing import Any

WITHIN_LEVEL = "ifnull(s.priority, 0) DESC, s.name, s.id"
"""Order of skills `s` of one level, as SQL."""
INDEX_ORDER = f"s.level_rank, {WITHIN_LEVEL}"
"""Order of all skills `s`, as SQL."""
FOLDER_NAME = """
    (SELECT l.name FROM links AS l INDEXED BY links_by_skill
     WHERE l.directory = (SELECT id FROM linked_directories WHERE origin = 'data')
         AND l.skill_id = s.skill_id AND l.is_linked = 1 AND ifnull(l.former_target, '-') != ''
         AND s.status = 'active' ORDER BY l.id DESC LIMIT 1)
"""
"""SQL expression: the name of the folder of a skill `s`; NULL where it has none, as on a full disk.

An entry whose former target is empty is stored, but may not have been made.
"""
SKILLS_FOLDER = "(SELECT path FROM linked_directories WHERE origin = 'data')"
"""SQL expression: the folder of published skills; NULL where nothing is published."""
MAY_BE_PUBLISHED = "ifnull({}.review, 'approved') = 'approved'"
"""SQL condition: a version, whose alias is the field, neither waits for review nor failed it."""
HAS_APPROVAL = """
    (SELECT decision FROM reviews WHERE digest = v.digest ORDER BY id DESC LIMIT 1) IS 'approved'
"""
"""SQL condition: the newest decision on the content of a version `v` is an approval."""
MAY_BE_REVIEWED = """
    ({0}.review IS NOT NULL OR EXISTS (SELECT 1 FROM skills AS of_it JOIN roots AS r
        ON r.path = of_it.root WHERE of_it.id = {0}.skill AND r.review != 'none'))
"""
"""SQL condition: a decision applies to a version, whose alias is the field."""
NEWEST = "(SELECT max(n.id) FROM versions AS n WHERE n.skill = s.id)"
"""SQL expression: the newest version of a skill `s`."""
REVIEW_NOW = """
    iif(v.review = 'waits' AND EXISTS (SELECT 1 FROM versions AS n WHERE n.skill = v.skill
        AND n.id > v.id), 'replaced', v.review)
"""
"""SQL expression: the review of a version `v`; nobody is asked about one that was replaced."""
STAYS_AT_VERSION = f"""
    (s.pinned_version_id IS NOT NULL OR EXISTS (SELECT 1 FROM versions AS newest
        WHERE newest.id = {NEWEST} AND NOT {MAY_BE_PUBLISHED.format("newest")}))
"""
"""SQL condition: the skill `s` stays at its version, whatever its folder contains."""
AWAITING_REVIEW = f"""
    versions AS v INDEXED BY versions_by_review JOIN skills AS s ON s.id = v.skill
    WHERE v.review = 'waits' AND v.id = {NEWEST} AND s.status IN ('active', 'shadowed', 'pending')
"""
"""SQL after FROM: the versions `v` that wait for review, each with its skill `s`."""
DANGERS = """
    (SELECT group_concat(code, ', ') FROM
        (SELECT DISTINCT code FROM findings WHERE skill = s.id AND severity = 'danger'))
"""
"""SQL expression: the codes of the dangers in the folder of a skill `s`; NULL without any."""
CANNOT_BE_GIVEN = f"""
    ({STAYS_AT_VERSION} AND EXISTS (
        SELECT 1 FROM versions AS kept WHERE kept.id = s.current_version_id
            AND kept.package_path IS NULL AND kept.digest IS NOT s.seen_digest))
"""
"""SQL condition: a skill `s` stays at a version that is lost, and its folder has other content."""
IS_WITHHELD = "(s.status = 'shadowed' AND s.shadowed_by IS NULL)"
"""SQL condition: the skill `s`, which should be active, is withheld."""
IS_NEWEST = "(s.digest IS NULL OR s.seen_digest IS NULL OR s.seen_digest = s.digest)"
"""Whether the folder of a skill `s` contains its current version, in SQL."""
DANGER_SERVED = f"""
    findings AS f INDEXED BY findings_by_severity JOIN skills AS s ON s.id = f.skill
    WHERE f.severity = 'danger' AND s.status = 'active' AND {IS_NEWEST} AND s.current_version_id
        NOT IN (SELECT id FROM versions INDEXED BY versions_by_review WHERE review IS NOT NULL)
"""
"""SQL after FROM: the dangers `f` that agents get without an approval, each with its skill `s`."""


def is_withheld(skill: Mapping[str, Any]) -> bool:
    """Return whether a row of `skills` is withheld."""
    return skill["status"] == "shadowed" and skill["shadowed_by"] is None


def withheld_reason(version: str, *, is_pinned: bool) -> str:
    """Return why a skill is withheld, as part of a sentence."""
    return f"{'pinned to' if is_pinned else 'left with'} version {version}, whose files are lost"
