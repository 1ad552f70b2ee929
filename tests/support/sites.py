"""Filled catalog and the site that serves it in this process."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
import pytest
from datasette.app import Datasette

from catalog.model.change import Removal
from catalog.model.setting import SiteSettings
from catalog.model.skill import Place, RootSpec
from catalog.prompt_index import query
from catalog.prompt_index.spec import IndexSpec
from catalog.site.http import limits
from catalog.site.http import location as http_location
from catalog.site.server import app as server_app
from catalog.usage.database import ReadCounter
from catalog.writing.store import Store
from tests.support.records import NOON, ODD, ROOT, WRONG, judged, refused, rooted
from tests.support.shelf import Shelf

DEFAULT = IndexSpec("default", budget_chars=500, overflow="exclude")
COMPANY = IndexSpec("company", levels=("enterprise",), location_base="/company/packages")


def fill(store: Store) -> Store:
    """Store one skill of each kind of result in a catalog."""
    rooted(store, RootSpec(ROOT), RootSpec("/company", "enterprise"))
    store.apply(
        [
            judged(
                "word-count",
                "Counts words. Use when asked how long a text is.",
                allowed_tools="Read Bash(wc:*)",
                tags=("text", "writing"),
                license="MIT",
                findings=[ODD],
            ),
            judged("会议纪要", "把会议录音整理成纪要。"),
            judged("secret", "For people only.", model_invocable=False, allowed_tools="Bash"),
            judged("zz-large", "x" * 900, allowed_tools="Bashful"),
            judged("mine/dup", name="dup"),
            judged("dup", name="dup", root="/company", level="enterprise"),
            refused("broken"),
            judged("gone"),
            judged("worse"),
        ],
        trigger="start",
        at=NOON,
    )
    store.apply([Removal(ROOT, "gone"), refused("worse"), refused("old")], trigger="event", at=NOON)
    store.skills.set_pending(
        Place(ROOT, "copying", "project"), "copying", "copying", NOON, "still changing"
    )
    store.skills.set_loose_findings(
        ROOT, "", [("loose", WRONG._replace(message="No skill.", fix="Move it."))]
    )
    store.indexes.configure([DEFAULT, COMPANY])
    for spec in (DEFAULT, COMPANY):
        store.indexes.record(spec, query.build_index(store.db, spec), NOON)
    scan = store.begin_scan("start", NOON)
    store.finish_scan(scan, NOON, 1234.5, 10, {"added": 9}, 0)
    return store


@dataclass(frozen=True)
class Site:
    """Datasette in this process."""

    datasette: Datasette
    runner: asyncio.Runner

    def get(self, path: str, **params: Any) -> httpx.Response:
        """Request a page."""
        return self.ask("get", path, params=params or None, follow_redirects=True)

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Send a request with any method and options of httpx."""
        return self.runner.run(self.request(method, path, **more))

    async def request(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Send a request from a coroutine; the path gets the prefix of a proxy."""
        cookies = more.pop("cookies", None)
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, cookies=cookies) as client:
            url = f"http://localhost{self.datasette.urls.path(path)}"
            return await client.request(method, url, **more)

    def messages(
        self, target: bytes, headers: list[tuple[bytes, bytes]], query: bytes = b""
    ) -> list[Any]:
        """Return the ASGI messages that answer a GET of a target, just as a server passes it on."""
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": "GET",
            "path": target.decode(),
            "raw_path": target,
            "query_string": query,
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        self.runner.run(self.app(scope, None, send))
        return sent

    @cached_property
    def app(self) -> Any:
        """Application with the routes of the catalog."""
        return self.datasette.app()

    def rows(self, path: str, **params: Any) -> list[dict[str, Any]]:
        """Request rows as JSON."""
        response = self.get(f"/catalog/{path}.json", _shape="array", **params)
        assert response.status_code == 200, response.text
        rows: list[dict[str, Any]] = response.json()
        return rows

    def write_counts(self) -> None:
        """Write the counts of reads now instead of in a few seconds."""
        if counter := self._counter():
            counter.write()

    def _counter(self) -> ReadCounter | None:
        location = http_location.find(self.datasette)
        return location.counter if location else None

    def close(self) -> None:
        """Write the last counts of reads, and close the connections that Datasette leaves open."""
        self.write_counts()
        if counter := self._counter():
            counter.close()
        self.datasette.executor.shutdown()
        for database in self.datasette.databases.values():
            database.close()


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a filled catalog, which tests copy."""
    path = tmp_path_factory.mktemp("filled") / "var" / "catalog.db"
    fill(Store.open(path)).close()
    return path


@pytest.fixture
def catalog(filled: Path, tmp_path: Path) -> Path:
    """Return the file of a filled catalog without a writer."""
    return Path(shutil.copytree(filled.parent, tmp_path / "var"), filled.name)


@pytest.fixture
def serve() -> Iterator[Callable[..., Site]]:
    """Return a function that serves a catalog file in this process."""
    with serving() as serve:
        yield serve


@contextmanager
def serving() -> Iterator[Callable[..., Site]]:
    """Yield a function that serves a catalog file in this process, until the end."""
    sites = []
    with asyncio.Runner() as runner:

        def serve(catalog: Path, *, usage: bool = True, **settings: Any) -> Site:
            site = SiteSettings(**settings)
            sites.append(Site(server_app.application(catalog, site, usage=usage), runner))
            return sites[-1]

        yield serve
        for site in sites:
            site.close()


def site_of_shelf(shelf: Shelf, serve: Callable[..., Site]) -> Site:
    """Return the site of the test's shelf: a fixture for modules that have this one."""
    return serve(shelf.settings.catalog_path)


@pytest.fixture
def own_site(catalog: Path, serve: Callable[..., Site]) -> Site:
    """Return the filled catalog, served in this process for this test only."""
    return serve(catalog)


@pytest.fixture
def prefixed_site(
    catalog: Path, serve: Callable[..., Site], monkeypatch: pytest.MonkeyPatch
) -> Site:
    """Return the filled catalog under /pre/, as behind a proxy; the client adds this prefix."""
    monkeypatch.setitem(limits.SETTINGS, "base_url", "/pre/")
    return serve(catalog)


@pytest.fixture(scope="module")
def shared_site(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Return a copy of the filled catalog, served in this process for tests that only read.

    A site takes longer to make than to ask. Its threads end with the module, as a process that has
    some may not fork.
    """
    with serving() as serve:
        copy = shutil.copytree(filled.parent, tmp_path_factory.mktemp("shared") / "var")
        yield serve(copy / filled.name)


@pytest.fixture
def site(request: pytest.FixtureRequest) -> Site:
    """Return the filled catalog, served in this process: their own to tests that have the file."""
    name = "own_site" if "catalog" in request.fixturenames else "shared_site"
    site: Site = request.getfixturevalue(name)
    return site


@pytest.fixture
def published(catalog: Path) -> Path:
    """Return the folder of the catalog's published indexes."""
    return publish_indexes(catalog)


def publish_indexes(catalog: Path) -> Path:
    """Publish the indexes of a filled catalog; return their folder."""
    store = Store.open(catalog)
    store.publish_indexes([DEFAULT, COMPANY], catalog.parent / "index", NOON)
    store.close()
    return catalog.parent / "index"
