"""Delivery of a body to a server by HTTP."""

import http.client
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any


def post(url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> str | None:
    """Deliver a body; return why it failed, without the URL, whose path may be a secret."""
    try:
        request = urllib.request.Request(url, body, dict(headers), method="POST")
        with _OPENER.open(request, timeout=timeout) as response:
            response.read(1)
    except (OSError, ValueError, http.client.HTTPException) as error:
        return _reason(error)
    return None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect is a failure: the body is for the configured server alone."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects)


def _reason(error: Exception) -> str:
    """Return the error in words."""
    if isinstance(error, urllib.error.HTTPError):
        return f"its server answered {error.code}"
    if isinstance(error, urllib.error.URLError):
        error = error.reason if isinstance(error.reason, OSError) else error
    if isinstance(error, TimeoutError):
        return "its server did not answer in time"
    text = error.strerror if isinstance(error, OSError) else None
    return text or type(error).__name__
