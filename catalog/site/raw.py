"""The published files of skills as they are: whole, verified, and nothing that a browser runs."""

import posixpath
from pathlib import Path
from typing import Any
from urllib.parse import quote

from datasette.utils.asgi import Response

from catalog import browse, reader
from catalog.browse import Catalog
from catalog.errors import NotInCatalog, PackageDamaged, PathRefused
from catalog.published import PublishedFile
from catalog.site import answers, headers
from catalog.site.visit import Visit

ROUTE = r"^/skills/(?P<skill_id>[^/]+)/files/(?P<path>.+)$"

_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"})
_HARMLESS = frozenset({"text/markdown", "text/csv", "application/json", "application/yaml",
                       "application/toml"})


async def page(visit: Visit) -> Response:
    """Give a file of the version that agents have now."""
    skill_id, path = visit.part("skill_id"), visit.part("path")
    try:
        skill, file, content = await visit.ask(
            _read, visit.place.packages, skill_id, path,
            known=visit.request.headers.get("if-none-match", ""))
    except (NotInCatalog, PathRefused) as error:
        return _refused(visit, str(error), 404)
    except PackageDamaged as error:
        return _refused(visit, str(error), 503)
    kind = content_type(file)
    shown = kind.startswith("text/") or kind in _PICTURES or kind == answers.JSON
    name = quote(posixpath.basename(file.path), safe="")
    return answers.of_bytes(visit.request, content or b"", kind, etag=file.sha256, headers={
        "Content-Security-Policy": headers.INERT,
        "Content-Disposition": f"{'inline' if shown else 'attachment'}; filename*=UTF-8''{name}",
        "X-Skill-Version": skill["version"] or "",
    })


def content_type(file: PublishedFile) -> str:
    """Return what a file is served as: text where it is text that a browser would run.

    HTML, SVG, XML and scripts are for agents to read, and here they are words.
    """
    kind = file.media_type
    if kind in _PICTURES:
        return kind
    if file.is_text:
        return f"{kind if kind in _HARMLESS else 'text/plain'}; charset=utf-8"
    return "application/pdf" if kind == "application/pdf" else "application/octet-stream"


def _read(db: Catalog, packages: Path, skill_id: str, path: str, *,
          known: str) -> tuple[Any, PublishedFile, bytes | None]:
    """Return a file with its bytes, or without them where the asker has them already."""
    skill = browse.skill(db, skill_id)
    if not skill or skill["status"] != "active":
        raise NotInCatalog(f"No active skill goes by {skill_id}.")
    with reader.open_skill_file(db, packages, skill["name"], path) as (file, opened):
        return skill, file, None if file.sha256 in known else opened.read()


def _refused(visit: Visit, why: str, status: int) -> Response:
    return answers.of_text(visit.request, f"{why}\n", answers.TEXT, status=status)
