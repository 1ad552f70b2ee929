"""How the names of files are written down as text, and what file such a text means."""

import re

_TO_ESCAPE = re.compile("[\\\\\udc80-\udcff]")
_ESCAPED = re.compile(r"\\(?:\\|x([89a-f][0-9a-f]))")


def text_path(os_path: str) -> str:
    r"""Return a name or path of the system as text that every encoding and database can hold.

    A backslash is doubled and each byte that is not valid UTF-8 becomes `\xNN`, so two names
    never have one text.
    """
    if os_path.isascii() and "\\" not in os_path:
        return os_path
    return _TO_ESCAPE.sub(_escape, os_path)


def os_path(text: str) -> str:
    """Return the name or path of the system that `text_path` wrote down as this text."""
    return _ESCAPED.sub(_unescape, text) if "\\" in text else text


def is_utf8(os_path: str) -> bool:
    """Say whether the bytes of a name or path of the system are valid UTF-8."""
    return os_path.isascii() or not any("\udc80" <= char <= "\udcff" for char in os_path)


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return "\\\\" if char == "\\" else f"\\x{ord(char) - 0xDC00:02x}"


def _unescape(match: re.Match[str]) -> str:
    return chr(0xDC00 + int(match[1], 16)) if match[1] else "\\"
