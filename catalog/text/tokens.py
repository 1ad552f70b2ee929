"""Estimate of the tokens of a text, without a tokenizer."""

CHARACTERS_A_TOKEN = 4

_BELOW_U3000 = bytes(range(0xE3))


def estimate(text: str) -> int:
    """Return the text's approximate number of tokens.

    Every character from U+3000 up counts as one: Chinese, Japanese and Korean script and
    punctuation, full-width forms and emoji. Of everything else, four characters make a token.
    """
    # In UTF-8 exactly the characters from U+3000 up begin with a byte of 0xE3 or more, and no
    # later byte of a character is that high.
    wide = len(text.encode("utf-8", "surrogatepass").translate(None, _BELOW_U3000))
    return wide + -(-(len(text) - wide) // CHARACTERS_A_TOKEN)
