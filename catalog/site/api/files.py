"""The published files of skills as they are: whole, verified, and nothing that a browser runs."""

import asyncio
import io
import os
import posixpath
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any
from urllib.parse import quote

from datasette.utils.asgi import Response

from catalog.database.sql import Row
from catalog.model.errors import NotInCatalog, PackageDamaged, PathRefused
from catalog.reading import browse, bundle, reader
from catalog.reading.browse import Catalog
from catalog.reading.published import CURRENT, Package, PublishedFile, find_file, package_of
from catalog.site.http import responses, security_headers
from catalog.site.http.request import RequestContext, View

ROUTE = r"^/skills/(?P<skill_id>[^/]+)/files/(?P<path>.+)$"
ARCHIVE = "application/zip"
OF_VERSION = (
    r"^/skills/(?P<skill_id>[^/]+)/versions/(?P<version>[^/]+)"
    r"/files/(?P<path>.+)$"
)
"""The same of one version; what a file refers to is found beside it, in the same version."""
BUNDLE_PATH = "/bundle.zip"
BUNDLE = rf"^/skills/(?P<skill_id>[^/]+){BUNDLE_PATH}$"

VERSION = "Skilldrop-Version"
"""The header that names the version which an answer is of; `?version=` asks for it again."""

_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"})
_HARMLESS = frozenset(
    {"text/markdown", "text/csv", "application/json", "application/yaml", "application/toml"}
)


def answered(view: View) -> View:
    """Return the view, which says in a sentence why it cannot give a file."""

    async def answer(context: RequestContext) -> Response:
        try:
            return await view(context)
        except (NotInCatalog, PathRefused) as error:
            return _refused(context, str(error), 404)
        except PackageDamaged as error:
            return _refused(context, str(error), 503)

    return answer


@answered
async def page(context: RequestContext) -> Response:
    """Give a file of the version that agents have now, or of the one asked for."""
    modified = _published_at(context)
    package, file, content = await context.query(
        _open,
        context.location.packages,
        context.path_part("skill_id"),
        context.path_part("path"),
        version=_asked_version(context),
    )
    kind = content_type(file)
    shown = kind.startswith("text/") or kind in _PICTURES or kind == responses.JSON
    name = quote(posixpath.basename(file.path), safe="")
    how = f"{'inline' if shown else 'attachment'}; filename*=UTF-8''{name}"
    return responses.of_file(
        context.request,
        content,
        file.size,
        kind,
        etag=file.sha256,
        modified=modified,
        headers=_about(how, package.version),
    )


@answered
async def archive(context: RequestContext) -> Response:
    """Give all files of such a version as one archive."""
    modified = _published_at(context)
    package = await context.query(
        _package,
        context.location.packages,
        context.path_part("skill_id"),
        version=_asked_version(context),
    )
    name = quote(f"{package.skill_id}.zip", safe="")
    about: dict[str, Any] = {
        "etag": _hex(package),
        "modified": modified,
        "headers": _about(f"attachment; filename*=UTF-8''{name}", package.version),
    }
    if responses.is_known(context.request, about["etag"], about["modified"]):
        return responses.of_bytes(context.request, b"", ARCHIVE, **about)
    if bundle.size(package) > responses.WHOLE:
        return await _large_archive(context, package, about)
    file = io.BytesIO()
    await asyncio.to_thread(bundle.write, package, file)
    return responses.of_bytes(context.request, file.getvalue(), ARCHIVE, **about)


async def _large_archive(context: RequestContext, package: Package, about: dict[str, Any]) -> Any:
    """Return an archive from a file on the disk; there are only a few of them at once."""
    slots = context.location.archives
    await slots.take()
    file = TemporaryFile()  # noqa: SIM115  # the answer closes it
    try:
        await asyncio.to_thread(bundle.write, package, file)
        size = file.tell()
        file.seek(0)
    except BaseException:
        file.close()
        slots.free()
        raise
    return responses.of_file(context.request, file, size, ARCHIVE, done=slots.free, **about)


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


def _about(disposition: str, version: str) -> dict[str, str]:
    return {
        "Content-Security-Policy": security_headers.INERT,
        "Content-Disposition": disposition,
        VERSION: version,
    }


def _published_at(context: RequestContext) -> datetime | None:
    """Return when the present version took its place; None for another, or for one in place.

    The link is replaced then. A version's own age says less: one may be returned to. It is asked
    for before the file is read, so that a newer file never goes by an older time.
    """
    if _asked_version(context):
        return None
    try:
        made = (
            (context.location.packages / context.path_part("skill_id") / CURRENT).lstat().st_mtime
        )
    except (OSError, ValueError):  # a path that holds NUL
        return None
    return datetime.fromtimestamp(made, UTC)


def _asked_version(context: RequestContext) -> str:
    """Return the version that the path or the query names; empty for the present one."""
    return (
        context.path_part("version")
        if "version" in context.request.url_vars
        else context.parameter("version")
    )


def _package(db: Catalog, packages: Path, skill_id: str, *, version: str) -> Package:
    return package_of(db, packages, _active(db, skill_id)["name"], version)


def _hex(package: Package) -> str:
    return package.digest.removeprefix("sha256:")


def _open(
    db: Catalog, packages: Path, skill_id: str, path: str, *, version: str
) -> tuple[Package, PublishedFile, IO[bytes]]:
    """Return a file, verified and opened for whoever sends it."""
    package = package_of(db, packages, _active(db, skill_id)["name"], version)
    file = find_file(package, path)
    with reader.opened(package, file) as opened:
        return package, file, open(os.dup(opened.fileno()), "rb")


def _active(db: Catalog, skill_id: str) -> Row:
    skill = browse.skill(db, skill_id)
    if not skill or skill["status"] != "active":
        raise NotInCatalog(f"No active skill goes by {skill_id}.")
    return skill


def _refused(context: RequestContext, why: str, status: int) -> Response:
    return responses.of_text(context.request, f"{why}\n", responses.TEXT, status=status)
