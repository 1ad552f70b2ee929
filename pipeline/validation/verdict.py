"""From what was read and parsed of a skill folder to the verdict on it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from catalog.model import naming
from catalog.model.finding import Finding
from catalog.model.paths import last_name
from catalog.model.skill import Inventory, Place, Rejection, SkillRecord, Verdict
from catalog.model.values import Acceptance
from catalog.text import tokens
from pipeline.parsing import markdown
from pipeline.parsing.document import Parsed
from pipeline.roots.snapshot import AnySnapshot, Snapshot
from pipeline.validation.check import check
from pipeline.validation.codes import (
    DESCRIPTION_DERIVED,
    DESCRIPTION_UNDERIVABLE,
    FIELD_TYPE,
    FOLDER_UNREADABLE,
)
from pipeline.validation.declare import declare
from pipeline.validation.dialect import Dialects
from pipeline.validation.fields.frontmatter import Declaration, Declared
from pipeline.validation.profile import Profile
from pipeline.validation.profiles.spec.codes import FIELD_NOT_IN_SPECIFICATION
from pipeline.validation.profiles.spec.profile import SPEC
from pipeline.validation.profiles.spec.rules import DESCRIPTION_LIMIT
from pipeline.validation.registry import READING
from pipeline.validation.skill import Skill


def judge(
    snapshot: Snapshot,
    parsed: Parsed | None,
    place: Place,
    *,
    acceptance: Acceptance,
    profiles: Iterable[Profile],
    dialects: Dialects,
) -> Verdict:
    """Return the verdict on a skill folder, with everything that was found at once.

    parsed is None where there was no readable SKILL.md. The specification is always asked,
    whether or not it is among the profiles. The fields of all dialects are read, and the profiles
    include those of the dialects whose rules are asked. Bad content is a Rejection, never an
    exception.
    """
    examined = examine(
        snapshot, parsed, place, acceptance=acceptance, profiles=profiles, dialects=dialects
    )
    if examined.skill is None or examined.description is None or snapshot.digest is None:
        return _rejection(snapshot, parsed, place, examined)
    return _record(snapshot, snapshot.digest, examined.skill, place, examined, dialects)


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
    look: AnySnapshot,
    parsed: Parsed | None,
    place: Place,
    *,
    acceptance: Acceptance,
    profiles: Iterable[Profile],
    dialects: Dialects,
) -> Examined:
    """Return what `judge` finds, from no more than the rules ask of a folder."""
    asked = _asked(tuple(dict.fromkeys((SPEC, *profiles))), dialects)
    problems = tuple(problem for problem in look.problems if problem.profile in asked.names)
    if parsed is None or look.skill_md_name is None:
        return Examined(None, _name(None, place), None, asked.unread(problems, acceptance))
    skill = Skill(
        folder=folder_name(place),
        plugin=place.plugin,
        document=look.skill_md_name,
        parsed=parsed,
        declaration=declare(parsed.frontmatter or {}, parsed.quoted, dialects),
        files=look.files,
        is_whole=look.is_whole,
    )
    found = check(skill, asked.profiles)
    findings = (*problems, *parsed.findings, *_misfits(skill, found, dialects), *found)
    name = _name(skill.declared, place)
    if not look.is_whole:
        return Examined(skill, name, None, asked.unread(findings, acceptance))
    description = skill.declared.description
    rejected = asked.rejects(findings, acceptance)
    if not description and acceptance == "permissive" and not rejected:
        description, derived = _derived_description(skill)
        findings = (*findings, derived)
        rejected = asked.rejects((derived,), acceptance)
    return Examined(skill, name, None if rejected else description or None, findings)


@dataclass(frozen=True, slots=True)
class _Asked:
    """Profiles that are asked of a skill, and what follows from them."""

    profiles: tuple[Profile, ...]
    names: frozenset[str]  # of these and of what is met before any rule is asked
    rejecting: Mapping[str, frozenset[Acceptance]]  # the acceptances, by the code of a finding
    expected: frozenset[str]  # fields of the dialects among them

    def rejects(self, findings: Iterable[Finding], acceptance: Acceptance) -> bool:
        return any(
            acceptance in self.rejecting[finding.code] and not self._is_expected(finding)
            for finding in findings
        )

    def unread(self, findings: tuple[Finding, ...], acceptance: Acceptance) -> tuple[Finding, ...]:
        """Add a reason for the rejection where reading has given none."""
        if any(acceptance in self.rejecting[finding.code] for finding in findings):
            return findings
        return (*findings, FOLDER_UNREADABLE.at())

    def _is_expected(self, finding: Finding) -> bool:
        """Say whether a finding only says that a package is one of a dialect that is asked for.

        It makes the skill invalid by the specification, but a strict root of such packages that
        rejected it would accept none.
        """
        return finding.code == FIELD_NOT_IN_SPECIFICATION.code and finding.field in self.expected


@lru_cache
def _asked(profiles: tuple[Profile, ...], dialects: Dialects) -> _Asked:
    types = chain(READING, *(profile.types for profile in profiles))
    return _Asked(
        profiles=profiles,
        names=frozenset(("reading", *(profile.name for profile in profiles))),
        rejecting={kind.code: kind.rejects for kind in types},
        expected=frozenset(
            field for each in dialects if each.profile in profiles for field in each.fields
        ),
    )


def _misfits(skill: Skill, found: Iterable[Finding], dialects: Dialects) -> Iterator[Finding]:
    """Yield a finding for each misfit that no rule of a dialect has reported."""
    misfits = skill.declaration.misfits
    if not misfits:
        return
    codes = {each.misfits.code for each in dialects if each.misfits}
    reported = {finding.field for finding in found if finding.code in codes}
    for misfit in misfits:
        if misfit.field not in reported:
            yield skill.finding(FIELD_TYPE, misfit.message, field=misfit.field)


def folder_name(place: Place) -> str:
    """Return the name that a skill takes from where it lies: its folder's, or its archive's.

    `x.zip!` is the top of an archive, whose name is then `x`; a skill that is its root itself
    has the root's name.
    """
    path = place.path.rstrip("/")
    if path in ("", "."):
        path = place.root.rstrip("/")
    return last_name(path)


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
    dialects: Dialects,
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
        priority=_priority(skill.declaration, dialects),
        model_invocable=not declared.disable_model_invocation,
        user_invocable=declared.user_invocable is not False,
        dialects=_records(skill.declaration, dialects),
    )


def _name(declared: Declared | None, place: Place) -> str:
    """Return the bare name: declared, else the folder's; in a plugin's own folder the plugin's."""
    if place.plugin and "/" not in place.path.rstrip("/"):
        return place.plugin
    return (declared and declared.name) or folder_name(place)


def _tags(declared: Declared) -> tuple[str, ...]:
    extra = declared.metadata
    return declared.tags or extra.tags or declared.keywords or extra.keywords


def _priority(declaration: Declaration, dialects: Dialects) -> float | None:
    """Return the priority that a dialect declares, else that of the metadata."""
    for each in _declared_for(declaration, dialects):
        priority = each.priority(declaration.own[each.model])
        if priority is not None:
            return priority
    return declaration.common.metadata.priority


def _records(declaration: Declaration, dialects: Dialects) -> Mapping[str, object]:
    """Return what is declared for dialects alone, by their names."""
    records = {
        each.profile.name: each.record(declaration.own[each.model])
        for each in _declared_for(declaration, dialects)
    }
    return {name: record for name, record in records.items() if record is not None}


def _declared_for(declaration: Declaration, dialects: Dialects) -> Dialects:
    """Return the dialects of which a field is there."""
    if not declaration.own:
        return ()
    return tuple(each for each in dialects if each.model in declaration.own)
