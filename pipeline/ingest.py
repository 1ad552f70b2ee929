"""From what was read and parsed of a skill folder to the verdict on it."""

import hashlib
import re
from collections.abc import Iterable, Sequence

from catalog import naming, tokens
from catalog.record import (
    Acceptance,
    Finding,
    Inventory,
    Place,
    Rejection,
    SkillRecord,
    Verdict,
)
from pipeline import markdown
from pipeline.findings.registry import REGISTRY, finding
from pipeline.frontmatter import Declared, declare
from pipeline.parse import Parsed
from pipeline.rules.checks import check
from pipeline.rules.skill import Skill
from pipeline.rules.spec import DESCRIPTION_LIMIT
from pipeline.snapshot import Snapshot

_ARCHIVE_ENDING = re.compile(r"(\.zip|\.skill|\.tar\.gz|\.tgz)!$", re.IGNORECASE)


def judge(
    snapshot: Snapshot,
    parsed: Parsed | None,
    place: Place,
    *,
    acceptance: Acceptance,
    profiles: Sequence[str],
) -> Verdict:
    """Return the verdict on a skill folder, with everything that was found at once.

    parsed is None where there was no readable SKILL.md. The specification is always asked,
    whether or not it is among the profiles; one that does not exist raises KeyError. Bad content
    is a Rejection, never an exception.
    """
    if parsed is None or snapshot.skill_md_name is None:
        return _rejection(snapshot, None, place, None, _unread(snapshot.problems, acceptance))
    declared, misfits = declare(parsed.frontmatter or {})
    skill = Skill(
        folder=folder_name(place), plugin=place.plugin, document=snapshot.skill_md_name,
        parsed=parsed, declared=declared, files=snapshot.files,
        is_whole=snapshot.digest is not None,
    )
    findings = (
        *snapshot.problems,
        *parsed.findings,
        *(skill.finding("field-type", misfit.message, field=misfit.field) for misfit in misfits),
        *check(skill, dict.fromkeys(("spec", *profiles))),
    )
    if snapshot.digest is None:
        return _rejection(snapshot, parsed, place, declared, _unread(findings, acceptance))
    description = declared.description
    if not description and acceptance == "permissive" and not _rejects(findings, acceptance):
        description, said = _derived_description(skill)
        findings = (*findings, said)
    if not description or _rejects(findings, acceptance):
        return _rejection(snapshot, parsed, place, declared, findings)
    return _record(snapshot, snapshot.digest, skill, place, description, findings)


def folder_name(place: Place) -> str:
    """Return the name that a skill takes from where it lies: its folder's, or its archive's.

    `x.zip!` is the top of an archive, whose name is then `x`; a skill that is its root itself
    has the root's name.
    """
    path = place.path.rstrip("/")
    if path in ("", "."):
        path = place.root.rstrip("/")
    return _ARCHIVE_ENDING.sub("", path.rpartition("/")[2])


def _unread(findings: tuple[Finding, ...], acceptance: Acceptance) -> tuple[Finding, ...]:
    """Add a reason for the rejection where reading has given none."""
    if _rejects(findings, acceptance):
        return findings
    return (*findings, finding("folder-unreadable"))


def _rejects(findings: Iterable[Finding], acceptance: Acceptance) -> bool:
    return any(acceptance in REGISTRY[found.code].rejects for found in findings)


def _derived_description(skill: Skill) -> tuple[str, Finding]:
    text = markdown.first_paragraph(skill.parsed.body)
    if not text:
        return "", skill.finding("description-underivable", field="description")
    if len(text) > DESCRIPTION_LIMIT:
        text = _cut(text, DESCRIPTION_LIMIT)
    return text, skill.finding("description-derived", field="description")


def _cut(text: str, limit: int) -> str:
    """Cut at the last space before the limit, or at the limit where words have no spaces."""
    kept = text[: limit - 1]
    words = kept.rpartition(" ")[0]
    return f"{words if 2 * len(words) > limit else kept}…"


def _rejection(
    snapshot: Snapshot,
    parsed: Parsed | None,
    place: Place,
    declared: Declared | None,
    findings: tuple[Finding, ...],
) -> Rejection:
    name = _name(declared, place)
    return Rejection(
        place=place,
        skill_id=naming.skill_id(name, place.plugin, place.path),
        name=naming.qualified_name(name, place.plugin),
        fingerprint=snapshot.fingerprint,
        digest=snapshot.digest,
        findings=findings,
        inventory=Inventory.of(snapshot.files),
        frontmatter=(parsed and parsed.frontmatter) or {},
    )


def _record(
    snapshot: Snapshot,
    digest: str,
    skill: Skill,
    place: Place,
    description: str,
    findings: tuple[Finding, ...],
) -> SkillRecord:
    declared, body = skill.declared, skill.parsed.body
    name = _name(declared, place)
    return SkillRecord(
        place=place,
        skill_id=naming.skill_id(name, place.plugin, place.path),
        name=naming.qualified_name(name, place.plugin),
        description=description,
        spec_valid=not any(f.profile == "spec" and f.severity == "error" for f in findings),
        fingerprint=snapshot.fingerprint,
        digest=digest,
        skill_md_hash=hashlib.sha256(snapshot.skill_md).hexdigest(),
        skill_md_name=skill.document,
        skill_md_content=skill.parsed.text,
        body=body,
        headings=markdown.headings(body),
        body_lines=len(body.splitlines()),
        estimated_tokens=tokens.estimate(body),
        files=snapshot.files,
        inventory=Inventory.of(snapshot.files),
        findings=findings,
        frontmatter=skill.frontmatter,
        display_name=declared.display_name or declared.metadata.display_name or None,
        author=declared.author or declared.metadata.author or None,
        license=declared.license or None,
        compatibility=declared.compatibility or None,
        allowed_tools=declared.allowed_tools or None,
        category=declared.category or declared.metadata.category or None,
        tags=_tags(declared),
        priority=_priority(declared),
        model_invocable=not declared.disable_model_invocation,
        user_invocable=declared.user_invocable is not False,
    )


def _name(declared: Declared | None, place: Place) -> str:
    """Return the bare name: declared, else the folder's; in a plugin's own folder the plugin's."""
    if place.plugin and place.path.rstrip("/") == place.plugin:
        return place.plugin
    return (declared and declared.name) or folder_name(place)


def _tags(declared: Declared) -> tuple[str, ...]:
    extra = declared.metadata
    return declared.tags or extra.tags or declared.keywords or extra.keywords


def _priority(declared: Declared) -> float | None:
    own = declared.triggers.priority
    return own if own is not None else declared.metadata.priority
