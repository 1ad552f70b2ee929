"""Verdict on a skill folder, from its snapshot and its parsed SKILL.md."""

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from catalog.model import naming
from catalog.model.fields import DESCRIPTION_LIMIT, SEARCHED, Declared, declared_values
from catalog.model.finding import Finding
from catalog.model.skill import Inventory, Place, Rejection, SkillRecord, Verdict
from catalog.model.values import Acceptance
from catalog.text import mentions, search_terms, truncate
from pipeline.parsing import markdown
from pipeline.parsing.document import Parsed
from pipeline.parsing.markdown import block_at
from pipeline.roots.codes import SECRET_REFUSED
from pipeline.roots.snapshot import Snapshot
from pipeline.validation import skill_references
from pipeline.validation.codes import (
    DESCRIPTION_DERIVED,
    DESCRIPTION_UNDERIVABLE,
    FIELD_TYPE,
    PLACEHOLDER_TEXT,
)
from pipeline.validation.declare import declare, search_words
from pipeline.validation.profile import Dialects, Profile, Ruleset
from pipeline.validation.profiles.spec.codes import (
    ALLOWED_TOOLS_NOT_TEXT,
    FIELD_NOT_IN_SPECIFICATION,
)
from pipeline.validation.profiles.spec.rules import SPEC
from pipeline.validation.skill import Skill

_PLACEHOLDER = re.compile(r"^(?:[-*>]|\d{1,3}\.)?[ \t]{0,9}(\[TODO\b[^\]\n]{0,500}\])$", re.M)


class Assessment(NamedTuple):
    """Findings about a skill folder, and everything that its record is built from."""

    name: str  # without its namespace
    findings: tuple[Finding, ...]  # those that reject it first
    skill: Skill | None = None  # None if it is rejected
    description: str = ""  # declared, or derived from the body
    spec_valid: bool = False


def assess(
    snapshot: Snapshot,
    parsed: Parsed | None,
    place: Place,
    *,
    acceptance: Acceptance,
    profiles: Iterable[Profile],
    dialects: Dialects,
    in_other_skill: Callable[[str], bool] = lambda _: True,
) -> Assessment:
    """Return all findings about a skill folder, and whether they reject it.

    parsed is None if no SKILL.md could be read. The specification is always checked, whether or
    not it is among the profiles. The fields of all dialects are read; their rules are checked
    only if their profiles are among the given ones. in_other_skill returns whether another skill
    has the file at a path relative to the folder; the catalog judges such references itself, as it
    has the other skills. Bad content never raises an exception.
    """
    rules = Ruleset.of(tuple(dict.fromkeys((SPEC, *profiles))))
    problems = tuple(problem for problem in snapshot.problems if problem.profile in rules.names)
    if parsed is None or snapshot.skill_md_name is None:
        return Assessment(_name(None, place), rules.with_rejection(problems, acceptance))
    named = _named(parsed, rules.profiles, dialects)
    skill = Skill(
        folder=place.folder_name,
        document=snapshot.skill_md_name,
        parsed=parsed,
        declaration=declare(parsed.frontmatter or {}, parsed.quoted, dialects, named),
        files=snapshot.files,
        withheld=[file.path for file in snapshot.left_out if file.reason == "secret"],
        is_whole=snapshot.is_whole,
        other_texts=snapshot.texts,
        words=snapshot.words,
        in_other_skill=in_other_skill,
    )
    by_rules = rules.check(skill)
    found = (*problems, *parsed.findings, *_mismatches(skill, by_rules, dialects), *by_rules)
    found += tuple(_placeholders(skill))
    is_to_the_letter = rules.profiles == (SPEC,) and not named
    findings = tuple(_weighed(found, named, acceptance, is_to_the_letter=is_to_the_letter))
    name = _name(skill.declared, place)
    if not snapshot.is_whole:
        return Assessment(name, rules.with_rejection(findings, acceptance))
    description = skill.declared.description
    if not description and acceptance == "permissive" and not rules.rejects(findings, acceptance):
        description, derived = _derived_description(skill)
        findings = (*findings, derived)
    is_rejected = rules.rejects(findings, acceptance)
    findings = rules.in_order(findings, acceptance)
    if is_rejected or not description:
        return Assessment(name, findings)
    breaches = (each for each in found if each.profile == "spec" and each.severity == "error")
    spec_valid = not any(breaches) and all(
        each.code != FIELD_NOT_IN_SPECIFICATION.code for each in found
    )
    return Assessment(name, findings, skill, description, spec_valid)


def verdict_of(
    assessed: Assessment, snapshot: Snapshot, parsed: Parsed | None, place: Place
) -> Verdict:
    """Return the record or the rejection of an assessed folder, each with all findings."""
    if snapshot.digest is None or assessed.skill is None:
        return _rejection(snapshot, parsed, place, assessed)
    return _record(snapshot, snapshot.digest, place, assessed, assessed.skill)


def _named(parsed: Parsed, profiles: tuple[Profile, ...], dialects: Dialects) -> Dialects:
    """Return the dialects that are asked for, or that the skill declares itself to be one of."""
    frontmatter = parsed.frontmatter or {}
    return tuple(
        dialect
        for dialect in dialects
        if dialect.profile in profiles or dialect.is_package(frontmatter)
    )


def _weighed(
    findings: Iterable[Finding], named: Dialects, acceptance: Acceptance, *, is_to_the_letter: bool
) -> Iterator[Finding]:
    """Yield the findings; an error that a dialect of the package permits becomes a warning.

    Fields that no client reads are an error where the acceptance is strict. Fields, and a form of
    one, that clients read are told only to the letter of the specification.
    """
    allowed = {code for dialect in named for code in dialect.allowed}
    for finding in findings:
        severity, is_other = finding.severity, finding.code == FIELD_NOT_IN_SPECIFICATION.code
        if is_to_the_letter:
            severity = "error" if is_other else severity
        elif severity == "info" and (is_other or finding.code == ALLOWED_TOOLS_NOT_TEXT.code):
            continue
        elif is_other and acceptance == "strict":
            severity = "error"
        yield finding._replace(severity="warning" if finding.code in allowed else severity)


def _mismatches(skill: Skill, by_rules: Iterable[Finding], dialects: Dialects) -> Iterator[Finding]:
    """Yield a finding for each value of a wrong type that no rule of a dialect has reported."""
    systems = {dialect.profile.name for dialect in dialects}
    reported = {finding.field for finding in by_rules if finding.profile in systems}
    for mismatch in skill.declaration.mismatches:
        if mismatch.field not in reported:
            yield skill.finding(FIELD_TYPE, mismatch.message, field=mismatch.field)


def _placeholders(skill: Skill) -> Iterator[Finding]:
    """Yield a finding for a description that is a placeholder, else for the first in the body."""
    if (skill.declared.description or "").startswith(("[TODO", "<TODO", "TODO:")):
        message = "description is the text of a template."
        yield skill.finding(PLACEHOLDER_TEXT, message, field="description")
    elif "[TODO" in skill.parsed.body:
        for line in _PLACEHOLDER.finditer(skill.parsed.body):
            if not block_at(skill.body.blocks, line.start()):
                yield skill.body.finding(PLACEHOLDER_TEXT, offset=line.start(1))
                return


def _derived_description(skill: Skill) -> tuple[str, Finding]:
    text = truncate.shorten(markdown.first_paragraph(skill.parsed.body), DESCRIPTION_LIMIT)
    kind = DESCRIPTION_DERIVED if text else DESCRIPTION_UNDERIVABLE
    return text, skill.finding(kind, field="description")


def _rejection(
    snapshot: Snapshot, parsed: Parsed | None, place: Place, assessed: Assessment
) -> Rejection:
    name, findings = assessed.name, assessed.findings
    secrets = {f.path for f in findings if f.code == SECRET_REFUSED.code}
    return Rejection(
        place=place,
        skill_id=naming.skill_id(name, place.namespace, place.path),
        name=naming.qualified_name(name, place.namespace),
        fingerprint=snapshot.fingerprint,
        digest=snapshot.digest,
        findings=findings,
        inventory=Inventory.of(snapshot.files),
        frontmatter=(parsed and parsed.frontmatter) or {},
        left_out=snapshot.left_out,
        refused=tuple((f.path, f.sha256) for f in snapshot.files if f.path in secrets),
    )


def _record(
    snapshot: Snapshot, digest: str, place: Place, assessed: Assessment, skill: Skill
) -> SkillRecord:
    name, description = assessed.name, assessed.description
    own = skill.declaration.own.items()
    declared, body = skill.declared, skill.parsed.body
    values = declared_values(declared) | {
        "name": naming.qualified_name(name, place.namespace),
        "description": description,
        "tags": _tags(declared),
        "search_words": search_words(skill.frontmatter, skill.declaration),
    }
    return SkillRecord(
        place=place,
        skill_id=naming.skill_id(name, place.namespace, place.path),
        spec_valid=assessed.spec_valid,
        fingerprint=snapshot.fingerprint,
        digest=digest,
        skill_md_hash=next((f.sha256 for f in snapshot.files if f.path == skill.document), ""),
        skill_md_name=skill.document,
        skill_md_content=_as_written(snapshot, skill.parsed),
        body_chars=len(body),
        headings=markdown.headings(body, skill.body.blocks),
        body_lines=body.count("\n") + 1 if body else 0,
        estimated_tokens=skill.estimated_tokens,
        files=snapshot.files,
        inventory=Inventory.of(snapshot.files),
        findings=assessed.findings,
        frontmatter=skill.frontmatter,
        tools=mentions.tools_of(declared.allowed_tools),
        hosts=mentions.of_texts([skill.parsed.text, *(f.text for f in snapshot.files if f.text)]),
        grams=search_terms.grams(" ".join(_texts(values[column] for column in SEARCHED))),
        priority=next(
            (priority for dialect, of in own if (priority := dialect.priority(of)) is not None),
            declared.metadata.priority,
        ),
        model_invocable=not declared.disable_model_invocation,
        user_invocable=declared.user_invocable is not False,
        dialects={
            dialect.profile.name: record
            for dialect, of in own
            if (record := dialect.record(of)) is not None
        },
        left_out=snapshot.left_out,
        references=skill_references.of(skill),
        **values,
    )


def _texts(values: Iterable[str | tuple[str, ...] | None]) -> Iterator[str]:
    for value in values:
        yield from (value,) if isinstance(value, str) else value or ()


def _as_written(snapshot: Snapshot, parsed: Parsed) -> str:
    """Return SKILL.md with the byte order mark that its file may have."""
    has_mark = snapshot.skill_md.startswith(BOM_UTF8)
    return f"{BOM_UTF8.decode()}{parsed.text}" if has_mark else parsed.text


def _name(declared: Declared | None, place: Place) -> str:
    """Return the bare name: the plugin's in its own folder, else the declared or the folder's."""
    if place.plugin == place.folder_name and "/" not in place.path.rstrip("/"):
        return place.plugin
    return (declared and declared.name) or place.folder_name


def _tags(declared: Declared) -> tuple[str, ...]:
    """Return the declared tags, each once, whatever its case."""
    extra = declared.metadata
    tags = declared.tags or extra.tags or declared.keywords or extra.keywords
    return tuple({tag.lower(): tag for tag in tags}.values())
