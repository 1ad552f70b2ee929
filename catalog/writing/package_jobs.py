"""Jobs for the package builder, read from the catalog."""

from collections.abc import Iterable

from catalog.database import sql, withheld
from catalog.database.queries import Database
from catalog.writing.packages.builder import PackageJob, group_of
from catalog.writing.packages.staging import Candidates, PackageFile


def missing_packages(
    db: Database, skill_ids: Iterable[str], *, shared: bool = False
) -> list[PackageJob]:
    """Return jobs for the missing packages, grouped by archive.

    With `shared`, equal files become hard links to those of the version before.
    """
    return sorted(
        (
            _job(db, row, shared=shared)
            for row in db.query(_WITHOUT_PACKAGE, [sql.to_json(sorted(skill_ids))])
        ),
        key=group_of,
    )


def _job(db: Database, row: sql.Row, *, shared: bool) -> PackageJob:
    candidates = Candidates()
    if row["earlier"]:
        candidates = Candidates(
            row["earlier_path"],
            {file.content: file.path for file in package_files(db, row["earlier"])},
            shared,
        )
    return PackageJob(
        row["id"],
        row["skill_id"],
        (row["root"], row["path"]),
        row["version_id"],
        f"{row['skill_id']}/{row['version']}",
        package_files(db, row["version_id"]),
        candidates,
    )


def package_files(db: Database, version: int) -> list[PackageFile]:
    """Return the files of a version, with the hashes stored for them."""
    return [
        PackageFile(path, size, sha256, int(mode, 8))
        for path, size, sha256, mode in db.execute(
            "SELECT path, size, sha256, mode FROM files WHERE version = ?", [version]
        )
    ]


_WITHOUT_PACKAGE = f"""
    SELECT s.id, s.root, s.path, v.id AS version_id, v.skill_id, v.version,
           e.id AS earlier, e.package_path AS earlier_path
    FROM json_each(?) AS wanted
    JOIN skills AS s INDEXED BY skills_by_skill_id
        ON s.skill_id = wanted.value
    JOIN versions AS v ON v.id IN ({withheld.NEWEST}, s.current_version_id)
    LEFT JOIN versions AS e ON e.id =
        (SELECT max(n.id) FROM versions AS n WHERE n.skill = s.id AND n.package_path IS NOT NULL)
    WHERE v.package_path IS NULL AND has_package(s.path) AND v.digest != ''
        AND (s.status = 'active' OR {withheld.IS_WITHHELD}
             OR s.status = 'pending' AND v.review = 'waits')
        AND (v.digest IS s.seen_digest OR NOT {withheld.IS_HELD})
"""
