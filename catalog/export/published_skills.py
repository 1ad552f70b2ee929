"""Published skills on the disk as a source of a folder that is kept equal to them."""

import hashlib
from pathlib import Path

from catalog.database.queries import Database
from catalog.model.errors import NotInCatalog, PackageDamaged, PathRefused
from catalog.model.paths import os_path
from catalog.model.setting import Selection
from catalog.pull.site import Listing, Refused, Skill
from catalog.reading import activity
from catalog.reading.files import skill_files
from catalog.reading.files.bundle import name_of
from catalog.reading.files.published import SKILL_MD, Package, package_of
from catalog.reading.files.repair import repaired_skill_md
from catalog.reading.skills import offered


class PublishedSkills:
    """The selected skills of a catalog, which take the place of a site for `Folder.pull`.

    With `repair`, each SKILL.md has the repairs under which it was read.
    """

    def __init__(
        self, db: Database, packages: Path, selection: Selection, *, repair: bool = False
    ) -> None:
        self._db = db
        self._packages: dict[str, Package | str] = {}  # or why there is none, by folder
        self._repaired: dict[str, bytes] = {}  # SKILL.md by folder
        for entry in offered.entries(db, selection):
            try:
                package = package_of(db, packages, entry.skill)
                text = repaired_skill_md(db, package) if repair else None
            except (NotInCatalog, PackageDamaged, PathRefused) as error:
                self._packages[entry.name] = str(error)
                continue
            self._packages[entry.name] = package
            if text:
                self._repaired[entry.name] = text

    def listing(self, query: str, etag: str = "") -> Listing:
        """Return the skills; one without files keeps its copy."""
        skills = {
            name: Skill(name, "", "", "")
            if isinstance(package, str)
            else Skill(name, package.skill_id, package.version, package.digest)
            for name, package in self._packages.items()
        }
        for name, text in self._repaired.items():
            skills[name] = skills[name]._replace(repaired=hashlib.sha256(text).hexdigest())
        return Listing(
            activity.catalog_id(self._db), activity.is_complete(self._db), skills, etag=""
        )

    def fetch(self, skill: Skill, to: Path) -> dict[str, str]:
        """Write the files of a skill into a new folder; return the SHA-256 of each by path.

        Raises Refused for a file that differs from the catalog.
        """
        package = self._packages[skill.folder]
        if isinstance(package, str):
            raise Refused(package)
        files = {}
        try:
            for entry in package.files:
                path = os_path(name_of(entry))
                skill_files.copy(package, entry, to / path)
                files[path] = entry.sha256
        except (PackageDamaged, PathRefused) as error:
            raise Refused(str(error)) from error
        if skill.repaired:
            (to / SKILL_MD).write_bytes(self._repaired[skill.folder])
            files[SKILL_MD] = skill.repaired
        return files
