"""Partial read of a skill folder: SKILL.md, other texts, and the kind of each file."""

from collections.abc import Iterator
from pathlib import Path
from stat import S_IXUSR

from catalog.model.errors import RootUnreadable
from catalog.model.finding import Finding
from catalog.model.paths import os_path
from pipeline.roots import secrets, text_files
from pipeline.roots.local.files import read_head, text_of
from pipeline.roots.local.folder import Folder, Limits, unreadable_now
from pipeline.roots.local.root_directory import RootDirectory, held_open
from pipeline.roots.snapshot import PartialFile, PartialSnapshot, head_bytes
from pipeline.roots.text_files import chosen


def read_partially(
    root: Path | RootDirectory, folder: Folder, limits: Limits
) -> PartialSnapshot | None:
    """Read the parts of a folder that rules need; None if a file has changed since the walk.

    Rules report the same findings as after `reader.read`, in a fifth of the time.
    """
    try:
        with held_open(root) as opened:
            return _read(opened, folder, limits)
    except (OSError, RootUnreadable):
        return None


def _read(root: RootDirectory, folder: Folder, limits: Limits) -> PartialSnapshot:
    """Read parts of a folder; OSError if it has changed since the walk."""
    name = folder.skill_md_name
    skill_md: bytes | None = None
    files: list[PartialFile] = []
    found: list[secrets.Secret] = []
    problems: list[Finding] = list(folder.problems)
    most = head_bytes(limits.skill_md_bytes, limits.text_bytes)
    top = f"/{os_path(folder.path)}"
    entries = list(folder.files_to_read(limits))
    texts: dict[str, str] = {}
    to_read = frozenset(chosen((path, stat.st_size) for path, stat in entries if path != name))
    for path, stat in entries:
        mode = 0o755 if stat.st_mode & S_IXUSR else 0o644
        root_path = f"{top}/{os_path(path)}"
        try:
            if folder.source:
                head = _first(folder.source.chunks(f"{folder.path}/{path}"), most)
            else:
                head = read_head(root, root_path, stat, most)
        except OSError as error:
            problems.append(unreadable_now(path, error))
            continue
        if path == name:
            skill_md = head
        text = text_of(head, whole=len(head) == stat.st_size)
        if text is not None and path in to_read and stat.st_size <= limits.text_bytes:
            texts[path] = text.removeprefix("\ufeff")
        files.append(PartialFile(path, mode, text is not None, stat.st_size))
        if secret := secrets.in_file(path, head, is_text=text is not None):
            found.append(secret)
        if stands_in := text_files.pointer(path, head):
            problems.append(stands_in)
    return PartialSnapshot(
        skill_md_name=None if skill_md is None else name,
        skill_md=skill_md or b"",
        files=tuple(files),
        problems=tuple(problems),
        is_whole=folder.is_whole(problems),
        texts=texts,
        secrets=tuple(found),
    )


def _first(chunks: Iterator[bytes], most: int) -> bytes:
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= most:
            break
    return head[:most]
