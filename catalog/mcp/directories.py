"""Directories of a published skill, as resources."""

from mcp.types import Resource

from catalog.mcp import uris
from catalog.model.errors import NotInCatalog
from catalog.reading.published import Package, PublishedFile
from catalog.text.sanitize import one_line
from catalog.text.suggestions import shown

MEDIA_TYPE = "inode/directory"


def children(package: Package, path: str, version: str = "") -> list[Resource]:
    """Return the files and directories in a directory, by name; path is "" for the skill itself.

    With a version, the URIs name it. Raises NotInCatalog if the path is not a directory.
    """
    own, path = uris.split(package, path.rstrip("/"))
    start = f"{path}/" if path else ""
    suffix = f"?version={version}" if version else ""
    found: dict[str, Resource] = {}
    for file in package.files:
        if file.path.startswith(start):
            name, _, rest = file.path.removeprefix(start).partition("/")
            uri = uris.of(package.skill_id, own + start + name) + suffix
            found[name] = _directory(uri, name) if rest else _file(uri, name, file)
    if not found:
        kind = "a file, not a directory" if path in package.by_path else "not a directory"
        raise NotInCatalog(f"{shown(path)} of {shown(package.skill)} is {kind}.")
    return [resource for _, resource in sorted(found.items())]


def _directory(uri: str, name: str) -> Resource:
    return Resource(uri=uri, name=one_line(name), mime_type=MEDIA_TYPE)


def _file(uri: str, name: str, file: PublishedFile) -> Resource:
    return Resource(uri=uri, name=one_line(name), mime_type=file.media_type, size=file.size)
