"""Discovery index, and the archives that it offers to remote agents."""

import hashlib
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from catalog.model import naming
from catalog.reading.files.published import package_of
from catalog.site.api import discovery
from catalog.site.http import location as http_location
from tests.support.shelf import Shelf
from tests.support.sites import Site, site_of_shelf
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


far = pytest.fixture(site_of_shelf, name="far")


@pytest.mark.requirement("prd/no-market")
@pytest.mark.requirement("well-known/digest")
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
    assert etag.removeprefix("W/").strip('"') == digest
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
    """A damaged package without a known hash is not in the index; the log has the reason once."""
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
    location = http_location.find(far.datasette)
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

    def beside_another(db: Any, location: http_location.CatalogLocation, skills: Any) -> Any:
        location.archive_hashes.clear()
        return real(db, location, skills)

    monkeypatch.setattr(discovery, "_hash", beside_another)
    listed = far.get(INDEX).json()["skills"]
    assert {"with-files", "newer"} <= {row["name"] for row in listed}


# Limits of installers


BY_FILES = "/.well-known/skills/index.json"


@pytest.fixture
def odd(tmp_path: Path, skill: SkillWriter) -> Iterator[Shelf]:
    """Return skills that strict installers would not take as they are, and ones not to offer."""
    shelf = Shelf(tmp_path)
    skill(shelf.root / "long", description="Counts words 😀. " * 90)
    skill(shelf.root / "faces", description="😀" * 2000)
    skill(shelf.root / "会议纪要", files={"assets/模 板.md": "x\n"})
    skill(shelf.root / "titled", name="Titled Skill")
    skill(shelf.root / "people-only", more="disable-model-invocation: true")
    skill(shelf.root / "rejected", description="")
    skill(shelf.root / "a" / "twice", name="twice")
    skill(shelf.root / "b" / "twice", name="twice", body="# Shadowed\n")
    shelf.scan()
    yield shelf
    shelf.close()


@pytest.mark.requirement("well-known/limits")
@pytest.mark.parametrize("index", [INDEX, BY_FILES])
def test_all_entries_are_within_the_limits_of_installers(
    odd: Shelf, serve: Callable[[Path], Site], index: str
) -> None:
    """Names of 64 plain characters, descriptions of 1,024, and nothing that is not published."""
    skills = serve(odd.settings.catalog_path).get(index).json()["skills"]
    assert len(skills) == 5
    for skill in skills:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", skill["name"])
        assert len(skill["name"]) <= 64
        assert 0 < len(skill["description"].encode("utf-16-le")) <= 2 * 1024
    titles = {skill["name"]: skill.get("title") for skill in skills}
    chinese = naming.install_name("会议纪要")
    expected = {
        "long": None,
        "faces": None,
        chinese: "会议纪要",
        "titled-skill": "Titled Skill",
        "twice": None,
    }
    assert titles == expected
    assert next(s for s in skills if s["name"] == "long")["description"].endswith("words 😀. …")


def test_the_earlier_index_lists_files_that_lie_below_it(
    odd: Shelf, serve: Callable[[Path], Site]
) -> None:
    """Each file is found by the name of its skill, and has the bytes of the catalog."""
    site = serve(odd.settings.catalog_path)
    for skill in site.get(BY_FILES).json()["skills"]:
        assert "SKILL.md" in skill["files"]
        folder = odd.version_folder(
            "会议纪要" if skill.get("title") == "会议纪要" else skill["name"]
        )
        assert skill["version"] == folder.name
        for encode in (quote, lambda path: quote(path, safe="")):  # skillkit encodes slashes
            for path in skill["files"]:
                response = site.ask("get", f"/.well-known/skills/{skill['name']}/{encode(path)}")
                assert response.content == (folder / path).read_bytes()


@pytest.mark.parametrize("path", ["people-only/SKILL.md", "nobody/SKILL.md", "long/none.md"])
def test_no_other_file_lies_below_the_index(
    odd: Shelf, serve: Callable[[Path], Site], path: str
) -> None:
    """Nothing of a skill that is not listed, and no path that it does not have."""
    response = serve(odd.settings.catalog_path).ask("get", f"/.well-known/skills/{path}")
    assert response.status_code == 404
    assert response.text.endswith("\n")


@pytest.mark.parametrize("kind", ["agent-skills", "skills"])
def test_one_skill_has_an_index_of_its_own(
    odd: Shelf, serve: Callable[[Path], Site], kind: str
) -> None:
    """Installing it fetches no other; its entry is that of the whole index."""
    site = serve(odd.settings.catalog_path)
    whole = {s["name"]: s for s in site.get(f"/.well-known/{kind}/index.json").json()["skills"]}
    for skill_id in ("twice", "会议纪要"):
        path = f"/skills/{quote(skill_id)}/.well-known/{kind}"
        (skill,) = site.get(f"{path}/index.json").json()["skills"]
        assert skill == whole[naming.install_name(skill_id)]
        assert site.get(f"{path}/{skill['name']}/SKILL.md").status_code == 200
        assert site.get(f"{path}/long/SKILL.md").status_code == 404
    for skill_id in ("people-only", "rejected", "nobody"):
        response = site.get(f"/skills/{skill_id}/.well-known/{kind}/index.json")
        assert response.status_code == 404
        assert response.json()["error"].endswith(f"the identifier {skill_id}.")


def test_an_artifact_is_still_the_same_after_an_update(far: Site, shelf: Shelf) -> None:
    """An installer that has the index gets what it promised, though a newer version is published.

    The version never changes, so that caches may keep it.
    """
    skills = far.get(INDEX).json()["skills"]
    script = shelf.root / "with-files" / "scripts" / "run.py"
    script.write_text("print(2)\n")
    skill_md = shelf.root / "alone" / "SKILL.md"
    skill_md.write_text(skill_md.read_text() + "More.\n")
    shelf.scan()
    for skill in skills:
        response = far.ask("get", skill["url"])
        assert skill["digest"] == f"sha256:{hashlib.sha256(response.content).hexdigest()}"
        assert response.headers["cache-control"] == "max-age=31536000, immutable"
    assert {skill["digest"] for skill in skills}.isdisjoint(
        skill["digest"] for skill in far.get(INDEX).json()["skills"]
    )
    assert far.get("/skills/alone/files/SKILL.md").headers["cache-control"] == "no-cache"


def test_an_archive_keeps_executable_bits(far: Site, tmp_path: Path) -> None:
    """A script that its author made executable is so after unpacking."""
    url = next(s["url"] for s in far.get(INDEX).json()["skills"] if s["name"] == "with-files")
    (tmp_path / "x.zip").write_bytes(far.ask("get", url).content)
    modes = {
        member.filename: member.external_attr >> 16
        for member in zipfile.ZipFile(tmp_path / "x.zip").infolist()
    }
    assert modes["scripts/run.py"] == 0o100755
    assert modes["SKILL.md"] == 0o100644
