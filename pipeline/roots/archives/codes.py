"""Findings about archives as a whole: why nothing in one is read."""

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
    "The archive ends before its end, as one that is not copied whole.",
    "Copy it again; it is read when the rest is there.",
)
ARCHIVE_CORRUPT = _refusal(
    "archive-corrupt",
    "The archive is damaged, or is not of the kind that its name says.",
    "Pack and copy it again.",
)
ARCHIVE_UNREADABLE = _refusal(
    "archive-unreadable",
    "The archive cannot be read.",
    "Give the service the right to read it, or remove it.",
)
ARCHIVE_ENCRYPTED = _refusal(
    "archive-encrypted",
    "The archive is encrypted.",
    "Pack it without a password.",
)
ARCHIVE_COMPRESSION = _refusal(
    "archive-compression",
    "The archive is compressed in a way that is not read here.",
    "Pack it again with the usual method, deflate.",
)
ARCHIVE_TOO_MANY_MEMBERS = _refusal(
    "archive-too-many-members",
    "The archive holds more files and directories than the limit.",
    "Remove what agents do not need, or raise the limit in the settings.",
)
ARCHIVE_TOO_LARGE = _refusal(
    "archive-too-large",
    "The archive is larger than the limit, or becomes so when unpacked.",
    "Remove what agents do not need, or raise the limit in the settings.",
)
ARCHIVE_BOMB = _refusal(
    "archive-bomb",
    "The archive would become so many times larger when unpacked that nothing in it is read.",
    "Remove the files that consist of nothing but repetition.",
)
ARCHIVE_PATH_UNSAFE = _refusal(
    "archive-path-unsafe",
    "The path of a member leads out of the archive, or would on some system.",
    "Pack the folder itself, with paths that are relative, plain and not too long.",
)
ARCHIVE_NAME_NOT_UTF8 = _refusal(
    "archive-name-not-utf8",
    "The name of a member is not valid UTF-8, so that nobody knows what it is called.",
    "Pack it with a program that writes names in UTF-8.",
)
ARCHIVE_LINK_LEAVES = _refusal(
    "archive-link-leaves",
    "A link in the archive leads out of it.",
    "Replace the link with a copy of what it leads to.",
)
ARCHIVE_HARD_LINK = _refusal(
    "archive-hard-link",
    "The archive holds a hard link.",
    "Pack it with copies instead; GNU tar does so with --hard-dereference.",
)
ARCHIVE_SPECIAL_MEMBER = _refusal(
    "archive-special-member",
    "The archive holds something that is neither a file, a directory nor a link.",
    "Pack regular files and directories only.",
)
ARCHIVE_DUPLICATE_MEMBER = _refusal(
    "archive-duplicate-member",
    "The archive holds two members of one path, so that nobody knows which is meant.",
    "Pack it again instead of adding to it.",
)
ARCHIVE_NAMES_COLLIDE = _refusal(
    "archive-names-collide",
    "Two paths in the archive differ only in case or in how Unicode writes a character.",
    "Rename one of them; on many systems the one would overwrite the other.",
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
