"""Changes of skills as messages to chats, in which the untrusted texts of skills stay plain."""

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from catalog.text.truncate import shorten
from catalog.text.visible import visible

MOST_LINES = 30
"""Most lines of a message …"""
MOST_CHARS = 300
"""… and most characters of a line; chats refuse messages above some 16,000 or 28,000."""


def message(form: str, events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the body that an incoming webhook of Slack, Mattermost or Teams takes."""
    lines = [shorten(visible(line), MOST_CHARS) for event in events for line in _lines(event)]
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = [f"… and {len(lines) - MOST_LINES} more lines; see `skilldrop status`"]
    text = "\n".join(lines)
    if form == "slack":
        return {"text": html.escape(text, quote=False), "mrkdwn": False}
    if form == "mattermost":  # no link and no @mention works in a block of code
        return {"text": "```\n" + text.replace("```", "'''") + "\n```"}
    runs = [[{"type": "TextRun", "text": line}] for line in lines]
    body = [{"type": "RichTextBlock", "inlines": run} for run in runs]
    card = {"type": "AdaptiveCard", "version": "1.4", "body": body}
    kind = "application/vnd.microsoft.card.adaptive"
    return {"type": "message", "attachments": [{"contentType": kind, "content": card}]}


def _lines(event: Mapping[str, Any]) -> Iterator[str]:
    """Yield the change, whether its version waits, and the findings above remarks."""
    detail = f": {event['detail']}" if event["detail"] else ""
    waits = ", waits for review" if event["review"] == "waits" else ""
    yield f"{event['outcome']} {event['name']} in {event['root']}/{event['path']}{waits}{detail}"
    for each in event["findings"]:
        if each["severity"] != "info":
            place = ":".join(str(part) for part in (each["path"], each["line"]) if part)
            yield f"    {each['severity']} {each['code']} {place} {each['message']} {each['fix']}"
