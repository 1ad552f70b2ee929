from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pipeline.parsing.document import parse
from pipeline.parsing.yaml_reader import LONGEST_NUMBER, typed


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        pytest.param("true", True, id="true"),
        pytest.param("FALSE", False, id="capitals"),
        pytest.param("yes", "yes", id="yes is text in YAML 1.2"),
        pytest.param("tRue", "tRue", id="mixed case is text"),
        pytest.param("12", 12, id="integer"),
        pytest.param("-7", -7, id="negative"),
        pytest.param("010", 10, id="a leading zero is decimal"),
        pytest.param("0o17", 15, id="octal"),
        pytest.param("0xFF", 255, id="hexadecimal"),
        pytest.param("1_000", "1_000", id="an underscore makes it text"),
        pytest.param("0.5", 0.5, id="fraction"),
        pytest.param(".5e1", 5.0, id="exponent"),
        pytest.param("1.", 1.0, id="a dot at the end"),
        pytest.param("1.0.0", "1.0.0", id="a version"),
        pytest.param("2026-11-21", "2026-11-21", id="a date is text"),
        pytest.param("1e999", "1e999", id="too large for JSON"),
        pytest.param(".inf", ".inf", id="infinity has no form in JSON"),
        pytest.param("٣", "٣", id="digits of another script"),
        pytest.param("9" * (LONGEST_NUMBER + 1), "9" * (LONGEST_NUMBER + 1), id="too many digits"),
        pytest.param(None, None, id="null"),
        pytest.param("", "", id="empty"),
    ],
)
def test_a_plain_scalar_is_typed_as_yaml_1_2_types_it(written: Any, meant: Any) -> None:
    """Value and type are those of the core schema, if JSON has them."""
    found = typed(written, "a", frozenset())
    assert (found, type(found)) == (meant, type(meant))


def test_quoted_and_block_scalars_are_text() -> None:
    """The parser reports which scalars were quoted, in maps and lists of any depth."""
    parsed = parse(
        b"---\ninput_schema:\n  a: 5\n  b: '5'\n  c: [true, \"true\", {d: '1', e: 1}]\n  f: |\n"
        b"    7\n  g: !x 8\n---\n"
    )
    assert parsed.frontmatter
    assert typed(parsed.frontmatter["input_schema"], "input_schema", parsed.quoted) == {
        "a": 5,
        "b": "5",
        "c": [True, "true", {"d": "1", "e": 1}],
        "f": "7\n",
        "g": 8,
    }


def test_a_repaired_frontmatter_is_typed_as_it_was_read() -> None:
    """Values that a repair quoted are text, too."""
    parsed = parse(b"---\ndescription: a: b\ninput_schema:\n  default: 5\n---\n")
    assert parsed.frontmatter
    assert "description" in parsed.quoted
    assert typed(parsed.frontmatter["input_schema"], "input_schema", parsed.quoted) == {
        "default": 5
    }


_PLAIN = st.from_regex(r"[-+]?[0-9]{1,4}(\.[0-9]{1,3})?([eE][-+]?[0-9])?", fullmatch=True)


@given(_PLAIN)
def test_numbers_are_those_of_json(text: str) -> None:
    """A number of both JSON and YAML has the same value in both."""
    found = typed(text, "a", frozenset())
    assert found == float(text)
    assert isinstance(found, int | float)
    if text[0] != "+" and not text.lstrip("-").startswith("0") and "e" not in text.lower():
        assert found == yaml.safe_load(text)
