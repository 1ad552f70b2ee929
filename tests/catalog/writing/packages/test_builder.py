"""Packages of many skills, made in batches."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import chain
from pathlib import Path
from typing import NoReturn

import pytest

from catalog.filesystem.ownership import OwnedFolder
from catalog.writing import packager as writing_packager
from catalog.writing.packages import builder
from catalog.writing.packages.builder import Packaging
from pipeline import processes
from pipeline.service import open_catalog
from tests.support.made_archives import pack_zip
from tests.support.packages import World
from tests.support.records import NOON
from tests.support.skills import SkillWriter

NAMES = "abcdefg"


@pytest.fixture
def world(tmp_path: Path, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Return skills stored without packages, to be published two at a time."""
    monkeypatch.setattr(writing_packager, "BATCH", 2)
    monkeypatch.setattr(builder, "PIECE", 1)
    made = World(tmp_path, in_place=True)
    for name in NAMES:
        skill(made.root / name, files={"scripts/x.py": f"print({name!r})"})
    made.scan()
    yield made
    made.store.close()


def publish(world: World, at_work: builder.AtWork = builder.here) -> list[int]:
    """Publish all skills, and return the number published after each batch."""
    return list(
        world.store.publish_into(
            Packaging(
                OwnedFolder(world.packages, "packages"),
                open_catalog.package_sources,
                at_work=at_work,
            ),
            NOON,
        )
    )


@pytest.mark.parametrize("at_work", [builder.here, processes.at_work], ids=["here", "pool"])
def test_all_are_published_in_batches(world: World, at_work: builder.AtWork) -> None:
    """In one process or several, each batch is complete before the next."""
    assert publish(world, at_work) == [2, 4, 6, 7]
    assert world.differences() == []
    assert world.lying() == list(NAMES)


def test_a_changed_folder_does_not_delay_others(world: World, skill: SkillWriter) -> None:
    """It is pending until the next scan, while all others are published."""
    skill(world.root / "c", description="Another.")
    publish(world, processes.at_work)
    assert world.lying() == [name for name in NAMES if name != "c"]
    assert world.rows("SELECT skill_id FROM skills WHERE status = 'pending'") == [("c",)]
    world.scan()
    assert world.differences() == []


def test_packages_made_before_a_failure_are_discarded(world: World) -> None:
    """Earlier batches stay published; the next start publishes the rest."""

    @contextmanager
    def breaks_down(
        work: Callable[[list[builder.PackageJob]], list[bool]],
        pieces: Sequence[list[builder.PackageJob]],
    ) -> Iterator[Iterator[list[bool]]]:
        def fails() -> NoReturn:
            raise OSError(28, "No space left on device")

        done = list(map(work, pieces))
        made.extend(done)
        yield chain(done, iter(fails, None)) if len(made) > 2 else iter(done)

    made: list[list[bool]] = []

    with pytest.raises(OSError, match="No space"):
        publish(world, breaks_down)
    assert world.lying() == ["a", "b"]
    world.restart()
    assert world.differences() == []
    assert world.lying() == list(NAMES)


def test_one_process_makes_the_packages_of_an_archive(
    tmp_path: Path, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its skills stay in one piece, so that it is opened once."""
    world = World(tmp_path)
    for name in "ab":
        skill(tmp_path / f"pack/{name}")
    pack_zip(tmp_path / "pack", world.root / "pack.zip")
    skill(world.root / "c")
    submitted: list[list[str]] = []

    def noted(
        work: Callable[[list[builder.PackageJob]], list[bool]],
        pieces: Sequence[list[builder.PackageJob]],
    ) -> AbstractContextManager[Iterable[list[bool]]]:
        submitted.extend([job.skill_id for job in piece] for piece in pieces)
        return builder.here(work, pieces)

    monkeypatch.setattr(builder, "PIECE", 1)
    world.store.packager.packaging = Packaging(
        OwnedFolder(world.packages, "packages"),
        open_catalog.package_sources,
        identity=world.store.folders.identity,
        at_work=noted,
    )
    world.scan()
    world.store.close()
    assert submitted == [["c"], ["a", "b"]]
