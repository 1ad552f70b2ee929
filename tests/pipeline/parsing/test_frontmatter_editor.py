from collections.abc import Mapping

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.parsing.frontmatter_editor import as_typed, blocks, dumped, with_fields
from pipeline.parsing.yaml_reader import YamlText, read_yaml


@pytest.mark.parametrize(
    ("text", "taken", "added", "expected"),
    [
        pytest.param("", set(), {"a": "a: 1\n"}, "a: 1\n", id="nothing before"),
        pytest.param(
            "# one\na: 1  # two\n\nb:\n  - x\n",
            set(),
            {"c": "c: 3\n"},
            "# one\na: 1  # two\n\nb:\n  - x\nc: 3\n",
            id="comments and blanks stay",
        ),
        pytest.param(
            "a: 1\nb:\n  c: 2\n# of d\nd: 4\n",
            {"b"},
            {},
            "a: 1\n# of d\nd: 4\n",
            id="a field goes, the comment of the next stays",
        ),
        pytest.param(
            "a:\nb: |\n  # text\n\n  more\n",
            {"a"},
            {"a": "a: 1\n"},
            "b: |\n  # text\n\n  more\na: 1\n",
            id="an empty field is filled",
        ),
        pytest.param("a: 1", set(), {"b": "b: 2\n"}, "a: 1\nb: 2\n", id="no line end"),
        pytest.param(
            "{a: 1, b: '2'}\n",
            {"a"},
            {"c": "c: 3\n"},
            "b: '2'\nc: 3\n",
            id="a flow map becomes a block, its quotes kept",
        ),
        pytest.param("a: 1\n...\n", set(), {"b": "b: 2\n"}, "a: 1\nb: 2\n", id="an end mark"),
    ],
)
def test_other_lines_stay_as_they_are(
    text: str, taken: set[str], added: Mapping[str, str], expected: str
) -> None:
    """Only the lines of the edited fields change, if possible."""
    assert with_fields(text, frozenset(taken), added) == expected


@pytest.mark.parametrize("text", ["a: [", "- a\n", "just text\n"])
def test_a_text_that_is_no_mapping_is_not_edited(text: str) -> None:
    """The editor returns nothing."""
    assert with_fields(text, frozenset(), {"b": "b: 2\n"}) is None


def test_blocks_are_the_lines_of_each_field() -> None:
    """Each block has the comment above it, and no blank lines around it."""
    assert blocks("# top\na: 1\n\n# of b\nb:\n  # inside\n  - x\nc: |\n  # text\n") == {
        "a": "# top\na: 1\n",
        "b": "# of b\nb:\n  # inside\n  - x\n",
        "c": "c: |\n  # text\n",
    }
    assert blocks("{a: 1, b: 2}") == {}
    assert blocks("a: [") == {}


_VALUES = st.recursive(
    st.text(max_size=6) | st.sampled_from(["no", "1.0", "0x1", "~", "a: b", "#", "- a", "'"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner),
    max_leaves=6,
)


@example({"a": "0E0", "b": ["0o7", ".5e1"]}, "c")
@given(st.dictionaries(st.sampled_from("abc"), _VALUES, max_size=3), st.sampled_from("abcd"))
def test_edited_fields_can_be_read_again(fields: dict[str, object], taken: str) -> None:
    """Any fields can be written and read again, and any of them can be removed."""
    text = dumped(fields)  # type: ignore[arg-type]  # as JSON as can be
    read = read_yaml(text)
    if not isinstance(read, YamlText) or read.value != fields:
        return  # characters that YAML itself cannot hold
    assert as_typed(read, fields) == fields  # type: ignore[arg-type]
    without = with_fields(text if fields else "", frozenset(taken), {})
    assert without is not None
    again = read_yaml(without)
    assert isinstance(again, YamlText)
    assert (again.value or {}) == {key: value for key, value in fields.items() if key != taken}
