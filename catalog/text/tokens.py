"""Estimate of the tokens in a text, without a tokenizer."""

CHARACTERS_A_TOKEN = 4

_BELOW_U3000 = bytes(range(0xE3))


def estimate(text: str) -> int:
    """Return the approximate number of tokens in a text.

    Every character from U+3000 up counts as one: Chinese, Japanese and Korean script and
    punctuation, full-width forms and emoji. Four other characters count as one token.
    """
    # In UTF-8 exactly the characters from U+3000 up begin with a byte of 0xE3 or more, and no
    # later byte of a character is that high.
    wide = len(text.encode("utf-8", "surrogatepass").translate(None, _BELOW_U3000))
    return wide + -(-(len(text) - wide) // CHARACTERS_A_TOKEN)
