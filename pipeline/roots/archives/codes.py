"""Findings about a rejected archive, in which nothing is read."""

from catalog.model.finding import FindingTypes

TYPES = FindingTypes("reading")

ARCHIVE_WITHOUT_SKILL = TYPES.rejection(
    "archive-without-skill",
    "The archive holds no SKILL.md.",
    "Pack the skill's folder with its SKILL.md, or remove the archive.",
)
ARCHIVE_TRUNCATED = TYPES.rejection(
    "archive-truncated",
    "The archive is truncated.",
    "Copy it again; it is read as soon as it is complete.",
)
ARCHIVE_CORRUPT = TYPES.rejection(
    "archive-corrupt",
    "The archive is damaged, or its format does not match its name.",
    "Create it again, and copy it again.",
)
ARCHIVE_UNREADABLE = TYPES.rejection(
    "archive-unreadable",
    "The archive cannot be read.",
    "Give the service permission to read it, or remove it.",
)
ARCHIVE_ENCRYPTED = TYPES.rejection(
    "archive-encrypted", "The archive is encrypted.", "Pack it without a password."
)
ARCHIVE_COMPRESSION = TYPES.rejection(
    "archive-compression",
    "The compression method of the archive is not supported.",
    "Pack it again with the usual method, deflate.",
)
ARCHIVE_TOO_MANY_MEMBERS = TYPES.rejection(
    "archive-too-many-members",
    "The archive holds more files and directories than the limit.",
    "Remove what agents do not need, or raise limits.archive_members.",
)
ARCHIVE_TOO_LARGE = TYPES.rejection(
    "archive-too-large",
    "The archive is larger than the limit, packed or unpacked.",
    "Remove what agents do not need, or raise limits.archive_bytes.",
)
ARCHIVE_BOMB = TYPES.rejection(
    "archive-bomb",
    "The archive would expand so much that it may be a decompression bomb.",
    "Remove the files that consist only of repeated bytes.",
)
ARCHIVE_PATH_UNSAFE = TYPES.rejection(
    "archive-path-unsafe",
    "The path of an entry leads out of the archive, at least on some systems.",
    "Pack the folder itself, with short, plain, relative paths.",
)
ARCHIVE_NAME_NOT_UTF8 = TYPES.rejection(
    "archive-name-not-utf8",
    "The name of an entry is not valid UTF-8.",
    "Pack it with a program that writes names in UTF-8.",
)
ARCHIVE_LINK_LEAVES = TYPES.rejection(
    "archive-link-leaves",
    "A link in the archive leads out of it.",
    "Replace the link with a copy of its target.",
)
ARCHIVE_HARD_LINK = TYPES.rejection(
    "archive-hard-link",
    "The archive holds a hard link.",
    "Pack copies instead; GNU tar has the option --hard-dereference.",
)
ARCHIVE_SPECIAL_MEMBER = TYPES.rejection(
    "archive-special-member",
    "The archive holds an entry that is neither a file, a directory nor a link.",
    "Pack only regular files and directories.",
)
ARCHIVE_DUPLICATE_MEMBER = TYPES.rejection(
    "archive-duplicate-member",
    "The archive holds two entries with the same path.",
    "Create the archive again instead of adding to it.",
)
ARCHIVE_NAMES_COLLIDE = TYPES.rejection(
    "archive-names-collide",
    "Two paths in the archive differ only in case or in Unicode normalization.",
    "Rename one of them; on many systems one file would overwrite the other.",
)
