"""The real Litestream, with the commands of the docs."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import REPOSITORY

LITESTREAM = Path(sys.executable).with_name("litestream")
_RECIPE = re.compile(r"^(?:litestream restore|sqlite3 .*\.restore|rm ).*$", re.MULTILINE)


def environment() -> dict[str, str]:
    """Return the environment for Litestream, as the unit in `deploy/` sets it."""
    return {name: value for name, value in os.environ.items() if name != "AWS_CA_BUNDLE"}


def copy_once(catalog: Path, url: str) -> None:
    """Have Litestream copy a catalog to a URL and end."""
    subprocess.run(
        [LITESTREAM, "replicate", "-once", catalog, url], check=True, capture_output=True, env={}
    )


def restore(url: str, catalog: Path) -> None:
    """Follow the recipe for readers on other machines in docs/how-to/back-up.md."""
    if not shutil.which("sqlite3") and not os.environ.get("CI"):
        pytest.skip("there is no sqlite3 shell")
    recipe = (REPOSITORY / "docs/how-to/back-up.md").read_text("utf-8")
    recipe = recipe[recipe.index("## Readers on other machines") :]
    commands = _RECIPE.findall(recipe)
    assert [shlex.split(command)[0] for command in commands] == ["litestream", "sqlite3", "rm"]
    catalog.parent.mkdir(parents=True, exist_ok=True)
    for command in commands:
        words = [
            word.replace("s3://team/skilldrop", url).replace("/srv/replica", str(catalog.parent))
            for word in shlex.split(command)
        ]
        words[0] = str(LITESTREAM) if words[0] == "litestream" else words[0]
        subprocess.run(words, check=True, capture_output=True, env=environment())
