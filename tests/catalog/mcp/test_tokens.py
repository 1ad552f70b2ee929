"""Readers' tokens of the MCP server over HTTP."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from catalog.filesystem import token_file
from tests.support import loopback
from tests.support.mcp_servers import over_http
from tests.support.shelf import Shelf
from tests.support.skills import SkillWriter

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
def shelf(tmp_path: Path, skill: SkillWriter) -> Iterator[Shelf]:
    """Return a published skill."""
    made = Shelf(tmp_path)
    skill(made.root / "pdf")
    made.scan()
    yield made
    made.close()


def test_a_client_needs_a_token_once_there_is_one(shelf: Shelf) -> None:
    """Without a restart; a wrong token is refused like none, and the last one leaves again."""
    file = shelf.settings.tokens_path
    with over_http(shelf) as url:

        def status(token: str = "") -> int:
            headers = ACCEPT | ({"Authorization": f"Bearer {token}"} if token else {})
            return loopback.post(url, json=HELLO, headers=headers).status_code

        assert status() == 200
        token = token_file.add(file, "ci", datetime.now(UTC))
        assert (status(), status("wrong"), status(token)) == (401, 401, 200)
        refusal = loopback.post(url, json=HELLO, headers=ACCEPT)
        assert "Bearer" in refusal.headers["www-authenticate"]
        assert "Authorization: Bearer TOKEN" in refusal.text
        token_file.remove(file, "ci", opens=True)
        assert status() == 200
