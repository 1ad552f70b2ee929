"""Discovery indexes for installers, of all skills or of one.

In the format 0.2.0 of Agent Skills discovery, a skill is one artifact with a digest. In the earlier
one, it is a list of files that lie below the index.
"""

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from tempfile import SpooledTemporaryFile

from datasette import Response

from catalog.database.queries import Database, Row
from catalog.model.errors import NotInCatalog, PackageDamaged, PathRefused
from catalog.prompt_index.formats.registry import DISCOVERY_SCHEMA, discovery_entry, install_fields
from catalog.reading.files import bundle
from catalog.reading.files.published import package_of
from catalog.reading.skills import offered
from catalog.site.api import files
from catalog.site.http import responses
from catalog.site.http.location import CatalogLocation
from catalog.site.http.request import RequestContext

log = logging.getLogger("skilldrop")

AT_ONCE = 20
"""Archives hashed in one query, before other requests get their turn."""


async def page(context: RequestContext) -> Response:
    """Return the skills that agents may start, each with its artifact and the artifact's digest.

    The artifact of a skill is its SKILL.md if that is its only file, else an archive. A skill
    whose files differ from the accepted ones is left out, and logged once.
    """
    scope = _scope(context)
    skills = await context.query(offered.installable, scope and [scope])
    hashes = await _archive_hashes(context, skills, is_all=not scope)
    entries = []
    for row in skills:
        if len(row["paths"]) == 1:
            kind, path, sha = "skill-md", f"/files/{row['skill_md_name']}", row["skill_md_hash"]
        else:
            kind, path, sha = "archive", files.BUNDLE_PATH, hashes.get(row["digest"])
        if sha:
            fields = install_fields(row["skill_id"], row["name"], row["description"])
            url = context.skill_path(row["skill_id"], f"/versions/{row['version']}{path}")
            entries.append(discovery_entry(fields, kind, url, sha))
    return _index(context, f'"$schema": "{DISCOVERY_SCHEMA}",\n', skills, entries)


async def by_files(context: RequestContext) -> Response:
    """Return the skills with the paths of their files, which are served below the index.

    The version lets an installer see that its copy is old.
    """
    scope = _scope(context)
    skills = await context.query(offered.installable, scope and [scope])
    entries = [
        json.dumps(
            install_fields(row["skill_id"], row["name"], row["description"])
            | {"version": row["version"], "files": row["paths"]},
            ensure_ascii=False,
        )
        for row in skills
    ]
    return _index(context, "", skills, entries)


@files.with_errors
async def file(context: RequestContext) -> Response:
    """Return a file of a skill by its install name, in its current version."""
    scope, name = _scope(context), context.path_part("name")
    skill_id = await context.query(offered.skill_id_of_install_name, name)
    if not skill_id or scope not in (None, skill_id):
        raise NotInCatalog(f"No skill for agents has the name {name}.")
    return await files.of_skill(context, skill_id)


def _scope(context: RequestContext) -> str | None:
    return context.path_part("skill_id") if context.request.url_vars["skill_id"] else None


def _index(
    context: RequestContext, head: str, skills: Sequence[Row], entries: Sequence[str]
) -> Response:
    """Return an index with its entries, or that the one skill that is asked for is not there."""
    if (scope := _scope(context)) and not skills:
        return responses.of_error(f"No skill for agents has the identifier {scope}.", 404)
    text = ",\n".join(entries)
    return responses.of_text(context.request, f'{{{head}"skills": [\n{text}\n]}}\n', responses.JSON)


async def _archive_hashes(
    context: RequestContext, skills: Sequence[Row], *, is_all: bool
) -> Mapping[str, str]:
    """Return the SHA-256 of archives by the digests of skills, computing the missing ones."""
    known = context.location.archive_hashes
    hashes = dict(known)  # another request may forget some meanwhile
    missing = [row for row in skills if len(row["paths"]) > 1 and not known.get(row["digest"])]
    for first in range(0, len(missing), AT_ONCE):
        hashes |= await context.query(_hash, context.location, missing[first : first + AT_ONCE])
    if is_all:  # others are of former versions
        present = {row["digest"] for row in skills}
        for digest in known.keys() - present:
            known.pop(digest, None)
    return hashes


def _hash(db: Database, location: CatalogLocation, skills: Sequence[Row]) -> dict[str, str]:
    """Return the SHA-256 of some archives by the digests of their skills."""
    hashes = {}
    for row in skills:
        skill_id = row["skill_id"]
        try:
            package = package_of(db, location.packages, skill_id, row["version"])
            with SpooledTemporaryFile(responses.PIECE) as archive:
                bundle.write(package, archive)
                archive.seek(0)
                sha = hashlib.file_digest(archive, "sha256").hexdigest()
            location.archive_hashes[row["digest"]] = hashes[row["digest"]] = sha
        except (NotInCatalog, PathRefused, PackageDamaged) as error:
            if row["digest"] not in location.archive_hashes:  # the first time
                log.warning("The discovery index leaves out %s: %s", skill_id, error)
            location.archive_hashes[row["digest"]] = ""
    return hashes
