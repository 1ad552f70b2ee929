"""Responses for programs, which name no path of the disk."""

import re
import shutil
from collections.abc import Iterator
from urllib.parse import unquote

import pytest

from catalog.reading.disk_paths import shortened_paths
from catalog.site import plugin
from catalog.site.api import discovery, files, indexes, metrics, service, skills
from catalog.writing.store import Store
from tests.support.mcp_servers import in_process, session
from tests.support.shelf import Shelf
from tests.support.sites import Site, serving
from tests.support.skills import write_skill

STARTS = (
    "/search.json?q=word",
    "/search.json?q=word&status=shadowed",
    "/skills/dup/preview",
    "/skills/wrong/preview",
    "/skills/gone/preview",
    "/skills/none/preview",
    "/index/default",
    "/index/default.meta.json",
    "/.well-known/agent-skills/index.json",
    "/.well-known/skills/index.json",
    "/.well-known/skills/dup/scripts/run.sh",
    "/skills/dup/.well-known/skills/index.json",
    "/skills/dup/files/",
    "/skills/dup/bundle.zip",
    "/skills/dup/files/none.md",
    "/-/metrics",
    "/-/healthz",
)
LISTS = ("/", "/skills?status=all", "/activity", "/activity.atom", "/sources/watched")
VIEWS = (
    *(skills.hits, skills.preview, service.healthz, indexes.page, metrics.page),
    *(discovery.page, discovery.by_files, discovery.file),
    *(files.listing, files.page, files.archive),
)
ROUTES = [
    route.pattern
    for route in plugin.ROUTES
    if route.view in VIEWS and not route.pattern.endswith(r"\.json")
]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """Return active, shadowed, rejected and removed skills, and a root in trouble."""
    made = Shelf(tmp_path_factory.mktemp("shelf"))
    write_skill(made.root / "dup", description="Counts words.", files={"scripts/run.sh": "echo\n"})
    write_skill(made.root / "deep" / "dup", description="Counts words as well.")
    write_skill(made.root / "wrong", description="")
    write_skill(made.root / "gone")
    made.scan()
    shutil.rmtree(made.root / "gone")
    made.scan()
    store = Store.open(made.settings.catalog_path)
    store.roots.set_trouble(str(made.root), f"{made.root} cannot be listed")
    store.close()
    yield made
    made.close()


@pytest.fixture(scope="module")
def far(shelf: Shelf) -> Iterator[Site]:
    """Return the site of the shelf, which the tests only read."""
    with serving() as serve:
        yield serve(shelf.settings.catalog_path)


def test_all_that_programs_fetch_names_no_path_of_the_disk(shelf: Shelf, far: Site) -> None:
    """All routes but those of pages and tables, and all URLs in the responses."""
    secret, visited = str(shelf.root.parent), set[str]()
    waiting = list(STARTS)
    while waiting:
        path = waiting.pop()
        if path in visited:
            continue
        visited.add(path)
        response = far.get(path)
        assert response.status_code != 500, path
        assert secret.encode() not in response.content, path
        assert secret not in unquote(str(response.headers)), path
        found = re.findall(r'(?:http://localhost|")(/(?:skills|index)/[^"\s?]+)', response.text)
        waiting += [url for url in found if not re.fullmatch(r"/skills/[^/]+/?", url)]
    for route in ROUTES:
        assert any(re.fullmatch(route, path.partition("?")[0]) for path in visited), route
    assert len(visited) > len(STARTS)


@pytest.mark.parametrize("path", LISTS)
def test_lists_and_feeds_name_no_path_of_the_disk_elsewhere(
    shelf: Shelf, far: Site, path: str
) -> None:
    """Also in the reasons of shadowed skills, which name the winner."""
    response = far.ask("get", path, headers={"X-Forwarded-For": "192.0.2.1"})
    assert response.status_code == 200
    assert "dup" in response.text
    assert str(shelf.root.parent) not in response.text


def test_folders_are_named_below_their_root(shelf: Shelf, far: Site) -> None:
    """The others of a name have pages; reasons and messages keep the root's own name."""
    (hit,) = far.get("/search.json?q=counts").json()
    (other,) = hit["others"]["first"]
    assert other.startswith("http://localhost/skills/dup?row=")
    assert far.get(other.removeprefix("http://localhost")).status_code == 200
    shadowed = far.get(f"/skills/dup/preview?{other.partition('?')[2]}").json()
    assert (shadowed["root"], shadowed["path"]) == ("watched", "deep/dup")
    assert "in watched/dup" in shadowed["status_reason"]


def test_agents_elsewhere_get_uris(shelf: Shelf) -> None:
    """Those on this machine get paths, with which they can run scripts."""
    for is_remote in (False, True):
        server = in_process(shelf, is_remote=is_remote)
        found = session(
            server, lambda client: client.call_tool("search_skills", {"query": "words"})
        )
        read = session(
            server, lambda client: client.call_tool("read_skill_file", {"skill_name": "dup"})
        )
        for result in (found, read):
            assert (str(shelf.root.parent) in str(result.content)) is not is_remote
        if is_remote:
            assert "skill://dup/SKILL.md" in str(found.content)
            assert "Skill directory: skill://dup" in str(read.content)


def test_only_whole_names_are_shortened() -> None:
    """Not the beginning of another folder's name, and the longest folder first."""
    folders = ["/srv/a", "/srv/a/b"]
    assert shortened_paths("/srv/a/b/x, /srv/a/x, /srv/ab/x", folders) == "b/x, a/x, /srv/ab/x"
