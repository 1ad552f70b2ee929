"""Style sheets, script and logo of the site, served from memory."""

import base64
import hashlib
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "static"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}

_JOINED = {"site.css": "css", "site.js": "js"}
"""Assets that are written as several files, joined in the order of their names."""


@cache
def read(name: str) -> bytes:
    """Return an asset. Raises FileNotFoundError."""
    if name not in names():
        raise FileNotFoundError(name)
    if folder := _JOINED.get(name):
        files = sorted((_FOLDER / folder).glob(f"*.{folder}"))
        return b"\n".join(file.read_bytes() for file in files)
    return (_FOLDER / name).read_bytes()


@cache
def names() -> frozenset[str]:
    """Return the names of all assets."""
    return frozenset(_JOINED) | {f.name for f in _FOLDER.iterdir() if f.suffix in _TYPES}


def content_type(name: str) -> str:
    """Return the content type of an asset."""
    return _TYPES[Path(name).suffix]


@cache
def path(name: str) -> str:
    """Return the path of an asset; it changes with the content, so clients may cache it forever."""
    return f"/-/skilldrop/{name}?{hashlib.sha256(read(name)).hexdigest()[:12]}"


@cache
def integrity(name: str) -> str:
    """Return the hash with which a page identifies its script."""
    return f"sha256-{base64.b64encode(hashlib.sha256(read(name)).digest()).decode()}"
