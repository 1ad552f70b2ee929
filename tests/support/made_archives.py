"""Real archives, good and hostile, as their makers would write them."""

import gzip
import io
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

GOOD = (
    "---\nname: sample\ndescription: Takes a text file and gives its word count. Use when asked "
    "how long a text is.\n---\n\n# Count words\n\n1. Read the file.\n2. Say how many it has.\n"
)
SKILL = {"sample/SKILL.md": GOOD}


def make_zip(
    path: Path,
    members: Mapping[str, str | bytes],
    modes: Mapping[str, int] | None = None,
    compression: int = zipfile.ZIP_DEFLATED,
) -> Path:
    """Write a zip; modes are those of a stat, with the type, for members that need one."""
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = compression
            info.external_attr = (modes or {}).get(name, stat.S_IFREG | 0o644) << 16
            file.writestr(info, content)
    return path


def make_tar(path: Path, members: Mapping[str, str | bytes | tarfile.TarInfo]) -> Path:
    """Write a tar, compressed as its name says; a member that is no file is given as its header."""
    with _tar(path) as file:
        for name, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                content.name = name
                file.addfile(content)
                continue
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(data)
            file.addfile(info, io.BytesIO(data))
    return path


def header(kind: bytes, target: str = "") -> tarfile.TarInfo:
    """Return the header of a member of a tar that is no file."""
    info = tarfile.TarInfo()
    info.type, info.linkname = kind, target
    return info


def pack_zip(folder: Path, path: Path) -> Path:
    """Pack a folder under its own name, with its modes and links."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for each in sorted(folder.rglob("*")):
            name = str(each.relative_to(folder.parent))
            if each.is_symlink():
                info = zipfile.ZipInfo(name)
                info.external_attr = (stat.S_IFLNK | 0o777) << 16
                file.writestr(info, str(each.readlink()))
            else:
                file.write(each, name)
    return path


def pack_tar(folder: Path, path: Path) -> Path:
    """Pack a folder under its own name, with its modes and links."""
    with _tar(path) as file:
        file.add(folder, folder.name)
    return path


@contextmanager
def _tar(path: Path) -> Iterator[tarfile.TarFile]:
    """Open a tar for writing that is compressed as its name says."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as file:
        yield file
    path.write_bytes(_COMPRESS.get(path.suffix, gzip.compress)(data.getvalue()))


_COMPRESS: Mapping[str, Callable[[bytes], bytes]] = {
    ".tar": bytes,
    ".gz": gzip.compress,
    ".tgz": gzip.compress,
}


def rewritten(path: Path, before: bytes, after: bytes) -> Path:
    """Replace existing bytes in a file."""
    data = path.read_bytes()
    assert before in data
    path.write_bytes(data.replace(before, after))
    return path


# One archive for each reason to refuse one


def _corrupt(root: Path) -> None:
    path = make_zip(root / "sample.zip", SKILL, compression=zipfile.ZIP_STORED)
    rewritten(path, b"# Count words", b"# Count w0rds")


def _encrypted(root: Path) -> None:
    path = make_zip(root / "sample.zip", SKILL)
    data = bytearray(path.read_bytes())
    data[6] |= 1  # in the header of the member …
    data[data.index(b"PK\1\2") + 8] |= 1  # … and in the directory
    path.write_bytes(data)


def _names_that_are_latin_1(root: Path) -> None:
    path = make_zip(root / "sample.zip", {**SKILL, "sample/notes-XXXX.md": "A note.\n"})
    rewritten(path, b"notes-XXXX", b"notes-caf\xe9")


def _twice(root: Path) -> None:
    path = make_zip(root / "sample.zip", {**SKILL, "sample/SKILL.mx": "Another.\n"})
    rewritten(path, b"SKILL.mx", b"SKILL.md")


BAD: Mapping[str, Callable[[Path], object]] = {
    "archive-without-skill": lambda root: make_zip(root / "sample.zip", {"sample/README.md": "x"}),
    "archive-corrupt": _corrupt,
    "archive-encrypted": _encrypted,
    "archive-compression": lambda root: make_zip(
        root / "sample.zip", SKILL, compression=zipfile.ZIP_BZIP2
    ),
    "archive-too-many-members": lambda root: make_zip(
        root / "sample.zip", SKILL | {f"sample/{n}.md": "x" for n in range(50)}
    ),
    "archive-too-large": lambda root: make_zip(
        root / "sample.zip", SKILL | {"sample/x": bytes(200_000)}, compression=zipfile.ZIP_STORED
    ),
    "archive-bomb": lambda root: make_tar(
        root / "sample.tgz", SKILL | {"sample/x": bytes(20 << 20)}
    ),
    "archive-path-unsafe": lambda root: make_zip(
        root / "sample.zip", SKILL | {"sample/../../x": "x"}
    ),
    "archive-name-not-utf8": _names_that_are_latin_1,
    "archive-link-leaves": lambda root: make_tar(
        root / "sample.tgz", SKILL | {"sample/x": header(tarfile.SYMTYPE, "../../etc/passwd")}
    ),
    "archive-special-member": lambda root: make_tar(
        root / "sample.tgz", SKILL | {"sample/x": header(tarfile.CHRTYPE)}
    ),
    "archive-duplicate-member": _twice,
}


# What an archive could do to whoever reads it


def many_members(path: Path, count: int) -> Path:
    """Write a zip whose directory has this many entries of empty files."""
    entry = struct.pack(
        "<4s4B4HL2L5H2L", b"PK\1\2", 20, 3, 20, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0
    )
    directory = b"".join(entry + b"%08x" % number for number in range(count))
    end = struct.pack(
        "<4s4H2LH", b"PK\5\6", 0, 0, min(count, 65535), min(count, 65535), len(directory), 0, 0
    )
    path.write_bytes(directory + end)
    return path


def zeros(path: Path, size: int) -> Path:
    """Write a gzip file of this many zero bytes, without holding them in memory."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(size >> 24):
            file.write(bytes(1 << 24))
    return path


def overlapping(path: Path, count: int, size: int) -> Path:
    """Write a zip of many files that share the same few bytes, each of this unpacked size."""
    make_zip(path, {"00000": bytes(size)})
    data = path.read_bytes()
    at = data.index(b"PK\1\2")
    entry = data[at : data.index(b"PK\5\6")]
    entries = b"".join(entry.replace(b"00000", b"%05d" % number) for number in range(count))
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, len(entries), at, 0)
    path.write_bytes(data[:at] + entries + end)
    return path
