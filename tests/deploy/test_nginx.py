"""Several processes of the site behind the real nginx, with the configuration of `deploy/`."""

import os
import re
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import httpx
import pytest
from mcp import Client

from catalog.filesystem import token_file
from catalog.site.server.process import SiteProcess
from tests.support import litestream, loopback
from tests.support.mcp_servers import answers, over_http, session
from tests.support.nginx import HOST, nginx
from tests.support.ports import free_port
from tests.support.records import NOON
from tests.support.shelf import Shelf
from tests.support.skills import write_skill
from tests.support.waiting import wait_for

pytestmark = pytest.mark.skipif(
    not shutil.which("nginx") and not os.environ.get("CI"), reason="nginx is not installed here"
)

SKILLS = 3
ALL = "catalog/skills.json?_shape=array&_col=description&_nofacet=1"


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    """Return a catalog of some skills."""
    shelf = Shelf(tmp_path / "writer")
    turned(shelf, 0)
    yield shelf
    shelf.close()


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Shelf, httpx.Client]]:
    """Return a catalog that is served to several tests, and a client.

    Each of these tests asks for the file of another skill, as the first answer comes from no cache.
    """
    shelf = Shelf(tmp_path_factory.mktemp("team") / "writer")
    turned(shelf, 0)
    with ExitStack() as running:
        ports = sites(running, shelf.settings.data)
        yield shelf, client_of(running, shelf.settings.data, ports)
    shelf.close()


def turned(shelf: Shelf, turn: int) -> None:
    """Change all skills, and store the changes in one transaction."""
    for number in range(SKILLS):
        body = f"# Turn {turn}\n\n{'All of the text. ' * 80}\n"
        write_skill(shelf.root / f"skill-{number}", description=f"Turn {turn}.", body=body)
    shelf.scan()


@pytest.fixture
def running() -> Iterator[ExitStack]:
    """Keep servers until the end of the test."""
    with ExitStack() as stack:
        yield stack


def sites(running: ExitStack, data: Path) -> list[int]:
    """Start two processes of the site; return their ports."""
    ports = [free_port() for _ in range(2)]
    for port in ports:
        site = SiteProcess(data / "catalog.db", HOST, port, data.parent / f"{port}.log")
        site.start()
        running.callback(site.stop)
    wait_for(lambda: all(map(answers, ports)))
    return ports


def client_of(
    running: ExitStack, data: Path, ports: list[int], *, cached: bool = True
) -> httpx.Client:
    """Start nginx before processes of the site; return a client of nginx."""
    folder = data.parent / f"nginx-{cached}"
    url = running.enter_context(nginx(folder, free_port(), ports, cached=cached))
    return running.enter_context(httpx.Client(base_url=url, timeout=60))


def file_of(number: int) -> str:
    """Return the address of a file of a skill."""
    return f"skills/skill-{number}/files/SKILL.md"


def turns(response: httpx.Response) -> set[int]:
    """Return the turns of which a response tells; they are equal unless it is torn."""
    assert response.status_code == 200, response.text
    return set(map(int, re.findall(r"Turn (\d+)", response.text)))


def test_the_cache_checks_its_responses_at_the_site(team: tuple[Shelf, httpx.Client]) -> None:
    """It asks with If-None-Match, gets 304, and answers readers who know the ETag with 304."""
    _, client = team
    file = file_of(0)
    first = client.get(file)
    assert first.headers["x-cache-status"] == "MISS"
    states = {first.headers["x-cache-status"]}
    wait_for(lambda: {"HIT", "REVALIDATED"} <= states, lambda: states.add(state_of(client, file)))
    etag = {"If-None-Match": first.headers["etag"]}
    assert client.get(file, headers=etag).status_code == 304
    assert client.get(file).content == first.content


def state_of(client: httpx.Client, file: str) -> str:
    """Return how nginx answered a request for a file."""
    return str(client.get(file).headers["x-cache-status"])


def test_the_cache_distinguishes_what_the_site_does(team: tuple[Shelf, httpx.Client]) -> None:
    """Compressed responses, and the URLs of two host names are kept apart."""
    _, client = team
    for _ in range(2):  # the second time, each comes from the cache
        for encoding in ("gzip", "identity"):
            response = client.get(file_of(1), headers={"Accept-Encoding": encoding})
            assert response.headers.get("content-encoding", "identity") == encoding
            assert "All of the text" in response.text
            assert "accept-encoding" in response.headers["vary"].lower()
        for name in ("localhost", "127.0.0.1"):
            index = client.get(".well-known/agent-skills/index.json", headers={"Host": name})
            assert index.status_code == 200
            report = client.get("search.json?q=turn", headers={"Host": name})
            assert f"http://{name}/" in report.text


def test_a_change_is_visible_two_seconds_later(team: tuple[Shelf, httpx.Client]) -> None:
    """The cache keeps a response for no longer, though it is asked all the time.

    A request may take long on a loaded machine, so the times at which requests began count.
    """
    shelf, client = team
    assert turns(client.get(file_of(2))) == {0}
    turned(shelf, 1)
    stored = asked = time.monotonic()
    while turns(client.get(file_of(2))) == {0}:
        assert asked < stored + 2.5
        asked = time.monotonic()


def test_a_response_to_a_token_is_never_kept(team: tuple[Shelf, httpx.Client]) -> None:
    """Whoever has no token gets none, and a removed token is refused at once."""
    shelf, client = team
    tokens, file = shelf.settings.tokens_path, file_of(1)
    secret = token_file.add(tokens, "lab", NOON)
    token_file.add(tokens, "other", NOON)
    header = {"Authorization": f"Bearer {secret}"}
    for _ in range(3):
        for path, headers in ((file, header), (f"token/{secret}/{file}", {})):
            given = client.get(path, headers=headers)
            assert given.status_code == 200
            assert given.headers["x-cache-status"] in ("MISS", "BYPASS")
            assert client.get(file).status_code == 401
    token_file.remove(tokens, "lab")
    assert client.get(f"token/{secret}/{file}").status_code == 401
    token_file.remove(tokens, "other", opens=True)  # for the tests after this one


class Reader(threading.Thread):
    """Thread that reads one URL again and again, and records the turns that it sees."""

    def __init__(self, client: httpx.Client, path: str) -> None:
        super().__init__()
        self._url = client.base_url.join(path)
        self.seen = [0]
        self.wrong: list[str] = []
        self.is_done = threading.Event()

    def run(self) -> None:
        """Read until done, each time over a new connection."""
        while not self.is_done.wait(0.01):  # the writer and the site need the processor, too
            response = loopback.get(str(self._url), timeout=60)
            found = turns(response)
            if len(found) != 1 or found < {self.seen[-1]} or max(found) < self.seen[-1]:
                self.wrong.append(f"{found} after {self.seen[-1]}")
            self.seen.append(max(found))


def test_a_restored_catalog_is_never_torn_nor_older_than_before(
    shelf: Shelf, running: ExitStack, tmp_path: Path
) -> None:
    """Two processes go on while Litestream brings changes of several skills; with a cache, too."""
    replica = tmp_path / "reader" / "var"
    copied(shelf, tmp_path / "copy", replica)
    ports = sites(running, replica)
    readers = [
        Reader(client_of(running, replica, ports, cached=cached), path)
        for cached in (False, True)
        for path in (ALL, ALL, "search.json?q=turn")
    ]
    for reader in readers:
        reader.start()
    for turn in range(1, 4):
        turned(shelf, turn)
        copied(shelf, tmp_path / "copy", replica)
        wait_for(partial(have_seen, readers, turn))
    for reader in readers:
        reader.is_done.set()
        reader.join()
    assert [reader.wrong for reader in readers] == [[]] * len(readers)
    assert all(sorted(set(reader.seen)) == [*range(4)] for reader in readers)


def have_seen(readers: list[Reader], turn: int) -> bool:
    """Return whether all readers saw a turn last."""
    return all(reader.seen[-1] == turn for reader in readers)


def copied(shelf: Shelf, bucket: Path, replica: Path) -> None:
    """Let Litestream copy a catalog, and restore the copy."""
    litestream.copy_once(shelf.settings.catalog_path, f"file://{bucket}")
    litestream.restore(f"file://{bucket}", replica / "catalog.db")


def test_agents_reach_either_mcp_server(shelf: Shelf, running: ExitStack) -> None:
    """No request needs an earlier one, so that each may go to another process."""
    servers = [running.enter_context(over_http(shelf)) for _ in range(2)]
    ports = [int(re.findall(r":(\d+)/", url)[0]) for url in servers]
    url = running.enter_context(nginx(shelf.root.parent / "nginx", free_port(), ports, ports))

    async def read(client: Client) -> list[str]:
        return [str(await client.list_tools()) for _ in range(4)]

    first, *others = session(f"{url}mcp", read)
    assert "search_skills" in first
    assert others == [first] * 3
