"""Locations of skill files for agents: in a folder of skills, at a URL, or in a root."""

from typing import NamedTuple
from urllib.parse import quote

NAME = "NAME"
"""Placeholder for the name of a skill in a pattern."""

VERSION = "VERSION"
"""Placeholder for the version that an index gives beside the name."""

SITE = "/skills"
"""Path of the skills on the site."""


class Bases(NamedTuple):
    """Folders beside the catalog, or None where nothing is published."""

    skills: str | None = None  # published skills, by name
    packages: str | None = None  # versions, by skill_id


NOWHERE = Bases()


def of_skill_md(
    base: str | None,
    bases: Bases,
    *,
    skill_id: str,
    file_name: str,
    root_folder: str,
    is_package: bool,
    name: str | None = None,
    package_path: str | None = None,
    in_packages: bool = False,
) -> str:
    """Return the path or URL of a skill's SKILL.md.

    `base` replaces the folder beside the catalog, or is the URL of the site's skills. A skill is
    in the folder of published skills by its `name`, if it has one there; with in_packages, or
    without a name, it is in the packages folder, and with a package_path,
    `<skill_id>/<version>`, in that version. `root_folder` is the only location of a skill that is
    not published as a package.
    """
    version = package_path.rpartition("/")[2] if package_path else None
    if base is not None and is_url(base):
        return on_site(skill_id, file_name, base, version)
    if not is_package or not (base or bases.packages):
        return f"{root_folder}/{file_name}"
    if name and not (in_packages or package_path):
        return f"{(base or bases.skills or '').rstrip('/')}/{name}/{file_name}"
    folder = (base if in_packages or package_path else None) or bases.packages or ""
    return f"{folder.rstrip('/')}/{package_path or f'{skill_id}/current'}/{file_name}"


def on_site(skill_id: str, file_name: str, base: str = SITE, version: str | None = None) -> str:
    """Return the percent-encoded URL of a skill's file; relative references work from there."""
    version_path = f"versions/{quote(version, safe='')}/" if version else ""
    return (
        f"{base.rstrip('/')}/{quote(skill_id, safe='')}/{version_path}files/"
        f"{quote(file_name, safe='')}"
    )


def pattern(
    base: str | None, bases: Bases, *, of_versions: bool = False, in_packages: bool = False
) -> str | None:
    """Return the location of the files of a skill NAME, for all skills; None without a base.

    Where the index names versions, the pattern has VERSION, too.
    """
    if base is not None and is_url(base):
        rest = f"/versions/{VERSION}/files" if of_versions else "/files"
    elif of_versions or in_packages:
        base, rest = base or bases.packages, f"/{VERSION if of_versions else 'current'}"
    else:
        base, rest = base or bases.skills, ""
    return f"{base.rstrip('/')}/{NAME}{rest}/" if base else None


def search_on_site(base: str | None) -> str | None:
    """Return the URL of the site's search, given that of its skills; None for a path."""
    if base is None or not is_url(base):
        return None
    return f"{base.rstrip('/').removesuffix(SITE)}/search.json"


def is_url(base: str) -> bool:
    """Return whether a base is a URL and not a path on this machine."""
    return "://" in base
