"""A published skill as one ZIP archive: the same bytes for the same content."""

import io
import stat
import zipfile

from catalog import reader
from catalog.published import SKILL_MD, Package

_LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The earliest time that the format knows."""
_UNIX = 3


def of_package(package: Package) -> bytes:
    """Return all files of a package as an archive, with SKILL.md at its top.

    They are stored as they are: compressed, they would differ from one version of zlib to the
    next. Raises what `reader.read_skill_file` raises.
    """
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for entry in package.files:
            name = SKILL_MD if entry.kind == "skill_md" else entry.path
            member = zipfile.ZipInfo(name, _LONG_AGO)
            member.create_system = _UNIX
            member.external_attr = (stat.S_IFREG | int(entry.mode, 8)) << 16
            with reader.opened(package, entry) as file:
                archive.writestr(member, file.read())
    return made.getvalue()
