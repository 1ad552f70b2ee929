"""Look-ups on the thread of the event loop, and those that are left to other threads."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import pytest
from datasette.database import QueryInterrupted

from catalog.model.errors import NotInCatalog
from catalog.reading.browse import Catalog
from catalog.site.http import location as http_catalog
from catalog.site.http import quick_reader
from catalog.site.http.request import RequestContext
from tests.support.sites import Site

LookUp: TypeAlias = Callable[[Callable[[Catalog], int]], int]
ENDLESS = "WITH RECURSIVE n AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture
def context(site: Site) -> RequestContext:
    """Context of a request for which the site waits on this thread."""
    location = http_catalog.find(site.datasette)
    assert location
    fresh = replace(location, quick=quick_reader.QuickReader(location.database))
    return RequestContext(site.datasette, None, fresh)


@pytest.fixture
def look_up(site: Site, context: RequestContext) -> LookUp:
    """Return the function that does a look-up and returns its result."""
    return lambda function: site.runner.run(context.look_up(function))


def thread(db: Catalog) -> int:
    """Look something up; return the thread that did it."""
    assert db.execute("SELECT count(*) FROM skills").fetchone()[0]
    return threading.get_ident()


def test_a_quick_look_up_changes_no_threads(look_up: LookUp) -> None:
    """It reads the catalog on the thread of the event loop."""
    assert look_up(thread) == threading.get_ident()


@pytest.mark.parametrize("slowness", ["of SQLite", "of Python"])
def test_a_slow_look_up_is_left_to_other_threads_for_a_while(
    look_up: LookUp,
    monkeypatch: pytest.MonkeyPatch,
    slowness: str,
) -> None:
    """Its result is the same; a statement of SQLite is stopped, Python is only noted."""
    here = threading.get_ident()

    def slow(db: Catalog) -> int:
        if threading.get_ident() == here and slowness == "of SQLite":
            db.execute(ENDLESS).fetchall()
        used = thread(db)
        ends = time.thread_time() + quick_reader.LIMIT_MS / 1000
        while slowness == "of Python" and time.thread_time() < ends:
            pass
        return used

    monkeypatch.setattr(quick_reader, "PAUSE", 1000.0)
    assert (look_up(slow) == here) is (slowness == "of Python")
    assert look_up(slow) != here
    assert look_up(thread) == here


def test_a_slow_look_up_gets_another_chance(
    look_up: LookUp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have been slow only because a file was not in memory yet."""
    here = threading.get_ident()
    calls = []

    def slow_once(db: Catalog) -> int:
        calls.append(1)
        if len(calls) == 1:
            db.execute(ENDLESS).fetchall()
        return thread(db)

    monkeypatch.setattr(quick_reader, "PAUSE", 0.0)
    assert look_up(slow_once) != here
    assert look_up(slow_once) == here


def test_a_look_up_on_this_thread_waits_for_no_lock(look_up: LookUp) -> None:
    """A catalog that is locked for a moment is read by another thread, which may wait."""
    assert look_up(lambda db: int(db.execute("PRAGMA busy_timeout").fetchone()[0])) == 0


def test_an_error_is_that_of_a_query(
    site: Site, context: RequestContext, look_up: LookUp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A statement that takes too long everywhere is interrupted, and a missing name is missing."""
    monkeypatch.setattr(site.datasette, "sql_time_limit_ms", 50)

    def endless(db: Catalog) -> int:
        return int(db.execute(ENDLESS).fetchone()[0])

    def missing(_: Catalog) -> int:
        raise NotInCatalog("There is none.")

    with pytest.raises(QueryInterrupted):
        look_up(endless)
    with pytest.raises(NotInCatalog):
        look_up(missing)
    assert context.location.quick.is_quick(missing)
