"""Changes of skills as messages to chats, in which the untrusted texts of skills stay plain."""

import html
from collections.abc import Mapping, Sequence
from typing import Any

from catalog.model.values import SEVERITIES
from catalog.text.truncate import shorten
from catalog.text.visible import visible

MOST_LINES = 30
"""Most changes in a message …"""
MOST_CHARS = 200
"""… and most characters of each; chats refuse messages above some 16,000 or 28,000."""


def message(form: str, events: Sequence[Mapping[str, Any]], site: str) -> dict[str, Any]:
    """Return the body that an incoming webhook of Slack, Mattermost or Teams takes.

    A line names a skill and the change, and has the address of its page on the site, if any.
    """
    lines = [(shorten(visible(_line(event)), MOST_CHARS), _page(event, site)) for event in events]
    if len(lines) > MOST_LINES:
        more = f"… and {len(lines) - MOST_LINES} more changes; see `skilldrop status`"
        lines[MOST_LINES:] = [(more, site)]
    if form == "slack":
        text = "\n".join(f"{html.escape(line, quote=False)} {url}".rstrip() for line, url in lines)
        return {"text": text, "mrkdwn": False}
    if form == "mattermost":  # no link and no @mention of a skill works in code
        code = ((line.replace("`", "'"), url) for line, url in lines)
        return {"text": "\n".join(f"`{line}` {url}".rstrip() for line, url in code)}
    blocks = [{"type": "RichTextBlock", "inlines": _runs(*line)} for line in lines]
    card = {"type": "AdaptiveCard", "version": "1.4", "body": blocks}
    kind = "application/vnd.microsoft.card.adaptive"
    return {"type": "message", "attachments": [{"contentType": kind, "content": card}]}


def _line(event: Mapping[str, Any]) -> str:
    """Return a skill, what happened to it, and why: a danger, the change, or the worst finding."""
    waits = ", waits for review" if event["review"] == "waits" else ""
    found = [each for each in event["findings"] if each["severity"] != "info"]
    found.sort(key=lambda each: SEVERITIES.index(each["severity"]))
    worst = f"{found[0]['severity']}: {found[0]['message']}" if found else ""
    is_decided = event["review"] in ("approved", "rejected")  # the detail says who did, and why
    why = worst if worst.startswith("danger") and not is_decided else event["detail"] or worst
    return f"{event['name']} {event['outcome']}{waits}{f': {why}' if why else ''}"


def _page(event: Mapping[str, Any], site: str) -> str:
    return f"{site}skills/{event['skill_id']}" if site else ""


def _runs(line: str, url: str) -> list[dict[str, Any]]:
    """Return a line for a card of Teams, followed by a link."""
    if not url:
        return [{"type": "TextRun", "text": line}]
    opened = {"type": "Action.OpenUrl", "url": url}
    return [
        {"type": "TextRun", "text": f"{line} "},
        {"type": "TextRun", "text": url, "selectAction": opened},
    ]
