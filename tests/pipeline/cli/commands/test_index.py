"""Table that explains a prompt index."""

import re
from typing import Any

import pytest

from pipeline.cli.commands.index import table
from pipeline.cli.output import terminal

REPORT = {
    "name": "default",
    "format": "xml",
    "chars": 1234,
    "budget_chars": 16000,
    "estimated_tokens": 310,
    "full": 1,
    "shortened": 1,
    "name_only": 1,
    "left_out": 2000,
}
TOLD: dict[str, Any] = {
    "entries": [
        {
            "rank": 1,
            "name": "full-scan",
            "state": "full",
            "chars": 400,
            "reason": None,
            "shown": "Scans all.",
        },
        {
            "rank": 2,
            "name": "会议纪要" * 30,
            "state": "shortened",
            "chars": 90,
            "reason": "9 of 40 characters of its description are shown",
            "shown": "Scans it…",
        },
        {
            "rank": 3,
            "name": "bad\x1b[31m",
            "state": "name_only",
            "chars": 5,
            "reason": "no room",
            "shown": "",
        },
    ],
    "left_out": {
        "over_budget": {"count": 2000, "names": ["zz"]},
        "hidden": {"count": 1, "names": ["secret"]},
        "filtered": {"count": 0, "names": []},
    },
    "counts": {"active": 2004, "pending": 2, "rejected": 0, "shadowed": 1000, "removed": 5},
}


def test_the_table_lists_included_and_excluded_skills_with_reasons() -> None:
    """Counts first, one line per skill, then each reason with its count and names."""
    text = table(REPORT, TOLD, None)
    assert "\n\nnot active: 2 pending, 1,000 shadowed; `skilldrop status` says why" in text
    assert "1,234 of 16,000 characters, about 310 tokens; 1 in full, 1 shortened" in text
    assert re.search(r"^   1  full-scan +\S*full\S* +400  Scans all\.$", text, re.MULTILINE)
    assert "9 of 40 characters of its description are shown: Scans it…" in text
    assert "left out for lack of room: 2,000\n  zz\n  … and 1,999 more" in text
    assert "left out, as disable-model-invocation in its SKILL.md asks: 1\n  secret" in text
    assert "filtered" not in text


def test_names_cannot_control_the_terminal() -> None:
    """The escapes in a skill's name are spelt out."""
    assert "\x1b[31m" not in table(REPORT, TOLD, None).replace("\x1b[31mname only", "")


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    """Chinese characters take two columns each; colours take none."""
    lines = re.sub(r"\x1b\[\d+m", "", table(REPORT, TOLD, width)).split("\n")
    assert "会议纪要" in lines[4]
    for line in lines[1:]:
        assert terminal.width(line) <= width
