"""`/pull.json` lists what other machines keep, and `/pull.pyz` is the program that does so."""

from collections.abc import Callable
from pathlib import Path

import pytest

from catalog.site.rendering import assets
from catalog.writing.store import Store
from tests.support.sites import Site


@pytest.fixture
def site(catalog: Path, serve: Callable[..., Site]) -> Site:
    """Serve the filled catalog."""
    return serve(catalog)


def folders(site: Site, **query: object) -> list[str]:
    """Return the folders of a selection."""
    return [row["folder"] for row in site.get("/pull.json", **query).json()["skills"]]


def test_it_lists_what_a_model_may_see(site: Site) -> None:
    """Skills for people alone, shadowed and rejected ones are not among them."""
    assert folders(site) == ["dup", "word-count", "worse", "zz-large", "会议纪要"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"level": "enterprise"}, ["dup"]),
        ({"tag": ["text", "nothing"]}, None),
        ({"tag": "text"}, ["word-count"]),
        ({"only": ["dup", "worse"]}, ["dup", "worse"]),
        ({"index": "company"}, ["dup"]),
        ({"index": "nothing"}, None),
        ({"only": "secret"}, None),
        ({"only": "dup", "also": ["worse", "gone"]}, ["dup", "worse"]),
        ({"also": ""}, []),
    ],
)
def test_a_selection_is_that_of_links(
    site: Site, query: dict[str, object], expected: list[str] | None
) -> None:
    """A word that no skill has is an error with a sentence, not an empty list."""
    response = site.get("/pull.json", **query)
    assert response.status_code == (404 if expected is None else 200)
    if expected is None:
        assert response.json()["error"].endswith((".", "?"))
    else:
        assert [row["folder"] for row in response.json()["skills"]] == expected


def test_a_list_that_is_known_is_not_sent_again(site: Site) -> None:
    """A timer asks every few minutes."""
    etag = site.get("/pull.json").headers["etag"]
    again = site.ask("get", "/pull.json", headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")


def test_a_catalog_whose_first_scan_has_not_ended_is_not_complete(
    tmp_path: Path, serve: Callable[..., Site], site: Site
) -> None:
    """Machines remove nothing then."""
    assert site.get("/pull.json").json()["is_complete"]
    Store.open(tmp_path / "new" / "catalog.db").close()
    assert not serve(tmp_path / "new" / "catalog.db").get("/pull.json").json()["is_complete"]


def test_the_program_is_the_same_bytes_for_all(site: Site) -> None:
    """Its digest can be compared."""
    response = site.get("/pull.pyz")
    assert response.content == assets.pull_program() == assets.pull_program.__wrapped__()
    assert response.headers["etag"].startswith(f'"{assets.pull_sha256()}')
