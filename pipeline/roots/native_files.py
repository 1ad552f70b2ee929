"""Names of native code: files that a machine runs or loads and a person cannot read."""

import re

NATIVE = frozenset(
    """
    a apk app bin bundle class com cpl deb dex dll dmg dylib elf exe jar ko lib msi node o obj pyc
    pyd pyo rpm run scr so sys war wasm xpi
""".split()
)
"""File name extensions of native code."""

_LIBRARY = re.compile(r"\.so(?:\.\d+)+$")


def may_be_native(path: str, mode: int) -> bool:
    """Whether a file is native code, provided that it is not text."""
    _, dot, ending = path.rpartition("/")[2].lstrip(".").rpartition(".")
    if not dot:
        return mode == 0o755  # typical of compiled programs
    return ending.lower() in NATIVE or (ending.isdecimal() and bool(_LIBRARY.search(path)))
