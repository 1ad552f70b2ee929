"""Health in the header of every page."""

from contextlib import closing
from pathlib import Path

import pytest

from catalog.writing.store import Store
from tests.support.sites import Site


@pytest.mark.parametrize("page", ["/", "/skills", "/findings", "/catalog/skills"])
def test_health_is_a_quiet_line_and_loud_only_when_it_is_bad(
    site: Site, catalog: Path, page: str
) -> None:
    """Also on Datasette's own pages; a visitor learns no path of the server."""
    quiet = site.get(page).text
    assert '<a class="state quiet" href="/health"' in quiet
    assert "needs attention" not in quiet
    with closing(Store.open(catalog)) as store:
        store.db.execute("UPDATE roots SET trouble = path || ' cannot be read'")
    loud = site.get(page).text
    assert "The catalog needs attention.</b> root cannot be read" in loud
