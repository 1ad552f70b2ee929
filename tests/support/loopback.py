"""HTTP requests to the servers that tests start on this machine."""

import ssl
from typing import Any

import httpx

_NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""None is needed without TLS; httpx would read all of the system's for each request."""


def get(url: str, **options: Any) -> httpx.Response:
    """Request a page over a connection of its own, with options of `httpx.get`."""
    return httpx.get(url, verify=_NO_CERTIFICATES, trust_env=False, **options)


def post(url: str, **options: Any) -> httpx.Response:
    """Send JSON or a form, with options of `httpx.post`."""
    return httpx.post(url, verify=_NO_CERTIFICATES, trust_env=False, **options)
