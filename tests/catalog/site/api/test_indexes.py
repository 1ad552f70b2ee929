"""Prompt indexes over HTTP."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from catalog.prompt_index.spec import IndexSpec
from tests.support.shelf import Shelf
from tests.support.sites import Site, site_of_shelf
from tests.support.skills import SkillWriter


@pytest.fixture
def shelf(tmp_path: Path, skill: SkillWriter) -> Iterator[Shelf]:
    """Return two published skills, and an index in each of two formats."""
    shelf = Shelf(tmp_path)
    indexes = (
        IndexSpec(),
        IndexSpec(name="as-xml", format="xml"),
        IndexSpec(name="mirror", location_base="https://mirror.example/skills"),
    )
    shelf.settings = shelf.settings.model_copy(update={"indexes": indexes})
    skill(shelf.root / "alone")
    skill(shelf.root / "会议", files={"scripts/a b.py": "print(1)\n"})
    shelf.scan()
    yield shelf
    shelf.close()


far = pytest.fixture(site_of_shelf, name="far")


def test_an_index_with_a_base_of_its_own_is_given_as_published(site: Site, published: Path) -> None:
    """Byte for byte the file, with its type; its report lies beside it."""
    response = site.get("/index/company")
    assert response.content == (published / "company.txt").read_bytes()
    assert b"/company/packages/" in response.content
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert site.get("/index/company.txt").content == response.content
    report = site.get("/index/company.meta.json")
    assert report.headers["content-type"] == "application/json; charset=utf-8"
    assert report.content == (published / "company.meta.json").read_bytes()


@pytest.mark.parametrize(
    "name",
    [
        "other",
        "company.xml",
        "..%2fcatalog.db",
        "%2e%2e%2fcatalog.db",
        "catalog.db",
        "%00",
        ".hidden",
        "a%5cb",
    ],
)
def test_nothing_but_an_index_is_given(site: Site, published: Path, name: str) -> None:
    """No path leads out of the folder of the indexes, and no other file in it is given."""
    (published / ".hidden.xml").write_text("x")
    (published / "company.xml").write_text("x")
    response = site.ask("get", f"/index/{name}")
    assert response.status_code == 404


def test_a_new_index_is_given_at_once(site: Site, published: Path) -> None:
    """The response has the new ETag, never an old one."""
    first = site.get("/index/company").headers["etag"]
    (published / "company.txt").write_text("new")
    response = site.ask("get", "/index/company", headers={"If-None-Match": first})
    assert (response.status_code, response.text) == (200, "new")


def test_an_index_leads_to_the_files_of_the_site(far: Site, shelf: Shelf) -> None:
    """From the text alone, a reader elsewhere gets SKILL.md and the list of all files."""
    text = far.get("/index/as-xml").text
    urls = re.findall("<location>(.*?)</location>", text)
    assert len(urls) == 2
    for url in urls:
        assert url.startswith("http://localhost/skills/")
        path = url.removeprefix("http://localhost")
        assert far.get(path).content.startswith(b"---")
        files = far.get(path.removesuffix("SKILL.md")).json()["files"]
        assert [far.get(file["url"]).status_code for file in files] == [200] * len(files)
    assert (
        str(shelf.packages.with_name("skills"))
        in (shelf.settings.index_folder / "as-xml.xml").read_text()
    )


def test_the_first_line_leads_to_the_list_of_files(far: Site) -> None:
    """With NAME replaced, the URL in it is that of the list."""
    text = far.get("/index/default").text
    pattern = re.search(r"http://localhost(\S+)", text)
    assert pattern
    listed = far.get(pattern[1].replace("NAME", "会议")).json()
    assert [file["path"] for file in listed["files"]] == ["SKILL.md", "scripts/a b.py"]


def test_a_url_of_its_own_stays(far: Site) -> None:
    """An index for a mirror names the mirror."""
    assert "https://mirror.example/skills/NAME/" in far.get("/index/mirror").text


def test_locations_begin_with_the_configured_url(shelf: Shelf, serve: Callable[..., Site]) -> None:
    """The site answers to its host as well, and a reader's Host header does not change them."""
    far = serve(shelf.settings.catalog_path, url="https://skills.example.org/")
    for host in ("skills.example.org", "localhost"):
        text = far.ask("get", "/index/default", headers={"Host": host}).text
        assert "https://skills.example.org/skills/NAME/files/" in text
        hit = far.ask("get", "/search.json?q=alone", headers={"Host": host}).json()[0]
        assert hit["location"].startswith("https://skills.example.org/skills/")


def test_an_index_of_the_site_is_known_by_its_content(far: Site, shelf: Shelf) -> None:
    """It is sent again only after a change, which is in it at once, and its report agrees."""
    first = far.get("/index/default")
    known = {"If-None-Match": first.headers["etag"]}
    assert far.ask("get", "/index/default", headers=known).status_code == 304
    assert far.get("/index/default.meta.json").json()["chars"] == len(first.text)
    skill_md = shelf.root / "alone" / "SKILL.md"
    skill_md.write_text(skill_md.read_text().replace("description: ", "description: Newer. "))
    shelf.scan()
    again = far.ask("get", "/index/default", headers=known)
    assert again.status_code == 200
    assert "Newer." in again.text


def test_hits_have_urls_of_the_site(far: Site) -> None:
    """The location of a hit can be fetched."""
    for hit in far.get("/search.json", q="").json():
        assert far.get(hit["location"].removeprefix("http://localhost")).content.startswith(b"---")
