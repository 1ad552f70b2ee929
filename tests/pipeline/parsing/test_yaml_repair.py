import pytest

from pipeline.parsing.document import parse
from pipeline.parsing.yaml_reader import Unreadable, YamlText, read_yaml
from pipeline.parsing.yaml_repair import Repaired, repaired


def mended(text: str, line: int = 1, column: int = 1) -> Repaired:
    """Repair a text that YAML does not read."""
    broken = read_yaml(text, line, column)
    assert isinstance(broken, Unreadable)
    return repaired(text, line, column, broken)


@pytest.mark.requirement("client-guide/colons")
@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("a: use when: b", "a: 'use when: b'", "unquoted-colon"),
        ("a: use when:", "a: 'use when:'", "unquoted-colon"),
        ("a: it's: b", 'a: "it\'s: b"', "unquoted-colon"),
        ('a: it\'s "x": b', "a: 'it''s \"x\": b'", "unquoted-colon"),
        ("a: b: c # note", "a: 'b: c' # note", "unquoted-colon"),
        ("a-b.c: d: e", "a-b.c: 'd: e'", "unquoted-colon"),
        ("- a: b: c", "- a: 'b: c'", "unquoted-colon"),
        ("a: @b", "a: '@b'", "unquoted-value"),
        ("a: `b` c: d", "a: '`b` c: d'", "unquoted-value"),
        ("a: %b", "a: '%b'", "unquoted-value"),
        ("a: *.py", "a: '*.py'", "unquoted-value"),
        ("a: **b** c", "a: '**b** c'", "unquoted-value"),
        ("a: *b", "a: '*b'", "unquoted-value"),
        ("a: & b", "a: '& b'", "unquoted-value"),
        ("- @b", "- '@b'", "unquoted-value"),
        ("a: [b] [c]", "a: '[b] [c]'", "unquoted-value"),
        ("a: b: c\n  # note", "a: 'b: c'\n  # note", "unquoted-colon"),
        ('a: "b" c # d', "a: '\"b\" c' # d", "unquoted-value"),
        ('a: "b" c', "a: '\"b\" c'", "unquoted-value"),
        ("description: > Reads", "description: '> Reads'", "unquoted-value"),
        ("description: - Reads", "description: '- Reads'", "unquoted-value"),
    ],
)
def test_an_unambiguous_value_is_repaired(before: str, after: str, code: str) -> None:
    """The repair reports its lines before and after, and the value is read from the latter."""
    read = mended(before)
    outcome, (found,) = read.outcome, read.repairs
    expected = read_yaml(after)
    assert isinstance(outcome, YamlText)
    assert isinstance(expected, YamlText)
    assert outcome.value == expected.value
    assert (found.code, read.text) == (code, after)
    assert before.replace(found.before or "", found.after or "") == after


def test_repairs_follow_one_another_and_name_their_lines() -> None:
    """Each broken line is a finding of its own; the lines between stay as they are."""
    read = mended("a: b: c\nd: e\nf:\n  g: @h\n", 7, 1)
    outcome, repairs = read.outcome, read.repairs
    assert isinstance(outcome, YamlText)
    assert outcome.value == {"a": "b: c", "d": "e", "f": {"g": "@h"}}
    assert [(each.code, each.line) for each in repairs] == [
        ("unquoted-colon", 7),
        ("unquoted-value", 10),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a: b: c\n  d: e",
        "a: b\n  c: d",
        "a: @b\n  c",
        "a: 'b #1' c",
        'a: "b',
        "a: [b, c",
        "a: [b]]",
        'a: "b", "c"',
        "a: - b",
        "a: > b",
        "a: b\nc",
        "a:\n\tb: c\nd:\n  e: f",
        "a: &b c\nd: *b",
        "a: b: c\nd: [e",
    ],
)
def test_an_ambiguous_value_is_not_repaired(text: str) -> None:
    """The first error is returned, and no repair is reported."""
    first = read_yaml(text)
    assert isinstance(first, Unreadable)
    assert mended(text) == Repaired(first, (), text)


@pytest.mark.parametrize(
    "text",
    [
        "description: Reads\n license: MIT",
        "description: Use: a # b\n  c",
        "description: Use when: a\n  b\nx: y",
        "description: Reads\ntext and more.\nx: y",
        "description: Reads\n<<<<<<< HEAD\nx: y",
        "description: [Reads\n  more",
        "description: |\nReads\n  more.",
        'description: "Reads',
        'a: "b", "c"',
        'a: "the "best" way"',
        "a: 'it's'",
        "a:\n\tb: c\n\td: e",
    ],
)
def test_what_clients_do_not_load_is_left_broken(text: str) -> None:
    """Several lines, quotes in quotes and tabs are for the author to mend."""
    assert mended(text).repairs == ()


def test_repairs_are_bounded() -> None:
    """The number of repairs is limited, even if every line is broken."""
    read = mended("\n".join(f"k{n}: @x" for n in range(21)))
    assert isinstance(read.outcome, Unreadable)
    assert read.repairs == ()


def test_valid_yaml_is_not_touched() -> None:
    """A colon or an @ inside a value that YAML accepts is no reason to repair."""
    assert parse(b"---\na: b:c @d `e`\nf: 'g: h'\n---\n").findings == ()


def test_the_dashes_before_the_first_line_belong_to_it() -> None:
    """A repair of text after a fence shows the whole line of the file."""
    (found,) = mended("a: @b\nc: d\n", 1, 4).repairs
    assert (found.line, found.before, found.after) == (1, "---a: @b", "---a: '@b'")
