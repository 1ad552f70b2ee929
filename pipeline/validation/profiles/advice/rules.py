"""Rules of advice: recommendations of the specification and its guides."""

from collections.abc import Callable, Container, Iterable, Iterator
from posixpath import basename, dirname

from catalog.model.finding import Finding, FindingType
from catalog.text import filler, humanize, tokens
from catalog.text.ngrams import CJK_WEIGHT
from catalog.text.quoting import printable, quoted
from pipeline.validation.profiles.advice.codes import (
    BODY_EMPTY,
    BODY_TOO_LONG,
    DESCRIPTION_GENERIC,
    DESCRIPTION_LONG,
    DESCRIPTION_SAYS_NOTHING,
    DESCRIPTION_SHORT,
    DESCRIPTION_VAGUE,
    DESCRIPTION_WITHOUT_WHEN,
    NAME_RESERVED,
    NOBODY_CAN_INVOKE,
    REFERENCE_DEEP,
    REFERENCE_MISSING,
    REFERENCE_OUTSIDE_FOLDER,
)
from pipeline.validation.profiles.advice.vocabulary import (
    generic_phrase,
    says_when,
    vague_verb,
    weight,
)
from pipeline.validation.profiles.spec.rules import DESCRIPTION_LIMIT
from pipeline.validation.references import Reference, references
from pipeline.validation.skill import Rule, Skill

BODY_LINES = 500
BODY_TOKENS = 5_000
"""Source: Agent Skills specification, Progressive disclosure."""

SHORTEST_DESCRIPTION = 40
ENOUGH_DESCRIPTION = 600
TOLERATED_DESCRIPTION = 720
"""In characters; a Chinese, Japanese or Korean one counts as three. Source: skilldrop."""

RESERVED_WORDS = ("anthropic", "claude")
"""Source: Claude Platform documentation, Agent Skills, Skill structure."""

MOST_ALIKE = 10
"""Number of findings of one code that are listed individually."""


def body_is_not_empty(skill: Skill) -> Iterator[Finding]:
    """Find a body without text."""
    if skill.parsed.frontmatter is not None and not skill.parsed.body:
        yield skill.finding_in_body(BODY_EMPTY, offset=0)


def body_length(skill: Skill) -> Iterator[Finding]:
    """Find a body of more than 500 lines or about 5,000 tokens."""
    body = skill.parsed.body
    lines = body.count("\n") + 1
    if lines <= BODY_LINES and len(body) <= BODY_TOKENS // 2:
        return  # a character costs two tokens at most
    cost = tokens.estimate_body(body)
    if lines > BODY_LINES or cost > BODY_TOKENS:
        yield skill.finding_in_body(
            BODY_TOO_LONG,
            f"The body has {lines:,} lines and about {cost:,} tokens; "
            f"{BODY_LINES} and {BODY_TOKENS:,} are recommended.",
            offset=0,
        )


def references_exist(skill: Skill) -> Iterator[Finding]:
    """Find references to files that are missing, outside the folder or deep in it."""
    named = [link for link in references(skill.parsed.body) if not link.leads_to_machine]
    if not named:
        return
    outside = [link for link in named if link.leads_outside]
    inside = [link for link in named if not link.leads_outside]
    paths = _paths(skill)
    deep = [link for link in inside if link.target in paths and _is_deep(link.target)]
    yield from _first(skill, REFERENCE_OUTSIDE_FOLDER, outside)
    yield from _first(
        skill,
        REFERENCE_MISSING,
        _missing(inside, paths) if skill.is_whole else [],
        fix=lambda target: _same_name(target, paths),
    )
    yield from _first(skill, REFERENCE_DEEP, deep)


def description_tells_enough(skill: Skill) -> Iterator[Finding]:
    """Find a description that does not say what the skill does, or when to use it.

    One that says nothing, or is too short to say both, has no other finding here: a better
    description mends them all.
    """
    declared = skill.declared
    description = declared.description
    if not description:
        return
    if filler.says_nothing(description, declared.name or ""):
        yield skill.finding(DESCRIPTION_SAYS_NOTHING, field="description")
        return
    if weight(description) < SHORTEST_DESCRIPTION:
        yield skill.finding(
            DESCRIPTION_SHORT,
            f"description has only {humanize.count(len(description), 'character')}.",
            field="description",
        )
        return
    verb = vague_verb(description)
    if verb is not None:
        yield skill.finding(
            DESCRIPTION_VAGUE,
            f"description has no verb more concrete than {quoted(verb)}." if verb else None,
            field="description",
        )
    if declared.when_to_use or declared.disable_model_invocation:
        return  # only a model needs the occasion, and `when_to_use` names it
    if not says_when(description):
        yield skill.finding(DESCRIPTION_WITHOUT_WHEN, field="description")


def description_length(skill: Skill) -> Iterator[Finding]:
    """Find a description that is much longer than necessary, but within the specification."""
    description = skill.declared.description or ""
    size = weight(description)
    if size > TOLERATED_DESCRIPTION and len(description) <= DESCRIPTION_LIMIT:
        is_wide = size > len(description)
        enough = ENOUGH_DESCRIPTION // CJK_WEIGHT if is_wide else ENOUGH_DESCRIPTION
        yield skill.finding(
            DESCRIPTION_LONG,
            f"description is {len(description):,} characters; about {enough} are enough.",
            field="description",
        )


def description_is_specific(skill: Skill) -> Iterator[Finding]:
    """Find phrases that fit any other skill as well."""
    phrase = generic_phrase(skill.declared.description or "")
    if phrase:
        yield skill.finding(
            DESCRIPTION_GENERIC,
            f"description says {quoted(phrase)}, which fits any other skill as well.",
            field="description",
        )


def can_be_invoked(skill: Skill) -> Iterator[Finding]:
    """Find a skill that neither a model nor a user can invoke."""
    if skill.declared.disable_model_invocation and skill.declared.user_invocable is False:
        yield skill.finding(NOBODY_CAN_INVOKE, field="user-invocable")


def name_is_not_reserved(skill: Skill) -> Iterator[Finding]:
    """Find a name that contains a vendor's reserved word."""
    name = (skill.declared.name or "").lower()
    for word in RESERVED_WORDS:
        if word in name:
            yield skill.finding(
                NAME_RESERVED, f"name contains the reserved word {quoted(word)}.", field="name"
            )


RULES: tuple[Rule, ...] = (
    name_is_not_reserved,
    description_tells_enough,
    description_length,
    description_is_specific,
    can_be_invoked,
    body_is_not_empty,
    body_length,
    references_exist,
)


def _first(
    skill: Skill,
    kind: FindingType,
    links: list[Reference],
    fix: Callable[[str], str | None] = lambda _: None,
) -> Iterator[Finding]:
    """Yield a finding for each of the first references; the last one counts the others."""
    for count, link in enumerate(links[:MOST_ALIKE], 1):
        message = _MESSAGES[kind.code].format(quoted(link.target))
        if count == MOST_ALIKE < len(links):
            more = humanize.count(len(links) - MOST_ALIKE, "more reference")
            message += f" The same is true of {more}."
        yield skill.finding_in_body(kind, message, fix=fix(link.target), offset=link.offset)


_MESSAGES = {
    REFERENCE_OUTSIDE_FOLDER.code: "The body names {}, which is outside the skill's folder.",
    REFERENCE_MISSING.code: "The body names {}, which is not in the skill's folder.",
    REFERENCE_DEEP.code: "The body names {}, more than one folder below SKILL.md.",
}


def _paths(skill: Skill) -> dict[str, None]:
    """Return every file and directory of the skill."""
    paths = {".": None, "": None}
    for file in skill.files:
        path = file.path
        while path not in paths:
            paths[path] = None
            path = path.rpartition("/")[0]
    del paths[""]
    return paths


def _missing(inside: list[Reference], paths: Container[str]) -> list[Reference]:
    """Return the references to missing files, except to files of a nested skill.

    The files of a nested skill are not among this skill's; a reference to its SKILL.md shows
    that it exists.
    """
    missing = [link for link in inside if link.target not in paths]
    nested = {dirname(link.target) for link in missing if _is_nested_skill(link)}
    return [link for link in missing if nested.isdisjoint(_with_parents(link.target))]


def _with_parents(path: str) -> Iterator[str]:
    while path:
        yield path
        path = dirname(path)


def _is_deep(target: str) -> bool:
    """Return whether a file is more than one folder down; assets/templates/ counts as one."""
    return target.replace("assets/templates/", "templates/", 1).count("/") > 1


def _is_nested_skill(reference: Reference) -> bool:
    """Return whether a reference names a SKILL.md in a folder below."""
    return "/" in reference.target and basename(reference.target).lower() == "skill.md"


def _same_name(target: str, paths: Iterable[str]) -> str | None:
    """Return the advice to write the path of the only file with the same name, if any."""
    name = basename(target).lower()
    matches = [path for path in paths if basename(path).lower() == name]
    return f"Write {printable(matches[0])}, the file's path." if len(matches) == 1 else None
