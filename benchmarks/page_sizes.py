"""Bytes on the wire and response times of every kind of page of a catalog."""

import argparse
import http.client
import statistics
import time
from pathlib import Path
from urllib.parse import urlsplit

from running_programs import served

from tests.support.page_kinds import page_kinds

LIMIT = 150_000
"""Bytes of a page on the wire, without style and script, which are cached."""
HEADERS = {"Accept-Encoding": "gzip", "Accept": "text/html"}


def main() -> None:
    """Serve the catalog, visit its pages, and print the table, the largest page first."""
    arguments = _arguments()
    rows = []
    with served(arguments.catalog) as origin:
        connection = http.client.HTTPConnection(urlsplit(origin).netloc, timeout=60)
        for kind, path in page_kinds(arguments.catalog).items():
            answers = [_ask(connection, path) for _ in range(arguments.requests + 1)]
            median = 1000 * statistics.median([seconds for _, _, seconds in answers[1:]])
            rows.append((answers[0][1], median, 1000 * answers[0][2], answers[0][0], kind, path))
    print("| page | bytes | p50, ms | first, ms | status | path |\n|---|---|---|---|---|---|")
    for size, median, first, status, kind, path in sorted(rows, reverse=True):
        print(f"| {kind} | {size:,} | {median:.1f} | {first:.1f} | {status} | {path[:70]} |")
    if too_large := [kind for size, *_, kind, _ in rows if size > LIMIT]:
        raise SystemExit(f"Larger than {LIMIT:,} bytes: {', '.join(too_large)}.")


def _ask(connection: http.client.HTTPConnection, path: str) -> tuple[int, int, float]:
    began = time.perf_counter()
    connection.request("GET", path, headers=HEADERS)
    response = connection.getresponse()
    size = len(response.read())
    return response.status, size, time.perf_counter() - began


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--catalog", type=Path, default=Path("var/catalog.db"))
    parser.add_argument("--requests", type=int, default=10, help="requests of each page")
    return parser.parse_args()


if __name__ == "__main__":
    main()
