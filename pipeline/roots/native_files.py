"""Files that a machine runs or loads and nobody can read, by their names."""

import re

NATIVE = frozenset(
    """
    a apk app bin bundle class com cpl deb dex dll dmg dylib elf exe jar ko lib msi node o obj pyc
    pyd pyo rpm run scr so sys war wasm xpi
""".split()
)
"""Their endings."""

_LIBRARY = re.compile(r"\.so(?:\.\d+)+$")


def may_be_native(path: str, mode: int) -> bool:
    """Say whether a file is native code if it is not text."""
    _, dot, ending = path.rpartition("/")[2].lstrip(".").rpartition(".")
    if not dot:
        return mode == 0o755  # how compiled programs are named
    return ending.lower() in NATIVE or (ending.isdecimal() and bool(_LIBRARY.search(path)))
