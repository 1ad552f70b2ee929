"""Readers' tokens: all paths are behind them once there is one."""

import base64
import html
import logging
import os
import re
import stat
from collections.abc import Iterator
from html import unescape

import pytest

from catalog.filesystem import token_file
from tests.support.records import NOON
from tests.support.shelf import Shelf
from tests.support.sites import Site, serving, site_of_shelf
from tests.support.skills import write_skill

PATHS = (
    "/",
    "/skills",
    "/skills/alone",
    "/skills/alone/preview",
    "/skills/alone/files/",
    "/skills/alone/files/SKILL.md",
    "/skills/alone/bundle.zip",
    "/skills/alone/.well-known/skills/index.json",
    "/.well-known/agent-skills/index.json",
    "/.well-known/skills/index.json",
    "/.well-known/skills/alone/SKILL.md",
    "/index/default",
    "/index/default.meta.json",
    "/search.json?q=alone",
    "/catalog",
    "/catalog/skills.json",
    "/catalog/skills.csv",
    "/-/skilldrop/site.css",
    "/-/static/app.css",
)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """Return one published skill."""
    shelf = Shelf(tmp_path_factory.mktemp("shelf"))
    write_skill(shelf.root / "alone", files={"scripts/run.sh": "#!/bin/sh\n"})
    shelf.scan()
    yield shelf
    shelf.close()


@pytest.fixture(scope="module")
def served(shelf: Shelf) -> Iterator[Site]:
    """Return the site of the shelf."""
    with serving() as serve:
        yield site_of_shelf(shelf, serve)


@pytest.fixture
def site(served: Site, shelf: Shelf) -> Iterator[Site]:
    """Return the site, which has no tokens when a test begins."""
    yield served
    shelf.settings.tokens_path.unlink(missing_ok=True)


@pytest.fixture
def secret(site: Site, shelf: Shelf) -> str:  # it removes the token again
    """Return a token of the site."""
    return token_file.add(shelf.settings.tokens_path, "lab", NOON)


def basic(password: str, user: str = "anybody") -> dict[str, str]:
    """Return the header of a browser, curl or pip with a password."""
    return {"Authorization": f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"}


@pytest.mark.parametrize("path", PATHS)
def test_all_paths_need_a_token(site: Site, secret: str, path: str) -> None:
    """Without it there is one sentence and a login; with it there is the page."""
    refused = site.ask("get", path)
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith('Basic realm="skilldrop"')
    assert "for readers with a token" in refused.text
    for headers in ({"Authorization": f"bearer {secret}"}, basic(secret), basic(secret, "")):
        assert site.ask("get", path, headers=headers).status_code == 200
    assert site.ask("get", f"/token/{secret}{path}").status_code == 200


@pytest.mark.parametrize("path", PATHS)
def test_no_shared_cache_may_keep_a_response_to_a_token(
    site: Site, shelf: Shelf, path: str
) -> None:
    """It would give the response to others, or to a reader whose token has been removed."""
    assert "private" not in site.get(path).headers.get("cache-control", "")
    secret = token_file.add(shelf.settings.tokens_path, "lab", NOON)
    for response in (
        site.ask("get", f"/token/{secret}{path}"),
        site.ask("get", path, headers={"Authorization": f"bearer {secret}"}),
    ):
        assert response.headers["cache-control"].startswith("private")
        assert "public" not in response.headers["cache-control"]


def test_a_path_that_is_not_there_needs_a_token_too(site: Site, secret: str) -> None:
    """Nobody learns which skills exist."""
    for path in ("/skills/nobody", "/a/b/c/d", "/token/x/y", "/-/versions", "/x/-/healthz"):
        assert site.ask("get", path).status_code == 401
        assert site.ask("get", path, headers=basic(secret)).status_code == 404
    for method in ("head", "options", "post"):
        assert site.ask(method, "/").status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        basic("wrong"),
        basic(""),
        {"Authorization": "Basic %%%"},
        {"Authorization": "Basic " + base64.b64encode(b"no colon").decode()},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Digest x"},
        {"Authorization": ""},
        {"Cookie": "token=wrong"},
    ],
)
def test_a_wrong_token_is_refused(site: Site, secret: str, headers: dict[str, str]) -> None:
    """Whatever its form."""
    assert site.ask("get", "/index/default", headers=headers).status_code == 401
    assert site.ask("get", "/token/wrong/index/default").status_code == 401


def test_health_is_open_and_says_little(site: Site, secret: str) -> None:
    """A probe needs no token, and a stranger learns only whether all is well."""
    assert site.ask("get", "/-/healthz").json().keys() == {"status", "needs_attention"}
    assert "health" in site.ask("get", "/-/healthz", headers=basic(secret)).json()


def test_without_tokens_the_site_is_open(site: Site, shelf: Shelf) -> None:
    """The first token closes it without a restart, and removing the last one opens it."""
    assert site.get("/skills/alone").status_code == 200
    token_file.add(shelf.settings.tokens_path, "lab", NOON)
    assert site.get("/skills/alone").status_code == 401
    token_file.remove(shelf.settings.tokens_path, "lab", opens=True)
    assert site.get("/skills/alone").status_code == 200


def test_a_removed_token_is_refused_at_once(site: Site, shelf: Shelf, secret: str) -> None:
    """The next request already is."""
    other = token_file.add(shelf.settings.tokens_path, "other", NOON)
    token_file.remove(shelf.settings.tokens_path, "lab")
    assert site.ask("get", "/", headers=basic(secret)).status_code == 401
    assert site.ask("get", "/", headers=basic(other)).status_code == 200


def test_a_damaged_file_closes_the_site(
    site: Site, shelf: Shelf, secret: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody gets in, and the log has the reason."""
    shelf.settings.tokens_path.write_text("{")
    assert site.ask("get", "/", headers=basic(secret)).status_code == 503
    assert "tokens.json cannot be read: it is damaged." in caplog.text


def test_links_keep_the_token_of_a_path(site: Site, secret: str) -> None:
    """An installer that can send no header follows the index to files that it may read."""
    index = site.ask("get", f"/token/{secret}/skills/alone/.well-known/agent-skills/index.json")
    url = index.json()["skills"][0]["url"]
    assert url.startswith(f"/token/{secret}/skills/alone/")
    assert site.ask("get", url).status_code == 200
    text = site.ask("get", f"/token/{secret}/index/default").text
    assert f"http://localhost/token/{secret}/skills/NAME/files/" in text
    assert secret not in site.ask("get", "/index/default", headers=basic(secret)).text


def test_an_open_page_asks_with_the_token_of_its_path(site: Site, secret: str) -> None:
    """Its script learns of changes, also where no header can be sent."""
    page = site.ask("get", f"/token/{secret}/skills/alone").text
    address = re.search(r'data-live="([^"]*)"', page)
    assert address
    assert address[1].startswith(f"/token/{secret}/-/state.json")
    assert site.ask("get", unescape(address[1])).json()["newest_change"] > 0
    assert site.ask("get", "/-/state.json").status_code == 401


def test_the_page_names_no_token(site: Site, secret: str) -> None:
    """Its installation commands have a placeholder, or read ~/.netrc."""
    page = site.ask("get", "/skills/alone", headers=basic(secret)).text
    assert "npx skills add http://localhost/token/TOKEN/skills/alone" in page
    assert "curl -fsSn http://localhost/skills/alone/bundle.zip" in page
    assert secret not in page


def test_hashes_are_on_no_page(site: Site, shelf: Shelf, secret: str) -> None:
    """The file is no table, no download and not below any path."""
    (token,) = token_file.load(shelf.settings.tokens_path)
    for path in (*PATHS, "/tokens.json", "/catalog/tokens", "/-/databases.json", "/.json"):
        assert token.sha256 not in site.ask("get", path, headers=basic(secret)).text
    assert stat.S_IMODE(os.stat(shelf.settings.tokens_path).st_mode) == 0o600


def test_a_token_is_never_logged(
    site: Site, secret: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither for a page that does not exist nor for an error."""
    caplog.set_level(logging.DEBUG)
    for path in (f"/token/{secret}/a/b/c/d", f"/token/{secret}/catalog/none", "/a/b/c/d"):
        assert site.ask("get", path, headers=basic(secret)).status_code == 404
    out = "".join(capfd.readouterr())
    ours = [record.getMessage() for record in caplog.records if record.name != "httpx"]
    assert secret not in out + "".join(ours)


def test_another_spelling_of_an_address_needs_a_token(site: Site, secret: str) -> None:
    """Nobody without one learns that there is a page."""
    assert site.ask("get", "/~63atalog/skills").status_code == 401
    assert site.ask("get", f"/token/{secret}/~63atalog/skills?a=1").status_code == 200


@pytest.mark.parametrize(
    "path", ["/", "/skills", "/skills/alone", "/health", "/none", "/catalog", "/catalog/skills"]
)
def test_pages_below_a_token_lead_to_pages_below_it(site: Site, secret: str, path: str) -> None:
    """With their style, the links of the head and those of Datasette's tables, which lead there."""
    page = site.ask("get", f"/token/{secret}{path}").text
    addresses = re.findall(r'(?:href|src|action)="(/[^"]*)"', page)
    assert len(addresses) > 20
    for address in addresses:
        assert address.startswith(f"/token/{secret}/"), address
        assert not address.startswith(f"/token/{secret}/token"), address
    for address in [each for each in addresses if "/catalog/" in each][:5]:
        assert site.ask("get", html.unescape(address)).status_code == 200


@pytest.mark.parametrize(
    ("target", "host", "status"),
    [
        (b"http://localhost/skills", b"localhost", 200),
        (b"HTTP://localhost", b"other.example", 200),
        (b"http://other.example/skills", b"localhost", 421),
        (b"http://localhost@other.example/", b"localhost", 404),
        (b"http:///skills", b"localhost", 421),
    ],
)
def test_a_whole_url_is_a_target_like_its_path(
    site: Site, target: bytes, host: bytes, status: int
) -> None:
    """Its host takes the place of the header, and is judged like it."""
    sent = site.messages(target, [(b"host", host)])
    assert sent[0]["status"] == status
