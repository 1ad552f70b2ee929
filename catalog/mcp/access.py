"""Access to the catalog and to published files, for all parts of the MCP server."""

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import anyio.to_thread
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, PaginatedRequestParams

from catalog.database import connection
from catalog.database.connection import explained
from catalog.database.queries import Database, Row
from catalog.mcp import uris
from catalog.model.errors import NotInCatalog, PathRefused, SkilldropError
from catalog.reading.disk_paths import disk_folders, shortened_paths
from catalog.reading.files import skill_files
from catalog.reading.files.published import SKILL_MD, Package, package_of
from catalog.reading.files.skill_files import SkillFile
from catalog.reading.search.hits import Hit
from catalog.reading.skills import offered
from catalog.usage.database import ReadCounter

PAGE = 100
"""Most entries of a page."""

Params = TypeVar("Params")
Answer = TypeVar("Answer")


def in_thread(
    answer: Callable[[Params], Answer],
) -> Callable[[ServerRequestContext[Any], Params], Awaitable[Answer]]:
    """Return the handler of a method that reads the catalog, beside other requests."""

    async def handler(_: ServerRequestContext[Any], params: Params) -> Answer:
        return await anyio.to_thread.run_sync(answer, params)

    return handler


def unknown_cursor(listed: str) -> MCPError:
    """Return the error for a cursor that no list has given."""
    return MCPError(
        code=INVALID_PARAMS,
        message=f"The cursor is not one of the list of {listed}; list again without a cursor.",
    )


@dataclass(frozen=True, slots=True)
class CatalogAccess:
    """The catalog file and the packages folder, opened for each request."""

    catalog: Path
    packages: Path
    counter: ReadCounter | None = None
    is_remote: bool = False  # the clients are on other machines, where our paths mean nothing

    @contextmanager
    def open(self) -> Iterator[Database]:
        """Open the catalog for one request: it may be created, deleted or replaced between two."""
        db = connection.open_catalog(self.catalog)
        try:
            with explained(self.catalog):
                yield db
        finally:
            db.conn.close()

    def page(
        self, listed: str, starter: offered.Starter, params: PaginatedRequestParams | None
    ) -> tuple[list[Row], str | None]:
        """Return a page of the skills that an agent or a user may start, and the next cursor.

        They are in the order of an index. listed is the name of the list, for its cursors. Raises
        MCPError.
        """
        after = None
        if params and params.cursor is not None:
            match = re.fullmatch(rf"{listed}-([0-9]{{1,18}})", params.cursor)
            if match is None:
                raise unknown_cursor(listed)
            after = int(match[1])
        with protocol_errors(), self.open() as db:
            try:
                rows, last = offered.page(db, starter, PAGE, after)
            except NotInCatalog as error:
                raise unknown_cursor(listed) from error
        return rows, None if last is None else f"{listed}-{last}"

    def package(self, skill_id: str, version: str = "") -> Package:
        """Return the current or a named version of a skill. Raises as `package_of` does."""
        with self.open() as db:
            return package_of(db, self.packages, skill_id, version or None, by_id=True)

    def read(
        self,
        package: Package,
        file_path: str = SKILL_MD,
        *,
        offset: int = 0,
        limit: int | None = None,
    ) -> SkillFile:
        """Return a file, or a page of it, for an agent: all files that agents get pass here.

        The first page counts as a read. Raises as `skill_files.read` does.
        """
        file = skill_files.read(package, file_path, offset=offset, limit=limit)
        if self.counter and not offset:
            self.counter.count_skill(file.skill_id, file.version, "mcp")
        return file

    def locate(self, db: Database, hits: Sequence[Hit]) -> list[Hit]:
        """Return hits of a search with locations that the clients can use."""
        if not self.is_remote:
            return list(hits)
        folders = disk_folders(db)
        return [
            replace(
                hit,
                location=uris.of(hit.skill_id, hit.location.rpartition("/")[2])
                if hit.status == "active"
                else shortened_paths(hit.location, folders),
                others=replace(
                    hit.others,
                    first=tuple(shortened_paths(path, folders) for path in hit.others.first),
                ),
            )
            for hit in hits
        ]

    def wrapped(self, package: Package, file: SkillFile) -> str:
        """Return a page of SKILL.md wrapped, with the skill's directory or, elsewhere, its URI."""
        return skill_files.wrap(package, file, self.directory(package))

    def directory(self, package: Package) -> str:
        """Return the path of a package's files or, elsewhere, their URI."""
        return uris.of(package.skill_id) if self.is_remote else package.directory


@contextmanager
def protocol_errors() -> Iterator[None]:
    """Raise errors of one sentence as errors of the protocol."""
    try:
        yield
    except (NotInCatalog, PathRefused) as error:
        raise MCPError(code=INVALID_PARAMS, message=str(error)) from error
    except SkilldropError as error:
        raise MCPError(code=INTERNAL_ERROR, message=str(error)) from error
