from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pipeline.parsing.document import parse
from pipeline.parsing.yaml_reader import (
    LONGEST_NUMBER,
    MAX_DEPTH,
    MAX_NODES,
    Position,
    Unreadable,
    YamlText,
    read_yaml,
    typed,
)


def read(text: str) -> YamlText:
    """Return what a text that must be readable says."""
    outcome = read_yaml(text)
    assert isinstance(outcome, YamlText)
    return outcome


def refusal(text: str) -> Unreadable:
    """Return why a text that must not be read is not."""
    outcome = read_yaml(text)
    assert isinstance(outcome, Unreadable)
    return outcome


@pytest.mark.requirement("agent-skills/metadata-as-written")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("name: no", {"name": "no"}),
        ("name: 8004", {"name": "8004"}),
        ("version: 1.10", {"version": "1.10"}),
        ("date: 2026-13-45", {"date": "2026-13-45"}),
        ("a: 0x1F", {"a": "0x1F"}),
        ("a:", {"a": None}),
        ("a: ~\nb: null", {"a": None, "b": None}),
        ("a: ''\nb: 'null'\nc: \"~\"", {"a": "", "b": "null", "c": "~"}),
        ("1: one\nyes: two", {"1": "one", "yes": "two"}),
        ("null: x", {"null": "x"}),
        ("a: >-\n  one\n  two", {"a": "one two"}),
        ("a: |\n  one\n  two\n", {"a": "one\ntwo\n"}),
        ("a: 'it''s'", {"a": "it's"}),
        ('a: "\\u4e2d\\n"', {"a": "中\n"}),
        ("a: [x, {b: c}]\nd: {}", {"a": ["x", {"b": "c"}], "d": {}}),
        ('{"a": true, "b": [1]}', {"a": "true", "b": ["1"]}),
        ("<<: x", {"<<": "x"}),
        ("a: one\u2028two\x85three\ufeff", {"a": "one\u2028two\x85three\ufeff"}),
        ("- a\n-\n- - b", ["a", None, ["b"]]),
        ("plain", "plain"),
        ("# nothing", None),
    ],
)
def test_scalars_stay_the_text_that_was_written(text: str, value: object) -> None:
    """Every scalar stays text; only empty, ~ and null without quotes are None."""
    outcome = read(text)
    assert outcome.value == value
    assert outcome.findings == ()


def test_every_key_has_its_place_in_the_file() -> None:
    """Positions count from 1, start at the given line, and reach into lists."""
    outcome = read_yaml("name: x\nmeta:\n  author: me\nhooks:\n- run: y\n", 5, 4)
    assert isinstance(outcome, YamlText)
    assert outcome.positions == {
        "name": Position(5, 4),
        "meta": Position(6, 1),
        "meta.author": Position(7, 3),
        "hooks": Position(8, 1),
        "hooks.0.run": Position(9, 3),
    }


@pytest.mark.requirement("agent-skills/frontmatter-yaml")
@pytest.mark.parametrize(
    ("text", "code", "line", "repairable"),
    [
        ("a: b: c", "yaml-invalid", 1, True),
        ("x: y\na: @b", "yaml-invalid", 2, True),
        ('x: y\na: "b\nc: d', "yaml-invalid", 2, True),
        ("x: y\na: &b c", "yaml-alias", 2, False),
        ("a: &b c\nd: *b", "yaml-alias", 1, False),
        ("x: y\na: *b", "yaml-alias", 2, True),
        ("a: b\n...\nc: d", "yaml-invalid", 3, True),
        ("a: b\n? [c]\n: d", "yaml-key-not-text", 2, False),
        ("a: b\n{c: d}: e", "yaml-key-not-text", 2, False),
        ("a: b\nc: " + "[" * MAX_DEPTH, "frontmatter-too-large", 2, False),
        ("a: [" + "x," * MAX_NODES + "]", "frontmatter-too-large", 1, False),
    ],
)
def test_unreadable_or_forbidden_yaml_is_refused(
    text: str, code: str, line: int, repairable: bool
) -> None:
    """A refusal names its line, and whether other syntax could repair it."""
    outcome = refusal(text)
    assert (outcome.finding.code, outcome.finding.line) == (code, line)
    assert outcome.repairable is repairable


def test_a_bracket_left_open_is_named_by_its_line() -> None:
    """YAML fails only on a later line, so the message names both lines."""
    found = refusal("a: b\nc: [d,\ne: f\ng: h\n").finding
    assert "line 4" in found.message
    assert "begins on line 2" in found.message


def test_nesting_up_to_the_cap_is_read() -> None:
    """The cap is the deepest nesting that is still accepted."""
    assert read("[" * MAX_DEPTH + "]" * MAX_DEPTH).findings == ()
    assert refusal("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))


@pytest.mark.parametrize(
    ("text", "code", "line", "value"),
    [
        ("a: 1\nb: 2\na: 3", "duplicate-key", 3, {"a": "1", "b": "2"}),
        ("m:\n  x: 1\n  x:\n    y: 2", "duplicate-key", 3, {"m": {"x": "1"}}),
        ("a: !!int 3", "yaml-tag", 1, {"a": "3"}),
        ("a: !x [b]", "yaml-tag", 1, {"a": ["b"]}),
        ("a:\n  b: c\nd:\n    e: f", "uneven-indentation", 4, {"a": {"b": "c"}, "d": {"e": "f"}}),
        ("x: y\na:\tb", "tab-outside-quotes", 2, {"x": "y", "a": "b"}),
        ("x: y\na: b\tc", "tab-outside-quotes", 2, {"x": "y", "a": "b\tc"}),
    ],
)
def test_syntax_refused_by_the_reference_is_reported_and_read(
    text: str, code: str, line: int, value: object
) -> None:
    """The value is still returned; the finding has the line."""
    outcome = read(text)
    assert [(each.code, each.line) for each in outcome.findings] == [(code, line)]
    assert outcome.value == value


def test_a_duplicate_names_both_lines() -> None:
    """The message names both lines."""
    (found,) = read("a: 1\nb: 2\na: 3").findings
    assert "line 1" in found.message
    assert "line 3" in found.message
    assert found.field == "a"


@pytest.mark.parametrize("text", ["a: 'b\tc'", "a: |\n  b\tc", "a: b # \tc", '# "\tx\na: b'])
def test_tabs_in_quotes_blocks_and_comments_are_text(text: str) -> None:
    """Only tabs that StrictYAML refuses are reported."""
    assert read(text).findings == ()


def test_equal_indentation_is_asked_of_siblings_only() -> None:
    """Lists and flow mappings do not count, nor do mappings of other parents."""
    assert read("a:\n  b: {x: y}\n  c:\n     d: e\nf:\n  - g: h\n").findings == ()


def test_findings_of_one_text_are_few() -> None:
    """The number of findings of one text is limited."""
    assert len(read("a: 1\n" * 500).findings) == 20


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
