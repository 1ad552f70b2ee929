"""Shortened descriptions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.prompt_index.shortening import READABLE, shorten_description
from catalog.text.visible import one_line

LONG = (
    "Use this skill when the user wants to extract tables from scanned invoices and to reconcile "
    "them with ledgers in spreadsheets. Do not use it for receipts. Handles multi-column layouts, "
    "footnotes and merged cells, and writes the result as CSV."
)


def test_a_description_that_fits_is_not_changed() -> None:
    """Not even its filler goes."""
    assert shorten_description(LONG, "x", len(LONG)) == LONG


def test_a_stock_opening_is_skipped_with_an_ellipsis() -> None:
    """Everything behind it then fits; a sentence on what the skill is not for stays."""
    rest = LONG.removeprefix("Use this skill when the user wants to ")
    assert shorten_description(LONG, "x", len(LONG) - 1) == f"…{rest}"


def test_a_passage_of_the_author_is_cut_at_a_word_and_tags_stand_apart() -> None:
    """What is missing shows, and the end that is cut is all that goes."""
    shown = shorten_description(LONG, "x", 200)
    assert shown == (
        "…extract tables from scanned invoices and to reconcile them with ledgers in "
        "spreadsheets. Do not use it for receipts. … · multi-column, layouts, footnotes, merged, "
        "cells, writes, CSV"
    )


def test_tags_are_words_that_neither_name_nor_passage_has() -> None:
    """In the order of the author."""
    shown = shorten_description(LONG, "merged-csv", 100)
    passage = "…extract tables from scanned invoices and to reconcile them with…"
    assert shown == f"{passage} · ledgers, receipts, cells, writes"


def test_little_room_is_for_tags_alone() -> None:
    """A list with commas, which no one reads as a broken sentence."""
    assert shorten_description(LONG, "x", 40) == "scanned, invoices, ledgers, cells, CSV"
    assert shorten_description("Use this skill when the user wants to", "x", 8) == ""


@pytest.mark.parametrize("room", [20, 40])
def test_chinese_is_shortened_by_its_own_words(room: int) -> None:
    """Below a third of the characters that make English readable."""
    text = (
        "提取扫描发票中的表格并与账本核对，支持多栏版式、脚注和合并单元格，"
        "并把结果写成文件，供财务人员审核和归档使用。"
    )
    shown = shorten_description(text, "x", room)
    assert shown.startswith("提取扫描发票" if room >= READABLE // 3 else "")
    assert 0 < len(shown) <= room


@pytest.mark.parametrize("word", ["会议", "用户", "功能", "目的", "了解", "参与", "在线", "合并"])
def test_chinese_words_stay_whole(word: str) -> None:
    """Also those with a character that is a function word where it stands alone."""
    assert shorten_description(f"把{word}资料整理出来看看", "x", 8) == f"{word}资料整理"


@given(st.text("ab cd. ", min_size=80, max_size=300), st.integers(60, 300))
def test_a_passage_is_a_part_of_the_description(text: str, room: int) -> None:
    """Between the ellipses stand the author's words in the author's order."""
    passage, _, _ = shorten_description(one_line(text), "x", room).partition(" · ")
    assert passage.strip("… ") in one_line(text)


@given(st.text(max_size=300), st.text(max_size=20), st.integers(0, 300))
def test_no_text_is_longer_than_its_room(text: str, name: str, room: int) -> None:
    """On one line, whatever the text."""
    shown = shorten_description(one_line(text), name, room)
    assert len(shown) <= room
    assert one_line(shown) == shown
