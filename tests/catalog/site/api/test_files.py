"""The published files of skills over HTTP, hostile ones among them."""

import html
import io
import re
import socket
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

import httpx
import pytest

from catalog.reading.files import skill_files
from catalog.site.http import limits, responses, security_headers
from catalog.site.server.process import SiteProcess
from pipeline.config import loader
from pipeline.config.root_settings import RootSettings
from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import scan_once
from pipeline.service.scanning.engines import serial
from tests.support.records import NOON
from tests.support.shelf import Shelf
from tests.support.sites import Site, serving
from tests.support.skills import SkillWriter, write_skill

HTML = "<!doctype html><script>document.title = 'run'</script>"
SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
LARGE = bytes(range(256)) * 20_000


FILES: dict[str, str | bytes] = {
    "assets/page.html": HTML,
    "assets/drawing.svg": SVG,
    "assets/data.xml": "<a/>",
    "assets/page.xhtml": HTML,
    "scripts/run.js": "alert(1)",
    "scripts/run.py": "print(1)\n",
    "assets/a.png": PNG,
    "assets/a.bin": bytes(range(256)),
    "references/a.md": "# A\n",
    "assets/data.json": "{}",
    "assets/名 字.txt": "字\n",
    "assets/style.css": "*{}",
    "assets/no-ending": HTML,
    "assets/a.pdf": b"%PDF-1.4\n\x00\xff",
    "assets/page.html.gz": b"\x1f\x8b\x00\xff",
    "assets/long.txt": "a line\n" * 20_000,
}


def _shelf(top: Path) -> Shelf:
    """Return a published skill with files of many kinds."""
    shelf = Shelf(top)
    write_skill(shelf.root / "kinds", files=FILES)
    shelf.scan()
    return shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    """Return a published skill with files of many kinds, for a test that changes it."""
    shelf = _shelf(tmp_path)
    yield shelf
    shelf.close()


@pytest.fixture
def own(shelf: Shelf, serve: Callable[[Path], Site]) -> Site:
    """Return the site of the test's own shelf."""
    return serve(shelf.settings.catalog_path)


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Return the site of such a shelf for tests that only read, which also has a skill of 5 MB."""
    shelf = _shelf(tmp_path_factory.mktemp("shelf"))
    files: dict[str, str | bytes] = {"assets/large.bin": LARGE, "references/a.md": "# A\n"}
    write_skill(shelf.root / "large", files=files)
    shelf.scan()
    with serving() as serve:
        yield serve(shelf.settings.catalog_path)
    shelf.close()


@pytest.fixture
def opened_by(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the threads that have opened files of skills."""
    threads: list[int] = []
    opened_before = skill_files.opened

    def opened(*arguments: Any) -> Any:
        threads.append(threading.get_ident())
        return opened_before(*arguments)

    monkeypatch.setattr(skill_files, "opened", opened)
    return threads


def test_a_file_in_a_root_is_opened_on_another_thread(
    tmp_path: Path, skill: SkillWriter, serve: Callable[[Path], Site], opened_by: list[int]
) -> None:
    """The root may lie on a disk that does not answer."""
    shelf = Shelf(tmp_path, publish="in-place")
    skill(shelf.root / "kinds")
    shelf.scan()
    shelf.close()
    site = serve(shelf.settings.catalog_path)
    assert site.get("/skills/kinds/files/SKILL.md").status_code == 200
    assert len(opened_by) == 1
    assert threading.get_ident() not in opened_by


def test_the_path_that_agents_use_can_be_copied(shelf: Shelf, own: Site) -> None:
    """The published folder, and that of its version."""
    page = own.get("/skills/kinds").text
    data = shelf.settings.catalog_path.parent
    for path in (data / "skills/kinds", (data / "packages/kinds/current").resolve()):
        assert path.is_dir()
        assert f'data-copy="{path}"' in page


def test_a_picture_is_shown_as_one(raw: Site) -> None:
    """Other files that are no text are a link away."""
    assert (
        '<img src="/skills/kinds/files/assets/a.png"'
        in raw.get("/skills/kinds/view/assets/a.png").text
    )
    assert '<img src="/skills' not in raw.get("/skills/kinds/view/assets/a.bin").text


@pytest.mark.parametrize("path", ["files/SKILL.md", "files/", "bundle.zip"])
def test_the_files_of_a_skill_in_a_namespace_have_addresses_by_its_names(
    tmp_path: Path, serve: Callable[[Path], Site], path: str
) -> None:
    """By its identifier, its whole name, or its bare name if no other skill has that."""
    shelf = Shelf(tmp_path / "teams")
    for folder in ("red/tidy", "red/zoo", "blue/zoo"):
        write_skill(shelf.root / folder)
    root = RootSettings(path=str(shelf.root), namespace="folder")
    shelf.settings = shelf.settings.model_copy(update={"roots": (root,)})
    shelf.scan()
    site = serve(shelf.settings.catalog_path)
    answers = [site.get(f"/skills/{name}/{path}") for name in ("red--tidy", "red:tidy", "tidy")]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert len({answer.content for answer in answers}) == 1
    several = site.get(f"/skills/zoo/{path}")
    assert several.status_code == 404
    assert "blue:zoo, red:zoo" in several.text


def test_a_held_version_is_said_in_words(shelf: Shelf, own: Site) -> None:
    """The page names the command that unpins it; findings of the folder are at no line."""
    version = shelf.version_folder("kinds").name
    write_skill(shelf.root / "kinds", more="colour: red")
    shelf.scan()
    store = open_store(shelf.settings)
    store.pin("kinds", version, NOON)
    store.close()
    page = own.get("/skills/kinds").text
    assert f"pinned to version {version}" in page
    assert "skilldrop unpin kinds" in page
    assert page.count("1 field not of the specification: colour.") == 1


def test_a_skill_pinned_to_a_version_that_is_lost_is_said_on_every_page(
    shelf: Shelf, own: Site
) -> None:
    """On its own page, on the home page, in the health, and in the query for missing skills."""
    folder = shelf.version_folder("kinds")
    write_skill(shelf.root / "kinds", more="colour: red")
    shelf.scan()
    store = open_store(shelf.settings)
    store.pin("kinds", folder.name, NOON)
    (folder / "SKILL.md").chmod(0o644)
    (folder / "SKILL.md").write_text("bad")
    list(store.repair.check(NOON, deep=True))
    store.close()
    said = f"pinned to version {folder.name}, whose files are lost"
    page = own.get("/skills/kinds").text
    assert f"It is {said}." in page
    assert "skilldrop pin kinds VERSION" in page
    assert "which agents get" not in page
    assert f"kinds is {said}" in html.unescape(own.get("/").text)
    health = own.ask("get", "/-/healthz")
    assert health.json()["needs_attention"]
    assert [said in each["message"] for each in health.json()["troubles"]] == [True]
    (why,) = own.get("/catalog/why_not_in_the_index.json?skill=kinds&_shape=array").json()
    assert why["reason"] == f"It is {said}."
    assert "skilldrop unpin" in why["what_to_do"]


@pytest.mark.requirement("prd/preview-file")
@pytest.mark.parametrize(
    ("path", "kind", "how"),
    [
        ("assets/page.html", "text/plain; charset=utf-8", "inline"),
        ("assets/page.xhtml", "text/plain; charset=utf-8", "inline"),
        ("assets/drawing.svg", "text/plain; charset=utf-8", "inline"),
        ("assets/data.xml", "text/plain; charset=utf-8", "inline"),
        ("assets/no-ending", "text/plain; charset=utf-8", "inline"),
        ("assets/style.css", "text/plain; charset=utf-8", "inline"),
        ("scripts/run.js", "text/plain; charset=utf-8", "inline"),
        ("scripts/run.py", "text/plain; charset=utf-8", "inline"),
        ("references/a.md", "text/markdown; charset=utf-8", "inline"),
        ("assets/data.json", "application/json; charset=utf-8", "inline"),
        ("assets/名 字.txt", "text/plain; charset=utf-8", "inline"),
        ("assets/a.png", "image/png", "inline"),
        ("assets/a.bin", "application/octet-stream", "attachment"),
        ("assets/a.pdf", "application/pdf", "attachment"),
        ("assets/page.html.gz", "application/octet-stream", "attachment"),
    ],
)
def test_a_file_is_given_whole_and_inert(raw: Site, path: str, kind: str, how: str) -> None:
    """Byte for byte, in a type that no browser runs, under a policy that lets nothing run."""
    response = raw.ask("get", f"/skills/kinds/files/{quote(path)}")
    assert response.status_code == 200
    content = FILES[path]
    assert response.content == (content if isinstance(content, bytes) else content.encode())
    assert response.headers["content-type"] == kind
    assert response.headers["content-disposition"].startswith(f"{how}; filename*=UTF-8''")
    assert response.headers["content-security-policy"] == security_headers.INERT
    assert response.headers["x-content-type-options"] == "nosniff"


def test_the_page_of_a_file_shows_also_what_the_catalog_does_not_keep(raw: Site) -> None:
    """Long texts are read from the package, part by part, and each is a link away."""
    page = raw.get("/skills/kinds/view/assets/long.txt").text
    assert "Lines 1 to 2,000 of 20,000" in page
    assert "a line" in raw.get("/skills/kinds/view/assets/long.txt", line=19_999).text


def test_a_file_that_is_known_is_not_sent_again(raw: Site) -> None:
    """Its validator is its hash."""
    first = raw.ask("get", "/skills/kinds/files/SKILL.md")
    known = {"If-None-Match": first.headers["etag"]}
    again = raw.ask("get", "/skills/kinds/files/SKILL.md", headers=known)
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "path",
    [
        "..%2f..%2f..%2fcatalog.db",
        "%2e%2e/%2e%2e/catalog.db",
        "assets/../../../x",
        "%2fetc%2fpasswd",
        "/etc/passwd",
        "a%00b",
        "assets",
        "none.txt",
        "%ff",
        "assets//page.html",
    ],
)
def test_no_path_leads_out_of_a_skill(raw: Site, path: str) -> None:
    """A path that is no file of the skill is a 404, whatever is on the disk."""
    response = raw.ask("get", f"/skills/kinds/files/{path}")
    assert response.status_code == 404
    assert "root:" not in response.text


def test_a_link_newer_than_the_catalog_hides_no_file(own: Site, shelf: Shelf) -> None:
    """On a copy, the packages may arrive before the catalog does."""
    shelf.flip("kinds", "20990101-000000")
    for path in ("files/SKILL.md", "bundle.zip"):
        assert own.ask("get", f"/skills/kinds/{path}").status_code == 200


def test_a_file_that_is_not_as_accepted_is_not_given(own: Site, shelf: Shelf) -> None:
    """An agent never gets content that was not validated."""
    (shelf.version_folder("kinds") / "scripts" / "run.py").chmod(0o644)
    (shelf.version_folder("kinds") / "scripts" / "run.py").write_text("print(2)\n")
    response = own.ask("get", "/skills/kinds/files/scripts/run.py")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "10")
    assert "print" not in response.text


@pytest.fixture
def origin(tmp_path: Path) -> Iterator[str]:
    """Serve a skill and an index with a URL as location_base; return the origin of the site."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    origin = f"http://127.0.0.1:{port}"
    write_skill(
        tmp_path / "watched" / "count",
        body="Run [it](scripts/run.py).\n",
        files={"scripts/run.py": "print(1)\n"},
    )
    settings = loader.load(None, tmp_path / "watched", tmp_path / "var")
    index = replace(settings.indexes[0], location_base=f"{origin}/skills", format="json")
    settings = settings.model_copy(update={"settle_quiet": 0, "indexes": (index,)})
    store = open_store(settings)
    scan_once(settings, store, engine=serial)
    store.close()
    child = SiteProcess(settings.catalog_path, "127.0.0.1", port, tmp_path / "site.log")
    child.start()
    yield origin
    child.stop()


def test_an_agent_elsewhere_follows_an_index(origin: str) -> None:
    """With a URL as location_base the index leads over HTTP to SKILL.md, and on to a script."""
    with httpx.Client(transport=httpx.HTTPTransport(retries=8), trust_env=False) as agent:
        listed = agent.get(f"{origin}/index/default").raise_for_status().json()
        location = next(value for value in listed.values() if isinstance(value, list))[0][
            "location"
        ]
        assert location == f"{origin}/skills/count/files/SKILL.md"
        skill_md = agent.get(location).raise_for_status().text
        match = re.search(r"\]\((.+?)\)", skill_md)
        assert match
        script = agent.get(urljoin(location, match[1])).raise_for_status()
    assert script.text == "print(1)\n"


# Large files


@pytest.mark.parametrize("path", ["files/assets/large.bin", "bundle.zip"])
def test_a_large_file_is_sent_in_pieces(
    raw: Site, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is never in memory as a whole, and comes with its length."""
    pieces = []
    send_response = responses.FileResponse.asgi_send

    async def counted_response(self: responses.FileResponse, send: Any) -> None:
        async def counted_send(message: Any) -> None:
            pieces.append(len(message.get("body", b"")))
            await send(message)

        await send_response(self, counted_send)

    monkeypatch.setattr(responses.FileResponse, "asgi_send", counted_response)
    response = raw.get(f"/skills/large/{path}")
    assert (
        len(response.content) == int(response.headers["content-length"]) == sum(pieces) > 5_000_000
    )
    assert max(pieces) <= responses.PIECE
    assert (
        response.content == LARGE
        if "bin" in path
        else (zipfile.ZipFile(io.BytesIO(response.content)).read("assets/large.bin") == LARGE)
    )


@pytest.mark.parametrize("path", ["files/assets/large.bin", "bundle.zip"])
def test_a_large_file_has_a_length_and_a_validator(raw: Site, path: str) -> None:
    """HEAD returns both without the file, and the validator saves a second transfer."""
    response = raw.get(f"/skills/large/{path}")
    head = raw.ask("head", f"/skills/large/{path}")
    assert (head.content, head.headers["content-length"]) == (
        b"",
        response.headers["content-length"],
    )
    assert head.headers["etag"] == response.headers["etag"]
    known = {"If-None-Match": f"W/{response.headers['etag']}"}
    assert raw.ask("get", f"/skills/large/{path}", headers=known).status_code == 304


@pytest.mark.parametrize("path", ["files/assets/large.bin", "files/references/a.md", "bundle.zip"])
def test_a_validator_that_only_holds_ours_gets_the_file(raw: Site, path: str) -> None:
    """A whole answer, and never an empty one that looks like it."""
    whole = raw.get(f"/skills/large/{path}")
    for form in ("{}-br", "x{}"):
        tag = f'"{form.replace("{}", whole.headers["etag"].strip(chr(34)))}"'
        response = raw.ask("get", f"/skills/large/{path}", headers={"If-None-Match": tag})
        assert (response.status_code, response.content) == (200, whole.content)


def test_there_are_only_a_few_large_archives_at_once(
    raw: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One more waits a little and is then put off; small ones and files are not concerned."""
    monkeypatch.setattr(limits, "PATIENCE", 0.01)

    async def asked() -> list[tuple[str, int]]:
        turns = [await limits.take(raw.datasette, limits.ARCHIVES, of) for of in "ab"]
        try:
            return [
                (path, (await raw.request("get", f"/skills/{path}")).status_code)
                for path in ("large/bundle.zip", "kinds/bundle.zip", "large/files/assets/large.bin")
            ]
        finally:
            for turn in turns:
                turn.close()

    assert [status for _, status in raw.runner.run(asked())] == [503, 200, 200]
    assert raw.get("/skills/large/bundle.zip").status_code == 200
    for _ in range(2):  # the response has given its turn back
        raw.runner.run(limits.take(raw.datasette, limits.ARCHIVES))


PATH = "/skills/large/files/assets/large.bin"


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        ("bytes=0-4", slice(0, 5)),
        ("bytes=3-", slice(3, None)),
        ("bytes=-4", slice(-4, None)),
        ("bytes=5-99999999", slice(5, None)),
    ],
)
def test_a_part_of_a_file_is_sent(raw: Site, asked: str, part: slice) -> None:
    """A download that broke off goes on."""
    response = raw.ask("get", PATH, headers={"Range": asked, "Accept-Encoding": "gzip"})
    assert (response.status_code, response.content) == (206, LARGE[part])
    first = part.indices(len(LARGE))[0]
    last = first + len(LARGE[part]) - 1
    assert response.headers["content-range"] == f"bytes {first}-{last}/{len(LARGE)}"


@pytest.mark.parametrize("asked", ["bytes=-", "bytes=a-b", "lines=1-2", "bytes=0-1,3-4", ""])
def test_any_other_range_is_the_whole_file(raw: Site, asked: str) -> None:
    """So is one of a file that is another by now."""
    response = raw.ask("get", PATH, headers={"Range": asked})
    assert (response.status_code, response.content) == (200, LARGE)
    assert response.headers["accept-ranges"] == "bytes"
    headers = {"Range": "bytes=0-1", "If-Range": '"old"'}
    assert raw.ask("get", PATH, headers=headers).content == LARGE
    headers["If-Range"] = response.headers["etag"].removeprefix("W/")
    assert raw.ask("get", PATH, headers=headers).status_code == 206


def test_a_range_beyond_the_end_is_refused(raw: Site) -> None:
    """The response says how long the file is."""
    response = raw.ask("get", PATH, headers={"Range": "bytes=99999999-"})
    assert response.status_code == 416
    assert response.headers["content-range"] == f"bytes */{len(LARGE)}"
