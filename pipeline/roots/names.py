"""Ignore rules for names on disk, and the spellings of SKILL.md."""

from functools import lru_cache

SKILL_MD = "SKILL.md"
COMMON_SPELLINGS = (SKILL_MD, "skill.md", "Skill.md", "SKILL.MD")

_JUNK = frozenset(
    {
        # version control
        ".git",
        ".hg",
        ".svn",
        ".jj",
        # files installed or cached by tools; `venv` without its dot may be a skill's name
        "node_modules",
        "__pycache__",
        ".venv",
        ".tox",
        ".nox",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        # desktops and file systems
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
        # bookkeeping and old copies of servers and synchronisers
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
        # the file with which vim tests its write permission
        "4913",
    }
)
_JUNK_STARTS = (
    "._",  # macOS resource forks
    ".Trash-",  # freedesktop.org
    ".nfs",
    ".fuse_hidden",  # deleted while open
    ".goutputstream-",  # GNOME, before the rename
    ".~lock.",
    "~$",  # LibreOffice, Microsoft Office
    ".#",  # Emacs locks
    ".skilldrop-",  # skilldrop's own copies before the rename
)
_JUNK_ENDS = (
    ".part",
    ".partial",
    ".crdownload",
    ".tmp",  # still arriving
    ".swp",
    ".swo",
    "~",  # vim, and backups of most editors
)

_CACHED_NAMES = 4096  # most skills use the same names


@lru_cache(_CACHED_NAMES)
def is_junk(name: str) -> bool:
    """Whether a file or directory of this name is ignored everywhere."""
    return (
        name in _JUNK
        or name.startswith(_JUNK_STARTS)
        or name.endswith(_JUNK_ENDS)
        or (len(name) > 1 and name[0] == "#" == name[-1])  # Emacs auto-save
    )


@lru_cache(_CACHED_NAMES)
def is_skill_md(name: str) -> bool:
    """Whether this is SKILL.md in any mixture of upper and lower case."""
    return len(name) == len(SKILL_MD) and name.lower() == "skill.md"
