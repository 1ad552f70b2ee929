"""Limits on requests: their address, method and query, time and bytes, how many run at once.

Every request passes `wrap`, which judges the database and the table that Datasette would resolve,
never the text of a path. Without it, fifty visitors with the largest export stop the front page.
"""

import asyncio
import json
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode
from weakref import WeakKeyDictionary, WeakValueDictionary

from catalog.site.http import access, responses
from catalog.site.http import location as http_location
from catalog.site.http.security_headers import App, Message, Send

SETTINGS: dict[str, int | bool | str] = {
    # Suggesting facets scans the table once per column: 246 ms a page instead of 11 at 10,000
    # skills.
    "suggest_facets": False,
    # Configured facets must not be left out because an ingest keeps the disk busy for a moment.
    "facet_time_limit_ms": 1000,
    # Enough for every page with 100,000 skills; a query that takes longer is a mistake.
    "sql_time_limit_ms": 3000,
    # Two threads may be busy with tables; the others answer all other requests.
    "num_sql_threads": 4,
    # Rows are wide, and a page is read from the top; ten rows take a millisecond.
    "default_page_size": 30,
    "truncate_cells_html": 300,
    # A page must show the current state of the catalog.
    "default_cache_ttl": 0,
    # A copy of a file in WAL mode lacks the changes that are still in the log.
    "allow_download": False,
    # An export that stopped after max_returned_rows would look complete.
    "allow_csv_stream": True,
    "max_csv_mb": 100,
}
"""Datasette's own limits and settings."""

MOST_CONNECTIONS = 200
MOST_OF_CLIENT = 60
"""Connections of one address, and requests of one that are answered at once."""
FOR_HEALTH = 10
"""Connections beyond MOST_CONNECTIONS, which get only `/-/healthz`."""
REQUEST_SECONDS = 5.0
"""Most seconds for a request to arrive, from the opening of the connection or its first byte."""
READING_SECONDS = 30.0
"""Most seconds for which a client may read nothing of a response."""
LONGEST = 300.0
"""Most seconds for a whole response."""
GRACE = 1
"""Seconds for requests to finish after a SIGTERM. All of them only read."""
RESULT_BYTES = 32 * 2**20
"""Most bytes of texts and blobs that a page of the site, or a statement of Datasette, may read."""
PATIENCE = 10.0
"""Seconds that a costly request waits for its turn."""
LONGEST_ADDRESS = 8000
"""Bytes of a path and query together; browsers and proxies rarely accept more."""
MOST_WORDS, MOST_CHARACTERS = 32, 500
"""Limits of a search in a table; each word costs a lookup in the index."""
MOST_PARAMETERS = 100
"""Parameters of one query: enough for two per column of the widest table."""
MOST_FACETS = 8

READING = ("GET", "HEAD", "OPTIONS")
READING_OURS = ("GET", "HEAD")


class Cost(NamedTuple):
    """Kind of costly request, of which only a few are answered at once."""

    name: str
    at_once: int
    is_long: bool = False  # whether its turn lasts until the response is sent


TABLES = Cost("tables", 2)
"""Tables, exports and questions, each of which may keep a thread busy for seconds."""
TEXTS = Cost("texts", 1)
"""Rendering, highlighting and comparing texts, which may take a second of the processor each."""
ARCHIVES = Cost("archives", 2)
"""Large archives, each of which is a file until it is sent."""
PAGES = Cost("pages", 2)
"""All other pages; the front page takes no turn, so many of these never keep it waiting."""
SEARCHES = Cost("searches", 2)
"""Lists and searches of skills, changes and findings, which read all that match."""
INDEXES = Cost("indexes", 2)
"""Discovery indexes, which have all skills; the first request hashes all archives."""


class TooLarge(Exception):
    """A statement reads more than RESULT_BYTES."""

    status = 400  # of the response


class TooSlow(Exception):
    """A statement takes more than the time limit."""


class Busy(Exception):
    """No turn came in time."""


def wrap(
    app: App, datasette: Any, routes: Mapping[str, Cost | None], posted: Collection[str]
) -> App:
    """Return the application behind all limits; `routes` are the site's own, by their pattern.

    The paths `posted` also take POST.
    """
    ours = [(re.compile(pattern), cost) for pattern, cost in routes.items()]

    running: Counter[str] = Counter()  # requests by client

    async def limited(scope: Any, receive: Any, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return

        async def refuse(status: int, message: str, headers: Mapping[str, str] = {}) -> None:
            response = responses.refusal(datasette, scope["path"], message, status, headers)
            await response.asgi_send(send)

        path = http_location.path(datasette, scope)
        client = (scope.get("client") or ("",))[0]  # behind a proxy, as that names it
        if running[client] >= MOST_OF_CLIENT and path != access.OPEN:
            await refuse(503, "Too many requests at once; try again later.", {"Retry-After": "5"})
            return
        is_ours, cost = next(
            ((True, cost) for form, cost in ours if form.fullmatch(path)), (False, PAGES)
        )
        is_table = not is_ours and http_location.table_of(datasette, path) is not None
        allowed = READING_OURS if is_ours else READING
        allowed = (*allowed, "POST") if path in posted else allowed
        refusal = _refusal(scope, path, allowed, is_ours=is_ours, is_table=is_table)
        if refusal:
            await refuse(*refusal)
            return
        if is_table:
            cost = TABLES._replace(is_long=b"_stream" in scope["query_string"])
            scope = _with_default_page_size(scope) if cost.is_long else scope
        with _counted(running, client), ExitStack() as turn:
            try:
                if cost:
                    turn.enter_context(await take(datasette, cost, client))
            except Busy:
                await refuse(503, "The site is busy; try again later.", {"Retry-After": "5"})
                return

            async def sent(message: Message) -> None:
                if not (cost and cost.is_long):
                    turn.close()
                await send(message)

            last = _whole_rows(sent) if is_table and path.endswith(".csv") else sent
            async with asyncio.timeout(LONGEST):
                await app(scope, receive, last)

    return limited


@contextmanager
def _counted(running: Counter[str], client: str) -> Iterator[None]:
    running[client] += 1
    try:
        yield
    finally:
        running.subtract({client: 1})
        running += Counter()  # without those that have none


async def take(datasette: Any, cost: Cost, client: str = "") -> ExitStack:
    """Wait for a turn, and return the context that ends it. Raises Busy.

    One client never takes all turns of a kind, and waits for its own others first.
    """
    turns = _TURNS.setdefault(datasette, WeakValueDictionary())
    own = max(1, cost.at_once - 1)
    try:
        async with asyncio.timeout(PATIENCE):
            with ExitStack() as taken:
                for key, most in (((cost.name, client), own), ((cost.name,), cost.at_once)):
                    turn = turns.setdefault(key, asyncio.Semaphore(most))
                    await turn.acquire()
                    taken.callback(turn.release)
                return taken.pop_all()
    except TimeoutError as error:
        raise Busy from error


_TURNS: WeakKeyDictionary[Any, WeakValueDictionary[tuple[str, ...], asyncio.Semaphore]] = (
    WeakKeyDictionary()
)
"""Turns that somebody has or waits for: those of each kind, and those of each client of a kind."""


def _whole_rows(send: Send) -> Send:
    """Return a function that sends a CSV, and stops before the text of an error in it.

    Datasette writes the error as if it were a row. A response without an end is no success.
    """
    is_csv = is_cut = False

    async def sent(message: Message) -> None:
        nonlocal is_csv, is_cut
        is_csv = message.get("status", 200 if is_csv else 0) == 200
        body = message.get("body", b"")
        is_cut = is_cut or (is_csv and bool(body) and not body.endswith(b"\r\n"))
        if not is_cut:
            await send(message)

    return sent


def _refusal(
    scope: Any, path: str, allowed: Sequence[str], *, is_ours: bool, is_table: bool
) -> tuple[int, str, dict[str, str]] | None:
    """Return status, message and headers for a request that may not pass."""
    query = scope["query_string"].decode("latin-1")
    if path.startswith("//") or not path.startswith("/"):
        return 404, "Not found.", {}
    if len(path) + len(query) > LONGEST_ADDRESS:
        return 414, f"The URL is too long; the limit is {LONGEST_ADDRESS:,} bytes.", {}
    if (is_ours or is_table or path in ("/", "/.json")) and scope["method"] not in allowed:
        return 405, "This site is read-only.", {"Allow": ", ".join(allowed)}
    if not is_table:
        return None
    error = _query_error(parse_qsl(query, keep_blank_values=True))
    return (400, error, {}) if error else None


def _query_error(parameters: Sequence[tuple[str, str]]) -> str | None:
    if len(parameters) > MOST_PARAMETERS:
        return f"The URL has {len(parameters)} parameters; the limit is {MOST_PARAMETERS}."
    facets = sum(name.startswith("_facet") and name != "_facet_size" for name, _ in parameters)
    if facets > MOST_FACETS:
        return f"The URL has {facets} facets; the limit is {MOST_FACETS}."
    return next(filter(None, (_parameter_error(name, value) for name, value in parameters)), None)


def _parameter_error(name: str, value: str) -> str | None:
    if name in ("_facet_size", "_timelimit") and not re.fullmatch(r"max|[0-9]{0,6}", value):
        return f"{name} must be a positive integer."
    is_long = len(value) > MOST_CHARACTERS or len(re.findall(r"\w+", value)) > MOST_WORDS
    if name.startswith("_search") and name != "_searchmode" and is_long:
        return (
            f"The search has too many words; the limit is {MOST_WORDS} words "
            f"and {MOST_CHARACTERS} characters in total."
        )
    if name == "_through" and not _is_through(value):
        return "_through must be a JSON object with table, column and value."
    return None


def _is_through(value: str) -> bool:
    try:
        through = json.loads(value)
    except ValueError:
        return False
    return (
        isinstance(through, dict)
        and {"table", "column", "value"} <= through.keys()
        and all(isinstance(part, str | int | float) for part in through.values())
    )


def _with_default_page_size(scope: Any) -> Any:
    """Remove the page size of an export, which would take minutes row by row."""
    parameters = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    kept = [(name, value) for name, value in parameters if name != "_size"]
    return {**scope, "query_string": urlencode(kept).encode()}


def bounded_rows() -> Callable[[sqlite3.Cursor, tuple[Any, ...]], sqlite3.Row]:
    """Return a row factory, which raises TooLarge where a statement reads too much."""
    left: WeakKeyDictionary[sqlite3.Cursor, int] = WeakKeyDictionary()

    def row(cursor: sqlite3.Cursor, values: tuple[Any, ...]) -> sqlite3.Row:
        rest = left.get(cursor, RESULT_BYTES)
        for value in values:
            if type(value) is str or type(value) is bytes:
                rest -= len(value)
        left[cursor] = rest
        if rest < 0:
            raise TooLarge("These rows are too large for one page; request fewer with _size.")
        return sqlite3.Row(cursor, values)

    return row


@contextmanager
def statements(connection: sqlite3.Connection, milliseconds: int) -> Iterator[None]:
    """Stop the statements of a context after a time, or once all of them have read too much.

    Their rows are tuples: a search reads thousands, each of which would look up its statement.
    Raises TooSlow and TooLarge.
    """
    deadline, left = time.monotonic() + milliseconds / 1000, RESULT_BYTES

    def row(_: sqlite3.Cursor, values: tuple[Any, ...]) -> tuple[Any, ...]:
        nonlocal left
        for value in values:
            if type(value) is str or type(value) is bytes:
                left -= len(value)
        if left < 0:
            raise TooLarge("This page would read too much; ask for less, such as with a filter.")
        return values

    usual, connection.row_factory = connection.row_factory, row
    connection.set_progress_handler(lambda: time.monotonic() >= deadline, 1000)
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.args == ("interrupted",):
            raise TooSlow("The query took too long.") from error
        raise
    finally:
        connection.set_progress_handler(None, 0)
        connection.row_factory = usual
