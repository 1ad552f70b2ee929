"""What a name on disk means: its form as text, whether it is junk, whether it is a SKILL.md."""

import re
from functools import lru_cache

SKILL_MD = "SKILL.md"
COMMON_SPELLINGS = (SKILL_MD, "skill.md", "Skill.md", "SKILL.MD")

_JUNK = frozenset({
    # version control
    ".git", ".hg", ".svn", ".jj",
    # what tools install or cache; `venv` without its dot may well be a skill's name
    "node_modules", "__pycache__", ".venv", ".tox", ".nox",
    ".mypy_cache", ".pytest_cache", ".ruff_cache",
    # what desktops and file systems leave behind
    ".DS_Store", ".AppleDouble", ".Spotlight-V100", ".Trashes", ".fseventsd",
    ".TemporaryItems", ".DocumentRevisions-V100",
    "Thumbs.db", "desktop.ini", "Desktop.ini", "$RECYCLE.BIN", "System Volume Information",
    ".directory", "lost+found",
    # what servers and synchronisers keep: bookkeeping and old copies
    "@eaDir", "#recycle", "#snapshot", ".snapshot", ".snapshots", "~snapshot", ".zfs",
    ".stfolder", ".stversions", ".dropbox.cache", ".~tmp~",
    # the name with which vim tries whether it may write
    "4913",
})
_JUNK_STARTS = (
    "._",  # macOS resource forks
    ".Trash-",  # freedesktop.org
    ".nfs", ".fuse_hidden",  # deleted while open
    ".goutputstream-",  # GNOME, before the rename
    ".~lock.", "~$",  # LibreOffice, Microsoft Office
    ".#",  # Emacs locks
    ".skilldrop-",  # our own copies before the rename
)
_JUNK_ENDS = (
    ".part", ".partial", ".crdownload", ".tmp",  # still arriving
    ".swp", ".swo", "~",  # vim, and nearly every editor's backup
)

_TO_ESCAPE = re.compile("[\\\\\udc80-\udcff]")
_ESCAPED = re.compile(r"\\(?:\\|x([89a-f][0-9a-f]))")
_CACHED_NAMES = 4096  # the names inside skills are much the same everywhere


@lru_cache(_CACHED_NAMES)
def is_junk(name: str) -> bool:
    """Say whether a file or directory of this name is nobody's skill, wherever it lies."""
    return (
        name in _JUNK
        or name.startswith(_JUNK_STARTS)
        or name.endswith(_JUNK_ENDS)
        or (len(name) > 1 and name[0] == "#" == name[-1])  # Emacs auto-save
    )


@lru_cache(_CACHED_NAMES)
def is_skill_md(name: str) -> bool:
    """Say whether this is SKILL.md in any mixture of upper and lower case."""
    return len(name) == len(SKILL_MD) and name.lower() == "skill.md"


def text_path(os_path: str) -> str:
    r"""Return a name or path of the system as text that every encoding and database can hold.

    A backslash is doubled and each byte that is not valid UTF-8 becomes `\xNN`, so two names
    never have one text.
    """
    if os_path.isascii() and "\\" not in os_path:
        return os_path
    return _TO_ESCAPE.sub(_escape, os_path)


def os_path(text: str) -> str:
    """Return the name or path of the system that `text_path` wrote down as this text."""
    return _ESCAPED.sub(_unescape, text) if "\\" in text else text


def is_utf8(os_path: str) -> bool:
    """Say whether the bytes of a name or path of the system are valid UTF-8."""
    return os_path.isascii() or not any("\udc80" <= char <= "\udcff" for char in os_path)


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return "\\\\" if char == "\\" else f"\\x{ord(char) - 0xDC00:02x}"


def _unescape(match: re.Match[str]) -> str:
    return chr(0xDC00 + int(match[1], 16)) if match[1] else "\\"
