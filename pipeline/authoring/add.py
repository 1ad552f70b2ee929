"""New skills, and the addition of skill folders and archives to a root."""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from catalog.filesystem.operations import remove_made, replaced
from catalog.model.errors import NotPossible
from catalog.model.naming import NAME_CHARACTERS, is_slug
from catalog.model.paths import is_archive, text_path
from catalog.model.skill import Inventory, RootSpec
from catalog.model.values import Json
from catalog.pull.site import NOT_ON_WINDOWS
from catalog.text.suggestions import shown
from pipeline.authoring.atomic_replace import built_beside, exchange, put
from pipeline.authoring.lint import Judgement, judge_paths
from pipeline.roots.file_kinds import is_junk, is_skill_md

PLAIN: Mapping[str, str] = {
    "SKILL.md": """\
---
name: {name}
description: "[TODO: describe what the skill does with {words}, and when to use it.]"
---

# {title}

[TODO: say in one sentence what this skill achieves.]

## Steps

1. [TODO: name the input, and how to get it.]
2. [TODO: name each step, in the order of the work.]
3. [TODO: name the result, and how to check it.]

## Example

> [TODO: a request of a person, in their words.]

[TODO: the answer that this skill gives.]
"""
}
"""Texts of a new skill by path; name, words, title and intent in braces are filled in."""


def make(name: str, parent: Path, texts: Mapping[str, str] = PLAIN) -> Path:
    """Write a skill with a name below a directory, and return its folder.

    Raises NotPossible if the specification or Windows does not allow the name, or it exists.
    """
    if not is_slug(name) or not name or len(name) > NAME_CHARACTERS:
        raise NotPossible(
            f"{shown(name)} cannot be the name of a skill: it needs 1 to {NAME_CHARACTERS} "
            "lowercase letters, digits and single hyphens between them, such as csv-profile."
            + (" Name the folder around it with --in." if os.sep in name else "")
        )
    if NOT_ON_WINDOWS.search(name):
        raise NotPossible(f"Windows cannot have a folder with the name {name}; choose another.")
    words = name.replace("-", " ")
    folder = parent / name
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise NotPossible(f"{folder} exists already; choose another name.") from None
    except OSError as error:
        raise NotPossible(f"{folder} was not made: {error.strerror}.") from error
    for path, text in texts.items():
        file = folder / path
        file.parent.mkdir(exist_ok=True)
        filled = text.format(
            name=name, words=words, title=words.capitalize(), intent=name.replace("-", "_")
        )
        file.write_text(filled, encoding="utf-8", newline="\n")
    return folder


@dataclass(frozen=True, slots=True)
class Addition:
    """Result of adding one source."""

    source: Path
    place: Path  # in the root
    judgements: tuple[Judgement, ...]
    is_added: bool  # or would be, without `dry_run`

    def as_json(self) -> dict[str, Json]:
        """Return the published fields."""
        return {
            "source": text_path(str(self.source)),
            "path": text_path(str(self.place)),
            "added": self.is_added,
            "skills": [
                judgement.as_json()
                | {
                    "description": judgement.description or None,
                    "files": [file.path for file in judgement.files],
                    "fileInventory": Inventory.of(judgement.files).as_json(),
                }
                for judgement in self.judgements
            ],
        }


def root_named(roots: Sequence[RootSpec], name: str | None) -> RootSpec:
    """Return the root with this path or level; by default the first of level project, else any.

    Repositories do not count: only commits add to them. Raises NotPossible, which lists the roots.
    """
    roots = [root for root in roots if not root.origin]
    if not roots:
        raise NotPossible(
            "Every root is a git repository; commit and push the skill there. `skilldrop validate` "
            "checks it before."
        )
    if name is None:
        return next((root for root in roots if root.level == "project"), roots[0])
    path = os.path.realpath(os.path.expanduser(name))
    for root in roots:
        if name == root.level or path == os.path.realpath(root.path):
            return root
    configured = ", ".join(f"{root.path} ({root.level})" for root in roots)
    raise NotPossible(f"{name} is not a root; the roots are {configured}.")


def add(
    sources: Sequence[Path],
    root: RootSpec,
    *,
    replace: bool = False,
    dry_run: bool = False,
) -> Iterator[Addition]:
    """Copy each source into a root, and yield the results; with `dry_run`, copy nothing.

    A SKILL.md stands for its folder. A source with a skill that the root would reject, or with the
    description of a template, is not copied; its findings give the reason.
    Each source is copied whole or not at all: first under a name that scans ignore, then renamed.
    Raises NotPossible, before anything is copied, if a source or its place is unsuitable.
    """
    sources = [_folder_of(source) for source in sources]
    places = [_place(source, Path(root.path), replace=replace) for source in sources]
    if len(set(places)) < len(places):
        raise NotPossible("Two sources have the same name; rename one of them.")
    for source, place in zip(sources, places, strict=True):
        try:
            yield _added(source, place, root, dry_run=dry_run)
        except OSError as error:
            raise NotPossible(f"{source} was not added: {_first(error)}.") from error


def _added(source: Path, place: Path, root: RootSpec, *, dry_run: bool) -> Addition:
    judgements = tuple(
        judge_paths(
            [source], acceptance=root.acceptance, profiles=root.profiles, secrets=root.secrets
        )
    )
    is_accepted = all(judgement.loadable and not judgement.is_template for judgement in judgements)
    if is_accepted and not dry_run:
        if source.is_dir():
            _copy_folder(source, place)
        else:
            with replaced(place) as target, source.open("rb") as original:
                shutil.copyfileobj(original, target)
    return Addition(source, place, judgements, is_accepted)


def _copy_folder(source: Path, place: Path) -> None:
    with built_beside(place, source) as built:
        if not os.path.lexists(place):
            put(built, place)
        else:
            replaced_folder = place.lstat()
            remove_made(exchange(built, place), replaced_folder)


def _folder_of(source: Path) -> Path:
    """Return the folder of a SKILL.md, and any other source as it is."""
    is_document = is_skill_md(source.name) and source.is_file()
    return Path(os.path.realpath(source)).parent if is_document else source


def _place(source: Path, root: Path, *, replace: bool) -> Path:
    """Return the place of a source in a root. Raises NotPossible, also for a single SKILL.md."""
    real = Path(os.path.realpath(source))
    place = root / real.name
    if not root.is_dir():
        raise NotPossible(
            f"The root {root} cannot be read. Create it, or name another with --root."
        )
    if not (real.is_dir() or is_archive(real.name)):
        raise NotPossible(f"{source} is neither a folder nor an archive.")
    if real.is_relative_to(root) or root.is_relative_to(real):
        raise NotPossible(f"{source} is already inside the root {root}, or contains it.")
    if is_junk(real.name):
        raise NotPossible(f"{source} has a name that scans ignore; rename it.")
    if os.path.lexists(place) and not replace:
        raise NotPossible(f"{place} exists already. Use --replace to replace it.")
    return place


def _first(error: OSError) -> str:
    """Return the first reason; copytree collects all of them."""
    reasons = error.args[0] if error.args else None
    if isinstance(reasons, list) and reasons:
        return str(reasons[0][-1])
    return error.strerror or str(error)
