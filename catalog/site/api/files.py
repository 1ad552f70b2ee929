"""Published files of skills: unchanged, verified, and never run by a browser."""

import asyncio
import os
import posixpath
import re
from collections.abc import Mapping
from contextlib import ExitStack
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from urllib.parse import quote

from datasette import Response

from catalog.database.queries import Database
from catalog.model.errors import NotInCatalog, PackageDamaged, PathRefused
from catalog.reading.files import bundle, skill_files
from catalog.reading.files.published import Package, PublishedFile, find_file, package_of
from catalog.reading.files.repair import repaired_skill_md
from catalog.reading.skills import references, skill_facts
from catalog.reading.skills.references import ReferencedFile
from catalog.site.http import limits, responses, security_headers
from catalog.site.http.request import RequestContext, View

ARCHIVE = "application/zip"
BUNDLE_PATH = "/bundle.zip"

VERSION = "Skilldrop-Version"
"""Header with the version of a response; `?version=` requests that version again."""

IMMUTABLE = "max-age=31536000, immutable"
"""Cache-Control of a version's files, which never change."""

RETRY_AFTER = "10"
"""Seconds after which a file whose package has not arrived on a copy is worth another request."""

_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"})
_HARMLESS = frozenset(
    {"text/markdown", "text/csv", "application/json", "application/yaml", "application/toml"}
)
_OF_VERSION = re.compile(r"versions/[^/]+/")


def with_errors(view: View) -> View:
    """Return the view with errors of files as responses of one sentence."""

    async def respond(context: RequestContext) -> Response:
        try:
            return await view(context)
        except (NotInCatalog, PathRefused) as error:
            return _error(context, str(error), 404)
        except PackageDamaged as error:
            return _error(context, str(error), 503, {"Retry-After": RETRY_AFTER})

    return respond


@with_errors
async def page(context: RequestContext) -> Response:
    """Return a file of the current version, or of the requested one."""
    return await of_skill(context, context.path_part("skill_id"))


@with_errors
async def listing(context: RequestContext) -> Response:
    """Return the files of the current or the requested version, with their URLs."""
    package = await _package(context, context.path_part("skill_id"))
    folder = context.skill_path(package.skill_id, f"/versions/{package.version}/files/")
    files = [
        {
            "path": file.path,
            "size": file.size,
            "sha256": file.sha256,
            "mode": file.mode,
            "url": folder + quote(file.path),
        }
        for file in package.files
    ]
    return responses.of_json(
        context.request,
        {"skill_id": package.skill_id, "version": package.version, "files": files},
        headers=_headers(context, "inline", package.version),
    )


async def of_skill(context: RequestContext, skill_id: str) -> Response:
    """Return the file of a skill at the path of the request.

    Raises NotInCatalog, PathRefused and PackageDamaged.
    """
    package = await _package(context, skill_id)
    file = find_file(package, context.path_part("path"))
    is_repaired = context.parameter("repaired") == "1" and file is package.skill_md
    if is_repaired and (text := await context.query(repaired_skill_md, package)):
        headers = _headers(context, "inline", package.version) | {"Cache-Control": "no-cache"}
        return responses.of_bytes(context.request, text, content_type(file), headers=headers)
    content = await asyncio.to_thread(_opened, package, file)
    context.count_skill(package.skill_id, package.version)
    kind = content_type(file)
    is_inline = kind.startswith("text/") or kind in _PICTURES or kind == responses.JSON
    name = quote(posixpath.basename(file.path), safe="")
    disposition = f"{'inline' if is_inline else 'attachment'}; filename*=UTF-8''{name}"
    return responses.of_file(
        context.request,
        content,
        file.size,
        kind,
        content.close,
        etag=file.sha256,
        headers=_headers(context, disposition, package.version),
    )


@with_errors
async def archive(context: RequestContext) -> Response:
    """Return all files of the current or the requested version as one archive."""
    package = await _package(context, context.path_part("skill_id"))
    context.count_skill(package.skill_id, package.version)
    name = quote(f"{package.skill_id}.zip", safe="")
    options: dict[str, Any] = {
        "etag": package.digest.removeprefix("sha256:"),
        "headers": _headers(context, f"attachment; filename*=UTF-8''{name}", package.version),
    }
    if responses.is_known(context.request, options["etag"]):
        return responses.of_bytes(context.request, b"", ARCHIVE, **options)
    with ExitStack() as stack:
        if bundle.size(package) > responses.WHOLE:  # only a few large ones exist at once
            client = (context.request.scope.get("client") or ("",))[0]
            stack.enter_context(await limits.take(context.datasette, limits.ARCHIVES, client))
        file = stack.enter_context(SpooledTemporaryFile(responses.WHOLE))
        await asyncio.to_thread(bundle.write, package, file)
        size = file.tell()
        file.seek(0)
        done = stack.pop_all().close
    return responses.of_file(context.request, file, size, ARCHIVE, done, **options)


async def of_neighbour(context: RequestContext) -> Response:
    """Redirect to a file of another skill to which a relative link in a file of a skill leads.

    From `/skills/a/files/SKILL.md`, the link `../b/SKILL.md` leads to `/skills/a/b/SKILL.md`.
    """
    skill_id = context.path_part("skill_id")
    path = _OF_VERSION.sub("", context.path_part("path"), count=1)
    target = await context.query(_target, skill_id, path)
    if target is None:
        return context.not_found(f"Nothing in the skill {skill_id} leads to {path}.")
    if target.row:
        return context.not_found(f"The skill {target.skill_id} is not published.")
    return Response.redirect(context.skill_path(target.skill_id, f"/files/{target.path}"))


def content_type(file: PublishedFile) -> str:
    """Return the content type of a file: plain text for every text that a browser would run.

    HTML, SVG, XML and scripts are for agents to read, so they are served as plain text.
    """
    kind = file.media_type
    if kind in _PICTURES:
        return kind
    if file.is_text:
        return f"{kind if kind in _HARMLESS else 'text/plain'}; charset=utf-8"
    return "application/pdf" if kind == "application/pdf" else "application/octet-stream"


def _headers(context: RequestContext, disposition: str, version: str) -> dict[str, str]:
    """Return the headers of a file; one of a requested version never changes."""
    forever = {"Cache-Control": IMMUTABLE} if _requested_version(context) else {}
    return {
        **forever,
        "Content-Security-Policy": security_headers.INERT,
        "Content-Disposition": disposition,
        VERSION: version,
    }


def _requested_version(context: RequestContext) -> str:
    """Return the version in the path or the query; empty for the current one."""
    return (
        context.path_part("version")
        if context.request.url_vars.get("version")
        else context.parameter("version")
    )


async def _package(context: RequestContext, skill_id: str) -> Package:
    return await context.query(
        package_of, context.location.packages, skill_id, _requested_version(context), by_id=True
    )


def _opened(package: Package, file: PublishedFile) -> IO[bytes]:
    """Return a verified file, opened for sending."""
    with skill_files.opened(package, file) as content:
        return open(os.dup(content.fileno()), "rb")


def _error(
    context: RequestContext, message: str, status: int, headers: Mapping[str, str] | None = None
) -> Response:
    return responses.of_text(
        context.request, f"{message}\n", responses.TEXT, status=status, headers=headers
    )


def _target(db: Database, skill_id: str, path: str) -> ReferencedFile | None:
    skill = skill_facts.skill(db, skill_id)
    return references.beside(db, skill, path) if skill else None
