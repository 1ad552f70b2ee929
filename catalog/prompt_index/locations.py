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
_PUBLISHED = IndexSpec()


class Locations:
    """Locations of skills by the settings of an index, or where they are published.

    A skill has the columns skill_id, root, path, skill_md_name, package_path, and its `folder`
    among the published skills.
    """

    def __init__(self, bases: Bases, spec: IndexSpec = _PUBLISHED) -> None:
        base = spec.location_base
        self._is_url = is_url(base)
        self._site = base if self._is_url else SITE if spec.format == "discovery" else None
        self._has_ids = self._is_url or spec.names_packages  # as the names of folders
        self._packages = bases.packages
        if self._is_url:
            rest = "/files/"
        elif spec.names_packages:
            base, rest = base or bases.packages, f"/{CURRENT}/"
        else:
            base, rest = base or bases.skills, "/"
        self._before, self._after = base and f"{base.rstrip('/')}/", rest

    @property
    def pattern(self) -> str | None:
        """Folder of a skill NAME, for all skills of an index; None without a base."""
        return self._folder(NAME)

    def name_in_pattern(self, skill: Row) -> str | None:
        """Return the name of a skill's folder in the pattern; None if it is elsewhere."""
        if not self._is_url and skill["package_path"] is None:
            return None
        name: str | None = skill["skill_id" if self._has_ids else "folder"]
        return name

    def of_skill_md(self, skill: Row) -> str:
        """Return the path or URL of a skill's SKILL.md.

        Where a skill is not in the pattern of the index, it is in the packages folder, or in its
        root if it is not published as a package.
        """
        file = skill["skill_md_name"] or ""
        if self._site:
            return on_site(skill["skill_id"], file, self._site)
        name = self.name_in_pattern(skill)
        folder = self._folder(name) if name else None
        if not folder and skill["package_path"] and self._packages:
            folder = f"{self._packages}/{skill['skill_id']}/{CURRENT}/"
        return f"{folder or '{root}/{path}/'.format(**skill)}{file}".rstrip("/")

    def _folder(self, name: str) -> str | None:
        """Return a folder of files with a slash at its end; None without a base."""
        return f"{self._before}{name}{self._after}" if self._before else None


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
