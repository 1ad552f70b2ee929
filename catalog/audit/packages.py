"""Differences between the catalog and its packages; reads only, and hashes every file."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from catalog.audit.difference import Difference
from catalog.database.queries import Database
from catalog.model.naming import CURRENT
from catalog.model.paths import os_path
from catalog.prompt_index import query
from catalog.writing.package_jobs import package_files
from catalog.writing.packages.folder import PackageFolder
from catalog.writing.packages.inspection import PackageDirectory, damages, list_packages


def of_packages(
    db: Database, folder: PackageFolder, has_package: Callable[[str], bool]
) -> Iterator[Difference]:
    """Yield differences; has_package decides whether a skill at a path of a root has a package."""
    listing = list_packages(folder.path)
    yield from _of_skills(db, folder, listing.directories, has_package)
    versions = packaged(db)
    current = {path for (path,) in db.execute(_CURRENT)}
    for package_path, version in versions.items():
        for damage in damages(
            folder.path,
            package_path,
            package_files(db, version),
            deep=True,
        ):
            yield Difference("package", str(folder.path), package_path, str(damage), package_path)
    active = {path.partition("/")[0] for path in current}
    for directory in listing.directories.values():
        yield from _leftovers(folder, directory, versions, active)
    for path in listing.foreign:
        yield Difference(
            "package",
            str(folder.path),
            path,
            "skilldrop did not create it and leaves it alone; move it away",
        )
    yield from _of_locations(db)


def packaged(db: Database) -> dict[str, int]:
    """Return the versions that have a package: their rows by `<skill_id>/<version>`."""
    return dict(db.execute("SELECT package_path, id FROM versions WHERE package_path IS NOT NULL"))


def _of_skills(
    db: Database,
    folder: PackageFolder,
    directories: Mapping[str, PackageDirectory],
    has_package: Callable[[str], bool],
) -> Iterator[Difference]:
    for root, path, is_active, recorded, package_path in db.execute(_SKILLS):
        expected = package_path if is_active and has_package(path) else None
        if is_active and has_package(path) and not package_path:
            yield Difference("package", root, path, "it is active but has no package")
        elif recorded != expected:
            yield Difference(
                "package",
                root,
                path,
                f"its package should be {expected or 'none'}, but the catalog records "
                f"{recorded or 'none'}",
            )
        elif expected:
            skill_id, _, version = expected.partition("/")
            if skill_id not in directories or directories[skill_id].current != version:
                yield _of_current(folder, skill_id, f"it does not point to {version}")


_SKILLS = """
    SELECT s.root, s.path, s.status = 'active', s.package_path, v.package_path
    FROM skills AS s LEFT JOIN versions AS v ON v.id = s.current_version_id
    WHERE s.status = 'active' OR s.package_path IS NOT NULL
"""


_CURRENT = "SELECT package_path FROM skills WHERE status = 'active' AND package_path IS NOT NULL"


def _leftovers(
    folder: PackageFolder,
    directory: PackageDirectory,
    versions: Mapping[str, int],
    active: set[str],
) -> Iterator[Difference]:
    """Yield packages and a `current` that belong to no version or no active skill."""
    for name in sorted(directory.versions | directory.unfinished):
        path = f"{directory.skill_id}/{name}"
        if path not in versions:
            yield Difference(
                "package", str(folder.path), path, "it belongs to no version in the catalog"
            )
    if directory.current is None:
        return
    if f"{directory.skill_id}/{directory.current}" not in versions:
        yield _of_current(folder, directory.skill_id, "it points to no version in the catalog")
    elif directory.skill_id not in active:
        yield _of_current(folder, directory.skill_id, "it points to a skill that is not active")


def _of_current(folder: PackageFolder, skill_id: str, message: str) -> Difference:
    return Difference("package", str(folder.path), f"{skill_id}/{CURRENT}", message)


def _of_locations(db: Database) -> Iterator[Difference]:
    """Yield the locations in prompt indexes that should be files of packages, and are missing."""
    for (name,) in db.execute("SELECT name FROM indexes ORDER BY position").fetchall():
        spec = query.index_spec(db, name)
        if spec.location_base or spec.format == "discovery":
            continue  # its locations are URLs or paths on other machines
        count = len(query.build_index(db, spec).entries)
        for candidate in islice(query.ranked(db, spec), count):
            if candidate.follows_pattern and not Path(os_path(candidate.location)).is_file():
                folder, _, file = candidate.location.rpartition("/")
                yield Difference(
                    "index", folder, file, f"it is missing, but the prompt index {name} lists it"
                )
