"""Locations of skill files for agents: below a packages folder, a URL, or the root."""

from urllib.parse import quote

NAME = "NAME"
"""Stands for a skill's name where a text says once where the files of all lie."""

VERSION = "VERSION"
"""Stands there for the version that an index names beside the skill."""

SITE = "/skills"
"""Where the site answers for skills, relative to its own origin."""


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

    `base` is the folder that holds the packages, or the URL below which the site answers for
    skills; `folder` is where the skill itself lies. A skill that is not published as a package
    has no other path than that one. With a package_path, `<skill_id>/<version>`, it is a file of
    that version, else of whichever is the present one.
    """
    version = package_path.rpartition("/")[2] if package_path else None
    if base is not None and is_url(base):
        return on_site(skill_id, file_name, base, version)
    if base is None or not is_package:
        return f"{folder}/{file_name}"
    return f"{base.rstrip('/')}/{package_path or f'{skill_id}/current'}/{file_name}"


def on_site(skill_id: str, file_name: str, base: str = SITE, version: str | None = None) -> str:
    """Return the URL of a skill's file, percent-encoded; what it refers to lies beside it."""
    of_version = f"versions/{quote(version, safe='')}/" if version else ""
    return (
        f"{base.rstrip('/')}/{quote(skill_id, safe='')}/{of_version}files/"
        f"{quote(file_name, safe='')}"
    )


def pattern(base: str | None, *, of_versions: bool = False) -> str | None:
    """Return where the files of the skill NAME lie; None where no one sentence can say it.

    Where versions are named it has VERSION, too.
    """
    if base is None:
        return None
    if is_url(base):
        rest = f"versions/{VERSION}/files" if of_versions else "files"
    else:
        rest = VERSION if of_versions else "current"
    return f"{base.rstrip('/')}/{NAME}/{rest}/"


def is_url(base: str) -> bool:
    """Tell whether locations start with a URL and not with a path of this machine."""
    return "://" in base
