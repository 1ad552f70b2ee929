"""The few words of a text around what was searched for, with that marked (pure)."""

import re

from catalog.text import ngrams

BEFORE, LENGTH = 60, 200
"""Characters that an excerpt has before what was found, and in all, at most."""

_ENDINGS = re.compile(r"(?<=\w{3})(?:ations?|ingly|ing|edly|ed|ies|es|s|e|y)$")


def excerpt(text: str, words: str, marks: tuple[str, str]) -> str | None:
    """Return where a text has the words, in one line; None where it has none of them.

    A word is found by its beginning, in about the forms that the search takes for the same; it
    need not be exact, since it decides only what a person is shown.
    """
    pattern = _pattern(words)
    found = pattern.search(text) if pattern else None
    if not pattern or not found:
        return None
    start = max(found.start() - BEFORE, 0)
    shown = text[start : start + LENGTH]
    cut_before, cut_after = start > 0, start + LENGTH < len(text)
    if cut_before:  # at a space, if there is one: Chinese has none
        shown = shown[shown.find(" ", 0, found.start() - start) + 1 :]
    if cut_after and " " in shown[found.end() - start :]:
        shown = shown.rpartition(" ")[0]
    shown = " ".join(_without(shown, marks).split())
    marked = pattern.sub(lambda match: f"{marks[0]}{match[0]}{marks[1]}", shown)
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
            for run in ngrams.CJK_RUN.findall(word)
            for piece in (run, *ngrams.pieces(run))
        ]
        terms += [
            rf"\b{re.escape(_ENDINGS.sub('', rest))}\w*"
            for rest in ngrams.CJK_RUN.split(word)
            if rest.strip("_")
        ]
    return re.compile("|".join(terms), re.IGNORECASE) if terms else None


def _without(text: str, marks: tuple[str, str]) -> str:
    """Take a text's own marks away, where they are characters that nobody can see."""
    for mark in marks:
        text = text if mark.isprintable() else text.replace(mark, "")
    return text
