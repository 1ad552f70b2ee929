"""Findings that the catalog adds: of content that is not what is published, of names that clash.

These are the only findings that depend on what was accepted before, or on other skills; all
others are told by the pipeline from the folder alone.
"""

from typing import NamedTuple

from catalog.model.finding import Finding
from catalog.model.values import Severity


class Standing(NamedTuple):
    """A kind of such findings; the pipeline's registry has them, too."""

    code: str
    severity: Severity
    summary: str
    fix: str
    profile: str = "reading"

    def finding(self, message: str) -> Finding:
        """Return a finding of this kind."""
        return Finding(self.code, self.severity, self.profile, message, self.fix)


LAST_GOOD = Standing(
    "last-good-version-stands",
    "warning",
    "The newest content is not accepted, so the last good version stays published.",
    "Mend the errors that are said of this skill; its content is then published by itself.",
)
HELD = Standing(
    "version-held",
    "info",
    "The skill is held at an earlier version by `skilldrop rollback`.",
    "Run `skilldrop unpin` with its name to publish what the folder holds.",
)


CONFUSABLE = Standing(
    "name-confusable",
    "warning",
    "The name looks like that of another active skill, or mixes scripts within a word.",
    "Make sure that it is the skill you want; rename one of the two in letters of one script.",
    "safety",
)
NOT_OF_THE_FOLDER = (LAST_GOOD.code, HELD.code, CONFUSABLE.code)
"""What follows from other content than the folder's present one."""


def last_good() -> Finding:
    """Return what is said while rejected content waits behind a published version."""
    return LAST_GOOD.finding(LAST_GOOD.summary)


def held(version: str) -> Finding:
    """Return what is said while a skill is held at a version, whatever its folder holds."""
    return HELD.finding(
        f"The skill is held at version {version}; what its folder holds is "
        "recorded and not published."
    )


def confusable(message: str) -> Finding:
    """Return what is said of a name that a person may take for another."""
    return CONFUSABLE.finding(message)
