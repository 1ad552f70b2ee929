"""Discovery index for agents elsewhere, in the Agent Skills format 0.2.0."""

import logging
import re
from collections.abc import Mapping, Sequence
from tempfile import SpooledTemporaryFile

from datasette.utils.asgi import Response

from catalog.database.sql import Row
from catalog.model.errors import NotInCatalog, PackageDamaged, PathRefused
from catalog.prompt_index.formats.json_text import DISCOVERY_SCHEMA, discovery_entry
from catalog.reading import browse, bundle
from catalog.reading.browse import Catalog
from catalog.reading.published import package_of
from catalog.site.api import files
from catalog.site.http import responses, streamed
from catalog.site.http.location import CatalogLocation
from catalog.site.http.request import RequestContext

log = logging.getLogger("skilldrop")

PATH = "/.well-known/agent-skills/index.json"
ROUTE = rf"^{re.escape(PATH)}$"

AT_ONCE = 20
"""Archives hashed in one query, before other requests get their turn."""


async def page(context: RequestContext) -> Response:
    """Return all skills that agents may start, each with its artifact and the artifact's digest.

    The artifact of a skill is its SKILL.md if that is its only file, else an archive. A skill
    whose files differ from the accepted ones is left out and logged.
    """
    skills = await context.query(browse.startable)
    entries = _entries(context, skills, await _archive_hashes(context, skills))
    context.count_index(PATH)
    text = ",\n".join(entries)
    return responses.of_text(
        context.request,
        f'{{"$schema": "{DISCOVERY_SCHEMA}",\n"skills": [\n{text}\n]}}\n',
        responses.JSON,
    )


def _entries(
    context: RequestContext, skills: Sequence[Row], hashes: Mapping[str, str]
) -> list[str]:
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
    return entries


async def _archive_hashes(context: RequestContext, skills: Sequence[Row]) -> dict[str, str]:
    """Return the SHA-256 of each archive by skill_id, computing the missing ones."""
    location = context.location
    _forget_all_but(location, skills)
    async with location.hashing.taken():  # a request that waited finds all hashes computed
        known = location.archive_hashes
        hashes = {row["skill_id"]: known[row["digest"]] for row in skills if row["digest"] in known}
        missing = [row for row in skills if row["files"] > 1 and row["skill_id"] not in hashes]
        for first in range(0, len(missing), AT_ONCE):
            hashes |= await context.query(_hash, location, missing[first : first + AT_ONCE])
    return hashes


def _hash(db: Catalog, location: CatalogLocation, skills: Sequence[Row]) -> dict[str, str]:
    hashes = {}
    for row in skills:
        skill_id = row["skill_id"]
        try:
            package = package_of(db, location.packages, skill_id)
            with SpooledTemporaryFile(streamed.PIECE) as archive:
                bundle.write(package, archive)
                hashes[skill_id] = streamed.sha256(archive)
            location.archive_hashes[package.digest] = hashes[skill_id]
            location.left_out.pop(skill_id, None)
        except (NotInCatalog, PathRefused, PackageDamaged) as error:
            if location.left_out.get(skill_id) != str(error):
                log.warning("The discovery index leaves out %s: %s", skill_id, error)
            location.left_out[skill_id] = str(error)
    return hashes


def _forget_all_but(location: CatalogLocation, skills: Sequence[Row]) -> None:
    for cache, column in ((location.archive_hashes, "digest"), (location.left_out, "skill_id")):
        for key in cache.keys() - {row[column] for row in skills}:
            del cache[key]
