"""Copies of skills as one archive."""

import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from catalog.export.copied import write_archive
from catalog.model.errors import NotPossible, PackageDamaged
from pipeline.service.reconcile import compare_once
from tests.catalog.export.test_folder import sources
from tests.support.linking import Linking
from tests.support.skills import write_skill


@pytest.fixture
def it(tmp_path: Path) -> Linking:
    """Return a catalog of two skills, one of which has a script."""
    it = Linking(tmp_path)
    write_skill(it.root / "pdf", files={"scripts/run.sh": "#!/bin/sh\n"})
    (it.root / "pdf" / "scripts" / "run.sh").chmod(0o755)
    write_skill(it.root / "数据")
    it.scan()
    return it


@pytest.mark.parametrize("ending", ["zip", "tar.gz", "TGZ"])
def test_the_same_skills_are_the_same_bytes(it: Linking, tmp_path: Path, ending: str) -> None:
    """Whatever the time and the umask; executable bits are kept."""
    archive = tmp_path / f"skills.{ending}"
    write_archive(archive, sources(it))
    first = archive.read_bytes()
    former = os.umask(0o077)
    try:
        write_archive(archive, list(reversed(sources(it))))
    finally:
        os.umask(former)
    assert archive.read_bytes() == first
    assert ending == "zip" or first[4:8] == bytes(4)  # no time
    assert archive.stat().st_mode & 0o777 == 0o644
    if ending == "zip":
        with zipfile.ZipFile(archive) as packed:
            modes = {info.filename: info.external_attr >> 16 for info in packed.infolist()}
    else:
        with tarfile.open(archive) as tar:
            modes = {member.name: member.mode for member in tar.getmembers()}
    assert {name: mode & 0o777 for name, mode in modes.items()} == {
        "skilldrop.lock": 0o644,
        "pdf/SKILL.md": 0o644,
        "pdf/scripts/run.sh": 0o755,
        "数据/SKILL.md": 0o644,
    }


def test_an_archive_is_written_whole_or_not_at_all(it: Linking, tmp_path: Path) -> None:
    """A damaged package leaves the former archive as it was, and nothing beside it."""
    out = tmp_path / "out"
    out.mkdir()
    write_archive(out / "skills.zip", sources(it))
    before = (out / "skills.zip").read_bytes()
    harmed = it.settings.packages_folder / "pdf" / "current" / "SKILL.md"
    harmed.chmod(0o644)
    harmed.write_text("harmed")
    with pytest.raises(PackageDamaged):
        write_archive(out / "skills.zip", sources(it))
    assert os.listdir(out) == ["skills.zip"]
    assert (out / "skills.zip").read_bytes() == before


def test_an_archive_is_a_source_of_the_same_skills(it: Linking, tmp_path: Path) -> None:
    """Another skilldrop reads it in place, with the same digests."""
    (tmp_path / "other").mkdir()
    other = Linking(tmp_path / "other")
    write_archive(other.root / "skills.tar.gz", sources(it))
    other.scan()
    assert compare_once(other.settings).differences == ()
    assert [source.package.digest for source in sources(other)] == [
        source.package.digest for source in sources(it)
    ]


def test_an_unknown_ending_is_refused(it: Linking, tmp_path: Path) -> None:
    """The ending decides the format."""
    with pytest.raises(NotPossible, match=r"must end with \.zip"):
        write_archive(tmp_path / "skills.rar", sources(it))
