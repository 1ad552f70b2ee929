"""Style sheets, script and logo of the site, and the program `pull`, served from memory."""

import base64
import hashlib
import io
import zipfile
from functools import cache
from pathlib import Path

from catalog.reading.files import bundle

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


_TOP = Path(__file__).parents[3]
_START = b"from catalog.pull.program import main\n\nraise SystemExit(main())\n"


@cache
def pull_program() -> bytes:
    """Return `skilldrop pull` as a zip application; the same bytes from the same code."""
    modules = [_TOP / "catalog/__init__.py", *sorted((_TOP / "catalog/pull").glob("*.py"))]
    content = {path.relative_to(_TOP).as_posix(): path.read_bytes() for path in modules}
    buffer = io.BytesIO()
    buffer.write(b"#!/usr/bin/env python3\n")
    with zipfile.ZipFile(buffer, "a") as packed:
        for name, code in {"__main__.py": _START, **content}.items():
            bundle.add(packed, name, 0o644, len(code), io.BytesIO(code))
    return buffer.getvalue()


@cache
def pull_sha256() -> str:
    """Return the SHA-256 of that program, for people who compare it."""
    return hashlib.sha256(pull_program()).hexdigest()
