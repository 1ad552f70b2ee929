"""Listings of real agents, captured and compared with those that skilldrop foretells."""

import functools
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from catalog.database.connection import open_catalog
from catalog.listings.agents import AGENTS
from catalog.listings.told import Told
from catalog.model.setting import FINDER
from catalog.reading import told_skills
from tests.clients import table
from tests.clients.installed import Absent
from tests.clients.listings import LISTINGS, Listing
from tests.clients.running import Scanned
from tests.support.paths import SEARCH
from tests.support.skills import write_skill

NUMBERS = (78, 300, 3300)
"""Numbers of skills in a directory; the first ones are real."""
HOME = 8
"""Characters of a description, or one name, more or less: Codex counts the path of the home."""


@pytest.fixture(scope="session")
def catalogs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Scanned]:
    """Return a function that gives a catalog with so many skills; skip without real ones."""
    real = sorted(SEARCH.glob("skills/*/*/SKILL.md"))
    if not real:
        pytest.skip("there are no real skills here")

    @functools.cache
    def made(number: int) -> Scanned:
        folder = tmp_path_factory.mktemp(f"skills-{number}")
        for skill_md in random.Random(1).sample(real, min(number, len(real))):
            (folder / "root" / skill_md.parent.name).mkdir(parents=True, exist_ok=True)
            copy = folder / "root" / skill_md.parent.name / "SKILL.md"
            copy.write_bytes(skill_md.read_bytes())
        for count in range(len(real), number):
            words = "Helps with one of many tasks. " * (1 + count % 30)
            write_skill(folder / "root" / f"made-{count}", description=f"{count}. {words}".strip())
        return Scanned(folder, [folder / "root"])

    return made


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("kind", LISTINGS)
def test_an_agent_tells_its_model_what_skilldrop_says(
    catalogs: Callable[[int], Scanned],
    tmp_path: Path,
    kind: type[Listing],
    number: int,
    listings: table.Listings,
) -> None:
    """Of each skill the whole description, so many characters of it, its name or nothing."""
    try:
        client = kind(catalogs(number), tmp_path / "home")
    except Absent as reason:
        pytest.skip(str(reason))
    client.install()
    db = open_catalog(client.catalog.data / "catalog.db")
    (said,) = told_skills.of_directories(db, str(client.home / client.folder))
    listed = client.listed()
    listings[kind, number] = said.summary()
    wrong = {name: each for name, each in said.skills.items() if not _is_so(listed.get(name), each)}
    assert not wrong or (said.summary()["none"] and len(wrong) == 1), wrong


@pytest.mark.parametrize("kind", LISTINGS)
def test_an_agent_tells_its_model_all_that_fits(
    catalogs: Callable[[int], Scanned], tmp_path: Path, kind: type[Listing]
) -> None:
    """Each description whole, and that of the finder."""
    try:
        client = kind(catalogs(300), tmp_path / "home")
    except Absent as reason:
        pytest.skip(str(reason))
    client.install("--fit")
    db = open_catalog(client.catalog.data / "catalog.db")
    (said,) = told_skills.of_directories(db, str(client.home / client.folder))
    listed = client.listed()
    assert said.skills[FINDER].chars
    assert {name: len(listed[name]) for name in said.skills} == {
        name: told.chars for name, told in said.skills.items() if told.how == "whole"
    }


def _is_so(shown: str | None, said: Told) -> bool:
    """Return whether a request tells so much about a skill."""
    if shown is None or said.how == "none":
        return shown is None and said.how == "none"
    if not shown or not said.chars:
        return len(shown) == said.chars
    return abs(len(shown) - said.chars) <= HOME


def test_agents_have_the_versions_of_the_clients() -> None:
    """Each new version is measured again."""
    assert {kind.name: kind.version() for kind in LISTINGS} == {
        name: agent.version for name, agent in AGENTS.items()
    }
