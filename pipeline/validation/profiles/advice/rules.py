"""The rules of good advice: what the specification and its guides recommend but do not demand."""

from collections.abc import Callable, Container, Iterable, Iterator
from posixpath import basename, dirname

from catalog.model.finding import Finding, FindingType
from catalog.text import humanize, tokens
from catalog.text.quoting import printable, quoted
from pipeline.validation.profiles.advice.codes import (
    BODY_EMPTY,
    BODY_TOO_LONG,
    DESCRIPTION_GENERIC,
    DESCRIPTION_LONG,
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
    CJK_WEIGHT,
    generic_phrase,
    says_when,
    vague_verb,
    weight,
)
from pipeline.validation.references import Reference, references
from pipeline.validation.skill import Rule, Skill

BODY_LINES = 500
BODY_TOKENS = 5_000
"""Source: Agent Skills specification, Progressive disclosure."""

SHORTEST_DESCRIPTION = 40
LONGEST_DESCRIPTION = 600
"""Characters; one of Chinese, Japanese or Korean counts as three. Source: skilldrop."""

RESERVED_WORDS = ("anthropic", "claude")
"""Source: Claude Platform documentation, Agent Skills, Skill structure."""

MOST_ALIKE = 10
"""Findings of one code that are listed one by one."""


def body_says_something(skill: Skill) -> Iterator[Finding]:
    """Find a body without text."""
    if skill.parsed.frontmatter is not None and not skill.parsed.body:
        yield skill.finding_in_body(BODY_EMPTY, offset=0)


def body_length(skill: Skill) -> Iterator[Finding]:
    """Find a body of more than 500 lines or about 5,000 tokens."""
    body = skill.parsed.body
    lines = body.count("\n") + 1
    if lines <= BODY_LINES and len(body) <= BODY_TOKENS:
        return  # a character costs one token at most
    cost = tokens.estimate(body)
    if lines > BODY_LINES or cost > BODY_TOKENS:
        yield skill.finding_in_body(
            BODY_TOO_LONG,
            f"The body has {lines:,} lines and about {cost:,} tokens; "
            f"{BODY_LINES} and {BODY_TOKENS:,} are recommended.",
            offset=0,
        )


def named_files(skill: Skill) -> Iterator[Finding]:
    """Find references to files that are not there, lie outside the folder or lie deep in it."""
    named = [each for each in references(skill.parsed.body) if not each.leads_to_machine]
    if not named:
        return
    inside = [each for each in named if not each.leads_outside]
    there = _paths(skill)
    yield from _some(skill, REFERENCE_OUTSIDE_FOLDER, [e for e in named if e.leads_outside])
    yield from _some(
        skill,
        REFERENCE_MISSING,
        _missing(inside, there) if skill.is_whole else [],
        fix=lambda target: _nearest(target, there),
    )
    yield from _some(
        skill,
        REFERENCE_DEEP,
        [each for each in inside if each.target in there and _is_deep(each.target)],
    )


def description_length(skill: Skill) -> Iterator[Finding]:
    """Find a description that is too short to say anything, or longer than it needs to be."""
    description = skill.declared.description
    if not description:
        return
    size = weight(description)
    if size < SHORTEST_DESCRIPTION:
        yield skill.finding(
            DESCRIPTION_SHORT,
            f"description has only {humanize.count(len(description), 'character')}.",
            field="description",
        )
    elif size > LONGEST_DESCRIPTION:
        limit = (
            LONGEST_DESCRIPTION if size == len(description) else (LONGEST_DESCRIPTION // CJK_WEIGHT)
        )
        yield skill.finding(
            DESCRIPTION_LONG,
            f"description is {len(description):,} characters; about {limit} do.",
            field="description",
        )


def description_says_what(skill: Skill) -> Iterator[Finding]:
    """Find a description without a concrete verb."""
    description = skill.declared.description
    verb = vague_verb(description) if description else None
    if verb is not None:
        yield skill.finding(
            DESCRIPTION_VAGUE,
            f"description has no verb more concrete than {quoted(verb)}." if verb else None,
            field="description",
        )


def description_says_when(skill: Skill) -> Iterator[Finding]:
    """Find a description that tells neither when to use the skill nor what goes in and out."""
    declared = skill.declared
    if not declared.description or declared.when_to_use or declared.disable_model_invocation:
        return  # only a model needs to be told when, and `when_to_use` tells it
    if not says_when(declared.description):
        yield skill.finding(DESCRIPTION_WITHOUT_WHEN, field="description")


def description_is_its_own(skill: Skill) -> Iterator[Finding]:
    """Find phrases that would be as true of any other skill."""
    phrase = generic_phrase(skill.declared.description or "")
    if phrase:
        yield skill.finding(
            DESCRIPTION_GENERIC,
            f"description says {quoted(phrase)}, which is as true of any other skill.",
            field="description",
        )


def somebody_can_call_it(skill: Skill) -> Iterator[Finding]:
    """Find a skill that neither a model nor a person may call."""
    if skill.declared.disable_model_invocation and skill.declared.user_invocable is False:
        yield skill.finding(NOBODY_CAN_INVOKE, field="user-invocable")


def name_is_not_reserved(skill: Skill) -> Iterator[Finding]:
    """Find a name that holds a vendor's reserved word."""
    name = (skill.declared.name or "").lower()
    for word in RESERVED_WORDS:
        if word in name:
            yield skill.finding(
                NAME_RESERVED, f"name holds the reserved word {quoted(word)}.", field="name"
            )


RULES: tuple[Rule, ...] = (
    name_is_not_reserved,
    description_length,
    description_says_what,
    description_says_when,
    description_is_its_own,
    somebody_can_call_it,
    body_says_something,
    body_length,
    named_files,
)


def _some(
    skill: Skill,
    kind: FindingType,
    named: list[Reference],
    fix: Callable[[str], str | None] = lambda _: None,
) -> Iterator[Finding]:
    """Yield a finding for each of the first references; the last tells how many more there are."""
    for count, reference in enumerate(named[:MOST_ALIKE], 1):
        said = _SAID[kind.code].format(quoted(reference.target))
        if count == MOST_ALIKE < len(named):
            more = humanize.count(len(named) - MOST_ALIKE, "more reference")
            said += f" The same is true of {more}."
        yield skill.finding_in_body(kind, said, fix=fix(reference.target), offset=reference.offset)


_SAID = {
    REFERENCE_OUTSIDE_FOLDER.code: "The body names {}, which lies outside the skill's folder.",
    REFERENCE_MISSING.code: "The body names {}, which is not in the skill's folder.",
    REFERENCE_DEEP.code: "The body names {}, more than one folder below SKILL.md.",
}


def _paths(skill: Skill) -> dict[str, None]:
    """Return every file and directory of the skill."""
    found = {".": None, "": None}
    for file in skill.files:
        path = file.path
        while path not in found:
            found[path] = None
            path = path.rpartition("/")[0]
    del found[""]
    return found


def _missing(inside: list[Reference], there: Container[str]) -> list[Reference]:
    """Return the references to what is not there, unless to a skill within this one.

    The files of such a skill are its own; that there is one shows in a reference to its SKILL.md.
    """
    absent = [each for each in inside if each.target not in there]
    others = {dirname(each.target) for each in absent if _is_another_skill(each)}
    return [each for each in absent if others.isdisjoint(_with_parents(each.target))]


def _with_parents(path: str) -> Iterator[str]:
    while path:
        yield path
        path = dirname(path)


def _is_deep(target: str) -> bool:
    """Say whether a file lies more than one folder down, assets/templates/ counting as one."""
    return target.replace("assets/templates/", "templates/", 1).count("/") > 1


def _is_another_skill(reference: Reference) -> bool:
    """Say whether it names a SKILL.md further down."""
    return "/" in reference.target and basename(reference.target).lower() == "skill.md"


def _nearest(target: str, there: Iterable[str]) -> str | None:
    """Return the advice to name the one file of the skill that has the same name, if any."""
    wanted = basename(target).lower()
    alike = [path for path in there if basename(path).lower() == wanted]
    return f"Write {printable(alike[0])}, where the file lies." if len(alike) == 1 else None
