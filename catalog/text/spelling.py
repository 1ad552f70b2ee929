"""Similarity of words by spelling; only this module uses the library jellyfish."""

from jellyfish import damerau_levenshtein_distance, jaro_winkler_similarity


def slips(word: str, other: str) -> int:
    """Return how many letters are wrong, missing, too many or exchanged."""
    return damerau_levenshtein_distance(word, other)


def similarity(word: str, other: str) -> float:
    """Return how similar two words are, from 0 to 1; equal beginnings count most."""
    return jaro_winkler_similarity(word, other)
