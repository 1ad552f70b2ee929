"""Front page while fifty visitors ask for the heaviest page of each kind, and CPU of that page.

The front page waits for one process; the seconds of its processor that pass meanwhile are what a
visitor waits on a machine where nothing else runs.
"""

import argparse
import http.client
import statistics
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path

from running_programs import Client, processor_time, running
from timing import seconds_of

from tests.support.page_kinds import page_kinds

VISITORS, ALONE = 50, 3
LIMIT = 0.5
"""Most seconds of the front page."""
FOR_PROGRAMS = {
    "feed": "/activity.atom",
    "search JSON": "/search.json?q=report",
    "index": "/index/default",
    "list for installers": "/pull.json",
    "table as JSON": "/catalog/skills.json?_shape=array",
    "table as CSV": "/catalog/skills.csv?_stream=1",
    "canned query": "/catalog/why_not_in_the_index?skill=",
    "table, searched": "/catalog/skills?_search=report",
    "metrics": "/-/metrics",
}


def main() -> None:
    """Serve the catalog, send the visitors to each kind of page, and print the table."""
    arguments = _arguments()
    slow = []
    print("| page | CPU, ms | front page, s of CPU: median | longest | s: longest | answers |")
    print("|---|---|---|---|---|---|")
    with running(arguments.catalog) as client:
        port = client.connection.port
        for kind, path in (page_kinds(arguments.catalog) | FOR_PROGRAMS).items():
            if arguments.only not in kind:
                continue
            _ask(port, path)
            before = processor_time(client.site)
            for _ in range(ALONE):
                _ask(port, path)
            cost = (processor_time(client.site) - before) / ALONE
            front, used, answers = _together(client, path)
            longest, median = max(used), statistics.median(used)
            print(
                f"| {kind} | {1000 * cost:.0f} | {median:.2f} | {longest:.2f} | {max(front):.2f} "
                f"| {answers} |",
                flush=True,
            )
            slow += [kind] if longest > LIMIT else []
    if slow:
        raise SystemExit(f"The front page takes more than {LIMIT} s beside: {', '.join(slow)}.")


def _together(client: Client, path: str) -> tuple[list[float], list[float], str]:
    """Return the seconds and the CPU of the front page beside the visitors, and their answers."""
    port = client.connection.port
    with ThreadPoolExecutor(VISITORS) as pool:
        asked = [pool.submit(_ask, port, path, f"127.0.1.{n + 1}") for n in range(VISITORS)]
        front: list[float] = []
        used: list[float] = []
        while wait(asked, timeout=0.02).not_done or not front:
            before = processor_time(client.site)
            front.append(seconds_of(lambda: _ask(port, "/")))
            used.append(processor_time(client.site) - before)
        answers = Counter(each.result() for each in asked)
        return front, used, ", ".join(f"{count} x {status}" for status, count in answers.items())


def _ask(port: int, path: str, client: str = "127.0.0.1") -> int:
    """Return the status of a page, asked for by a client of its own address."""
    connection = http.client.HTTPConnection("127.0.0.1", port, 60, (client, 0))
    with closing(connection):
        connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
        response = connection.getresponse()
        response.read()
        return response.status


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--catalog", type=Path, default=Path("var/catalog.db"))
    parser.add_argument("--only", default="", help="part of the names of kinds to measure")
    return parser.parse_args()


if __name__ == "__main__":
    main()
