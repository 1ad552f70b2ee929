"""Locations of skill files for agents: in a folder of skills, at a URL, or in a root."""

from typing import NamedTuple
from urllib.parse import quote

from catalog.database.queries import Row
from catalog.model.naming import CURRENT
from catalog.prompt_index.formats.form import NAME
from catalog.prompt_index.spec import IndexSpec

SITE = "/skills"
"""Path of the skills on the site."""


class Bases(NamedTuple):
    """Folders beside the catalog, or None where nothing is published."""

    skills: str | None = None  # published skills, by name
    packages: str | None = None  # versions, by skill_id


NOWHERE = Bases()
PUBLISHED = IndexSpec()
"""Settings by which a skill is located outside an index: where it is published."""


def pattern(spec: IndexSpec, bases: Bases) -> str | None:
    """Return the folder of a skill NAME, for all skills of an index; None without a base."""
    return _folder(spec, bases, NAME)


def name_in_pattern(spec: IndexSpec, skill: Row) -> str | None:
    """Return the name of a skill's folder in the pattern of an index; None if it is elsewhere."""
    if is_url(spec.location_base):
        return str(skill["skill_id"])
    if skill["package_path"] is None:
        return None
    name: str | None = skill["skill_id"] if spec.names_packages else skill["folder"]
    return name


def of_skill_md(spec: IndexSpec, bases: Bases, skill: Row) -> str:
    """Return the path or URL of a skill's SKILL.md.

    A skill has the columns skill_id, root, path, skill_md_name, package_path, and its `folder`
    among the published skills. Where it is not in the pattern of the index, it is in the packages
    folder, or in its root if it is not published as a package.
    """
    file, package_path = skill["skill_md_name"] or "", skill["package_path"]
    if is_url(spec.location_base):
        return on_site(skill["skill_id"], file, spec.location_base or "")
    if spec.format == "discovery":
        return on_site(skill["skill_id"], file)
    name = name_in_pattern(spec, skill)
    folder = _folder(spec, bases, name) if name else None
    if package_path and not folder and bases.packages:
        folder = f"{bases.packages}/{skill['skill_id']}/{CURRENT}/"
    return f"{folder or '{root}/{path}/'.format(**skill)}{file}".rstrip("/")


def _folder(spec: IndexSpec, bases: Bases, name: str) -> str | None:
    """Return the folder of the files of a skill with a slash at its end; None without a base."""
    base = spec.location_base
    if is_url(base):
        rest = "/files"
    elif spec.names_packages:
        base, rest = base or bases.packages, f"/{CURRENT}"
    else:
        base, rest = base or bases.skills, ""
    return f"{base.rstrip('/')}/{name}{rest}/" if base else None


def on_site(skill_id: str, file_name: str, base: str = SITE) -> str:
    """Return the percent-encoded URL of a skill's file; relative references work from there."""
    return f"{base.rstrip('/')}/{quote(skill_id, safe='')}/files/{quote(file_name, safe='')}"


def search_on_site(base: str | None) -> str | None:
    """Return the URL of the site's search, given that of its skills; None for a path."""
    if base is None or not is_url(base):
        return None
    return f"{base.rstrip('/').removesuffix(SITE)}/search.json"


def is_url(base: str | None) -> bool:
    """Return whether a base is a URL and not a path on this machine."""
    return base is not None and "://" in base
