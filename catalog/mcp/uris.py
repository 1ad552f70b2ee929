"""URIs of skills, their files and their manifests."""

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from catalog.model.errors import NotInCatalog
from catalog.text.suggestions import shown

MANIFEST = "_manifest"
"""Path of a skill's list of files, below the skill."""

_FORM = re.compile(r"skill://([^/?]+)(?:/(.*?))?(?:\?version=([^?&]*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SkillUri:
    """Parts of the URI of a skill, or of a file or directory in it."""

    skill_id: str
    path: str  # relative to the skill, without percent-encoding; "" for the skill itself
    literal_path: str  # the same as written: some clients encode nothing
    version: str  # "" for the current one


def of(skill_id: str, path: str = "") -> str:
    """Return the URI of a file or directory of a skill, or of the skill's own directory."""
    return f"skill://{quote(skill_id, safe='')}" + (f"/{quote(path)}" if path else "")


def parse(uri: str) -> SkillUri:
    """Return the parts of a URI. Raises NotInCatalog if it has another form."""
    match = _FORM.fullmatch(uri)
    if match is None:
        raise NotInCatalog(
            f"{shown(uri)} is no URI of a skill; those have the form skill://SKILL_ID/FILE."
        )
    path = match[2] or ""
    return SkillUri(unquote(match[1]), unquote(path), path, match[3] or "")
