"""Clients that do not load a skill with a finding, as `refusals.toml` has them."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

REFUSED: Mapping[str, Sequence[str]] = tomllib.loads(
    Path(__file__).with_name("refusals.toml").read_text("utf-8")
)
"""Names of clients, by the code of the finding."""


def refusing(findings: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return the clients that do not load a skill, each with the first finding for it."""
    refused: dict[str, Mapping[str, Any]] = {}
    for row in findings:
        for client in REFUSED.get(row["code"], ()):
            refused.setdefault(client, row)
    return refused


def sentences(findings: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a sentence for each finding for which clients do not load a skill."""
    by_code: dict[str, tuple[Mapping[str, Any], list[str]]] = {}
    for client, row in refusing(findings).items():
        by_code.setdefault(row["code"], (row, []))[1].append(client)
    return [
        f"Not loaded by {', '.join(clients)}: {code}"
        f"{' in line {}'.format(row['line']) if row['line'] else ''}. {row['fix']}"
        for code, (row, clients) in by_code.items()
    ]
