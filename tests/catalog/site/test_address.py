"""Warning about a site that anybody may read."""

import socket
from pathlib import Path

import pytest

from catalog.filesystem import token_file
from catalog.model.errors import NotPossible
from catalog.site import address
from catalog.site.server.process import SiteProcess
from tests.support.ports import free_port
from tests.support.records import NOON


def test_an_address_that_is_free_passes() -> None:
    """It can be checked again: the check leaves no socket open."""
    port = free_port()
    address.check("127.0.0.1", port)
    address.check("127.0.0.1", port)


def test_a_port_in_use_is_named(catalog: Path) -> None:
    """The site is not started at all."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(NotPossible, match=f"127.0.0.1:{port}: another program uses it"):
            SiteProcess(catalog, "127.0.0.1", port).start()


@pytest.mark.parametrize(
    ("host", "complaint"),
    [
        ("192.0.2.1", "this machine does not have that address"),
        ("no host", "the host is unknown"),
        ("a" * 64 + ".org", "the host is unknown"),
    ],
)
def test_an_address_that_is_not_ours_is_named(host: str, complaint: str) -> None:
    """The message is one sentence, for example about a misspelt host."""
    with pytest.raises(NotPossible, match=complaint):
        address.check(host, free_port())


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:80/"),
        ("0.0.0.0", "http://127.0.0.1:80/"),
        ("::", "http://[::1]:80/"),
        ("example.org", "http://example.org:80/"),
    ],
)
def test_a_browser_can_follow_the_url(host: str, url: str) -> None:
    """The address of all interfaces is replaced by the loopback address."""
    assert address.url(host, 80) == url


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "files.example.org"])
def test_a_site_beyond_this_machine_needs_protection(tmp_path: Path, host: str) -> None:
    """A token or a stated proxy ends the warning."""
    catalog = tmp_path / "catalog.db"
    warning = address.warning(catalog, host, behind_proxy=False)
    assert warning
    assert host in warning
    assert address.warning(catalog, host, behind_proxy=True) is None
    token_file.add(tmp_path / token_file.NAME, "lab", NOON)
    assert address.warning(catalog, host, behind_proxy=False) is None


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_a_site_of_this_machine_needs_none(tmp_path: Path, host: str) -> None:
    """Nobody else reaches it."""
    assert address.warning(tmp_path / "catalog.db", host, behind_proxy=False) is None
