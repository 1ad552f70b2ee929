"""Paths as text in the catalog: their encoding, archives in them, and links between files."""

import re
from posixpath import dirname, join, normpath

ARCHIVE_ENDINGS = (
    ".zip",
    ".skill",
    ".tar",
    ".tar.gz",
    ".tgz",
)
"""Endings of files whose skills are read in place, at paths such as `x.zip!/inner/folder`."""

_ENDINGS = "|".join(map(re.escape, ARCHIVE_ENDINGS))
_TOP = re.compile(rf"(?:{_ENDINGS})!\Z", re.IGNORECASE)
_INTO = re.compile(rf"(.*?(?:{_ENDINGS}))!(?=/|\Z)", re.IGNORECASE | re.DOTALL)
_MIRROR = re.compile(r".*/mirrors/([^/]+)-[^/]{8}/current", re.DOTALL)
_LAST_LETTERS = frozenset("".join(end[-1] + end[-1].upper() for end in ARCHIVE_ENDINGS))
_AFTER_ARCHIVE = "|".join(f"(?<={re.escape(ending)})" for ending in ARCHIVE_ENDINGS)
_TO_ESCAPE = re.compile(rf"[\\\udc80-\udcff]|(?:{_AFTER_ARCHIVE})!(?=/|\Z)", re.IGNORECASE)
_ESCAPED = re.compile(r"\\(?:\\|x(21|[89a-f][0-9a-f]))")


def text_path(os_path: str) -> str:
    r"""Return a name or path of the system as text that any encoding and database can store.

    A backslash is doubled and each byte that is not valid UTF-8 becomes `\xNN`, so two names
    never have the same text. A directory named like the inside of an archive, `x.zip!`, becomes
    `x.zip\x21`.
    """
    if os_path.isascii() and "\\" not in os_path and "!" not in os_path:
        return os_path
    return _TO_ESCAPE.sub(_escape, os_path)


def os_path(text: str) -> str:
    """Return the name or path of the system that `text_path` encoded."""
    return _ESCAPED.sub(_unescape, text) if "\\" in text else text


def is_utf8(os_path: str) -> bool:
    """Return whether the bytes of a name or path of the system are valid UTF-8."""
    return os_path.isascii() or not any("\udc80" <= char <= "\udcff" for char in os_path)


def is_archive(name: str) -> bool:
    """Return whether a file with this name is an archive whose skills are read in place."""
    return name[-1] in _LAST_LETTERS and name.lower().endswith(ARCHIVE_ENDINGS)


def archive_of(path: str) -> str | None:
    """Return the path of the archive that contains a skill; None for a plain folder."""
    match = _INTO.match(path) if "!" in path else None
    return match[1] if match else None


def top_of_archive(path: str) -> str | None:
    """Return the path of the top of the archive that contains a skill, `x.zip!`."""
    archive = archive_of(path)
    return archive and f"{archive}!"


def last_name(path: str) -> str:
    """Return the last name of a path, and `x` for the top of an archive, `x.zip!`."""
    return _TOP.sub("", path.rpartition("/")[2])


def root_name(path: str) -> str:
    """Return the name of a root: the one of its mirror if it is one, else its last name."""
    mirror = _MIRROR.fullmatch(path)
    return mirror[1] if mirror else last_name(path)


def repository_label(url: str) -> str:
    """Return the URL of a repository for people: without scheme, credentials and `.git`.

    A repository of this machine's disk is named by its folder.
    """
    address = url.partition("://")[2] or url.replace(":", "/", 1)
    host, _, path = address.rstrip("/").removesuffix(".git").partition("/")
    is_local = url.startswith(("/", "file:"))
    return path.rpartition("/")[2] if is_local else f"{host.rpartition('@')[2]}/{path}"


def linked(file: str, target: str) -> str:
    """Return the path to which a relative link in a file leads, from where the file's path starts.

    It begins with ../ if it leads out of there. Linter, catalog and site follow links by this.
    """
    return normpath(join(dirname(file), target))


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return "\\\\" if char == "\\" else f"\\x{ord(char) & 0xFF:02x}"


def _unescape(match: re.Match[str]) -> str:
    if match[1] == "21":
        return "!"
    return chr(0xDC00 + int(match[1], 16)) if match[1] else "\\"
