"""Which skills there are for agents elsewhere: the Agent Skills discovery index 0.2.0."""

import hashlib
import logging
from collections.abc import Collection, Sequence
from pathlib import Path

from datasette.utils.asgi import Response

from catalog import browse, bundle
from catalog.browse import Catalog
from catalog.errors import NotInCatalog, PackageDamaged, PathRefused
from catalog.formats import DISCOVERY_SCHEMA, discovery_entry
from catalog.published import package_of
from catalog.rows import Row
from catalog.site import answers, raw
from catalog.site.visit import Visit

log = logging.getLogger("skilldrop")

ROUTE = r"^/\.well-known/agent-skills/index\.json$"

AT_ONCE = 20
"""Archives that are hashed before somebody else's request has its turn."""

_HASHES: dict[str, str] = {}
"""The SHA-256 of archives, by the digest of the content: one follows from the other."""


async def page(visit: Visit) -> Response:
    """Give all skills that agents may start, each with its artifact and the digest of that.

    A skill that is a SKILL.md by itself is offered as that file, any other as an archive. One
    whose files are not at present as they were accepted is left out, and the log says so.
    """
    skills = await visit.ask(browse.startable)
    hashes: dict[str, str] = {}
    _forget_all_but({row["digest"] for row in skills})
    unknown = [row for row in skills if row["files"] > 1 and row["digest"] not in _HASHES]
    for first in range(0, len(unknown), AT_ONCE):
        hashes |= await visit.ask(
            _hash, visit.place.packages, unknown[first:first + AT_ONCE])
    entries = []
    for row in skills:
        if row["files"] == 1:
            kind, path, sha = "skill-md", f"/files/{row['skill_md_name']}", row["skill_md_hash"]
        else:
            kind, path = "archive", raw.BUNDLE_PATH
            sha = _HASHES.get(row["digest"]) or hashes.get(row["skill_id"])
        if sha:
            entries.append(discovery_entry(row["skill_id"], kind, row["description"],
                                           visit.skill_path(row["skill_id"], path), sha))
    listed = ",\n".join(entries)
    return answers.of_text(visit.request, f'{{"$schema": "{DISCOVERY_SCHEMA}",\n"skills": [\n'
                                          f"{listed}\n]}}\n", answers.JSON)


def _hash(db: Catalog, packages: Path, skills: Sequence[Row]) -> dict[str, str]:
    found = {}
    for row in skills:
        try:
            package = package_of(db, packages, row["skill_id"])
            found[row["skill_id"]] = _HASHES[package.digest] = hashlib.sha256(
                bundle.of_package(package)).hexdigest()
        except (NotInCatalog, PathRefused, PackageDamaged) as error:
            log.warning("The discovery index leaves out %s: %s", row["skill_id"], error)
    return found


def _forget_all_but(digests: Collection[str]) -> None:
    for gone in _HASHES.keys() - digests:
        del _HASHES[gone]
