"""Address of the site, with its defaults."""

from typing import NamedTuple


class Site(NamedTuple):
    """Address of the site."""

    enabled: bool = True
    host: str = "127.0.0.1"
    port: int = 8001
    behind_proxy: bool = False
    url: str | None = None


SITE = Site()
"""Address of the site, by default."""
