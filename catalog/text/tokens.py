r"""Estimate of the tokens in a text, without a tokenizer.

The rules and weights are a fit to the mean of seven tokenizers: Claude's up to Opus 4.6, o200k,
Gemma 3, Llama 3, Qwen 3, DeepSeek 3 and Mistral's Tekken, on one half of a collection of skills,
prompt indexes and translated messages. docs/explanation/prompt-index.md has the error of each on
the other half.
"""

import re

HUNDREDTHS = 100
"""Weight of one token: weights are whole numbers of hundredths."""
SAMPLED, SAMPLES = 4_000, 8
"""Characters that are weighed of a long text, and parts of it that they come from."""
_MARK = r"!-/:-@\[-`{-~\x00-\x08\x0b-\x1f\x7f"  # punctuation and control characters

_PIECE = re.compile(
    r"[a-z]{1,8}+ ?+"  # a word, or a part of one: camel|Case, extraord|inary
    r"|[A-Z](?:[a-z]{1,8}+|[A-Z]{0,2}+) ?+"
    rf"|[{_MARK}]{{1,4}}+[ \n]?+"
    r"|[0-9]{1,2}+ ?+"
    r"|[ \t]{1,64}+"
    r"|\n"
)
"""Run of ASCII that is one token.

Each part of a piece is at most one piece, and the longest is taken first. So no way to cut a
text gives fewer pieces than the whole.
"""

_LEAD_BYTES = {
    0xC2: 80,  # Latin with accents
    0xCC: 40,  # Greek
    0xD0: 20,  # Cyrillic
    0xD4: 45,  # Armenian, Hebrew
    0xD8: 30,  # Arabic
    0xE0: 50,  # scripts of India, Thai
    0xE1: 50,  # Georgian, Vietnamese, Khmer
    0xE2: 100,  # symbols, dashes and quotes
    0xE3: 60,  # kana
    0xE4: 85,  # Han
    0xEA: 50,  # Hangul
    0xEE: 85,  # full-width forms
    0xF0: 200,  # emoji, rare Han
}
"""Weight of a character outside ASCII whose UTF-8 form begins with this byte or a later one."""

_NOT_A_LEAD_BYTE = bytes(range(min(_LEAD_BYTES)))
_WEIGHTS = bytes(
    next((weight for lead, weight in reversed(_LEAD_BYTES.items()) if lead <= byte), 0)
    for byte in range(256)
)


def estimate(text: str) -> int:
    """Return the approximate number of tokens in a text."""
    return -(-weight(text) // HUNDREDTHS)


def estimate_long(text: str) -> int:
    """Return nearly what `estimate` returns, for a long text from parts of it.

    It differs by 2 % on average. A scan would otherwise spend a seventh of its time here.
    """
    if len(text) <= SAMPLED:
        return estimate(text)
    distance, size = len(text) // SAMPLES, SAMPLED // SAMPLES
    parts = (text[at : at + size] for at in range(0, SAMPLES * distance, distance))
    return -(-sum(map(weight, parts)) * len(text) // (SAMPLED * HUNDREDTHS))


def weight(text: str) -> int:
    """Return the approximate number of tokens in a text, in hundredths of a token.

    A text never weighs more than its parts together, wherever it is cut, and exactly as much
    if it is cut after a line break. So whole lines can be weighed one by one.
    """
    pieces = _PIECE.subn("", text)[1]
    if text.isascii():
        return HUNDREDTHS * pieces
    lead_bytes = text.encode("utf-8", "surrogatepass").translate(_WEIGHTS, _NOT_A_LEAD_BYTE)
    return HUNDREDTHS * pieces + sum(lead_bytes)
