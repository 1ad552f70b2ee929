"""Findings that the catalog adds: on unpublished content, on names that look alike, on references.

Only these depend on earlier content or on other skills; all others depend on the folder alone.
"""

from catalog.model.finding import NEVER, OURS, Finding, FindingType

_SOURCE = f"{OURS}, publication"

LAST_GOOD_VERSION_STANDS = FindingType(
    "last-good-version-stands",
    "warning",
    "reading",
    NEVER,
    "The newest content was rejected, so the last good version stays published.",
    "Fix the errors of this skill; its new content is then published automatically.",
    _SOURCE,
)
VERSION_HELD = FindingType(
    "version-held",
    "info",
    "reading",
    NEVER,
    "The skill is held at an earlier version by `skilldrop rollback`.",
    "Run `skilldrop unpin` with its name to publish the content of its folder.",
    _SOURCE,
)
NAME_CONFUSABLE = FindingType(
    "name-confusable",
    "warning",
    "safety",
    NEVER,
    "The name looks like that of another active skill, or mixes scripts within a word.",
    "Check that it is the skill you want; rename one of the two in letters of one script.",
    _SOURCE,
)
REFERENCE_BROKEN = FindingType(
    "skill-reference-broken",
    "warning",
    "reading",
    NEVER,
    "Agents cannot follow a link out of the skill's folder: the published skills lie side by side, "
    "each under its name, and nothing else lies there.",
    "Link to a published skill as `../its-name/SKILL.md`, or copy the file into the folder.",
    _SOURCE,
)
DEPENDENCY_MISSING = FindingType(
    "dependency-missing",
    "warning",
    "reading",
    NEVER,
    "A skill that it declares to need is not published.",
    "Add that skill, or correct its name.",
    _SOURCE,
)
TYPES = (
    LAST_GOOD_VERSION_STANDS,
    VERSION_HELD,
    NAME_CONFUSABLE,
    REFERENCE_BROKEN,
    DEPENDENCY_MISSING,
)
CODES = tuple(kind.code for kind in TYPES)
ON_OTHERS = (NAME_CONFUSABLE.code, REFERENCE_BROKEN.code, DEPENDENCY_MISSING.code)
"""Codes of the findings that change with other skills, while the folder stays as it is."""


def held(version: str) -> Finding:
    """Return the finding for a skill held at a version."""
    return VERSION_HELD.at(
        f"The skill is held at version {version}; the content of its folder "
        "is recorded but not published."
    )
