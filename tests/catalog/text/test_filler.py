"""Phrases of descriptions that say nothing."""

import pytest

from catalog.text import filler


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Use this skill when the user wants to fill PDF forms.", "fill PDF forms."),
        ("Fills forms. Use when asked to sign a PDF.", "Fills forms. sign a PDF."),
        ("This skill should be used when the user asks to bake.", "bake."),
        ("Proofread. Use before committing.", "Proofread. Use before committing."),
        ("当用户想要提取表格时使用此技能", "提取表格"),
        ("本技能用于生成周报。", "生成周报。"),
        ("Reuse this for that.", "Reuse this for that."),
    ],
)
def test_filler_at_the_start_of_a_clause_goes(text: str, rest: str) -> None:
    """The words that tell one skill from another stay."""
    assert filler.without_filler(text) == rest


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Fills forms. Do not use for scans. Signs them.", "Fills forms. Signs them."),
        ("Not for scans.", "Not for scans."),
        ("Fills forms; not for scans.", "Fills forms; not for scans."),
    ],
)
def test_sentences_on_what_a_skill_is_not_for_go(text: str, rest: str) -> None:
    """Unless nothing else is left."""
    assert filler.without_exclusions(text) == rest


@pytest.mark.parametrize(
    "description",
    [
        "",
        "|",
        "| Use when this capability is needed.",
        "A skill for PDF.",
        "TODO",
        "Helps users with pdf tasks.",
        "Use this skill when the user wants to",
        "当用户需要时，使用此技能",
    ],
)
def test_a_description_without_a_word_of_its_own_says_nothing(description: str) -> None:
    """Filler, stop words, words of the name and words that fit any skill are none."""
    assert filler.says_nothing(description, "pdf")


@pytest.mark.parametrize(
    "description", ["Fills forms.", "Use when baking.", "填写表格", "pdf to docx"]
)
def test_a_description_with_a_word_of_its_own_says_something(description: str) -> None:
    """In any language."""
    assert not filler.says_nothing(description, "pdf")
