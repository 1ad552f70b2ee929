"""URIs of skills, their files and their manifests."""

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from catalog.model.errors import NotInCatalog
from catalog.reading.files.published import Package
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


def listed(skill_id: str, path: str) -> str:
    """Return the URI of a file as the list of resources has it, with the letters of any script.

    FastMCP names the folder of a skill by these letters. `parse` reads both forms.
    """
    return f"skill://{skill_id}/{quote(path)}"


def parse(uri: str) -> SkillUri:
    """Return the parts of a URI. Raises NotInCatalog if it has another form."""
    match = _FORM.fullmatch(uri)
    if match is None:
        raise NotInCatalog(
            f"{shown(uri)} is no URI of a skill; those have the form skill://SKILL_ID/FILE."
        )
    path = match[2] or ""
    return SkillUri(unquote(match[1]), unquote(path), path, match[3] or "")


def own_folder(package: Package) -> str:
    """Return the folder that the extension's URIs of a plugin's skill have below its skill_id.

    It is the skill's bare name, with which such a URI must end. "" for any other skill, and for
    one that has a folder of that name, whose files have those URIs already.
    """
    _, colon, name = package.skill.rpartition(":")
    has_folder = any(path.startswith(f"{name}/") for path in package.by_path)
    return name if colon and not has_folder else ""


def inside(package: Package, path: str) -> str:
    """Return the path in the package for the path of a URI, without the own folder."""
    folder = own_folder(package)
    return path[len(folder) + 1 :] if folder and f"{path}/".startswith(f"{folder}/") else path
