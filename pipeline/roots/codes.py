"""Findings of reading a folder from disk, before any rule is applied."""

from catalog.model.finding import SPECIFICATION, FindingTypes

_SPEC = FindingTypes("spec", f"{SPECIFICATION}, Directory structure")
_READING = FindingTypes("reading")

SKILL_MD_MISSING = _SPEC.rejection(
    "skill-md-missing",
    "Neither this folder nor any folder below contains a SKILL.md.",
    "Give the path of a skill's folder, or add a SKILL.md to this one.",
)
SKILL_MD_NOT_A_FILE = _SPEC.rejection(
    "skill-md-not-a-file", "SKILL.md is not a regular file.", "Replace it with a text file."
)
SKILL_MD_OTHER_CASE = _READING.warning(
    "skill-md-other-case",
    "The letter case of the name SKILL.md is wrong.",
    "Rename it to SKILL.md; some clients accept only this spelling.",
    f"{SPECIFICATION}, Directory structure",
)
SKILL_MD_TWICE = _READING.rejection(
    "skill-md-twice",
    "The folder has two SKILL.md files whose names differ only in case.",
    "Keep one of them, named SKILL.md.",
)
SKILL_MD_IN_ROOT = _READING.rejection(
    "skill-md-in-root",
    "SKILL.md lies directly in the root, so it does not belong to a skill.",
    "Create a folder for the skill, and move SKILL.md and its files into it.",
)
SKILL_MD_TOO_LARGE = _READING.rejection(
    "skill-md-too-large",
    "SKILL.md is larger than the limit.",
    "Move details into files under references/, or raise limits.skill_md_bytes.",
)
TOO_MANY_FILES = _READING.rejection(
    "too-many-files",
    "The folder contains more files or directories than the limit.",
    "Remove what agents do not need, or raise limits.files.",
)
FOLDER_TOO_LARGE = _READING.rejection(
    "folder-too-large",
    "The folder is larger than the limit.",
    "Remove what agents do not need, or raise limits.bytes.",
)
FOLDER_TOO_DEEP = _READING.rejection(
    "folder-too-deep",
    "The directory is deeper below its root than the limit; nothing in it is read.",
    "Move it up, or raise limits.depth.",
)
FILE_UNREADABLE = _READING.rejection(
    "file-unreadable",
    "The file cannot be read; without it the skill is incomplete.",
    "Give the service permission to read it, or remove it.",
)
DIRECTORY_UNREADABLE = _READING.rejection(
    "directory-unreadable",
    "The directory cannot be listed, so its contents are unknown.",
    "Give the service permission to list and enter it, or remove it.",
)
INTERNAL_ERROR = _READING.rejection(
    "internal-error",
    "Internal error: skilldrop failed on this folder; other folders are not affected.",
    "Please report it with the folder; the folder is tried again when it changes.",
)
IGNORE_FILE_REFUSED = _READING.rejection(
    "ignore-file-refused",
    "An ignore file cannot be used, so nothing is read.",
    "Correct the ignore file, or give the service permission to read it.",
)
IGNORE_PATTERN_UNUSABLE = _READING.warning(
    "ignore-pattern-unusable",
    "An ignore file of the root has a pattern that cannot be matched; it excludes nothing.",
    "Correct the pattern. The other patterns of the file count.",
)
FOLDER_IGNORED = _READING.info(
    "folder-ignored",
    "A .gitignore file excludes the folder or archive; nothing in it is read.",
    "Change the pattern, or write its opposite, with !, into a .skillignore; without skills in it, "
    "repeat the pattern there.",
)
SKILL_MD_MISNAMED = _READING.warning(
    "skill-md-misnamed",
    "The name of this file resembles SKILL.md, which its folder lacks.",
    "Rename it to SKILL.md.",
)
ARCHIVE_NOT_READ = _READING.warning(
    "archive-not-read", "Archives of this kind are not read.", "Pack the skill as .zip or .tar.gz."
)
FILE_OUTSIDE_SKILLS = _READING.info(
    "file-outside-skills",
    "The file lies directly in the root and belongs to no skill.",
    "Move it into the folder of its skill, make it the SKILL.md of a new folder, or name it in a "
    ".skillignore.",
)
FOLDER_WITHOUT_SKILL = _READING.info(
    "folder-without-skill",
    "The folder is not a skill, because it contains no SKILL.md.",
    "Add a SKILL.md to make it a skill, or name the folder in a .skillignore.",
)
SECRET_LEFT_OUT = _READING.warning(
    "secret-left-out",
    "A file with a key, a token or a password is left out of the published skill.",
    "Remove it from the folder, and revoke it if others could read this folder.",
)
SECRET_REFUSED = _READING.rejection(
    "secret-refused",
    "A file contains a key, a token or a password, so this state of the skill is not published.",
    "Remove it from the folder, and revoke it if others could read this folder.",
)
SECRET_PUBLISHED = _READING.warning(
    "secret-published",
    "A file with a key, a token or a password is published, as its root allows.",
    "Revoke and remove it, or set secrets of the root to leave-out.",
)
GIT_LFS_POINTER = _READING.warning(
    "git-lfs-pointer",
    "The file is a pointer of Git LFS, and agents get it instead of the file's content.",
    "Commit the file itself without Git LFS, or fetch its content with `git lfs pull`.",
)
READ_FAILED = _READING.rejection(
    "read-failed",
    "The disk, the file system or the file server reported an error.",
    "Check the system log (dmesg) and the disk or the share; a running service tries again.",
)
SPECIAL_FILE = _READING.warning(
    "special-file",
    "This is a pipe, a socket or a device; it is ignored.",
    "Remove it; a skill consists of regular files.",
)
NAME_NOT_UTF8 = _READING.warning(
    "name-not-utf8",
    "The name is not valid UTF-8.",
    "Rename it; agents and browsers may not be able to open it.",
)
LINK_LEAVES_ROOT = _READING.warning(
    "link-leaves-root",
    "The link leads out of the root; it is ignored.",
    "Replace it with a copy of its target, make the target a root, or remove the link.",
)
LINK_DANGLING = _READING.warning(
    "link-dangling",
    "The target of the link does not exist or cannot be reached; the link is ignored.",
    "Remove it, or restore its target.",
)
LINK_LOOP = _READING.warning(
    "link-loop",
    "The link leads back to itself or to a directory above it; it is ignored.",
    "Remove it.",
)
LINK_BEHIND_LINK = _READING.warning(
    "link-behind-link",
    "The directory is reached through two links in a row; it is ignored.",
    "Link to the directory itself; its contents are read at their own path.",
)
# Findings about a rejected archive, in which nothing is read

ARCHIVE_WITHOUT_SKILL = _READING.rejection(
    "archive-without-skill",
    "The archive contains no SKILL.md; archives inside it are not read.",
    "Pack the skill's folder with its SKILL.md, or remove the archive.",
)
ARCHIVE_CORRUPT = _READING.rejection(
    "archive-corrupt",
    "The archive is damaged or incomplete, or its format does not match its name.",
    "Copy it again, or create it again; it is read as soon as it is whole.",
)
ARCHIVE_UNREADABLE = _READING.rejection(
    "archive-unreadable",
    "The archive cannot be read.",
    "Give the service permission to read it, or remove it.",
)
ARCHIVE_ENCRYPTED = _READING.rejection(
    "archive-encrypted", "The archive is encrypted.", "Pack it without a password."
)
ARCHIVE_COMPRESSION = _READING.rejection(
    "archive-compression",
    "The compression method of the archive is not supported.",
    "Pack it again with the usual method, deflate.",
)
ARCHIVE_TOO_MANY_MEMBERS = _READING.rejection(
    "archive-too-many-members",
    "The archive contains more files and directories than the limit.",
    "Remove what agents do not need, or raise limits.archive_members.",
)
ARCHIVE_TOO_LARGE = _READING.rejection(
    "archive-too-large",
    "The archive is larger than the limit, packed or unpacked.",
    "Remove what agents do not need, or raise limits.archive_bytes.",
)
ARCHIVE_BOMB = _READING.rejection(
    "archive-bomb",
    "The archive would expand so much that it may be a decompression bomb.",
    "Remove the files that consist only of repeated bytes.",
)
ARCHIVE_PATH_UNSAFE = _READING.rejection(
    "archive-path-unsafe",
    "The path of an entry leads out of the archive, at least on some systems.",
    "Pack the folder itself, with short, plain, relative paths.",
)
ARCHIVE_NAME_NOT_UTF8 = _READING.rejection(
    "archive-name-not-utf8",
    "The name of an entry is not valid UTF-8.",
    "Pack it with a program that writes names in UTF-8.",
)
ARCHIVE_LINK_LEAVES = _READING.rejection(
    "archive-link-leaves",
    "A link in the archive leads out of it.",
    "Replace the link with a copy of its target.",
)
ARCHIVE_SPECIAL_MEMBER = _READING.rejection(
    "archive-special-member",
    "The archive contains an entry that is neither a file, a directory nor a symbolic link.",
    "Pack only regular files and directories; GNU tar has the option --hard-dereference.",
)
ARCHIVE_DUPLICATE_MEMBER = _READING.rejection(
    "archive-duplicate-member",
    "The archive contains two entries with the same path, at least on some systems.",
    "Rename one of them, or create the archive again instead of adding to it.",
)
TYPES = (*_SPEC, *_READING)

OUTSIDE_SKILLS = frozenset(
    kind.code
    for kind in (
        SKILL_MD_MISNAMED,
        ARCHIVE_NOT_READ,
        FILE_OUTSIDE_SKILLS,
        FOLDER_WITHOUT_SKILL,
        FOLDER_IGNORED,
    )
)
"""Codes of findings about a root's contents beside its skills."""
