"""Security headers of every response: no foreign script runs, nothing is loaded from elsewhere."""

import base64
import hashlib
import re
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any, TypeAlias

import datasette

from catalog.site.rendering import assets

Message: TypeAlias = MutableMapping[str, Any]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Any, Any, Send], Awaitable[None]]

INERT = "sandbox; default-src 'none'; frame-ancestors 'none'"
"""Policy for files of skills: a browser runs and loads nothing of them."""


def wrap(app: App) -> App:
    """Return the application with security headers on all its responses."""
    fixed = [(name.lower().encode(), value.encode()) for name, value in _ALWAYS.items()]
    policies = {True: DATASETTE.encode(), False: INERT.encode()}

    async def with_headers(scope: Any, receive: Any, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                names = {name.lower() for name, _ in headers}
                headers += [(name, value) for name, value in fixed if name not in names]
                # The headers of a 304 replace those that the browser has kept with the page.
                if message["status"] != 304 and b"content-security-policy" not in names:
                    is_page = any(
                        name.lower() == b"content-type" and b"html" in value
                        for name, value in headers
                    )
                    headers.append((b"content-security-policy", policies[is_page]))
                message = {**message, "headers": headers}
            await send(message)

        await app(scope, receive, send_with_headers if scope["type"] == "http" else send)

    return with_headers


def _hash(script: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'"


def _inline_scripts() -> list[str]:
    """Return the hashes of the scripts that Datasette writes into its own pages.

    No other script may run there, not even one that a skill's text could inject.
    """
    templates = Path(datasette.__file__).parent / "templates"
    sources = [file.read_text("utf-8") for file in sorted(templates.glob("*.html"))]
    scripts = [
        script
        for source in sources
        for script in re.findall(r"<script>(.*?)</script>", source, re.DOTALL)
    ]
    rendered = {
        script.replace("{{ datasette_allow_facet }}", facet)
        for script in scripts
        for facet in ("true", "false")
    }
    return sorted(_hash(script.encode()) for script in rendered if "{{" not in script)


_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_NOTHING_ELSE = "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

OURS = (
    f"default-src 'none'; style-src 'self'; img-src 'self'; "
    f"connect-src 'self'; script-src "
    f"{_hash(assets.read('site.js'))} {_hash(assets.read('theme.js'))}; {_NOTHING_ELSE}"
)
"""Policy for the site's own pages: scripts identified by their hashes, so no skill can add one."""

DATASETTE = (
    f"default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    f"connect-src 'self'; script-src 'self' {' '.join(_inline_scripts())}; "
    f"{_NOTHING_ELSE}"
)
"""Policy for Datasette's own pages, which contain inline styles and scripts."""
