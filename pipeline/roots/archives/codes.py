"""Findings that reject an archive as a whole."""

from catalog.model.finding import ALWAYS, OURS, FindingType

_SOURCE = f"{OURS}, archives"


def _refusal(code: str, summary: str, fix: str) -> FindingType:
    return FindingType(code, "error", "reading", ALWAYS, summary, fix, _SOURCE)


ARCHIVE_WITHOUT_SKILL = _refusal(
    "archive-without-skill",
    "The archive holds no SKILL.md.",
    "Pack the skill's folder with its SKILL.md, or remove the archive.",
)
ARCHIVE_TRUNCATED = _refusal(
    "archive-truncated",
    "The archive is truncated.",
    "Copy it again; it is read as soon as it is complete.",
)
ARCHIVE_CORRUPT = _refusal(
    "archive-corrupt",
    "The archive is damaged, or its format does not match its name.",
    "Pack and copy it again.",
)
ARCHIVE_UNREADABLE = _refusal(
    "archive-unreadable",
    "The archive cannot be read.",
    "Give the service permission to read it, or remove it.",
)
ARCHIVE_ENCRYPTED = _refusal(
    "archive-encrypted",
    "The archive is encrypted.",
    "Pack it without a password.",
)
ARCHIVE_COMPRESSION = _refusal(
    "archive-compression",
    "The archive uses a compression method that is not supported.",
    "Pack it again with the usual method, deflate.",
)
ARCHIVE_TOO_MANY_MEMBERS = _refusal(
    "archive-too-many-members",
    "The archive holds more files and directories than the limit.",
    "Remove what agents do not need, or raise the limit in the settings.",
)
ARCHIVE_TOO_LARGE = _refusal(
    "archive-too-large",
    "The archive is larger than the limit, packed or unpacked.",
    "Remove what agents do not need, or raise the limit in the settings.",
)
ARCHIVE_BOMB = _refusal(
    "archive-bomb",
    "The archive's compression ratio is above the limit, so nothing in it is read.",
    "Remove files that consist only of repeated data.",
)
ARCHIVE_PATH_UNSAFE = _refusal(
    "archive-path-unsafe",
    "The path of a member leads outside the archive, at least on some systems.",
    "Pack the folder itself, with plain, relative paths that are not too long.",
)
ARCHIVE_NAME_NOT_UTF8 = _refusal(
    "archive-name-not-utf8",
    "The name of a member is not valid UTF-8, so the intended name is unknown.",
    "Pack it with a program that stores names in UTF-8.",
)
ARCHIVE_LINK_LEAVES = _refusal(
    "archive-link-leaves",
    "A link in the archive points outside it.",
    "Replace the link with a copy of its target.",
)
ARCHIVE_HARD_LINK = _refusal(
    "archive-hard-link",
    "The archive holds a hard link.",
    "Pack it with copies instead; GNU tar does so with --hard-dereference.",
)
ARCHIVE_SPECIAL_MEMBER = _refusal(
    "archive-special-member",
    "The archive holds a member that is neither a file, a directory nor a link.",
    "Pack regular files and directories only.",
)
ARCHIVE_DUPLICATE_MEMBER = _refusal(
    "archive-duplicate-member",
    "The archive holds two members with the same path, so it is unclear which one is meant.",
    "Create the archive again instead of adding to it.",
)
ARCHIVE_NAMES_COLLIDE = _refusal(
    "archive-names-collide",
    "Two paths in the archive differ only in case or in Unicode normalisation.",
    "Rename one of them; on many systems, one would overwrite the other.",
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
