"""Where an agent finds the files of a skill: below a folder of packages, a URL, or its root."""

from urllib.parse import quote

NAME = "NAME"
"""Stands for a skill's name where a text says once where the files of all lie."""

SITE = "/skills"
"""Where the site answers for skills, relative to its own origin."""


def of_skill_md(base: str | None, *, skill_id: str, file_name: str, folder: str,
                is_package: bool) -> str:
    """Return the path or URL of a skill's SKILL.md.

    `base` is the folder that holds the packages, or the URL below which the site answers for
    skills; `folder` is where the skill itself lies. A skill that is not published as a package
    has no other path than that one.
    """
    if base is not None and is_url(base):
        return on_site(skill_id, file_name, base)
    if base is None or not is_package:
        return f"{folder}/{file_name}"
    return f"{base.rstrip('/')}/{skill_id}/current/{file_name}"


def on_site(skill_id: str, file_name: str, base: str = SITE) -> str:
    """Return the URL of a skill's file, percent-encoded."""
    return f"{base.rstrip('/')}/{quote(skill_id, safe='')}/files/{quote(file_name, safe='')}"


def pattern(base: str | None) -> str | None:
    """Return where the files of the skill NAME lie; None where no one sentence can say it."""
    if base is None:
        return None
    return f"{base.rstrip('/')}/{NAME}/{'files' if is_url(base) else 'current'}/"


def is_url(base: str) -> bool:
    """Tell whether locations start with a URL and not with a path of this machine."""
    return "://" in base
