"""Token in the headers of a request."""

import base64
from collections.abc import Iterable

CHALLENGE = 'Basic realm="skilldrop", charset="UTF-8", Bearer realm="skilldrop"'
"""WWW-Authenticate header of a refusal: a browser asks for a password, which is the token."""
SENTENCE = (
    "This site is for readers with a token. Send yours as `Authorization: Bearer TOKEN`, "
    "or as a password with any user name."
)


def of_headers(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """Return the token in the Authorization header of an ASGI request; None without one."""
    values = [value for name, value in headers if name.lower() == b"authorization"]
    if len(values) != 1:
        return None
    scheme, _, rest = values[0].partition(b" ")
    match scheme.lower():
        case b"bearer":
            return rest.strip().decode("latin-1")
        case b"basic":
            return _password(rest.strip())
    return None


def _password(encoded: bytes) -> str | None:
    try:
        _, colon, password = base64.b64decode(encoded, validate=True).partition(b":")
    except ValueError:
        return None
    return password.decode("utf-8", "replace") if colon else None
