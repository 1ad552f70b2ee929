"""Line ends of texts from all systems."""


def with_plain_line_ends(text: str) -> str:
    """Return the text with CRLF and lone CR as LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
