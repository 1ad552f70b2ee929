"""Findings of reading a folder from disk, before any rule is applied."""

from catalog.model.finding import ALWAYS, NEVER, OURS, SPECIFICATION, FindingType

_LIMITS = f"{OURS}, limits"
_LINKS = f"{OURS}, links"
_FILES = f"{OURS}, files read"
_IGNORED = f"{OURS}, ignore files"
_SECRETS = f"{OURS}, secrets"

SKILL_MD_MISSING = FindingType(
    "skill-md-missing",
    "error",
    "spec",
    ALWAYS,
    "Neither this folder nor any folder below holds a SKILL.md.",
    "Give the path of a skill's folder, or add a SKILL.md to this one.",
    f"{SPECIFICATION}, Directory structure",
)
SKILL_MD_NOT_A_FILE = FindingType(
    "skill-md-not-a-file",
    "error",
    "spec",
    ALWAYS,
    "SKILL.md is not a regular file.",
    "Replace it with a text file.",
    f"{SPECIFICATION}, Directory structure",
)
SKILL_MD_OTHER_CASE = FindingType(
    "skill-md-other-case",
    "warning",
    "reading",
    NEVER,
    "The letter case of the name SKILL.md is wrong.",
    "Rename it to SKILL.md; some clients accept only this spelling.",
    f"{SPECIFICATION}, Directory structure",
)
SKILL_MD_TWICE = FindingType(
    "skill-md-twice",
    "error",
    "reading",
    ALWAYS,
    "The folder has two SKILL.md files whose names differ only in case.",
    "Keep one of them, named SKILL.md.",
    _FILES,
)
SKILL_MD_IN_ROOT = FindingType(
    "skill-md-in-root",
    "error",
    "reading",
    ALWAYS,
    "SKILL.md lies directly in the root, so it does not belong to a skill.",
    "Create a folder for the skill, and move SKILL.md and its files into it.",
    _FILES,
)
SKILL_MD_TOO_LARGE = FindingType(
    "skill-md-too-large",
    "error",
    "reading",
    ALWAYS,
    "SKILL.md is larger than the limit.",
    "Move details into files under references/, or raise limits.skill_md_bytes.",
    _LIMITS,
)
TOO_MANY_FILES = FindingType(
    "too-many-files",
    "error",
    "reading",
    ALWAYS,
    "The folder holds more files or directories than the limit.",
    "Remove what agents do not need, or raise limits.files.",
    _LIMITS,
)
FOLDER_TOO_LARGE = FindingType(
    "folder-too-large",
    "error",
    "reading",
    ALWAYS,
    "The folder is larger than the limit.",
    "Remove what agents do not need, or raise limits.bytes.",
    _LIMITS,
)
FOLDER_TOO_DEEP = FindingType(
    "folder-too-deep",
    "error",
    "reading",
    ALWAYS,
    "The directory is deeper below its root than the limit; nothing in it is read.",
    "Move it further up, or raise limits.depth.",
    _LIMITS,
)
FILE_UNREADABLE = FindingType(
    "file-unreadable",
    "error",
    "reading",
    ALWAYS,
    "The file cannot be read; without it the skill is incomplete.",
    "Give the service permission to read it, or remove it.",
    _FILES,
)
DIRECTORY_UNREADABLE = FindingType(
    "directory-unreadable",
    "error",
    "reading",
    ALWAYS,
    "The directory cannot be listed, so its contents are unknown.",
    "Give the service permission to list and enter it, or remove it.",
    _FILES,
)
INTERNAL_ERROR = FindingType(
    "internal-error",
    "error",
    "reading",
    ALWAYS,
    "Internal error: skilldrop failed on this folder; other folders are not affected.",
    "Please report it with the folder; the folder is tried again when it changes.",
    _FILES,
)
IGNORE_FILE_REFUSED = FindingType(
    "ignore-file-refused",
    "error",
    "reading",
    ALWAYS,
    "An ignore file cannot be used, so the files to leave out are unknown; nothing is read.",
    "Correct the ignore file, or give the service permission to read it.",
    _IGNORED,
)
IGNORE_PATTERN_UNUSABLE = FindingType(
    "ignore-pattern-unusable",
    "warning",
    "reading",
    NEVER,
    "An ignore file of the root has a pattern that cannot be matched; it excludes nothing.",
    "Correct the pattern. The other patterns of the file count.",
    _IGNORED,
)
FOLDER_IGNORED = FindingType(
    "folder-ignored",
    "info",
    "reading",
    NEVER,
    "A .gitignore file excludes the folder or archive; nothing in it is read.",
    "If it holds skills, change the pattern, or write its opposite, with !, into a .skillignore; "
    "if not, repeat the pattern there.",
    _IGNORED,
)
SKILL_MD_MISNAMED = FindingType(
    "skill-md-misnamed",
    "warning",
    "reading",
    NEVER,
    "The name of this file resembles SKILL.md, which its folder lacks.",
    "Rename it to SKILL.md.",
    _FILES,
)
ARCHIVE_NOT_READ = FindingType(
    "archive-not-read",
    "warning",
    "reading",
    NEVER,
    "Archives of this kind are not read.",
    "Pack the skill as .zip or .tar.gz.",
    _FILES,
)
FILE_OUTSIDE_SKILLS = FindingType(
    "file-outside-skills",
    "info",
    "reading",
    NEVER,
    "The file lies directly in the root and belongs to no skill.",
    "Move it into the folder of its skill; to make it a skill, name it SKILL.md in a folder of its "
    "own; to leave it there, name it in a .skillignore.",
    _FILES,
)
FOLDER_WITHOUT_SKILL = FindingType(
    "folder-without-skill",
    "info",
    "reading",
    NEVER,
    "The folder is no skill, because it holds no SKILL.md.",
    "Add a SKILL.md to make it a skill, or name the folder in a .skillignore.",
    _FILES,
)
SECRET_LEFT_OUT = FindingType(
    "secret-left-out",
    "warning",
    "reading",
    NEVER,
    "A file with a key, a token or a password is left out of the published skill.",
    "Revoke it at its issuer if others could read this folder, and remove it from the folder.",
    _SECRETS,
)
SECRET_REFUSED = FindingType(
    "secret-refused",
    "error",
    "reading",
    ALWAYS,
    "A file holds a key, a token or a password, so this state of the skill is not published.",
    "Revoke it at its issuer if others could read this folder, and remove it from the folder.",
    _SECRETS,
)
SECRET_PUBLISHED = FindingType(
    "secret-published",
    "warning",
    "reading",
    NEVER,
    "A file with a key, a token or a password is published, as the settings of its root say.",
    "Revoke it at its issuer and remove it, or set secrets of the root to leave-out.",
    _SECRETS,
)
GIT_LFS_POINTER = FindingType(
    "git-lfs-pointer",
    "warning",
    "reading",
    NEVER,
    "The file is a pointer of Git LFS, and agents get it instead of the file's content.",
    "Commit the file itself without Git LFS, or fetch its content with `git lfs pull`.",
    _FILES,
)
READ_FAILED = FindingType(
    "read-failed",
    "error",
    "reading",
    ALWAYS,
    "The system reported an error of the disk, the file system or the file server.",
    "Check the system log (dmesg) and the disk or the share; a running service tries again.",
    _FILES,
)
SPECIAL_FILE = FindingType(
    "special-file",
    "warning",
    "reading",
    NEVER,
    "This is a pipe, a socket or a device; it is ignored.",
    "Remove it; a skill consists of regular files.",
    _FILES,
)
NAME_NOT_UTF8 = FindingType(
    "name-not-utf8",
    "warning",
    "reading",
    NEVER,
    "The name is not valid UTF-8.",
    "Rename it; agents and browsers may not be able to open it.",
    _FILES,
)
LINK_LEAVES_ROOT = FindingType(
    "link-leaves-root",
    "warning",
    "reading",
    NEVER,
    "The link leads out of the root; it is ignored.",
    "Replace it with a copy of its target.",
    _LINKS,
)
LINK_DANGLING = FindingType(
    "link-dangling",
    "warning",
    "reading",
    NEVER,
    "The target of the link does not exist or cannot be reached; the link is ignored.",
    "Remove it, or restore its target.",
    _LINKS,
)
LINK_LOOP = FindingType(
    "link-loop",
    "warning",
    "reading",
    NEVER,
    "The link leads back to itself or to a directory above it; it is ignored.",
    "Remove it.",
    _LINKS,
)
HARD_LINKED_FILE = FindingType(
    "hard-linked-file",
    "warning",
    "safety",
    NEVER,
    "A file has a hard link outside the skill's folder, through which it can be changed.",
    "Replace it with a copy (cp --remove-destination), unless the other link is intended.",
    f"{OURS}, safety",
)
HARD_LINK_REFUSED = FindingType(
    "hard-link-refused",
    "error",
    "reading",
    ALWAYS,
    "A file has a hard link outside the skill's folder, and the settings reject such files.",
    "Replace it with a copy (cp --remove-destination), or set limits.hard_links to report.",
    _LINKS,
)
LINK_BEHIND_LINK = FindingType(
    "link-behind-link",
    "warning",
    "reading",
    NEVER,
    "The directory is reached through two links in a row; it is ignored.",
    "Link to the directory itself; its contents are read at their own path.",
    _LINKS,
)
TYPES = (
    SKILL_MD_MISSING,
    SKILL_MD_NOT_A_FILE,
    SKILL_MD_OTHER_CASE,
    SKILL_MD_TWICE,
    SKILL_MD_IN_ROOT,
    SKILL_MD_TOO_LARGE,
    TOO_MANY_FILES,
    FOLDER_TOO_LARGE,
    FOLDER_TOO_DEEP,
    FILE_UNREADABLE,
    DIRECTORY_UNREADABLE,
    READ_FAILED,
    INTERNAL_ERROR,
    IGNORE_FILE_REFUSED,
    IGNORE_PATTERN_UNUSABLE,
    FOLDER_IGNORED,
    SKILL_MD_MISNAMED,
    ARCHIVE_NOT_READ,
    FILE_OUTSIDE_SKILLS,
    FOLDER_WITHOUT_SKILL,
    SECRET_LEFT_OUT,
    SECRET_REFUSED,
    SECRET_PUBLISHED,
    GIT_LFS_POINTER,
    SPECIAL_FILE,
    NAME_NOT_UTF8,
    LINK_LEAVES_ROOT,
    LINK_DANGLING,
    LINK_LOOP,
    HARD_LINKED_FILE,
    HARD_LINK_REFUSED,
    LINK_BEHIND_LINK,
)

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
