"""Frontmatter as JSON: the types of YAML 1.2's core schema, and nothing that JSON lacks."""

from typing import Any

import pytest

from catalog.mcp.skills_extension import parse_frontmatter


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("yes", "yes"),
        ("True", True),
        ("'true'", "true"),
        ("", None),
        ("~", None),
        ("010", 10),
        ("0o10", 8),
        ("0x1F", 31),
        ("1_000", "1_000"),
        ("1.10", 1.1),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1.2.3", "1.2.3"),
        ("2026-01-02", "2026-01-02"),
        ("12:30:45", "12:30:45"),
        ("[a, 1, {b: no}]", ["a", 1, {"b": "no"}]),
        ("|\n  a\n  b", "a\nb\n"),
        ("=", "="),
        ("<<", "<<"),
    ],
)
def test_a_value_has_its_type(written: str, value: Any) -> None:
    """It is the one that a client gets from the same text."""
    found = parse_frontmatter(f"---\nname: x\nfield: {written}\n---\n# Body\n")["field"]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# No frontmatter\n",
        "---\nname: x\n",
        "\ufeff---\nname: x\n---\n",
        "---\n- a list\n---\n",
        "---\n1: a number\n---\n",
        "---\nname: x\nname: y\n---\n",
        "---\na: &a [x]\nb: *a\n---\n",
        "---\na: 1e999\n---\n",
        "---\na: [\n---\n",
        "---\na: !!python/name:os.system x\n---\n",
        f"---\na: {'[' * 3000}{']' * 3000}\n---\n",
    ],
)
def test_other_frontmatter_is_refused(text: str) -> None:
    """With a reason, and whatever it would make of the interpreter."""
    with pytest.raises(ValueError, match=r"^its frontmatter "):
        parse_frontmatter(text)
