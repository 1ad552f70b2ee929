"""Findings met while a folder is read from disk, before any rule is asked."""

from pipeline.findings.finding_type import ALWAYS, NEVER, OURS, SPECIFICATION, FindingType

_LIMITS = f"{OURS}, limits"
_LINKS = f"{OURS}, links"
_FILES = f"{OURS}, what is read"

TYPES = (
    FindingType(
        "skill-md-missing", "error", "spec", ALWAYS,
        "There is no SKILL.md here, nor in any folder below.",
        "Name the skill's folder, or give it a SKILL.md.",
        f"{SPECIFICATION}, Directory structure",
    ),
    FindingType(
        "skill-md-not-a-file", "error", "spec", ALWAYS,
        "SKILL.md is not a regular file.",
        "Replace it with a text file.",
        f"{SPECIFICATION}, Directory structure",
    ),
    FindingType(
        "skill-md-other-case", "warning", "reading", NEVER,
        "SKILL.md is spelled with other upper and lower case letters.",
        "Rename it to SKILL.md; some clients find it under no other name.",
        f"{SPECIFICATION}, Directory structure",
    ),
    FindingType(
        "skill-md-twice", "error", "reading", ALWAYS,
        "The folder holds SKILL.md in two spellings.",
        "Keep one of them, named SKILL.md.",
        _FILES,
    ),
    FindingType(
        "skill-md-in-root", "error", "reading", ALWAYS,
        "SKILL.md lies directly in the root, where it is no skill.",
        "Make a folder for the skill and move SKILL.md with its files into it.",
        _FILES,
    ),
    FindingType(
        "skill-md-too-large", "error", "reading", ALWAYS,
        "SKILL.md is larger than the limit.",
        "Move detail into files under references/, or raise the limit in the settings.",
        _LIMITS,
    ),
    FindingType(
        "too-many-files", "error", "reading", ALWAYS,
        "The folder holds more files or directories than the limit.",
        "Remove what agents do not need, or raise the limit in the settings.",
        _LIMITS,
    ),
    FindingType(
        "folder-too-large", "error", "reading", ALWAYS,
        "The folder is larger than the limit.",
        "Remove what agents do not need, or raise the limit in the settings.",
        _LIMITS,
    ),
    FindingType(
        "folder-too-deep", "error", "reading", ALWAYS,
        "The directory lies deeper below its root than the limit; nothing in it is read.",
        "Move it further up, or raise the limit in the settings.",
        _LIMITS,
    ),
    FindingType(
        "file-unreadable", "error", "reading", ALWAYS,
        "The file cannot be read, and without it the skill is incomplete.",
        "Give the service the right to read it, or remove it.",
        _FILES,
    ),
    FindingType(
        "directory-unreadable", "error", "reading", ALWAYS,
        "The directory cannot be listed, so that nobody knows what it holds.",
        "Give the service the right to list and enter it, or remove it.",
        _FILES,
    ),
    FindingType(
        "read-failed", "error", "reading", ALWAYS,
        "The system reported an error of the disk, the file system or its server.",
        "Look at the system's log (dmesg) and at the disk or the share; a service tries again.",
        _FILES,
    ),
    FindingType(
        "special-file", "warning", "reading", NEVER,
        "This is a pipe, a socket or a device, and is left out.",
        "Remove it; a skill consists of regular files.",
        _FILES,
    ),
    FindingType(
        "name-not-utf8", "warning", "reading", NEVER,
        "The name is not valid UTF-8.",
        "Rename it; agents and browsers may not be able to ask for it.",
        _FILES,
    ),
    FindingType(
        "link-leaves-root", "warning", "reading", NEVER,
        "The link leads out of the root and is left out.",
        "Replace it with a copy of what it leads to.",
        _LINKS,
    ),
    FindingType(
        "link-dangling", "warning", "reading", NEVER,
        "The link leads to nothing that can be reached and is left out.",
        "Remove it, or restore what it leads to.",
        _LINKS,
    ),
    FindingType(
        "link-loop", "warning", "reading", NEVER,
        "The link leads back to itself or to a directory that holds it, and is left out.",
        "Remove it.",
        _LINKS,
    ),
    FindingType(
        "hard-link-refused", "error", "reading", ALWAYS,
        "A file has another name outside the skill's folder, and the settings refuse such files.",
        "Replace it with a copy (cp --remove-destination), or set limits.hard_links to report.",
        _LINKS,
    ),
    FindingType(
        "link-behind-link", "warning", "reading", NEVER,
        "The directory is reached through two links, one behind the other, and is left out.",
        "Link to the directory itself; what it holds is read at its own place.",
        _LINKS,
    ),
)
