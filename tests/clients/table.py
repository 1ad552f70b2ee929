"""Page of clients, versions and what works, written by a run of all clients."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from catalog.listings.agents import AGENTS
from catalog.reading import told_skills
from tests.clients.client import Client
from tests.clients.sources import ALL, DATA, KEPT, FolderClient, Source
from tests.support.paths import REPOSITORY

PAGE = REPOSITORY / "docs" / "reference" / "clients.md"

HEAD = """\
<!-- Written by `make test-clients`. Edits here are lost. -->

# Clients

Real agents, libraries and installers, tried with a running skilldrop and forty skill folders, one
of them rejected and one shadowed. Each client gets the skills, and gets them again after an edit. A
skill counts if every file has the same path and the same bytes as in its folder. No model and no
account takes part.

*38 of 38* means that the client loads 38 of the 38 valid skills, and that their bytes are equal;
*38 of 38, 12 equal* that the bytes of 12 are.

## From a folder

Agents and libraries read the folder where it lies. Installers copy it into the folder of an agent.
"""

OTHER_WAYS = """
## In other ways

| Client | Version | Needs | Gets skills from | Skills | After an edit | Limits of the client |
|---|---|---|---|---|---|---|
"""

REFUSALS = """
## Skills that a client refuses or changes

"""

REAL = """
## Real skills

Valid skills of public repositories, which lie beside the repository and are no part of it. Where
bytes differ, texts have line ends with `\\r\\n`.

"""

LISTED_TO_MODELS = """
## What the model is told

Descriptions in the first request to the model, when all skills are linked with `skilldrop link`.
The request of each agent is compared with what skilldrop says, skill by skill; the first 78 and 300
skills are real ones. Skills of the agent itself take some of its room. With a model whose window is
200,000 tokens, Claude Code has room for 8,000 characters.

"""

NEVER = "–"
LISTED = 6
"""Most skills that a sentence names."""


@dataclass(frozen=True)
class Count:
    """Number of skills that a client has, of those with equal bytes, and of all."""

    loaded: int
    equal: int
    all: int

    def __str__(self) -> str:
        said = f"{self.loaded} of {self.all}"
        return said if self.loaded == self.equal else f"{said}, {self.equal} equal"


@dataclass
class Result:
    """Skills of a client at first and after an edit, and those that it could not load."""

    first: Count | None = None
    edited: Count | None = None
    refused: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """How many real skills a client had, and how many it refused for which reason."""

    count: Count
    reasons: Mapping[str, int]


Results = dict[type[Client], Result]
AllMeasured = dict[type[FolderClient], Measured]
Listings = dict[tuple[type[FolderClient], int], Mapping[str, Any]]
"""What agents tell about so many linked skills, as `ToldDirectory.summary` says."""

REASONS = {
    "YAML": "frontmatter that is no valid YAML for it",
    "Unexpected field": "fields that the specification does not have",
    "allowed-tools": "the type of `allowed-tools`",
    "ompatibility": "a compatibility over 500 characters",
    "1024": "a description over 1,024 characters",
    "name": "a name that breaks the specification",
}
"""Reasons for which clients refuse a skill, by a part of their messages; the first one counts."""


def reasons(refused: Collection[str], messages: Collection[str]) -> dict[str, int]:
    """Return how many of the refused skills have which reason."""
    return Counter(_reason(key, messages) for key in refused)


def _reason(key: str, messages: Collection[str]) -> str:
    """Return the reason that a message gives for a skill, whose folder it names."""
    for message in messages:
        before, named, after = message.partition(f"/{key}")
        if named and after[:1] in "/:>'":
            said = (before + after).replace(key, "")
            return next((why for part, why in REASONS.items() if part in said), "other reasons")
    return "reasons that it does not give for each skill"


def text(results: Results, measured: AllMeasured, listings: Listings) -> str:
    """Return the page."""
    folders = {kind: each for kind, each in results.items() if issubclass(kind, FolderClient)}
    others = {kind: each for kind, each in results.items() if kind not in folders}
    page = HEAD + "".join(_folder_table(folders))
    page += OTHER_WAYS + "".join(_row(_other(kind, each)) for kind, each in others.items())
    page += REFUSALS + "".join(_refusals(results))
    if listings:
        page += LISTED_TO_MODELS + "".join(_listing_table(listings))
    if measured:
        page += REAL + "".join(_real_table(measured))
    return page


def _folder_table(results: Mapping[type[FolderClient], Result]) -> Iterable[str]:
    """Yield the rows of clients that read a folder, with a column for each source."""
    yield "\n"
    yield from _head("Client", "Version", "Needs", *_titles(ALL), "Compared; limits")
    for title, kinds in groupby(results, lambda kind: kind.title):
        found = {kind.source: kind for kind in kinds}
        kind = next(iter(found.values()))
        cells = [_both(results[found[each]]) if each in found else NEVER for each in ALL]
        limits = "; ".join(filter(None, (kind.reads, kind.note)))
        yield _row([title, kind.version(), kind.needs(), *cells, limits])


def _other(kind: type[Client], result: Result) -> list[str]:
    limits = ["no file is executable"] if not kind.keeps_bits else []
    limits += [kind.note] if kind.note else []
    names = [kind.title, kind.version(), kind.needs(), kind.route]
    return [*names, str(result.first), str(result.edited), "; ".join(limits)]


def _both(result: Result) -> str:
    """Return the count, and that after an edit where it differs."""
    if result.first == result.edited:
        return str(result.first)
    return f"{result.first}; after an edit {result.edited}"


def _refusals(results: Results) -> Iterable[str]:
    """Yield a sentence for each rule of each client, with the sources if others differ."""
    routes: dict[str, list[str]] = {kind.title: [] for kind in results}
    concerned: dict[tuple[str, str], list[str]] = {}
    for kind, result in results.items():
        routes[kind.title].append(kind.route)
        for sentence in _sentences(kind, result):
            concerned.setdefault((kind.title, sentence), []).append(kind.route)
    for (title, sentence), found in concerned.items():
        where = "" if found == routes[title] else f" This concerns {', '.join(found)}."
        yield f"- {title} {sentence}{where}\n"


def _sentences(kind: type[Client], result: Result) -> Iterable[str]:
    """Yield what a client refuses or changes, by rule, without its name."""
    assert result.first
    skills: dict[tuple[str, str], list[str]] = {}
    for key, rule in result.refused.items():
        does = "changes" if key in kind.spoiled and result.first.loaded else "refuses"
        skills.setdefault((does, rule), []).append(f"`{key}`")
    for (does, rule), keys in skills.items():
        which = ", ".join(keys[:LISTED])
        if len(keys) == result.first.all:
            which = "every skill"
        elif len(keys) > LISTED:
            which += f" and {len(keys) - LISTED} others"
        yield f"{does} {which}: {rule}."


def _real_table(measured: AllMeasured) -> Iterable[str]:
    yield from _head("Client", *_titles(KEPT), "Refused for")
    for title, kinds in groupby(measured, lambda kind: kind.title):
        found = {kind.source: measured[kind] for kind in kinds}
        why = found[DATA].reasons
        rules = [f"{number} for {reason}" for reason, number in why.items()]
        counts = [str(found[each].count) for each in KEPT]
        yield _row([title, *counts, "; ".join(rules)])


def _listing_table(listings: Listings) -> Iterable[str]:
    """Yield a row for each agent, with a column for each number of skills."""
    numbers = sorted({number for _, number in listings})
    yield from _head("Client", "Version", "Room for skills", *(f"{n:,} skills" for n in numbers))
    for kind in dict.fromkeys(kind for kind, _ in listings):
        agent = AGENTS[listings[kind, numbers[0]]["agent"]]
        room = f"{agent.budget:,} {agent.unit}" if agent.budget else "no limit"
        if agent.window:
            room += f", with a window of {agent.window:,} tokens"
        told = [", ".join(told_skills.counts(listings[kind, number])) for number in numbers]
        yield _row([agent.title, agent.version, room, *told])


def _titles(sources: Iterable[Source]) -> list[str]:
    return [source.title for source in sources]


def _head(*cells: str) -> Iterable[str]:
    yield _row(cells)
    yield "|" + "---|" * len(cells) + "\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
