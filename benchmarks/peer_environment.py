"""An environment of its own for programs that are measured beside skilldrop."""

import subprocess
import venv
from collections.abc import Sequence
from pathlib import Path

from measured_tree import report


def peer_environment(name: str, packages: Sequence[str]) -> Path:
    """Return the Python of an environment with packages, created once; those that install."""
    folder = Path(__file__).parent / ".peers" / name
    python = folder / "bin" / "python"
    if not python.exists():
        report("installing the peers")
        venv.create(folder, with_pip=True)
        for package in packages:
            command = [python, "-m", "pip", "install", "--quiet", package]
            if subprocess.run(command, check=False).returncode:
                report(f"{package} cannot be installed, so it is not measured")
    return python
