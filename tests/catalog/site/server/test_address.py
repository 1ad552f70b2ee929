import socket
from pathlib import Path

import pytest

from catalog.model.errors import SiteUnavailable
from catalog.site.server import address
from catalog.site.server.process import SiteProcess
from tests.support.ports import free_port


def test_an_address_that_is_free_passes() -> None:
    """It can be checked again: the check leaves no socket open."""
    port = free_port()
    address.check("127.0.0.1", port)
    address.check("127.0.0.1", port)


def test_a_port_in_use_is_named(catalog: Path) -> None:
    """The site is not started at all."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SiteUnavailable, match=f"127.0.0.1:{port}: another program uses it"):
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
    with pytest.raises(SiteUnavailable, match=complaint):
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
