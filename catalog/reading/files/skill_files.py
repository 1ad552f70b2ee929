"""Published files as text, whole or in pages, each verified before it is given."""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import file_digest
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from catalog.filesystem.operations import open_file
from catalog.model.errors import PackageDamaged, PathRefused
from catalog.model.paths import os_path
from catalog.reading.files.paging import read_page
from catalog.reading.files.published import CURE, SKILL_MD, Package, PublishedFile, find_file
from catalog.text import humanize
from catalog.text.suggestions import shown
from catalog.text.visible import in_attribute, in_xml

LISTED = 200
"""Files of a skill that are listed, at most."""

# A tag in the body could end the skill's part, so that the rest would pass for other text.
_OUR_TAG = re.compile(r"<(?=\s*/?\s*skill_(?:content|resources))", re.IGNORECASE)


def wrap_text(name: str, body: str, directory: str, files: Sequence[str], note: str = "") -> str:
    """Return a body between `<skill_content>` tags that nothing in it can close.

    directory is the absolute path or URI of the skill's files, to which files are relative. note
    is a line to add, such as where the next part starts.
    """
    listed = [f"  <file>{in_xml(path)}</file>" for path in files[:LISTED]]
    if len(files) > LISTED:
        listed.append(f"  <!-- and {len(files) - LISTED} more -->")
    return "\n".join(
        [
            f'<skill_content name="{in_attribute(name)}">',
            _OUR_TAG.sub("&lt;", body).strip("\n"),
            "",
            *([note] if note else []),
            f"Skill directory: {in_xml(directory)}",
            "Paths in this skill are relative to the skill directory.",
            *(["", "<skill_resources>", *listed, "</skill_resources>"] if listed else []),
            "</skill_content>",
            "",
        ]
    )


@dataclass(frozen=True, slots=True)
class SkillFile:
    """A published file, or a page of it, as text."""

    skill_id: str
    skill: str
    version: str
    path: str
    size: int  # bytes of the whole file
    sha256: str  # of the whole file
    media_type: str
    encoding: str  # "utf-8", "utf-8-sig" where a BOM was removed, else "base64"
    text: str
    offset: int  # of this page, in bytes
    next_offset: int | None  # of the next page
    executable: bool


@contextmanager
def opened(package: Package, entry: PublishedFile) -> Iterator[BinaryIO]:
    """Open a file of a package at its start, after its hash was verified.

    Raises PathRefused and PackageDamaged, each with one sentence.
    """
    with _reported(package, entry):
        file = _open(package, entry)
    with file:
        with _reported(package, entry):
            size = os.fstat(file.fileno()).st_size
            sha256 = file_digest(file, "sha256").hexdigest() if size == entry.size else ""
        _check_content(package, entry, size, sha256)
        file.seek(0)
        yield file


def copy(package: Package, entry: PublishedFile, to: Path) -> None:
    """Write a file of a package to a new place, with its mode. Raises OSError, and as `opened`."""
    with opened(package, entry) as file:
        to.parent.mkdir(parents=True, exist_ok=True)
        with to.open("xb") as target:
            shutil.copyfileobj(file, target)
            os.fchmod(target.fileno(), int(entry.mode, 8))


def read(
    package: Package, file_path: str = SKILL_MD, *, offset: int = 0, limit: int | None = None
) -> SkillFile:
    """Return a file of a package, or about `limit` bytes of it from an offset.

    It has the SHA-256 that the catalog has stored. Raises as `opened` does.
    """
    entry = find_file(package, file_path)
    if offset < 0 or offset > entry.size or (limit is not None and limit < 1):
        raise PathRefused(
            f"{shown(entry.path)} has {humanize.count(entry.size, 'byte')}; give an "
            "offset from 0 to that number, and a limit of 1 or more."
        )
    with _reported(package, entry), _open(package, entry) as file:
        page = read_page(file, offset, limit, entry.size)
    _check_content(package, entry, page.size, page.sha256)
    return SkillFile(
        package.skill_id,
        package.skill,
        package.version,
        entry.path,
        page.size,
        page.sha256,
        entry.media_type,
        page.encoding,
        page.text,
        page.offset,
        page.next_offset,
        entry.executable,
    )


def wrap(package: Package, page: SkillFile, directory: str | None = None) -> str:
    """Return a page of a package's SKILL.md between `<skill_content>` tags.

    The directory is the package's own unless another is given.
    """
    whole = page.offset == 0 and page.next_offset is None
    note = (
        ""
        if page.next_offset is None
        else (
            f"This is only a part of {page.path}, which has {humanize.count(page.size, 'byte')}; "
            f"the next part starts at offset {page.next_offset}."
        )
    )
    others = [file.path for file in package.files if file.path != page.path]
    return wrap_text(
        package.skill,
        (whole and package.body) or page.text,
        directory or package.directory,
        others,
        note,
    )


# Opening and verification


def _open(package: Package, entry: PublishedFile) -> BufferedReader:
    path = os_path(entry.path)
    if package.in_place:
        return _open_in_root(package, path)
    return open_file(package.top, package.names, path)


def _open_in_root(package: Package, path: str) -> BufferedReader:
    """Open a file in a root, where a link may lead to another place in that root."""
    top = os.path.realpath(package.top)
    target = os.path.realpath("/".join((top, *package.names, path)))
    if not target.startswith(f"{top.rstrip('/')}/"):
        raise PathRefused(f"{shown(path)} is a link that leads out of the root.")
    return open_file(top, (), os.path.relpath(target, top))


@contextmanager
def _reported(package: Package, entry: PublishedFile) -> Iterator[None]:
    """Report a file that cannot be read as damage of its package."""
    try:
        yield
    except OSError as error:
        raise _damaged(package, entry, error.strerror or str(error)) from error


def _check_content(package: Package, entry: PublishedFile, size: int, sha256: str) -> None:
    if (size, sha256) != (entry.size, entry.sha256):
        raise _damaged(package, entry, "its content differs from the accepted one")


def _damaged(package: Package, entry: PublishedFile, reason: str) -> PackageDamaged:
    if package.in_place:
        return PackageDamaged(
            f"{shown(entry.path)} of {shown(package.skill)} has changed since "
            f"it was accepted ({reason}); see `skilldrop status`."
        )
    return PackageDamaged(
        f"{shown(entry.path)} of {shown(package.skill)}, version "
        f"{package.version}, cannot be read from its package: {reason}; {CURE}."
    )
