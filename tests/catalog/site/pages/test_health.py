"""Page of health."""

import tomllib
from datetime import UTC, datetime
from pathlib import Path

from catalog.database import stored_health
from catalog.model.trouble import Trouble
from catalog.reading import health_states
from catalog.text.times import iso
from catalog.writing.store import Store
from tests.support.paths import REPOSITORY
from tests.support.records import ROOT
from tests.support.sites import Site


def test_what_fails_is_said_with_what_to_do(site: Site, catalog: Path) -> None:
    """A running service with a failure is bad; a path is named by its root alone."""
    assert "No service is running." in site.get("/health").text
    now = iso(datetime.now(UTC))
    store = Store.open(catalog)
    with store.transaction():
        store.db.execute(
            "UPDATE health SET service_pid = 1, service_seen = ?, service_stopped = NULL,"
            " watcher_mode = 'native'",
            [now],
        )
        failure = Trouble("scan", f"<i>{ROOT}/a cannot be read; run `ls`.", now, 3, now, now)
        stored_health.replace(store.db, [failure])
    store.close()
    page = site.get("/health").text
    assert "Needs attention." in page
    assert "The full scan: &lt;i&gt;root/a cannot be read; run <code>ls</code>." in page
    assert "Failed 3 times" in page


def test_every_state_of_the_documentation_is_explained(site: Site) -> None:
    """The tables of the page about problems, which the wheel has."""
    page = site.get("/health").text
    assert {"Service and events", "Work that fails"} <= {*health_states.subjects()}
    for title in health_states.subjects():
        assert f"<summary>{title}</summary>" in page
    assert page.count("<th>meaning</th>") == len(health_states.subjects())
    assert "].md" not in page
    build = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    places = build["targets"]["wheel"]["force-include"]
    assert places["docs/how-to/solve-problems.md"] == "catalog/reading/solve-problems.md"
