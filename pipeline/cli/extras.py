"""Optional libraries, and the command that installs them into this environment."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

from catalog.model.errors import NotPossible


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Import the libraries of an extra. Raises NotPossible with a command to paste."""
    try:
        yield
    except ImportError as error:
        raise NotPossible(
            f"The libraries of the extra {extra} are not installed here. Install them with "
            f"`{_installing(extra)}`."
        ) from error


def _installing(extra: str) -> str:
    """Return the command for the way in which skilldrop was installed: pipx, uv or pip."""
    program = metadata.distribution("skilldrop")
    required = [line.split("; ") for line in program.requires or ()]
    libraries = [name for name, *marker in required if extra in "".join(marker)]
    if "pipx" in Path(sys.prefix).parts:
        installer = ["pipx", "inject", "skilldrop"]
    elif (program.read_text("INSTALLER") or "").startswith("uv"):
        installer = ["uv", "pip", "install", "--python", sys.executable]
    else:
        installer = [sys.executable, "-m", "pip", "install"]
    return shlex.join([*installer, *libraries])
