"""Discovery index for agents elsewhere, in the Agent Skills format 0.2.0."""

import logging
from collections.abc import Sequence
from pathlib import Path
from tempfile import SpooledTemporaryFile

from datasette.utils.asgi import Response

from catalog.database.sql import Row
from catalog.model.errors import NotInCatalog, PackageDamaged, PathRefused
from catalog.prompt_index.formats import DISCOVERY_SCHEMA, discovery_entry
from catalog.reading import browse, bundle
from catalog.reading.browse import Catalog
from catalog.reading.published import package_of
from catalog.site.api import files
from catalog.site.http import responses, streamed
from catalog.site.http.request import RequestContext

log = logging.getLogger("skilldrop")

ROUTE = r"^/\.well-known/agent-skills/index\.json$"

AT_ONCE = 20
"""Archives that are hashed before somebody else's request has its turn."""

_HASHES: dict[str, str] = {}
"""The SHA-256 of archives, by the digest of the content: one follows from the other."""

_LEFT_OUT: dict[str, str] = {}
"""Why skills are not in the index, by skill_id: the log is told once."""


async def page(context: RequestContext) -> Response:
    """Give all skills that agents may start, each with its artifact and the digest of that.

    A skill that is a SKILL.md by itself is offered as that file, any other as an archive. One
    whose files are not at present as they were accepted is left out, and the log says so.
    """
    skills = await context.query(browse.startable)
    _forget_all_but(skills)
    async with context.location.hashing.taken():  # who comes second finds all hashes there
        hashes = {
            row["skill_id"]: _HASHES[row["digest"]] for row in skills if row["digest"] in _HASHES
        }
        unknown = [row for row in skills if row["files"] > 1 and row["skill_id"] not in hashes]
        for first in range(0, len(unknown), AT_ONCE):
            hashes |= await context.query(
                _hash, context.location.packages, unknown[first : first + AT_ONCE]
            )
    entries = []
    for row in skills:
        if row["files"] == 1:
            kind, path, sha = "skill-md", f"/files/{row['skill_md_name']}", row["skill_md_hash"]
        else:
            kind, path = "archive", files.BUNDLE_PATH
            sha = hashes.get(row["skill_id"])
        if sha:
            entries.append(
                discovery_entry(
                    row["skill_id"],
                    kind,
                    row["description"],
                    context.skill_path(row["skill_id"], path),
                    sha,
                )
            )
    listed = ",\n".join(entries)
    return responses.of_text(
        context.request,
        f'{{"$schema": "{DISCOVERY_SCHEMA}",\n"skills": [\n{listed}\n]}}\n',
        responses.JSON,
    )


def _hash(db: Catalog, packages: Path, skills: Sequence[Row]) -> dict[str, str]:
    found = {}
    for row in skills:
        skill_id = row["skill_id"]
        try:
            package = package_of(db, packages, skill_id)
            with SpooledTemporaryFile(streamed.PIECE) as archive:
                bundle.write(package, archive)
                found[skill_id] = _HASHES[package.digest] = streamed.sha256(archive)
            _LEFT_OUT.pop(skill_id, None)
        except (NotInCatalog, PathRefused, PackageDamaged) as error:
            if _LEFT_OUT.get(skill_id) != str(error):
                log.warning("The discovery index leaves out %s: %s", skill_id, error)
            _LEFT_OUT[skill_id] = str(error)
    return found


def _forget_all_but(skills: Sequence[Row]) -> None:
    for known, kept in ((_HASHES, "digest"), (_LEFT_OUT, "skill_id")):
        for gone in known.keys() - {row[kept] for row in skills}:
            del known[gone]
