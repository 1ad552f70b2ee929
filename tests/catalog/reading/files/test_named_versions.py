"""Reading by version: a reader stays in one version whatever is published."""

import asyncio
import json
import re
import threading
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ReadResourceRequestParams,
    TextContent,
    TextResourceContents,
)

from catalog.mcp.access import CatalogAccess
from catalog.mcp.resources import SkillResources
from catalog.mcp.tools import SkillTools
from catalog.model.errors import NotInCatalog
from catalog.reading.files import published, skill_files
from pipeline.cli.app import cli
from tests.support.shelf import Shelf
from tests.support.sites import Site, site_of_shelf
from tests.support.skills import write_skill

LONG = 3_000  # lines, more than a page of the MCP server


def write(shelf: Shelf, number: int) -> None:
    """Write content to the root in which each file and line has its number."""
    write_skill(
        shelf.root / "flip",
        body=f"# Number {number}\n",
        files={"notes.md": f"number {number}\n", "long.txt": f"a line of number {number}\n" * LONG},
    )


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    """Return a skill with two published versions."""
    shelf = Shelf(tmp_path)
    for number in (1, 2):
        write(shelf, number)
        shelf.scan()
    yield shelf
    shelf.close()


site = pytest.fixture(site_of_shelf, name="site")


@pytest.fixture
def tools(shelf: Shelf) -> SkillTools:
    """Return the MCP tools of the shelf."""
    return SkillTools(CatalogAccess(shelf.settings.catalog_path, shelf.packages))


def names(shelf: Shelf) -> list[str]:
    """Return the versions, oldest first."""
    return [name for (name,) in shelf.db.execute("SELECT version FROM versions ORDER BY id")]


def told(result: CallToolResult) -> list[str]:
    """Return the texts of an answer."""
    return [part.text for part in result.content if isinstance(part, TextContent)]


@pytest.mark.requirement("own/versions-read")
def test_a_superseded_version_is_read(shelf: Shelf, site: Site) -> None:
    """Files, preview and archive name their version and give the requested one."""
    old, new = names(shelf)
    for version, asked, number in ((new, {}, 2), (old, {"version": old}, 1)):
        file = site.get("/skills/flip/files/notes.md", **asked)
        assert (file.text, file.headers["skilldrop-version"]) == (f"number {number}\n", version)
        preview = site.get("/skills/flip/preview", **asked)
        assert preview.headers["skilldrop-version"] == preview.json()["version"] == version
        assert f"# Number {number}" in preview.json()["skill_md_content"]
        link = next(f["url"] for f in preview.json()["files"] if f["path"] == "notes.md")
        assert site.get(link).text == f"number {number}\n"
        archive = site.get("/skills/flip/bundle.zip", **asked)
        assert archive.headers["skilldrop-version"] == version
        with zipfile.ZipFile(BytesIO(archive.content)) as members:
            assert members.read("notes.md") == f"number {number}\n".encode()


def test_a_version_that_is_not_kept_is_reported(
    shelf: Shelf,
    site: Site,
    tools: SkillTools,
) -> None:
    """The message is the same over HTTP, MCP and from Python."""
    why = "does not exist or is no longer kept; `skilldrop versions` lists the others."
    for path in ("files/notes.md", "bundle.zip"):
        found = site.get(f"/skills/flip/{path}", version="20000101-000000")
        assert (found.status_code, why in found.text) == (404, True)
    assert site.get("/skills/flip/preview", version="20000101-000000").status_code == 404
    asked = {"skill_name": "flip", "version": "20000101-000000"}
    call = CallToolRequestParams(name="read_skill_file", arguments=asked)
    answer = asyncio.run(tools.call(None, call))  # type: ignore[arg-type]  # of a client
    assert answer.is_error
    assert why in told(answer)[0]
    with pytest.raises(NotInCatalog, match=re.escape(why)):
        published.package_of(shelf.db, shelf.packages, "flip", "../../etc")


def test_people_read_the_versions_of_a_removed_skill(
    shelf: Shelf, site: Site, tools: SkillTools
) -> None:
    """Agents do not, and neither does who names no version."""
    _, new = names(shelf)
    (shelf.root / "flip").rename(shelf.root.parent / "flip")
    shelf.scan()
    assert site.get("/skills/flip/files/notes.md", version=new).text == "number 2\n"
    assert site.get(f"/skills/flip/versions/{new}/bundle.zip").status_code == 200
    assert "a line of number 2" in site.get("/skills/flip/view/long.txt").text
    assert site.get("/skills/flip/files/notes.md").status_code == 404
    asked = {"skill_name": "flip", "file_path": "notes.md", "version": new}
    call = CallToolRequestParams(name="read_skill_file", arguments=asked)
    assert asyncio.run(tools.call(None, call)).is_error  # type: ignore[arg-type]  # of a client


def test_an_agent_stays_in_the_version_of_its_first_page(shelf: Shelf, tools: SkillTools) -> None:
    """The second page comes from that version although another is published."""
    first, about = told(tools.read_skill_file("flip", "long.txt"))
    offset, version = re.findall(r"offset (\d+) of version (\S+)\.$", about)[0]
    write(shelf, 3)
    shelf.scan()
    second, about = told(tools.read_skill_file("flip", "long.txt", int(offset), version))
    assert f"version {version}" in about
    assert first + second == "a line of number 2\n" * LONG


def test_resources_are_of_a_version(shelf: Shelf) -> None:
    """The manifest names its version, which gives access to the files."""
    old, new = names(shelf)
    resources = SkillResources(CatalogAccess(shelf.settings.catalog_path, shelf.packages))

    def text(uri: str) -> str:
        (content,) = resources.read(ReadResourceRequestParams(uri=uri)).contents
        assert isinstance(content, TextResourceContents)
        return content.text

    assert json.loads(text("skill://flip/_manifest"))["version"] == new
    assert json.loads(text(f"skill://flip/_manifest?version={old}"))["version"] == old
    assert "Number 1" in text(f"skill://flip/SKILL.md?version={old}")


def test_the_command_reads_a_version(shelf: Shelf) -> None:
    """`read --version` prints the file of that version."""
    old, _ = names(shelf)
    data = str(shelf.settings.data)
    done = CliRunner().invoke(cli, ["--data", data, "read", "flip", "long.txt", "--version", old])
    assert done.exit_code == 0
    assert set(done.output.splitlines()) == {"a line of number 1"}


def check_site(site: Site) -> None:
    """Check that files and preview on the site belong to one version."""
    body = site.get("/skills/flip/files/SKILL.md")
    version = body.headers["skilldrop-version"]
    number = re.findall(r"# Number (\d+)", body.text)[0]
    notes = site.get("/skills/flip/files/notes.md", version=version).text
    assert notes == f"number {number}\n"
    sheet = site.get("/skills/flip/preview").json()
    assert sheet["skill_md_hash"] in {file["sha256"] for file in sheet["files"]}


def check_package(shelf: Shelf) -> None:
    """Check that the files of the published package belong to one version."""
    package = published.package_of(shelf.db, shelf.packages, "flip")
    notes, long = [skill_files.read(package, path).text for path in ("notes.md", "long.txt")]
    assert long == f"a line of {notes}" * LONG


def check_tools(tools: SkillTools) -> None:
    """Check that two parts of a long file belong to one version."""
    first, about = told(tools.read_skill_file("flip", "long.txt"))
    offset, version = re.findall(r"offset (\d+) of version (\S+)\.$", about)[0]
    second = told(tools.read_skill_file("flip", "long.txt", int(offset), version))[0]
    assert len(set((first + second).splitlines())) == 1


def test_readers_meet_one_version_while_a_writer_publishes(
    shelf: Shelf,
    site: Site,
    tools: SkillTools,
) -> None:
    """With the version of the first answer no file is mixed or missing."""

    def publish() -> None:
        for number in range(3, 15):
            write(shelf, number)
            shelf.scan()

    writer = threading.Thread(target=publish)
    writer.start()
    has_checked = False
    while writer.is_alive() or not has_checked:
        check_site(site)
        check_package(shelf)
        check_tools(tools)
        has_checked = True
    writer.join()
    assert len(names(shelf)) == 14
