"""Links of the site over all real skills."""

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from catalog.site import plugin
from catalog.site.api import files
from catalog.site.pages import file, skill, skills, versions
from tests.support.crawler import Answer, Walk, parameters, walk
from tests.support.page_kinds import page_kinds
from tests.support.paths import SEARCH
from tests.support.shelf import Shelf
from tests.support.sites import Site, serving

DATASETTE, UNKNOWN = "datasette", "unknown"
OF = {route.view: route.pattern for route in plugin.ROUTES}
SKILL = OF[skill.page]
EVERY = dict.fromkeys((UNKNOWN, OF[files.of_neighbour]), float("inf"))
"""Addresses that a link has by mistake only, for the most part: no route or the last one."""
MOST = {SKILL: 25, OF[file.page]: 20, OF[versions.changes]: 6, DATASETTE: 6, **EVERY}
"""Pages that are visited of each route, unless CRAWL=all asks for every page; else OTHERS."""
OTHERS = 3
OF_LINES = 200
"""Marked lines of files that CRAWL=all visits; they differ in the mark only."""
OF_PAIRS = 1
"""Lists that are visited of each pair of filters: there are over a hundred, of one template."""
WIDEST = 2
"""Parameters of an address that is followed: filters have more combinations than can be visited."""


@pytest.fixture(scope="module")
def shelf(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """Return a catalog of all real skills with CRAWL=all, else of every third."""
    if not SEARCH.is_dir():
        pytest.skip(f"no skills at {SEARCH}")
    shelf = Shelf(tmp_path_factory.mktemp("crawl"))
    step = 1 if os.environ.get("CRAWL") == "all" else 3
    for name, folder in (("search", SEARCH / "skills"), ("corpus", corpus / "packages")):
        for found in sorted(path.parent for path in folder.rglob("SKILL.md"))[::step]:
            copy = shelf.root / name / found.relative_to(folder)
            shutil.copytree(found, copy, dirs_exist_ok=True)
    shelf.scan()
    yield shelf
    shelf.close()


def test_no_link_of_the_site_is_broken(shelf: Shelf) -> None:
    """Links of the templates and links in Markdown lead to a page, and to an anchor that it has."""
    catalog = shelf.settings.catalog_path
    with serving() as serve:
        site = serve(catalog)
        starts = [path for kind, path in page_kinds(catalog).items() if not kind.startswith("no ")]
        result = walk(lambda path: _get(site, path), starts, _kind, _most, _report)
    assert result.pages[SKILL] >= MOST[SKILL]
    assert "\n".join(result.broken) == ""


def _report(so_far: Walk, waiting: int) -> None:
    """Print the number of pages now and then, for those who wait for all of them."""
    count = so_far.pages.total()
    if count % 500 == 0:
        kinds = ", ".join(f"{number} {kind}" for kind, number in so_far.pages.most_common(5))
        sys.stderr.write(f"{count} pages, {waiting} addresses wait: {kinds}\n")


def _get(site: Site, path: str) -> Answer:
    response = site.get(path)
    is_page = response.headers.get("content-type", "").startswith("text/html")
    return Answer(
        response.status_code, response.text if is_page else "", response.url.raw_path.decode()
    )


def _kind(address: str) -> str:
    path, names = urlsplit(address).path, parameters(address)
    if len(names) > WIDEST:
        return ""
    if path.startswith(("/catalog", "/-/")):
        return DATASETTE
    patterns = (route.pattern for route in plugin.ROUTES)
    found = next((pattern for pattern in patterns if re.fullmatch(pattern, path)), UNKNOWN)
    return " ".join([found, *names])


def _most(kind: str) -> float:
    route, *names = kind.split(" ")
    has_no_end = route == DATASETTE or (names and route == OF[skills.page])
    if os.environ.get("CRAWL") == "all" and not has_no_end:
        return OF_LINES if "line" in names else float("inf")
    if len(names) == WIDEST and route == OF[skills.page]:
        return OF_PAIRS
    return EVERY.get(route, OTHERS) if names else MOST.get(route, OTHERS)
