import pytest

from pipeline.repair import Repaired, read_repaired
from pipeline.yaml_text import Unreadable, YamlText, read_yaml


@pytest.mark.parametrize(("before", "after", "code"), [
    ("a: use when: b", "a: 'use when: b'", "unquoted-colon"),
    ("a: use when:", "a: 'use when:'", "unquoted-colon"),
    ("a: it's: b", 'a: "it\'s: b"', "unquoted-colon"),
    ("a: it's \"x\": b", "a: 'it''s \"x\": b'", "unquoted-colon"),
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
    ("a:\n\tb: c\n\td: e", "a:\n  b: c\n  d: e", "tab-indentation"),
])
def test_a_value_that_can_only_mean_one_thing_is_read(before: str, after: str, code: str) -> None:
    """The repair tells its lines as written and as read, and the value is that of the latter."""
    read = read_repaired(before, 1, 1)
    outcome, (found,) = read.outcome, read.repairs
    mended = read_yaml(after)
    assert isinstance(outcome, YamlText)
    assert isinstance(mended, YamlText)
    assert outcome.value == mended.value
    assert (found.code, read.text) == (code, after)
    assert before.replace(found.before or "", found.after or "") == after


def test_repairs_follow_one_another_and_name_their_lines() -> None:
    """Each broken line is a finding of its own; the lines between stay as they are."""
    read = read_repaired("a: b: c\nd: e\nf:\n  g: @h\n", 7, 1)
    outcome, repairs = read.outcome, read.repairs
    assert isinstance(outcome, YamlText)
    assert outcome.value == {"a": "b: c", "d": "e", "f": {"g": "@h"}}
    assert [(each.code, each.line) for each in repairs] == [
        ("unquoted-colon", 7), ("unquoted-value", 10),
    ]


@pytest.mark.parametrize("text", [
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
])
def test_what_could_mean_two_things_is_left_broken(text: str) -> None:
    """The first error stands and no repair is claimed."""
    first = read_yaml(text)
    assert isinstance(first, Unreadable)
    assert read_repaired(text, 1, 1) == Repaired(first, (), text)


def test_repairs_are_bounded() -> None:
    """A file of nothing but broken lines is not mended line by line for ever."""
    read = read_repaired("\n".join(f"k{n}: @x" for n in range(21)), 1, 1)
    assert isinstance(read.outcome, Unreadable)
    assert read.repairs == ()


def test_valid_yaml_is_not_touched() -> None:
    """A colon or an @ inside a value that YAML accepts is no reason to repair."""
    assert read_repaired("a: b:c @d `e`\nf: 'g: h'\n", 1, 1).repairs == ()


def test_a_line_that_is_changed_twice_is_told_as_it_was_read() -> None:
    """Each finding has the line as it was written and as it is in the end."""
    read = read_repaired("a:\n\tb: @c\n", 1, 1)
    assert {(each.code, each.before, each.after) for each in read.repairs} == {
        ("tab-indentation", "\tb: @c", "  b: '@c'"), ("unquoted-value", "\tb: @c", "  b: '@c'"),
    }


def test_the_dashes_before_the_first_line_belong_to_it() -> None:
    """A change of what is glued to a fence is a change of the file's line."""
    (found,) = read_repaired("a: @b\nc: d\n", 1, 4).repairs
    assert (found.line, found.before, found.after) == (1, "---a: @b", "---a: '@b'")
