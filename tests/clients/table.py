"""Page of clients, versions and what works, written by a run of all clients."""

from dataclasses import dataclass

from tests.clients.client import Client
from tests.support.paths import REPOSITORY

PAGE = REPOSITORY / "docs" / "reference" / "clients.md"

HEAD = """\
<!-- Written by `make test-clients`. Edits here are lost. -->

# Clients

Real agents and installers, tried with a running skilldrop and forty skill folders. Two of the
folders have no valid skill: one is rejected, one is shadowed. The others include long descriptions,
a skill without a name, a Chinese name, groups, a plugin's skill, executable scripts and binary
files. Each client gets the skills, and gets them again after an edit; the bytes of all files are
compared with their sources.

| Client | Version | Gets skills from | Equal | After an edit | Limits of the client |
|---|---|---|---|---|---|
"""


@dataclass
class Result:
    """Number of skills that a client had with equal bytes, of all; None if it was not tried."""

    first: str = "not tried"
    edited: str = "not tried"


Results = dict[type[Client], Result]


def text(results: Results) -> str:
    """Return the page."""
    return HEAD + "".join(_row(kind, result) for kind, result in results.items())


def _row(kind: type[Client], result: Result) -> str:
    limits = [f"{name}: {reason}" for name, reason in kind.missing.items()]
    if not kind.keeps_bits:
        limits.append("no file is executable")
    limits += [kind.note] if kind.note else []
    cells = (kind.title, kind.version(), kind.route, result.first, result.edited, "; ".join(limits))
    return f"| {' | '.join(cells)} |\n"
