"""Locations of skill files for agents: in a packages folder, at a URL, or in a root."""

from urllib.parse import quote

NAME = "NAME"
"""Placeholder for the name of a skill in a pattern."""

VERSION = "VERSION"
"""Placeholder for the version that an index gives beside the name."""

SITE = "/skills"
"""Path of the skills on the site."""


def of_skill_md(
    base: str | None,
    *,
    skill_id: str,
    file_name: str,
    folder: str,
    is_package: bool,
    package_path: str | None = None,
) -> str:
    """Return the path or URL of a skill's SKILL.md.

    `base` is the packages folder or the URL of the site's skills; `folder` is the skill folder,
    the only location of a skill that is not published as a package. With a package_path,
    `<skill_id>/<version>`, the location is in that version, otherwise in the current one.
    """
    version = package_path.rpartition("/")[2] if package_path else None
    if base is not None and is_url(base):
        return on_site(skill_id, file_name, base, version)
    if base is None or not is_package:
        return f"{folder}/{file_name}"
    return f"{base.rstrip('/')}/{package_path or f'{skill_id}/current'}/{file_name}"


def on_site(skill_id: str, file_name: str, base: str = SITE, version: str | None = None) -> str:
    """Return the percent-encoded URL of a skill's file; relative references work from there."""
    version_path = f"versions/{quote(version, safe='')}/" if version else ""
    return (
        f"{base.rstrip('/')}/{quote(skill_id, safe='')}/{version_path}files/"
        f"{quote(file_name, safe='')}"
    )


def pattern(base: str | None, *, of_versions: bool = False) -> str | None:
    """Return the location of the files of a skill NAME, for all skills; None without a base.

    Where the index names versions, the pattern has VERSION, too.
    """
    if base is None:
        return None
    if is_url(base):
        rest = f"versions/{VERSION}/files" if of_versions else "files"
    else:
        rest = VERSION if of_versions else "current"
    return f"{base.rstrip('/')}/{NAME}/{rest}/"


def search_on_site(base: str | None) -> str | None:
    """Return the URL of the site's search, given that of its skills; None for a path."""
    if base is None or not is_url(base):
        return None
    return f"{base.rstrip('/').removesuffix(SITE)}/search.json"


def is_url(base: str) -> bool:
    """Return whether a base is a URL and not a path on this machine."""
    return "://" in base
