"""One running skilldrop, every client in a home of its own, and the table of results."""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.clients import table
from tests.clients.client import Client
from tests.clients.clients import CLIENTS
from tests.clients.installed import Absent
from tests.clients.running import Running, Scanned
from tests.support.paths import SEARCH


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Return a running skilldrop with the forty packages."""
    program = Running(tmp_path_factory.mktemp("skilldrop"))
    yield program
    program.stop()


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Return a running skilldrop with the forty packages and a readers' token."""
    program = Running(tmp_path_factory.mktemp("guarded"), with_token=True)
    yield program
    program.stop()


@pytest.fixture(scope="session")
def real(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Scanned:
    """Return a catalog of the real skills beside the repository; skip where there are none."""
    roots = [corpus / "packages", SEARCH / "skills"]
    return Scanned(tmp_path_factory.mktemp("real"), [root for root in roots if root.is_dir()])


@pytest.fixture(scope="session")
def measured() -> table.AllMeasured:
    """Return how many real skills each client has."""
    return {}


@pytest.fixture(scope="session")
def listings() -> table.Listings:
    """Return what each agent tells about its skills."""
    return {}


@pytest.fixture(scope="session")
def results(measured: table.AllMeasured, listings: table.Listings) -> Iterator[table.Results]:
    """Return the results of all clients, which become the page if every client was there."""
    results: table.Results = {}
    yield results
    if results.keys() == set(CLIENTS):
        table.PAGE.write_text(table.text(results, measured, listings), encoding="utf-8")


@pytest.fixture(scope="session")
def start(
    running: Running, guarded: Running, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[type[Client]], Client]:
    """Return a function that gives each client with all skills, or skips if it cannot be had."""

    @functools.cache
    def started(kind: type[Client]) -> Client:
        try:
            served = guarded if kind.with_token else running
            made = kind(served, tmp_path_factory.mktemp(kind.__name__))
            made.install()
        except Absent as reason:
            pytest.skip(str(reason))
        return made

    return started


@pytest.fixture(params=CLIENTS, ids=lambda kind: kind.__name__)
def client(request: pytest.FixtureRequest, start: Callable[[type[Client]], Client]) -> Client:
    """Return each client in turn."""
    return start(request.param)
