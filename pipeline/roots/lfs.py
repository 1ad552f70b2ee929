"""Pointers of Git LFS, which stand in a repository for files that are stored elsewhere."""

from catalog.model.finding import Finding
from pipeline.roots.codes import GIT_LFS_POINTER

_FIRST_LINE = b"version https://git-lfs.github.com/spec/v1\n"
_MOST_BYTES = 1024
"""Source of both: Git LFS specification, The Pointer."""


def pointer(path: str, head: bytes) -> Finding | None:
    """Return the finding for a file that is a pointer, given its first bytes; else None."""
    if not head.startswith(_FIRST_LINE) or len(head) >= _MOST_BYTES or b"\noid " not in head:
        return None
    return GIT_LFS_POINTER.at(
        f"{path} is a pointer of Git LFS, and agents get it instead of the file's content.",
        path=path,
    )
