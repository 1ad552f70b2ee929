"""Grades of findings, from danger down to a note, for every badge, filter and page."""

from collections.abc import Sequence

from catalog.database.queries import Row
from catalog.text.humanize import count, listed

KINDS = {
    "instruction-override": "instructions that override the agent",
    "hidden-from-user": "instructions to hide something from the user",
    "data-sent-away": "commands that send data away",
    "credentials-read": "commands that read credentials",
    "payload-encoded": "encoded commands",
    "download-run": "commands that download and run a program unread",
    "download-locked": "a download that no scanner can read",
    "destructive-command": "commands that delete a folder, a disk or a system",
    "protection-disabled": "commands that switch a protection off",
    "tag-characters": "an invisible message",
    "bidi-characters": "text that is displayed in another order",
    "invisible-characters": "invisible characters",
    "secret": "a key or password",
}
"""Dangerous content by the code of its findings, as the object of a sentence."""
GRADES = ("danger", "error", "warning", "info")
"""Grades of findings, worst first: danger, else their severity."""
SAFETY = ("danger", "warning", "info")
"""Grades of the findings about safety, worst first."""
MOST_KINDS = 2
"""Kinds of danger that one sentence names."""


def grade(finding: Row) -> str:
    """Return the grade of a finding, of GRADES."""
    return "danger" if finding["code"] in KINDS else str(finding["severity"])


def sentence(findings: Sequence[Row]) -> str:
    """Return one sentence about the dangerous content of a skill; empty if it has none."""
    dangers = [row["code"] for row in findings if row["code"] in KINDS]
    if not dangers:
        return ""
    kinds = list(dict.fromkeys(KINDS[code] for code in dangers))
    rest = len(kinds) - MOST_KINDS
    named = kinds[:MOST_KINDS] + (
        [count(rest, "more kind", "more kinds") + " of danger"] if rest > 0 else []
    )
    return f"Contains {listed(named)}: {count(len(dangers), 'finding')}."


CODES = ", ".join(f"'{code}'" for code in KINDS)
"""Codes of dangerous content, as a list in SQL."""
WORST = f"""
    CASE min(CASE WHEN code IN ({CODES}) THEN 0 WHEN severity = 'info' THEN 2 ELSE 1 END)
    WHEN 0 THEN 'danger' WHEN 1 THEN 'warning' WHEN 2 THEN 'info' END
"""
"""Worst grade of findings about safety, as an SQL expression over their rows."""
