"""Budget of an index as a share of a context window."""

import pytest

from catalog.prompt_index import builder
from catalog.prompt_index.formats.registry import FORMATS
from catalog.prompt_index.spec import IndexSpec, Overflow
from catalog.text import tokens
from tests.support.candidates import a

CHINESE = (
    "把会议录音整理成纪要，列出决定、负责人和期限。在会议之后，或者有人需要会议记录时使用。" * 3
)
ENGLISH = "Turns recordings of meetings into minutes with decisions, owners and dates. " * 3


@pytest.mark.requirement("textbook/budget-window")
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("overflow", ["fit", "exclude"])
@pytest.mark.parametrize("text", [CHINESE, ENGLISH], ids=["zh", "en"])
def test_two_percent_of_a_window_are_tokens(form: str, overflow: Overflow, text: str) -> None:
    """A text fills its share in Chinese as in English, and never exceeds it."""
    spec = IndexSpec(format=form, overflow=overflow, context_window_tokens=100_000, language="zh")
    skills = [a(f"meeting-{n:03d}", text) for n in range(300)]
    index = builder.build(spec, skills)
    assert 0.85 * 2_000 < tokens.estimate(index.text) <= 2_000


@pytest.mark.requirement("textbook/budget-exclude")
@pytest.mark.parametrize("form", ["lines", "xml", "semibot"])
def test_thirty_short_skills_fit_a_window_and_of_long_ones_the_last_are_excluded(form: str) -> None:
    """With 200 characters each, a window of 200,000 tokens has room for all; with 1,000 not."""
    spec = IndexSpec(format=form, overflow="exclude", context_window_tokens=200_000)
    sentence = "Turns recordings of meetings into minutes with decisions. Use it after a meeting. "
    short, long = (
        [a(f"skill-{n:02d}", (sentence * 13)[:size]) for n in range(30)] for size in (200, 1_000)
    )
    index = builder.build(spec, short)
    assert (index.count("full"), index.left_out) == (30, 0)
    index = builder.build(spec, long)
    shown = [entry.skill.name for entry in index.entries]
    assert index.count("full") == len(shown) > 10
    assert [*shown, *index.left_out_names] == [skill.name for skill in long]
