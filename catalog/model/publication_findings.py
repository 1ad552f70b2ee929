"""Findings that the catalog adds: on content that waits, and on names that look alike.

They alone depend on earlier content or on other skills; all others follow from the folder.
"""

from catalog.model.finding import NEVER, OURS, Finding, FindingType

_SOURCE = f"{OURS}, publication"

LAST_GOOD_VERSION_STANDS = FindingType(
    "last-good-version-stands",
    "warning",
    "reading",
    NEVER,
    "The newest content is not accepted, so the last good version stays published.",
    "Mend the errors that are said of this skill; its content is then published by itself.",
    _SOURCE,
)
VERSION_HELD = FindingType(
    "version-held",
    "info",
    "reading",
    NEVER,
    "The skill is held at an earlier version by `skilldrop rollback`.",
    "Run `skilldrop unpin` with its name to publish what the folder holds.",
    _SOURCE,
)
NAME_CONFUSABLE = FindingType(
    "name-confusable",
    "warning",
    "safety",
    NEVER,
    "The name looks like that of another active skill, or mixes scripts within a word.",
    "Make sure that it is the skill you want; rename one of the two in letters of one script.",
    _SOURCE,
)
TYPES = (LAST_GOOD_VERSION_STANDS, VERSION_HELD, NAME_CONFUSABLE)
CODES = tuple(kind.code for kind in TYPES)


def held(version: str) -> Finding:
    """Return the finding about a skill that is held at a version, whatever its folder holds."""
    return VERSION_HELD.at(
        f"The skill is held at version {version}; what its folder holds is "
        "recorded and not published."
    )
