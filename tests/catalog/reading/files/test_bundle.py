"""Published skills as archives."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from catalog.model.errors import PackageDamaged
from catalog.reading.files import bundle
from catalog.reading.files.published import package_of
from tests.support.shelf import Shelf
from tests.support.skills import SkillWriter

FILES: dict[str, str | bytes] = {
    "scripts/run.py": "print(1)\n",
    "assets/名 字.bin": bytes(range(256)) * 9,
    "empty.txt": "",
}


@pytest.fixture
def shelf(tmp_path: Path, skill: SkillWriter) -> Iterator[Shelf]:
    """Return a published skill with files."""
    shelf = Shelf(tmp_path)
    skill(shelf.root / "count", files=FILES)
    (shelf.root / "count" / "scripts" / "run.py").chmod(0o755)
    shelf.scan()
    yield shelf
    shelf.close()


def made(shelf: Shelf, name: str = "count") -> bytes:
    """Return the archive of a skill."""
    file = io.BytesIO()
    bundle.write(package_of(shelf.db, shelf.packages, name), file)
    return file.getvalue()


def test_an_archive_holds_the_skill(shelf: Shelf) -> None:
    """All its files with their paths, bytes and modes."""
    with zipfile.ZipFile(io.BytesIO(made(shelf))) as archive:
        assert archive.testzip() is None
        members = {member.filename: member for member in archive.infolist()}
        assert set(members) == {"SKILL.md", *FILES}
        for name in members:
            assert archive.read(name) == (shelf.root / "count" / name).read_bytes()
        assert {
            name for name, member in members.items() if member.external_attr >> 16 & 0o777 == 0o755
        } == {"scripts/run.py"}


def test_the_same_content_gives_the_same_bytes(shelf: Shelf) -> None:
    """Neither the time nor the name of the skill matters."""
    first = made(shelf)
    (shelf.root / "count").rename(shelf.root / "moved")
    shelf.scan()
    assert made(shelf) == first


@pytest.mark.requirement("well-known/archive")
def test_skill_md_is_at_the_top_by_that_name(shelf: Shelf) -> None:
    """Clients expect SKILL.md, in whatever case its author wrote the name."""
    (shelf.root / "count" / "SKILL.md").rename(shelf.root / "count" / "skill.md")
    shelf.scan()
    with zipfile.ZipFile(io.BytesIO(made(shelf))) as archive:
        assert set(archive.namelist()) == {"SKILL.md", *FILES}


def test_no_archive_contains_unaccepted_content(shelf: Shelf) -> None:
    """Not even the unchanged files are served."""
    shelf.loosen()
    script = shelf.version_folder("count") / "scripts" / "run.py"
    script.chmod(0o644)
    script.write_text("print(2)\n")
    with pytest.raises(PackageDamaged, match=r"scripts/run\.py"):
        made(shelf)
