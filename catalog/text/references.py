"""Resolution of references between skills: where they lead, and why agents cannot follow them."""

from collections.abc import Sequence
from posixpath import basename, dirname, join, normpath, relpath
from typing import NamedTuple, Protocol

from catalog.model.naming import entry_name, skill_id
from catalog.model.paths import linked
from catalog.model.skill import MIXED_FIELDS, SkillReference
from catalog.text.visible import printable

_SIDE_BY_SIDE = (
    "Let the folders of both skills lie side by side, each with the name of its skill; agents get "
    "them that way."
)
_BY_NAME = (
    "Published folders have the namespace in their names, so no path works here and for agents. "
    "Name the skill {} instead, and declare it in depends_on."
)
_LONGEST_PLACE = 300  # characters of a place in a message


class PlacedSkill(NamedTuple):
    """Accepted skill that has a reference, or that one may lead to."""

    id: int
    place: str  # absolute path of its folder
    name: str
    skill_id: str
    namespace: str | None
    status: str
    version: int | None

    @property
    def entry(self) -> str:
        """Name of its folder among the published skills."""
        return entry_name(self.name, self.skill_id)


class Skills(Protocol):
    """The accepted skills, by place and by name."""

    def at(self, place: str) -> PlacedSkill | None:
        """Return the skill whose folder an absolute path is, or lies in."""
        ...

    def named(self, namespace: str | None, name: str) -> Sequence[PlacedSkill]:
        """Return the active skills that a skill of a namespace may mean by a name."""
        ...

    def has(self, skill: PlacedSkill, path: str) -> bool:
        """Return whether a skill has a file or folder; "" is its own folder."""
        ...


class Resolved(NamedTuple):
    """The part of a reference that depends on the skills there are."""

    place: str | None = None  # absolute path that a link leads to
    wanted: str | None = None  # skill_id of a declared name, or of the folder in a link
    to_skill: int | None = None
    problem: str | None = None  # why agents cannot follow it: a predicate
    fix: str | None = None  # advice of its own


def resolve(source: PlacedSkill, reference: SkillReference, skills: Skills) -> Resolved:
    """Return where a reference of a skill leads."""
    if reference.kind == "declared":
        return _by_name(source, reference, skills)
    place = linked(join(source.place, reference.path), reference.target)
    target = skills.at(place)
    name = _folder_named(reference.target)
    wanted = wanted_id(name) if name else None
    if target:
        problem = _problem(source, reference, skills, target, place)
        return Resolved(place, wanted, target.id, *problem)
    fix = None
    namesakes = skills.named(source.namespace, name) if name else ()
    if len(namesakes) == 1:
        written = _written(source, reference, namesakes[0], basename(reference.target))
        fix = f"Agents find a skill of that name at {printable(written)}. {_SIDE_BY_SIDE}"
    shown = printable(place, _LONGEST_PLACE)
    return Resolved(place, wanted, None, f"leads to {shown}, where no accepted skill is", fix)


def _by_name(source: PlacedSkill, reference: SkillReference, skills: Skills) -> Resolved:
    wanted = wanted_id(reference.target)
    found = skills.named(source.namespace, reference.target)
    if len(found) == 1:
        return Resolved(None, wanted, found[0].id)
    if (reference.field or "").rpartition(".")[2] in MIXED_FIELDS:
        return Resolved(None, wanted)
    problem = "several skills have that name" if found else "no published skill has that name"
    return Resolved(None, wanted, None, problem)


def _problem(
    source: PlacedSkill, reference: SkillReference, skills: Skills, target: PlacedSkill, place: str
) -> tuple[str | None, str | None]:
    """Return why agents cannot follow a link to a skill, and the advice of its own."""
    name, path = f"the skill {printable(target.name)}", place[len(target.place) + 1 :]
    if target.status != "active":
        return f"leads to {name}, which is not published", None
    if not skills.has(target, path):
        return f"leads to {name}, which has no {printable(path)}", None
    among = normpath(join(target.entry, path))
    if linked(join(source.entry, reference.path), reference.target) == among:
        return None, None
    if dirname(target.place) == dirname(source.place) and basename(target.place) == target.entry:
        fix = f"Write {printable(_written(source, reference, target, path))}."
    elif target.namespace:
        fix = _BY_NAME.format(printable(target.name))
    else:
        fix = _SIDE_BY_SIDE
    where = printable(normpath(join("..", among)))
    return (
        f"leads to {name} in its folder, but not among the published skills, where that is {where}",
        fix,
    )


def _folder_named(target: str) -> str | None:
    """Return the name of the folder in a link to a SKILL.md."""
    folder, _, file = target.rpartition("/")
    return basename(folder) if file.lower() == "skill.md" and basename(folder) != ".." else None


def _written(source: PlacedSkill, reference: SkillReference, target: PlacedSkill, path: str) -> str:
    """Return a link to a file of a skill, as it works among the published skills."""
    return relpath(join(target.entry, path), join(source.entry, dirname(reference.path)))


def wanted_id(name: str) -> str:
    """Return the skill_id of a declared name, which may have a namespace."""
    namespace, _, bare = name.rpartition(":")
    return skill_id(bare, namespace or None, bare)
