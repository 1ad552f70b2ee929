"""Findings about a rejected archive, in which nothing is read."""

from catalog.model.finding import ALWAYS, OURS, FindingType

_SOURCE = f"{OURS}, archives"


def _rejection(code: str, summary: str, fix: str) -> FindingType:
    return FindingType(code, "error", "reading", ALWAYS, summary, fix, _SOURCE)


ARCHIVE_WITHOUT_SKILL = _rejection(
    "archive-without-skill",
    "The archive holds no SKILL.md.",
    "Pack the skill's folder with its SKILL.md, or remove the archive.",
)
ARCHIVE_TRUNCATED = _rejection(
    "archive-truncated",
    "The archive is truncated.",
    "Copy it again; it is read as soon as it is complete.",
)
ARCHIVE_CORRUPT = _rejection(
    "archive-corrupt",
    "The archive is damaged, or its format does not match its name.",
    "Create it again, and copy it again.",
)
ARCHIVE_UNREADABLE = _rejection(
    "archive-unreadable",
    "The archive cannot be read.",
    "Give the service permission to read it, or remove it.",
)
ARCHIVE_ENCRYPTED = _rejection(
    "archive-encrypted",
    "The archive is encrypted.",
    "Pack it without a password.",
)
ARCHIVE_COMPRESSION = _rejection(
    "archive-compression",
    "The compression method of the archive is not supported.",
    "Pack it again with the usual method, deflate.",
)
ARCHIVE_TOO_MANY_MEMBERS = _rejection(
    "archive-too-many-members",
    "The archive holds more files and directories than the limit.",
    "Remove what agents do not need, or raise limits.archive_members.",
)
ARCHIVE_TOO_LARGE = _rejection(
    "archive-too-large",
    "The archive is larger than the limit, packed or unpacked.",
    "Remove what agents do not need, or raise limits.archive_bytes.",
)
ARCHIVE_BOMB = _rejection(
    "archive-bomb",
    "The archive would expand so much that it may be a decompression bomb.",
    "Remove the files that consist only of repeated bytes.",
)
ARCHIVE_PATH_UNSAFE = _rejection(
    "archive-path-unsafe",
    "The path of an entry leads out of the archive, at least on some systems.",
    "Pack the folder itself, with short, plain, relative paths.",
)
ARCHIVE_NAME_NOT_UTF8 = _rejection(
    "archive-name-not-utf8",
    "The name of an entry is not valid UTF-8.",
    "Pack it with a program that writes names in UTF-8.",
)
ARCHIVE_LINK_LEAVES = _rejection(
    "archive-link-leaves",
    "A link in the archive leads out of it.",
    "Replace the link with a copy of its target.",
)
ARCHIVE_HARD_LINK = _rejection(
    "archive-hard-link",
    "The archive holds a hard link.",
    "Pack copies instead; GNU tar has the option --hard-dereference.",
)
ARCHIVE_SPECIAL_MEMBER = _rejection(
    "archive-special-member",
    "The archive holds an entry that is neither a file, a directory nor a link.",
    "Pack only regular files and directories.",
)
ARCHIVE_DUPLICATE_MEMBER = _rejection(
    "archive-duplicate-member",
    "The archive holds two entries with the same path.",
    "Create the archive again instead of adding to it.",
)
ARCHIVE_NAMES_COLLIDE = _rejection(
    "archive-names-collide",
    "Two paths in the archive differ only in case or in Unicode normalization.",
    "Rename one of them; on many systems one file would overwrite the other.",
)
TYPES = (
    ARCHIVE_WITHOUT_SKILL,
    ARCHIVE_TRUNCATED,
    ARCHIVE_CORRUPT,
    ARCHIVE_UNREADABLE,
    ARCHIVE_ENCRYPTED,
    ARCHIVE_COMPRESSION,
    ARCHIVE_TOO_MANY_MEMBERS,
    ARCHIVE_TOO_LARGE,
    ARCHIVE_BOMB,
    ARCHIVE_PATH_UNSAFE,
    ARCHIVE_NAME_NOT_UTF8,
    ARCHIVE_LINK_LEAVES,
    ARCHIVE_HARD_LINK,
    ARCHIVE_SPECIAL_MEMBER,
    ARCHIVE_DUPLICATE_MEMBER,
    ARCHIVE_NAMES_COLLIDE,
)
