"""The published files of skills as they are: whole, verified, and nothing that a browser runs."""

import posixpath
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from datasette.utils.asgi import Response

from catalog import browse, bundle, reader
from catalog.browse import Catalog
from catalog.errors import NotInCatalog, PackageDamaged, PathRefused
from catalog.published import CURRENT, Package, PublishedFile, package_of
from catalog.rows import Row
from catalog.site import answers, headers
from catalog.site.visit import View, Visit

ROUTE = r"^/skills/(?P<skill_id>[^/]+)/files/(?P<path>.+)$"
BUNDLE_PATH = "/bundle.zip"
BUNDLE = rf"^/skills/(?P<skill_id>[^/]+){BUNDLE_PATH}$"

_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"})
_HARMLESS = frozenset({"text/markdown", "text/csv", "application/json", "application/yaml",
                       "application/toml"})


def answered(view: View) -> View:
    """Return the view, which says in a sentence why it cannot give a file."""
    async def answer(visit: Visit) -> Response:
        try:
            return await view(visit)
        except (NotInCatalog, PathRefused) as error:
            return _refused(visit, str(error), 404)
        except PackageDamaged as error:
            return _refused(visit, str(error), 503)

    return answer


@answered
async def page(visit: Visit) -> Response:
    """Give a file of the version that agents have now."""
    skill, file, content = await visit.ask(
        _read, visit.place.packages, visit.part("skill_id"), visit.part("path"),
        known=visit.request.headers.get("if-none-match", ""))
    kind = content_type(file)
    shown = kind.startswith("text/") or kind in _PICTURES or kind == answers.JSON
    name = quote(posixpath.basename(file.path), safe="")
    how = f"{'inline' if shown else 'attachment'}; filename*=UTF-8''{name}"
    return answers.of_bytes(
        visit.request, content or b"", kind, etag=file.sha256,
        modified=_published_at(visit, skill["skill_id"]), headers=_about(how, skill["version"]))


@answered
async def archive(visit: Visit) -> Response:
    """Give all files of that version as one archive."""
    package, content = await visit.ask(
        _bundle, visit.place.packages, visit.part("skill_id"),
        known=visit.request.headers.get("if-none-match", ""))
    name = quote(f"{package.skill_id}.zip", safe="")
    return answers.of_bytes(
        visit.request, content or b"", "application/zip", etag=_hex(package),
        modified=_published_at(visit, package.skill_id),
        headers=_about(f"attachment; filename*=UTF-8''{name}", package.version))


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


def _about(disposition: str, version: str | None) -> dict[str, str]:
    return {"Content-Security-Policy": headers.INERT, "Content-Disposition": disposition,
            "X-Skill-Version": version or ""}


def _published_at(visit: Visit, skill_id: str) -> datetime | None:
    """Return when the present version took its place; None for a skill that is read in place.

    The link is made anew then. A version's own age says less: one may be returned to.
    """
    try:
        made = (visit.place.packages / skill_id / CURRENT).lstat().st_mtime
    except OSError:
        return None
    return datetime.fromtimestamp(made, UTC)


def _bundle(db: Catalog, packages: Path, skill_id: str, *,
            known: str) -> tuple[Package, bytes | None]:
    package = package_of(db, packages, _active(db, skill_id)["name"])
    return package, None if _hex(package) in known else bundle.of_package(package)


def _hex(package: Package) -> str:
    return package.digest.removeprefix("sha256:")


def _read(db: Catalog, packages: Path, skill_id: str, path: str, *,
          known: str) -> tuple[Any, PublishedFile, bytes | None]:
    """Return a file with its bytes, or without them where the asker has them already."""
    skill = _active(db, skill_id)
    with reader.open_skill_file(db, packages, skill["name"], path) as (file, opened):
        return skill, file, None if file.sha256 in known else opened.read()


def _active(db: Catalog, skill_id: str) -> Row:
    skill = browse.skill(db, skill_id)
    if not skill or skill["status"] != "active":
        raise NotInCatalog(f"No active skill goes by {skill_id}.")
    return skill


def _refused(visit: Visit, why: str, status: int) -> Response:
    return answers.of_text(visit.request, f"{why}\n", answers.TEXT, status=status)
