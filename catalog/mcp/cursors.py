"""Cursors, which say where the next page of a list starts."""

import re

from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, PaginatedRequestParams

PAGE = 100
"""Most entries of a page."""


def after(listed: str, params: PaginatedRequestParams | None) -> int | None:
    """Return the number in the cursor of a request for a list, or None without a cursor.

    Raises MCPError for a cursor that is not one of this list.
    """
    cursor = params.cursor if params else None
    if cursor is None:
        return None
    match = re.fullmatch(rf"{listed}-([0-9]{{1,18}})", cursor, re.ASCII)
    if match is None:
        raise unknown(listed)
    return int(match[1])


def following(listed: str, number: int) -> str:
    """Return the cursor of the page that follows a number."""
    return f"{listed}-{number}"


def unknown(listed: str) -> MCPError:
    """Return the error for a cursor from which a list cannot go on."""
    return MCPError(
        code=INVALID_PARAMS,
        message=f"The cursor is not one of the list of {listed}; list again without a cursor.",
    )
