"""Compressed texts of versions and files, and the SQL functions that pack and unpack them.

The views `version_contents` and `file_contents` have the texts; everything else reads the tables.
"""

import sys
from functools import cache, lru_cache
from sqlite3 import Connection
from typing import Any

from catalog.database.common_phrases import COMMON_PHRASES
from catalog.database.sql import Row, columns
from catalog.text.line_ends import with_plain_line_ends

PACKED = "packed"
"""Column with the compressed texts of a row."""
TEXTS = {"versions": ("frontmatter", "described", "skill_md_content"), "files": ("text",)}
"""Texts of a table's rows, in their order: only the last may have line ends, as JSON has none.

Most of the JSON is also in the SKILL.md, so it takes hardly any room beside it.
"""
_LEVEL = 1  # with the common phrases, level 3 takes half as much time again for a hundredth
_SHORTEST = 8  # bytes of a text to which another can refer
_DAMAGED = ("{}", "{}", "")


def register(connection: Connection) -> None:
    """Give a connection the SQL functions of the packed columns."""
    connection.create_function("pack", 1, pack_file, deterministic=True)
    connection.create_function("pack", 3, pack, deterministic=True)
    connection.create_function("unpack", 3, unpack, deterministic=True)
    connection.create_function("unpack_file", 2, unpack_file, deterministic=True)
    connection.create_function("unpack_body", 3, unpack_body, deterministic=True)


def pack(*texts: str | None) -> bytes | None:
    """Return the texts of a version as one compressed value; None if a text is missing."""
    present = [text for text in texts if text is not None]
    if len(present) < len(texts):
        return None
    compressor = _compressor()
    packed: bytes = compressor.compress("\n".join(present).encode(), compressor.FLUSH_FRAME)
    return packed


def pack_file(text: str | None, skill_md: str = "") -> bytes | None:
    """Return the text of a file compressed, with references to the SKILL.md of its version."""
    if text is None:
        return None
    beside = _dictionary(skill_md.encode())
    packed: bytes = _zstd().compress(text.encode(), _LEVEL, zstd_dict=beside and beside.as_prefix)
    return packed


def pack_version(row: Row) -> Row:
    """Return a row of `versions` as it is stored, with its texts packed."""
    texts = TEXTS["versions"]
    stored = {column: value for column, value in row.items() if column not in texts}
    return stored | {PACKED: pack(*(row[text] for text in texts))}


def unpack(packed: bytes | None, place: int, count: int) -> bytes | None:
    """Return one of so many packed texts, as UTF-8; None if they are missing.

    Damaged texts are empty: a check of the catalog finds them, and an error would stop each scan.
    """
    if packed is None:
        return None
    zstd = _zstd()
    try:
        whole = zstd.decompress(packed, zstd_dict=_phrases())
        texts: list[bytes] = whole.split(b"\n", count - 1)
        return texts[place]
    except (zstd.ZstdError, IndexError):
        return _DAMAGED[place - count].encode()


def unpack_file(packed: bytes | None, packed_version: bytes) -> bytes | None:
    """Return the text of a file, given its packed version; None if it has none.

    A damaged text is empty, as for `unpack`.
    """
    if packed is None:
        return None
    zstd = _zstd()
    try:
        text: bytes = zstd.decompress(packed, zstd_dict=_beside(packed_version))
    except zstd.ZstdError:
        return b""
    return text


def unpack_body(packed: bytes, first_byte: int, size: int) -> bytes:
    """Return the body of a packed version, whose place is that of `catalog.text.body`."""
    skill_md = unpack(packed, 2, 3) or b""
    return with_plain_line_ends(skill_md.decode()).encode()[first_byte - 1 :][:size]


def packing(table: str) -> str:
    """Return the SQL expression that packs the texts of a table."""
    return f"pack({columns(TEXTS[table])})"


@cache
def _compressor() -> Any:
    return _zstd().ZstdCompressor(_LEVEL, zstd_dict=_phrases().as_digested_dict)


@cache
def _phrases() -> Any:
    return _dictionary(COMMON_PHRASES)


@lru_cache(maxsize=1)
def _beside(packed_version: bytes) -> Any:
    """Return the SKILL.md of a version, which its files refer to; often they are read in a row."""
    return _dictionary(unpack(packed_version, 2, 3) or b"")


def _dictionary(text: bytes) -> Any:
    """Return a text as a dictionary; None if it is too short.

    Values that were packed without a dictionary are read with any.
    """
    return _zstd().ZstdDict(text, is_raw=True) if len(text) >= _SHORTEST else None


@cache
def _zstd() -> Any:
    """Import the library where it is used: most commands read no text."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd
