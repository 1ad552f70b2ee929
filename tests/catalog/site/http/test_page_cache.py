"""Pages of tables, which are kept while the catalog is unchanged."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from datasette import hookimpl
from datasette.plugins import pm

from catalog.filesystem import token_file
from catalog.site.http import header_health, page_cache
from catalog.writing.store import Store
from tests.support.records import NOON, judged
from tests.support.sites import Site

TABLE = "/catalog/skills.json"


@pytest.fixture(autouse=True)
def _without_looks_at_health(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(header_health, "SECONDS", 1000.0)


def made(site: Site, path: str = TABLE, **headers: str) -> str:
    """Return a page as text; as JSON it holds the time it took, which tells one from the next."""
    response = site.ask("get", path, headers=headers)
    assert response.status_code == 200, response.text
    return response.text


def is_kept(site: Site, path: str = TABLE, **headers: str) -> bool:
    """Return whether the second of two requests repeats the first page."""
    return made(site, path, **headers) == made(site, path, **headers)


def add(catalog: Path, name: str) -> None:
    """Store one skill more."""
    store = Store.open(catalog)
    store.apply([judged(name)], trigger="event", at=NOON)
    store.close()


@pytest.mark.parametrize("path", [TABLE, f"{TABLE}?status=active", "/catalog", "/catalog/skills"])
def test_a_page_is_repeated_while_the_catalog_is_unchanged(site: Site, path: str) -> None:
    """All of it, with its headers."""
    first, second = site.get(path), site.get(path)
    assert (first.text, first.headers) == (second.text, second.headers)
    assert second.headers["content-security-policy"]
    if ".json" in path:
        assert is_kept(site, path)


def test_a_page_shows_each_commit_at_once(site: Site, catalog: Path) -> None:
    """No page is older than the newest commit."""
    for name in ("one-more", "two-more"):
        assert name not in made(site)
        add(catalog, name)
        assert name in made(site)


def test_a_page_that_a_commit_may_have_split_is_not_repeated(
    site: Site, catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows may be of before the commit, and its facets of after it."""
    database = site.datasette.get_database("catalog")
    ask = database.execute_fn
    made(site, f"{TABLE}?_size=1")  # which opens the connections

    async def commit_first(function: Callable[..., object]) -> object:
        monkeypatch.setattr(database, "execute_fn", ask)
        result = await ask(function)
        add(catalog, "one-more")
        return result

    monkeypatch.setattr(database, "execute_fn", commit_first)
    first = made(site)
    assert made(site) != first


@pytest.mark.parametrize(
    "headers", [{"Cookie": "a=b"}, {"Authorization": "Bearer x"}], ids=["cookie", "authorization"]
)
def test_a_page_for_somebody_is_made_for_them(site: Site, headers: dict[str, str]) -> None:
    """It is neither kept nor taken from the pages for all."""
    assert is_kept(site)
    assert not is_kept(site, **headers)
    assert made(site) != made(site, **headers)


def test_links_begin_with_the_host_of_the_request(site: Site) -> None:
    """Pages of several names of a site are kept each by itself."""
    for host in ("localhost", "127.0.0.1"):
        page = made(site, "/catalog/skills?_size=1", Host=host)
        assert f"http://{host}/catalog/skills.json" in page
        assert is_kept(site, Host=host)


def test_a_site_with_tokens_keeps_no_pages(site: Site, catalog: Path) -> None:
    """Not even for readers whose address holds the token; nobody else sees a kept page."""
    made(site)
    secret = token_file.add(catalog.with_name(token_file.NAME), "lab", NOON)
    assert site.ask("get", TABLE).status_code == 401
    path = f"/token/{secret}{TABLE}"
    assert not is_kept(site, path)
    assert "private" in site.ask("get", path).headers["cache-control"]
    assert site.ask("get", TABLE).status_code == 401


@pytest.mark.parametrize(
    "path",
    [
        "/catalog/skills.csv",
        "/catalog/skills.json?_timelimit=1000",
        "/catalog/no-such-table.json",
        "/catalog/skills.json?_sort=no-such-column",
        "/catalog/what_changed.json?days=30",
    ],
)
def test_other_responses_are_not_kept(
    own_site: Site, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streams, errors, and answers that depend on the time."""
    site, kept = own_site, []
    monkeypatch.setattr(page_cache._Pages, "put", lambda *page: kept.append(page))
    site.ask("get", path)
    assert not kept
    made(site)
    assert kept


@pytest.fixture
def _plugin_of_somebody() -> Iterator[None]:
    plugin = ModuleType("somebodys")
    plugin.__dict__["actor_from_request"] = hookimpl(lambda request: {"id": request.host})
    pm.register(plugin, "somebodys")
    yield
    pm.unregister(plugin)


@pytest.mark.usefixtures("_plugin_of_somebody")
def test_no_page_is_kept_beside_other_plugins(serve: Callable[[Path], Site], catalog: Path) -> None:
    """They may give readers rights by anything in a request."""
    assert not is_kept(serve(catalog))


def test_pages_are_kept_up_to_a_size_and_for_a_time(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names and sizes come from visitors."""
    assert is_kept(site)
    monkeypatch.setattr(page_cache, "LARGEST", 10)
    assert not is_kept(site, f"{TABLE}?_size=2")
    monkeypatch.undo()
    monkeypatch.setattr(page_cache, "MOST_BYTES", 10)
    first = made(site)
    made(site, f"{TABLE}?_size=3")
    assert made(site) != first
    monkeypatch.undo()
    monkeypatch.setattr(page_cache, "SECONDS", -1.0)
    assert not is_kept(site, f"{TABLE}?_size=4")


def test_an_error_before_a_page_is_one_of_the_page(
    own_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Datasette reports it, and the site answers on."""

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("the inside")

    with monkeypatch.context() as broken_for_now:
        broken_for_now.setattr(own_site.datasette.get_database("catalog"), "execute_fn", broken)
        response = own_site.ask("get", TABLE)
        assert (response.status_code, "inside" in response.text) == (500, False)
    assert is_kept(own_site)
