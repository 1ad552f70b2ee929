"""Similarity of two texts, by the pieces that they share.

A text, without case, spaces, punctuation and markup, is cut into pieces of about four words. A cut
depends only on the bytes beside it, so an edit changes one piece and leaves the others, in every
language: Chinese needs no words. Pieces of an even length are left out, which halves the work. The
similarity is that of the two sets of pieces (Jaccard): the shared pieces as a part of all. It is
close to the similarity of the runs of three words, and takes a fifth of the time.
"""

SIMILAR = 0.7
"""Similarity from which texts are called similar: one word in 25 is changed, or a section added.

Of 136,000 pairs of published skills, hardly any two lie between 0.5 and 0.75.
"""
FEWEST = 8
"""Pieces of the shortest text that is compared, about 65 words; shorter ones are never similar."""

NO_PIECES: frozenset[bytes] = frozenset()
_SHORT = 8  # bytes; shorter pieces are in every text
_CUTS = b"dmp\x83\x91\xa1\xb3"  # letters, and bytes that one in eight Chinese characters has
_CUT = ord("\n")
_PIECES = bytes(_CUT if byte in _CUTS + _CUTS.upper() else byte for byte in range(256)).lower()
_DROPPED = bytes(byte for byte in range(128) if not chr(byte).isalnum())


def pieces_of(text: str) -> frozenset[bytes]:
    """Return the pieces of a text by which it is compared; none if it is too short."""
    pieces = text.encode(errors="replace").translate(_PIECES, _DROPPED).split(b"\n")
    found = frozenset(piece for piece in pieces if len(piece) & 1 and len(piece) > _SHORT)
    return found if len(found) >= FEWEST else NO_PIECES


def similarity(one: frozenset[bytes], other: frozenset[bytes]) -> float:
    """Return the similarity of two texts by their pieces, from 0 to 1; 0 where there are none."""
    return len(one & other) / len(one | other) if one and other else 0.0
