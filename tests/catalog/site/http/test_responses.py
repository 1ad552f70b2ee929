"""Responses: validators, 304, HEAD and compression."""

import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from catalog.site.rendering import assets
from catalog.writing.store import Store
from tests.support.records import NOON
from tests.support.sites import Site, publish_indexes, serving


@pytest.mark.parametrize(
    "path",
    [
        "/index/default",
        "/index/default.meta.json",
        "/search.json?q=a",
        "/skills/word-count/preview",
        assets.path("site.css"),
    ],
)
def test_what_is_known_is_not_sent_again(site: Site, published: Path, path: str) -> None:
    """A request with the ETag of the first response gets 304 and no body."""
    first = site.ask("get", path)
    assert first.status_code == 200
    again = site.ask("get", path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert "content-security-policy" not in again.headers  # it would replace that of the page
    weak = site.ask("get", path, headers={"If-None-Match": f'"x", W/{first.headers["etag"]}'})
    assert weak.status_code == 304
    other = site.ask("get", path, headers={"If-None-Match": '"x"'})
    assert other.status_code == 200


@pytest.mark.parametrize("path", ["/", "/skills?q=words", "/skills/word-count", "/findings"])
def test_a_page_is_sent_again_after_a_change_only(
    site: Site, catalog: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Its ETag is of the state of the catalog."""
    monkeypatch.setattr(time, "time", lambda: NOON.timestamp())
    known = {"If-None-Match": site.get(path).headers["etag"]}
    again = site.ask("get", path, headers=known)
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == known["If-None-Match"]
    assert "content-security-policy" not in again.headers  # it would replace that of the page
    with closing(Store.open(catalog)) as store:
        store.db.execute("UPDATE skills SET license = 'another'")
    assert site.ask("get", path, headers=known).status_code == 200


@pytest.mark.parametrize("path", ["/", "/index/default", "/skills/word-count", "/-/healthz"])
def test_head_is_get_without_the_body(site: Site, published: Path, path: str) -> None:
    """A client learns type and size without a download."""
    plain = {"Accept-Encoding": "identity"}
    head, get = (site.ask(method, path, headers=plain) for method in ("head", "get"))
    assert head.content == b""
    assert head.status_code == get.status_code
    for name in ("content-type", "content-length"):
        assert head.headers[name] == get.headers[name]


@pytest.mark.parametrize(
    ("accepts", "encoding"),
    [
        ("gzip", "gzip"),
        ("br, gzip;q=0.5", "gzip"),
        ("*", "gzip"),
        ("gzip;q=0", None),
        ("", None),
        ("br", None),
        ("gzip;q=rubbish", None),
    ],
)
def test_compression_is_for_those_who_ask(site: Site, accepts: str, encoding: str | None) -> None:
    """Both forms have the same content, and Vary announces them to caches."""
    response = site.ask("get", "/skills/word-count", headers={"Accept-Encoding": accepts})
    assert response.headers.get("content-encoding") == encoding
    assert "Accept-Encoding" in response.headers["vary"]
    assert "word-count" in response.text


def test_a_compressed_copy_is_known_by_either_validator(site: Site, published: Path) -> None:
    """The ETag is weak for gzip; weak or not, it stands for the same text."""
    long = site.ask("get", "/skills/word-count/preview", headers={"Accept-Encoding": "gzip"})
    assert long.headers["etag"].startswith('W/"')
    plain = {"Accept-Encoding": "identity", "If-None-Match": long.headers["etag"]}
    assert site.ask("get", "/skills/word-count/preview", headers=plain).status_code == 304


@pytest.fixture(scope="module")
def indexed_site(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Return a site with published indexes, for tests that only read."""
    copy = shutil.copytree(filled.parent, tmp_path_factory.mktemp("indexed") / "var")
    publish_indexes(copy / filled.name)
    with serving() as serve:
        yield serve(copy / filled.name)


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ('"{}"', 304),
        ('W/"{}"', 304),
        ('"a,b", "{}"', 304),
        ('"x" ,W/"{}"', 304),
        ("*", 304),
        (" * ", 304),
        ('"{}-br"', 200),
        ('"{}x"', 200),
        ('"x{}"', 200),
        ('"x, {}"', 200),
        ("{}", 200),
        ('"*"', 200),
        ('"', 200),
        (",", 200),
        ("", 200),
    ],
)
@pytest.mark.parametrize("method", ["get", "head"])
@pytest.mark.parametrize("path", ["/index/default", "/skills/word-count/preview"])
def test_validators_are_compared_as_the_standard_says(
    indexed_site: Site, path: str, method: str, form: str, status: int
) -> None:
    """RFC 9110, sections 8.8.3.2 and 13.1.2: weak comparison of whole values."""
    plain = {"Accept-Encoding": "identity"}
    etag = indexed_site.ask("get", path, headers=plain).headers["etag"].strip('"')
    sent = plain | {"If-None-Match": form.replace("{}", etag)}
    response = indexed_site.ask(method, path, headers=sent)
    assert response.status_code == status
    assert bool(response.content) == (status == 200 and method == "get")


@pytest.mark.requirement("prd/upload")
@pytest.mark.requirement("own/outcome-no-post")
@pytest.mark.parametrize("method", ["post", "put", "delete", "patch"])
def test_only_reading_is_answered(site: Site, method: str) -> None:
    """The response lists the allowed methods."""
    response = site.ask(method, "/skills/word-count")
    assert response.status_code in {403, 405}
    assert response.status_code == 403 or response.headers["allow"] == "GET, HEAD"
