"""Sentences about names that do not exist: the closest ones, and why no file can have a name."""

import difflib
import re
import unicodedata
from collections.abc import Iterable, Sequence

import jellyfish

from catalog.text.visible import printable

slips = jellyfish.damerau_levenshtein_distance
"""Letters that are wrong, missing, too many or exchanged between two words."""
similarity = jellyfish.jaro_winkler_similarity
"""Similarity of two words, from 0 to 1; equal beginnings count most."""

LONGEST_PATH = 4096  # bytes, the limit of Linux
LONGEST_NAME = 255  # bytes of one part of a path

_SHOWN_CHARS = 120
_DRIVE = re.compile(r"[A-Za-z]:")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def shown(name: str) -> str:
    """Return an untrusted name for a sentence: in quotation marks, truncated and visible."""
    return f"'{printable(name, _SHOWN_CHARS)}'"


def impossible(path: str) -> str | None:
    """Return why no file of a skill can have this path; None where one can."""
    if not path.strip():
        return "no file is named"
    if _size(path) > LONGEST_PATH or max(map(_size, path.split("/"))) > LONGEST_NAME:
        return (
            f"it is longer than a path can be: {LONGEST_PATH:,} bytes, "
            f"{LONGEST_NAME} of them in one name"
        )
    if any(unicodedata.category(char) in ("Cc", "Cs") for char in path):
        return "it has control characters, or is not valid Unicode"
    if path.startswith("/") or _SCHEME.match(path) or _DRIVE.match(path):
        return "it is an absolute path; name the file relative to the skill's folder"
    if "\\" in path:
        return "it has a backslash; write / between folders and files"
    if ".." in path.split("/"):
        return "it leads upwards with `..`; name the file relative to the skill's folder"
    if any(part in ("", ".") for part in path.rstrip("/").split("/")):
        return "a part of it is empty or a dot"
    return None


def closest(asked: str, names: Iterable[str], limit: int = 5) -> list[str]:
    """Return the names that are similar to a name, best first.

    A name that differs only in case or in its Unicode form comes first.
    """
    by_fold: dict[str, str] = {}
    for name in names:
        by_fold.setdefault(_folded(name), name)
    folds = difflib.get_close_matches(_folded(asked[:LONGEST_NAME]), by_fold, limit, cutoff=0.6)
    return [by_fold[fold] for fold in folds]


def known(asked: str, names: Sequence[str]) -> str:
    """Return a sentence with the names closest to a wrong one, else with some of all names."""
    if near := closest(asked, names):
        return f"The closest are: {few(near)}."
    return f"There are: {few(names)}." if names else "The catalog has none yet."


def few(names: Sequence[str], limit: int = 10) -> str:
    """Return the first names for a sentence, and the number of the others."""
    listed = ", ".join(printable(name, _SHOWN_CHARS) for name in names[:limit])
    return listed if len(names) <= limit else f"{listed} and {len(names) - limit:,} more"


def _size(name: str) -> int:
    return len(name.encode(errors="replace"))


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()
