"""Published skill as one ZIP archive, with the same bytes for the same content."""

import shutil
import stat
import zipfile
from typing import IO

from catalog.reading.files import skill_files
from catalog.reading.files.published import SKILL_MD, Package, PublishedFile

_LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""Earliest time in the format."""
_UNIX = 3


def write(package: Package, to: IO[bytes]) -> None:
    """Write all files of a package as an archive with SKILL.md at the top, in bounded memory.

    Files are stored uncompressed, as versions of zlib compress differently. Raises as
    `skill_files.opened` does.
    """
    with zipfile.ZipFile(to, "w", zipfile.ZIP_STORED) as archive:
        for entry in package.files:
            with skill_files.opened(package, entry) as file:
                add(archive, name_of(entry), int(entry.mode, 8), entry.size, file)


def name_of(entry: PublishedFile) -> str:
    """Return the path of a file of a skill in a copy: any spelling of SKILL.md becomes SKILL.md."""
    return SKILL_MD if entry.kind == "skill_md" else entry.path


def add(archive: zipfile.ZipFile, name: str, mode: int, size: int, file: IO[bytes]) -> None:
    """Add a file with its permissions and a constant time."""
    member = zipfile.ZipInfo(name, _LONG_AGO)
    member.create_system = _UNIX
    member.external_attr = (stat.S_IFREG | mode) << 16
    member.file_size = size  # decides whether the member needs the 64-bit form
    with archive.open(member, "w") as stored:
        shutil.copyfileobj(file, stored)


def size(package: Package) -> int:
    """Return the approximate size of a package's archive, in bytes."""
    return sum(entry.size + 2 * len(entry.path.encode()) + 200 for entry in package.files)
