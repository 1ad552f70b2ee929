"""Page of usage."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from catalog.usage import database
from catalog.usage.database import IndexRead, Read, SkillRead
from tests.support.sites import Site


def test_the_most_read_skills_come_first(catalog: Path, serve: Callable[[Path], Site]) -> None:
    """With the routes, the days, the indexes, and the number of skills that nobody read."""
    today = datetime.now(UTC).date()
    old = (today - timedelta(days=40)).isoformat()
    counts: dict[Read, int] = {
        SkillRead("dup", "1", "http", today.isoformat()): 1,
        SkillRead("word-count", "1", "mcp", today.isoformat()): 4,
        SkillRead("word-count", "1", "http", today.isoformat()): 1,
        SkillRead("<b>gone", "1", "command", old): 1_000,
        IndexRead("default", "http", today.isoformat()): 7,
    }
    database.add(database.path_of(catalog), counts, today)
    site = serve(catalog)
    page = site.get("/usage").text
    assert "6 reads in 30 days" in page
    assert page.index(">word-count</a>") < page.index(">dup</a>")
    assert "4 by agents, 1 over HTTP" in page
    assert page.count("<rect") == 30
    assert re.search(r"/indexes/default.*7 reads", page)
    unread = re.search(r"(\d+) active skills not read in 30 days", page)
    assert unread
    assert int(unread[1]) == len(site.rows("never_read", days=30))
    assert "gone" not in page
    assert "&lt;b&gt;gone" in site.get("/usage?days=90").text


def test_without_counts_the_page_says_so(catalog: Path, serve: Callable[..., Site]) -> None:
    """A site may count none."""
    assert "Reads are not counted here" in serve(catalog, usage=False).get("/usage").text
