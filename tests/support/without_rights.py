"""Programs to which permissions apply, even if the tests run as root."""

import ctypes
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_libc = ctypes.CDLL(None, use_errno=True)

# Whoever may read and enter everything does so by these; see capabilities(7).
_DROP = """
import ctypes, os, sys
for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
PYTHON = (sys.executable, "-c", _DROP)
"""Words before the arguments of Python."""


def run(script: str, *arguments: str) -> str:
    """Run a script to which permissions apply; return its output. Raises CalledProcessError."""
    return subprocess.run(
        [*PYTHON, "-c", script, *arguments], check=True, text=True, stdout=subprocess.PIPE
    ).stdout


@contextmanager
def bound_by_permissions() -> Iterator[None]:
    """Apply permissions to this thread, and to those it starts, until the context ends."""
    before = _effective()
    _set_effective(before & ~_OVERRIDES)
    try:
        yield
    finally:
        _set_effective(before)


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Sets(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


_OVERRIDES = 1 << 1 | 1 << 2
_VERSION = 0x20080522  # linux/capability.h


def _sets() -> "ctypes.Array[_Sets]":
    sets = (_Sets * 2)()
    assert _libc.capget(ctypes.byref(_Header(_VERSION, 0)), sets) == 0
    return sets


def _effective() -> int:
    return int(_sets()[0].effective)


def _set_effective(wanted: int) -> None:
    sets = _sets()
    sets[0].effective = wanted
    assert _libc.capset(ctypes.byref(_Header(_VERSION, 0)), sets) == 0
