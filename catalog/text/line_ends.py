"""Line ends of texts from all systems."""


def with_plain_line_ends(text: str) -> str:
    """Return a text with CRLF and lone CR replaced by LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
