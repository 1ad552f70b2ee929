"""Names on disk that are left out everywhere, and the spellings of SKILL.md."""

from collections.abc import Mapping
from functools import lru_cache

SKILL_MD = "SKILL.md"
COMMON_SPELLINGS = (SKILL_MD, "skill.md", "Skill.md", "SKILL.MD")
"""Spellings that are looked for on the way to a path, where no directory is listed."""

# Names that are left out of every skill and are not looked into, by their kind.
_NAMES: Mapping[str, frozenset[str]] = {
    "version control": frozenset({".git", ".hg", ".svn", ".jj"}),
    # `venv` without its dot may be a skill's name
    "installed or cached by a tool": frozenset(
        {
            "node_modules",
            "__pycache__",
            ".venv",
            ".tox",
            ".nox",
            ".mypy_cache",
            ".pytest_cache",
            ".ruff_cache",
        }
    ),
    "of a desktop or file system": frozenset(
        {
            ".DS_Store",
            ".AppleDouble",
            ".Spotlight-V100",
            ".Trashes",
            ".fseventsd",
            ".TemporaryItems",
            ".DocumentRevisions-V100",
            "__MACOSX",
            "Thumbs.db",
            "desktop.ini",
            "Desktop.ini",
            "$RECYCLE.BIN",
            "System Volume Information",
            ".directory",
            "lost+found",
        }
    ),
    "of a server or synchroniser": frozenset(
        {
            "@eaDir",
            "#recycle",
            "#snapshot",
            ".snapshot",
            ".snapshots",
            "~snapshot",
            ".zfs",
            ".stfolder",
            ".stversions",
            ".dropbox.cache",
            ".~tmp~",
        }
    ),
    "temporary file of an editor": frozenset({"4913"}),  # vim tests its write permission with it
}
_STARTS: Mapping[str, tuple[str, ...]] = {
    "of a desktop or file system": ("._", ".Trash-"),  # macOS resource forks; freedesktop.org
    "deleted while open": (".nfs", ".fuse_hidden"),
    "temporary file of an editor": (
        ".goutputstream-",  # GNOME, before the rename
        ".~lock.",
        "~$",  # LibreOffice, Microsoft Office
        ".#",  # Emacs locks
    ),
    "copy that is not complete": (".skilldrop-",),  # skilldrop's own, before the rename
}
_ENDS: Mapping[str, tuple[str, ...]] = {
    "copy that is not complete": (".part", ".partial", ".crdownload", ".tmp"),
    "temporary file of an editor": (".swp", ".swo", "~"),  # vim, and backups of most editors
}

_CACHED_NAMES = 256  # most skills use the same names; of other names, each is asked for once


@lru_cache(_CACHED_NAMES)
def is_junk(name: str) -> bool:
    """Whether a file or directory of this name is ignored everywhere."""
    return bool(why_junk(name))


def why_junk(name: str) -> str:
    """Return the kind of names for which a file or directory is ignored; "" if it is not."""
    for kind, names in _NAMES.items():
        if name in names:
            return kind
    for kind, starts in _STARTS.items():
        if name.startswith(starts):
            return kind
    for kind, ends in _ENDS.items():
        if name.endswith(ends):
            return kind
    is_auto_save = len(name) > 1 and name[0] == "#" == name[-1]  # of Emacs
    return "temporary file of an editor" if is_auto_save else ""


@lru_cache(_CACHED_NAMES)
def is_skill_md(name: str) -> bool:
    """Whether this is SKILL.md in any mixture of upper and lower case."""
    return len(name) == len(SKILL_MD) and name.lower() == "skill.md"
