import pytest

from pipeline.parsing.document import cut_at_fences, with_closing_fence


@pytest.mark.requirement("agent-skills/frontmatter-fences")
@pytest.mark.parametrize(
    ("text", "frontmatter", "body", "codes"),
    [
        ("---\na: b\n---\nbody", "a: b\n", "body", []),
        ("---\na: b\n---", "a: b\n", "", []),
        ("---  \na: b\n--- \t\nbody", "a: b\n", "body", []),
        ("---\n---\nbody", "", "body", []),
        ("---\na: b --- c\n---\nbody", "a: b --- c\n", "body", []),
        ("---\na: |\n  ---\n  c\n---\nbody", "a: |\n  ---\n  c\n", "body", []),
        ("---\na: b\n---# Title\nbody", "a: b\n", "# Title\nbody", ["fence-not-alone"]),
        ("---\na: b\n-----\nbody", "a: b\n", "body", ["fence-not-alone"]),
        ("---a: b\n---\nbody", "a: b\n", "body", ["fence-not-alone"]),
        ("---\na: b\n---\nbody\n---\nmore", "a: b\n", "body\n---\nmore", []),
    ],
)
def test_a_fence_is_a_line_that_starts_with_three_dashes(
    text: str, frontmatter: str, body: str, codes: list[str]
) -> None:
    """Dashes inside a line are text; text after a fence is kept, with a finding."""
    fences = cut_at_fences(text)
    assert fences is not None
    assert (fences.frontmatter, fences.body) == (frontmatter, body)
    assert [each.code for each in fences.findings] == codes


@pytest.mark.requirement("agent-skills/frontmatter-fences")
@pytest.mark.parametrize("text", ["---", "---\na: b", "---\na: b\n ---\n", "---\na: b ---", "---x"])
def test_without_a_closing_line_nothing_is_cut(text: str) -> None:
    """An indented fence, or one at the end of a value, closes nothing."""
    assert cut_at_fences(text) is None


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("---\na: b\n---\nbody", (4, 1, 5, 6)),
        ("---\na: b\n---body", (4, 1, 5, 5)),
        ("---a: b\nc: d\n---\nbody", (3, 4, 5, 6)),
    ],
)
def test_lines_are_those_of_the_file(text: str, places: tuple[int, int, int, int]) -> None:
    """They count from the line on which the text starts in its file."""
    fences = cut_at_fences(text, first_line=3)
    assert fences is not None
    assert (fences.line, fences.column, fences.closing_line, fences.body_line) == places


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("---\na: b\n\n# T\n\nx", "---\na: b\n\n---\n# T\n\nx"),
        ("---\na: b\n# T\n\nx", "---\na: b\n---\n# T\n\nx"),
        ("---\na: b\n\nSome text", "---\na: b\n---\n\nSome text"),
        ("---\na: b\n\nNote: text", "---\na: b\n---\n\nNote: text"),
        ("---\na: b\n...\nx", "---\na: b\n---\nx"),
        ("---\na: b\n  ---\nx", "---\na: b\n---\nx"),
        ("---\na: b", "---\na: b\n---"),
        ("---\na:\n  - b\n\n# more\nc: d\n\nx", "---\na:\n  - b\n\n# more\nc: d\n---\n\nx"),
        ("---\n# T\n\na: b\n\nx", "---\n# T\n\na: b\n---\n\nx"),
        ("---\na: |\n  b\n\n  c\n\nx", "---\na: |\n  b\n\n  c\n---\n\nx"),
    ],
)
def test_a_missing_fence_goes_where_the_fields_end(text: str, closed: str) -> None:
    """A gap, a heading or a YAML end marker shows the place, and the change is reported exactly."""
    found = with_closing_fence(text, 1_000)
    assert found is not None
    assert found.text == closed
    lines = text.split("\n")
    assert lines[found.line] == found.before
    assert "\n".join([*lines[: found.line], found.after, *lines[found.line + 1 :]]) == closed


@pytest.mark.parametrize(
    "text",
    [
        "---\na: b\ntext without a gap",
        "---\na: b\n---\nx",
        "---\na: b\n" + "c: d\n" * 300,
        "---\na: bc\n" + "c: d\n" * 300,
        "---\na: b\n" + "\n" * 1_000,
    ],
)
def test_an_unclear_end_is_left_alone(text: str) -> None:
    """Text right after a field, an existing fence or a long run of fields gives no guess."""
    assert with_closing_fence(text, 1_000) is None
