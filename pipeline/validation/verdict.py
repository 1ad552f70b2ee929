"""From what was read and parsed of a skill folder to the verdict on it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from catalog.model import naming
from catalog.model.finding import Finding
from catalog.model.paths import last_name
from catalog.model.skill import Inventory, Place, Rejection, SkillRecord, Verdict
from catalog.model.values import Acceptance
from catalog.text import tokens
from pipeline.dialects.apexbridge.codes import FIELD_MALFORMED
from pipeline.dialects.apexbridge.fields import package_of, with_json_values
from pipeline.parsing import markdown
from pipeline.parsing.document import Parsed
from pipeline.roots.snapshot import Look, Snapshot
from pipeline.validation.check import check
from pipeline.validation.codes import (
    DESCRIPTION_DERIVED,
    DESCRIPTION_UNDERIVABLE,
    FIELD_TYPE,
    FOLDER_UNREADABLE,
)
from pipeline.validation.fields.frontmatter import APEXBRIDGE, OWNERS, Declared, declare
from pipeline.validation.profiles.spec.codes import FIELD_NOT_IN_SPECIFICATION
from pipeline.validation.profiles.spec.rules import DESCRIPTION_LIMIT
from pipeline.validation.registry import REGISTRY
from pipeline.validation.skill import Skill


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
    examined = examine(snapshot, parsed, place, acceptance=acceptance, profiles=profiles)
    if examined.skill is None or examined.description is None or snapshot.digest is None:
        return _rejection(snapshot, parsed, place, examined)
    return _record(snapshot, snapshot.digest, examined.skill, place, examined)


@dataclass(frozen=True, slots=True)
class Examined:
    """What a verdict says of a skill folder, whether or not its files were hashed."""

    skill: Skill | None  # None where there was no readable SKILL.md
    name: str  # bare
    description: str | None  # None where the folder is rejected
    findings: tuple[Finding, ...]

    @property
    def spec_valid(self) -> bool:
        """Whether the specification allows the skill as it is."""
        return self.description is not None and not any(
            f.profile == "spec" and f.severity == "error" for f in self.findings
        )


def examine(
    look: Look,
    parsed: Parsed | None,
    place: Place,
    *,
    acceptance: Acceptance,
    profiles: Sequence[str],
) -> Examined:
    """Return what `judge` finds, from no more than the rules ask of a folder."""
    problems = tuple(
        problem for problem in look.problems if problem.profile != "safety" or "safety" in profiles
    )
    if parsed is None or look.skill_md_name is None:
        return Examined(None, _name(None, place), None, _unread(problems, acceptance))
    declared, misfits = declare(with_json_values(parsed.frontmatter or {}, parsed.quoted))
    profiles = tuple(dict.fromkeys(("spec", *profiles)))
    skill = Skill(
        folder=folder_name(place),
        plugin=place.plugin,
        document=look.skill_md_name,
        parsed=parsed,
        declared=declared,
        files=look.files,
        is_whole=look.is_whole,
        misfits=misfits,
    )
    said = check(skill, profiles)
    malformed = {each.field for each in said if each.code == FIELD_MALFORMED.code}
    findings = (
        *problems,
        *parsed.findings,
        *(
            skill.finding(FIELD_TYPE, misfit.message, field=misfit.field)
            for misfit in misfits
            if misfit.field not in malformed
        ),
        *said,
    )
    name = _name(declared, place)
    if not look.is_whole:
        return Examined(skill, name, None, _unread(findings, acceptance))
    against = [each for each in findings if not _is_expected(each, profiles)]
    description = declared.description
    if not description and acceptance == "permissive" and not _rejects(against, acceptance):
        description, derived = _derived_description(skill)
        findings = (*findings, derived)
        against.append(derived)
    if not description or _rejects(against, acceptance):
        return Examined(skill, name, None, findings)
    return Examined(skill, name, description, findings)


def folder_name(place: Place) -> str:
    """Return the name that a skill takes from where it lies: its folder's, or its archive's.

    `x.zip!` is the top of an archive, whose name is then `x`; a skill that is its root itself
    has the root's name.
    """
    path = place.path.rstrip("/")
    if path in ("", "."):
        path = place.root.rstrip("/")
    return last_name(path)


def _unread(findings: tuple[Finding, ...], acceptance: Acceptance) -> tuple[Finding, ...]:
    """Add a reason for the rejection where reading has given none."""
    if _rejects(findings, acceptance):
        return findings
    return (*findings, FOLDER_UNREADABLE.at())


def _rejects(findings: Iterable[Finding], acceptance: Acceptance) -> bool:
    return any(acceptance in REGISTRY[found.code].rejects for found in findings)


def _is_expected(found: Finding, profiles: Iterable[str]) -> bool:
    """Say whether a finding only says that a package is ApexBridge's, where such are asked for.

    It makes the skill invalid by the specification, but a strict root of ApexBridge's packages
    that rejected it would accept none.
    """
    return (
        found.code == FIELD_NOT_IN_SPECIFICATION.code
        and "apexbridge" in profiles
        and OWNERS.get(found.field or "") == APEXBRIDGE
    )


def _derived_description(skill: Skill) -> tuple[str, Finding]:
    text = markdown.first_paragraph(skill.parsed.body)
    if not text:
        return "", skill.finding(DESCRIPTION_UNDERIVABLE, field="description")
    if len(text) > DESCRIPTION_LIMIT:
        text = _cut(text, DESCRIPTION_LIMIT)
    return text, skill.finding(DESCRIPTION_DERIVED, field="description")


def _cut(text: str, limit: int) -> str:
    """Cut at the last space before the limit, or at the limit where words have no spaces."""
    kept = text[: limit - 1]
    words = kept.rpartition(" ")[0]
    return f"{words if 2 * len(words) > limit else kept}…"


def _rejection(
    snapshot: Snapshot,
    parsed: Parsed | None,
    place: Place,
    examined: Examined,
) -> Rejection:
    return Rejection(
        place=place,
        skill_id=naming.skill_id(examined.name, place.plugin, place.path),
        name=naming.qualified_name(examined.name, place.plugin),
        fingerprint=snapshot.fingerprint,
        digest=snapshot.digest,
        findings=examined.findings,
        inventory=Inventory.of(snapshot.files),
        frontmatter=(parsed and parsed.frontmatter) or {},
    )


def _record(
    snapshot: Snapshot,
    digest: str,
    skill: Skill,
    place: Place,
    examined: Examined,
) -> SkillRecord:
    declared, body = skill.declared, skill.parsed.body
    return SkillRecord(
        place=place,
        skill_id=naming.skill_id(examined.name, place.plugin, place.path),
        name=naming.qualified_name(examined.name, place.plugin),
        description=examined.description or "",
        spec_valid=examined.spec_valid,
        fingerprint=snapshot.fingerprint,
        digest=digest,
        skill_md_hash=next(f.sha256 for f in snapshot.files if f.path == skill.document),
        skill_md_name=skill.document,
        skill_md_content=skill.parsed.text,
        body_chars=len(body),
        headings=markdown.headings(body),
        body_lines=len(body.splitlines()),
        estimated_tokens=tokens.estimate(body),
        files=snapshot.files,
        inventory=Inventory.of(snapshot.files),
        findings=examined.findings,
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
        apexbridge=package_of(declared),
    )


def _name(declared: Declared | None, place: Place) -> str:
    """Return the bare name: declared, else the folder's; in a plugin's own folder the plugin's."""
    if place.plugin and "/" not in place.path.rstrip("/"):
        return place.plugin
    return (declared and declared.name) or folder_name(place)


def _tags(declared: Declared) -> tuple[str, ...]:
    extra = declared.metadata
    return declared.tags or extra.tags or declared.keywords or extra.keywords


def _priority(declared: Declared) -> float | None:
    own = declared.triggers.priority
    return own if own is not None else declared.metadata.priority
