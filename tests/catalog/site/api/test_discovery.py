"""Discovery index, and the archives that it offers to remote agents."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from catalog.reading.published import package_of
from catalog.site.api import discovery
from catalog.site.http import location as http_catalog
from tests.support.shelf import Shelf
from tests.support.sites import Site
from tests.support.skills import SkillWriter

INDEX = "/.well-known/agent-skills/index.json"


@pytest.fixture
def shelf(tmp_path: Path, skill: SkillWriter) -> Iterator[Shelf]:
    """Return published skills: one with files, one without, and one for people alone."""
    shelf = Shelf(tmp_path)
    skill(shelf.root / "alone")
    skill(
        shelf.root / "with-files",
        files={"scripts/run.py": "print(1)\n", "assets/名 字.bin": bytes(range(256)) * 9},
    )
    (shelf.root / "with-files" / "scripts" / "run.py").chmod(0o755)
    skill(shelf.root / "people-only", more="disable-model-invocation: true")
    shelf.scan()
    yield shelf
    shelf.close()


@pytest.fixture
def far(shelf: Shelf, serve: Callable[[Path], Site]) -> Site:
    """Return the site of the shelf."""
    return serve(shelf.settings.catalog_path)


def test_the_index_leads_to_what_it_says(far: Site) -> None:
    """Each artifact can be fetched at its URL and has its digest from the index."""
    response = far.get(INDEX)
    assert response.headers["content-type"] == "application/json; charset=utf-8"
    body = response.json()
    assert body["$schema"].endswith("/discovery/0.2.0/schema.json")
    assert {skill["name"]: skill["type"] for skill in body["skills"]} == {
        "alone": "skill-md",
        "with-files": "archive",
    }
    for skill in body["skills"]:
        response = far.ask("get", skill["url"])
        assert skill["digest"] == f"sha256:{hashlib.sha256(response.content).hexdigest()}"
        kind = {"skill-md": "text/markdown; charset=utf-8", "archive": "application/zip"}
        assert response.headers["content-type"] == kind[skill["type"]]


def test_an_index_that_is_known_is_not_sent_again(far: Site) -> None:
    """The same catalog gives the same bytes, also after a restart of the site."""
    known = {"If-None-Match": far.get(INDEX).headers["etag"]}
    assert far.ask("get", INDEX, headers=known).status_code == 304
    assert far.ask("head", INDEX).content == b""


def test_a_catalog_without_skills_has_an_index(far: Site, shelf: Shelf) -> None:
    """It lists none."""
    for folder in ("alone", "with-files"):
        (shelf.root / folder / "SKILL.md").unlink()
    shelf.scan()
    assert far.get(INDEX).json()["skills"] == []


def test_an_archive_that_is_known_is_not_sent_again(far: Site, shelf: Shelf) -> None:
    """Its ETag is the digest of the skill, and it changes with a file."""
    response = far.get("/skills/with-files/bundle.zip")
    etag = response.headers["etag"]
    digest = package_of(shelf.db, shelf.packages, "with-files").digest.removeprefix("sha256:")
    assert etag.strip('"').removesuffix("-gzip") == digest
    known = {"If-None-Match": etag}
    assert far.ask("get", "/skills/with-files/bundle.zip", headers=known).status_code == 304
    (shelf.root / "with-files" / "scripts" / "run.py").write_text("print(2)\n")
    shelf.scan()
    again = far.ask("get", "/skills/with-files/bundle.zip", headers=known)
    assert again.status_code == 200
    assert again.headers["etag"] != etag


def test_a_damaged_skill_is_not_offered(far: Site, shelf: Shelf) -> None:
    """A damaged file is never sent; other files still are."""
    shelf.loosen()
    script = shelf.version_folder("with-files") / "scripts" / "run.py"
    script.chmod(0o644)
    script.write_text("print(666)\n")
    assert far.ask("get", "/skills/with-files/bundle.zip").status_code == 503
    assert far.ask("get", "/skills/nobody/bundle.zip").status_code == 404


def test_who_is_not_whole_is_left_out(
    tmp_path: Path,
    skill: SkillWriter,
    serve: Callable[[Path], Site],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A damaged package without a known hash is not in the index, and the log has the reason."""
    shelf = Shelf(tmp_path)
    skill(shelf.root / "spoilt", files={"scripts/only-here.py": "print(3)\n"})
    skill(shelf.root / "alone")
    shelf.scan()
    shelf.loosen()
    (shelf.version_folder("spoilt") / "scripts" / "only-here.py").unlink()
    shelf.close()
    site = serve(shelf.settings.catalog_path)
    for _ in range(2):
        listed = site.get(INDEX).json()["skills"]
        assert [row["name"] for row in listed] == ["alone"]
    assert caplog.text.count("leaves out spoilt: ") == 1


def test_what_the_catalog_no_longer_offers_is_forgotten(far: Site, shelf: Shelf) -> None:
    """The hashes of archives would else pile up with every change, for months."""
    far.get(INDEX)
    location = http_catalog.find(far.datasette)
    assert location
    before = dict(location.archive_hashes)
    (shelf.root / "with-files" / "scripts" / "run.py").write_text("print(2)\n")
    shelf.scan()
    far.get(INDEX)
    assert len(before) == len(location.archive_hashes) == 1
    assert before.keys().isdisjoint(location.archive_hashes)


def test_what_one_request_forgets_another_still_says(
    far: Site, shelf: Shelf, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each request uses the hashes known at its start, and those it computed itself."""
    far.get(INDEX)
    skill(shelf.root / "newer", files={"scripts/new.py": "print(4)\n"})
    shelf.scan()
    real = discovery._hash

    def beside_another(db: Any, location: http_catalog.CatalogLocation, skills: Any) -> Any:
        location.archive_hashes.clear()
        return real(db, location, skills)

    monkeypatch.setattr(discovery, "_hash", beside_another)
    listed = far.get(INDEX).json()["skills"]
    assert {"with-files", "newer"} <= {row["name"] for row in listed}
