"""Snippets of a text around a match, which is marked."""

import re

from catalog.text import search_terms

BEFORE, LENGTH = 60, 200
"""Characters of a snippet before the match, and in all, at most."""

_ENDINGS = re.compile(r"(?<=\w{3})(?:ations?|ingly|ing|edly|ed|ies|es|s|e|y)$")


def excerpt(text: str, words: str, marks: tuple[str, str]) -> str | None:
    """Return a snippet of a text around its first match, in one line; None without a match.

    A word matches by its beginning, in about the forms that the search treats as equal. This need
    not be exact, as it only decides which part of the text is shown.
    """
    pattern = _pattern(words)
    match = pattern.search(text) if pattern else None
    if not pattern or not match:
        return None
    start = max(match.start() - BEFORE, 0)
    shown = text[start : start + LENGTH]
    cut_before, cut_after = start > 0, start + LENGTH < len(text)
    if cut_before:  # at a space, if there is one: Chinese has none
        shown = shown[shown.find(" ", 0, match.start() - start) + 1 :]
    if cut_after and " " in shown[match.end() - start :]:
        shown = shown.rpartition(" ")[0]
    shown = " ".join(_without(shown, marks).split())
    marked = pattern.sub(lambda word: f"{marks[0]}{word[0]}{marks[1]}", shown)
    return f"{'…' if cut_before else ''}{marked}{'…' if cut_after else ''}"


def beginning(text: str) -> str:
    """Return the beginning of a text in one line."""
    shown = " ".join(text[:LENGTH].split())
    return f"{shown}…" if len(text) > LENGTH else shown


def _pattern(words: str) -> "re.Pattern[str] | None":
    terms = []
    for word in re.findall(r"\w+", words):
        terms += [
            re.escape(piece)
            for run in search_terms.CJK_RUN.findall(word)
            for piece in (run, *search_terms.pieces(run))
        ]
        terms += [
            rf"\b{re.escape(_ENDINGS.sub('', rest))}\w*"
            for rest in search_terms.CJK_RUN.split(word)
            if rest.strip("_")
        ]
    return re.compile("|".join(terms), re.IGNORECASE) if terms else None


def _without(text: str, marks: tuple[str, str]) -> str:
    """Remove marks that are in the text already, if they are invisible characters."""
    for mark in marks:
        text = text if mark.isprintable() else text.replace(mark, "")
    return text
