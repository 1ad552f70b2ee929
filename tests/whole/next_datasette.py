"""Script that asks for every kind of page of the site, under the Datasette that is installed.

`make test-next` runs it under the newest pre-release of Datasette 1.0.
"""

import asyncio
import subprocess
import sys
import tempfile
from pathlib import Path

import datasette
import httpx

from catalog.site.server import app
from tests.support.page_kinds import page_kinds
from tests.support.paths import REPOSITORY

FOR_PROGRAMS = (
    "/search.json?q=report",
    "/skills/csv-profile/preview",
    "/skills/csv-profile/files/SKILL.md",
    "/skills/csv-profile/bundle.zip",
    "/index/default",
    "/index/default.meta.json",
    "/.well-known/agent-skills/index.json",
    "/.well-known/skills/index.json",
    "/activity.atom",
    "/-/state.json",
    "/-/openapi.json",
    "/-/metrics",
    "/catalog/skills/1",
    "/catalog/skills.json?_shape=array",
    "/catalog/skills.csv?_stream=1",
    "/catalog/what_changed?days=7",
    "/catalog/what_changed.json?days=7&_shape=array",
    "/~63atalog/skills.csv?_stream=1",
)
REFUSED = {
    "/_internal.json?sql=select+1": 404,
}


async def wrong(catalog: Path) -> list[str]:
    """Ask for all pages; return a sentence for each that is not answered as it must be."""
    kinds = page_kinds(catalog)
    wanted = {path: 404 if kind.startswith("no ") else 200 for kind, path in kinds.items()}
    wanted |= dict.fromkeys(FOR_PROGRAMS, 200) | REFUSED
    transport = httpx.ASGITransport(app.application(catalog).app())
    sentences = []
    async with httpx.AsyncClient(
        transport=transport, base_url="http://localhost", follow_redirects=True
    ) as client:
        for path, status in wanted.items():
            answer = await client.get(path)
            if answer.status_code != status:
                sentences.append(f"{path}: {answer.status_code} in place of {status}")
    asked = f"Datasette {datasette.__version__} was asked for {len(wanted)} addresses."
    sys.stdout.write(f"{asked} {len(sentences)} answers are wrong.\n")
    return sentences


def main() -> None:
    """Scan the skills of the repository, and exit with 1 if any page of them is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        skilldrop = Path(sys.executable).with_name("skilldrop")
        roots = ["--watched", str(REPOSITORY / "watched"), "--data", folder]
        subprocess.run([skilldrop, *roots, "scan"], check=True, capture_output=True)
        sentences = asyncio.run(wrong(Path(folder) / "catalog.db"))
    sys.exit("\n".join(sentences) or 0)


if __name__ == "__main__":
    main()
