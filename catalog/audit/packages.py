"""Differences between the catalog and its packages; reads only, and hashes every file."""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from sqlite_utils import Database

from catalog.audit.difference import Difference
from catalog.model.paths import os_path
from catalog.prompt_index import query
from catalog.writing.package_jobs import package_files
from catalog.writing.packages.folder import CURRENT, PackageFolder
from catalog.writing.packages.inspection import PackageDirectory, damages, list_packages


def of_packages(
    db: Database, folder: PackageFolder, packages: Callable[[str], bool]
) -> Iterator[Difference]:
    """Yield what differs; `packages` tells whether a skill at a path of a root has a package."""
    listing = list_packages(folder.path)
    yield from _of_skills(db, folder, listing.directories, packages)
    named = dict(db.execute("SELECT package_path, id FROM versions WHERE package_path IS NOT NULL"))
    for package_path, version in named.items():
        for damage in damages(folder.path, package_path, package_files(db, version), deep=True):
            yield Difference("package", f"{folder.path}/{package_path}", str(damage))
    public = {path.partition("/")[0] for (path,) in db.execute(_PUBLIC)}
    for directory in listing.directories.values():
        yield from _unnamed(folder, directory, named, public)
    for path in listing.foreign:
        yield Difference(
            "package",
            f"{folder.path}/{path}",
            "skilldrop did not make it and leaves it alone; move it away",
        )
    yield from _of_locations(db)


def _of_skills(
    db: Database,
    folder: PackageFolder,
    directories: dict[str, PackageDirectory],
    packages: Callable[[str], bool],
) -> Iterator[Difference]:
    for root, path, is_active, noted, package_path in db.execute(_SKILLS):
        expected = package_path if is_active and packages(path) else None
        if is_active and packages(path) and not package_path:
            yield Difference("package", f"{root}/{path}", "it is active, and has no package")
        elif noted != expected:
            yield Difference(
                "package",
                f"{root}/{path}",
                f"its package is {expected or 'none'}, and the catalog says otherwise",
            )
        elif expected:
            skill_id, _, version = expected.partition("/")
            if skill_id not in directories or directories[skill_id].current != version:
                yield Difference(
                    "package",
                    f"{folder.path}/{skill_id}/{CURRENT}",
                    f"it does not lead to {version}",
                )


_SKILLS = """
    SELECT s.root, s.path, s.status = 'active', s.package_path, v.package_path
    FROM skills AS s LEFT JOIN versions AS v ON v.id = s.current_version_id
    WHERE s.status = 'active' OR s.package_path IS NOT NULL
"""


_PUBLIC = "SELECT package_path FROM skills WHERE status = 'active' AND package_path IS NOT NULL"


def _unnamed(
    folder: PackageFolder, directory: PackageDirectory, named: dict[str, int], public: set[str]
) -> Iterator[Difference]:
    """Yield what lies there and belongs to no version of the catalog."""
    for name in sorted(directory.versions | directory.unfinished):
        if f"{directory.skill_id}/{name}" not in named:
            yield Difference(
                "package",
                f"{folder.path}/{directory.skill_id}/{name}",
                "no version of the catalog names it",
            )
    if directory.current is not None and f"{directory.skill_id}/{directory.current}" not in named:
        yield Difference(
            "package",
            f"{folder.path}/{directory.skill_id}/{CURRENT}",
            "it leads to no version of the catalog",
        )
    elif directory.current is not None and directory.skill_id not in public:
        yield Difference(
            "package",
            f"{folder.path}/{directory.skill_id}/{CURRENT}",
            "it leads to a skill that is not active",
        )


def _of_locations(db: Database) -> Iterator[Difference]:
    """Yield what an index points agents to in our packages, and is not there."""
    for (name,) in db.execute("SELECT name FROM indexes ORDER BY position").fetchall():
        spec = query.index_spec(db, name)
        if spec.location_base or spec.format == "discovery":
            continue  # it points to a place that others see, or to the site
        count = len(query.build_index(db, spec).entries)
        for candidate in islice(query.ranked(db, spec), count):
            if candidate.follows_pattern and not Path(os_path(candidate.location)).is_file():
                yield Difference("index", name, f"{candidate.location} is not there")
