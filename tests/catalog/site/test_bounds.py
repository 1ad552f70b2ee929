"""Pages of very long texts: they load quickly, and every cut is announced."""

import asyncio
import hashlib
import html
import io
import re
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from catalog.model.change import Removal
from catalog.model.skill import FileEntry
from catalog.site.http import limits
from catalog.site.pages import file, versions
from catalog.site.rendering import markdown
from catalog.writing.store import Store
from tests.support.records import NOON, ROOT, judged
from tests.support.sites import Site
from tests.support.waiting import PATIENCE

SKILL_MD = FileEntry("SKILL.md", 1, "0" * 64, 0o644, "skill_md", True)


def put(catalog: Path, *bodies: str, name: str = "hostile", text: str | None = None) -> None:
    """Let a catalog accept one version of a skill after the other."""
    store = Store.open(catalog)
    for hour, body in enumerate(bodies, 13):
        sha256 = hashlib.sha256(body.encode()).hexdigest()
        files = (
            SKILL_MD._replace(sha256=sha256),
            *(
                [FileEntry("notes.md", 9, sha256, 0o644, "other", True, text)]
                if text is not None
                else []
            ),
        )
        store.apply(
            [judged(name, body=body, files=files, digest=f"sha256:{sha256}")],
            trigger="event",
            at=NOON.replace(hour=hour),
        )
    store.close()


def texts(page: str) -> str:
    """Return the lines of code of a page as they were written."""
    matches = re.findall(r'aria-label="Line \d+">\d+</a><code>(.*?)</code></div>', page, re.DOTALL)
    plain = [
        html.unescape(re.sub(r'<span class="unseen">.*?</span>', "", line)) for line in matches
    ]
    return "\n".join(plain)


def all_parts(site: Site, path: str) -> Iterator[str]:
    """Yield a page and all that follow it, each requested when it is taken."""
    link = path
    for _ in range(60):
        page = site.get(link if link.startswith("/") else path + link).text
        yield page
        if not (match := re.search(r'<a href="([^"]*)" rel="next">', page)):
            return
        link = html.unescape(match[1])
    raise AssertionError("there are too many pages")


@pytest.mark.parametrize("body", ["# a\n" * 9_900, "# a\n" * 90_000, "a\n\n" * 100_000])
def test_many_headings_come_soon(site: Site, catalog: Path, body: str) -> None:
    """A page of a text that rendered for minutes; also where the skill was removed."""
    put(catalog, body)
    began = time.process_time()
    assert site.get("/skills/hostile").status_code == 200
    store = Store.open(catalog)
    store.apply([Removal(ROOT, "hostile")], trigger="event", at=NOON.replace(hour=15))
    store.close()
    response = site.get("/skills/hostile")
    assert time.process_time() - began < 10
    assert "Agents do not get this skill" in response.text
    if len(body) > 50_000:
        assert "The source is shown instead" in response.text
        assert 'class="source"' in response.text


def test_a_long_text_is_shown_plainly_and_goes_on(site: Site, catalog: Path) -> None:
    """The page names the bound, and the link leads to the line at which the text goes on."""
    put(catalog, "word\n" * 60_000 + "payload\n")
    page = site.get("/skills/hostile").text
    match = re.search(r'<a href="([^"]*)">Continue at line ([\d,]+)</a>', page)
    assert match
    assert "the limit is 200,000" in page
    following = site.get(html.unescape(match[1])).text
    assert f'id="L{match[2].replace(",", "")}"' in following


def test_others_are_answered_while_a_text_is_rendered(
    site: Site, catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rendering happens beside the event loop: health is answered before the page is there."""
    put(catalog, "*a* " * 40_000)
    order: list[str] = []
    has_begun = threading.Event()
    render = markdown.render

    def render_noticed(*arguments: Any) -> Any:
        has_begun.set()
        return render(*arguments)

    monkeypatch.setattr(markdown, "render", render_noticed)

    async def ask(path: str) -> None:
        await site.request("get", path)
        order.append(path)

    async def both() -> None:
        page = asyncio.create_task(ask("/skills/hostile"))
        await asyncio.to_thread(has_begun.wait, PATIENCE)
        await asyncio.gather(ask("/-/healthz"), page)

    site.runner.run(both())
    assert order == ["/-/healthz", "/skills/hostile"]


def test_a_text_whose_turn_does_not_come_is_put_off(
    site: Site, catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its page waits a limited time for other texts; pages without a long text are answered."""
    put(catalog, "*a* " * 5_000)
    monkeypatch.setattr(limits, "PATIENCE", 0.01)
    turn = site.runner.run(limits.take(site.datasette, limits.TEXTS))
    busy = site.get("/skills/hostile")
    assert (busy.status_code, site.get("/").status_code) == (503, 200)
    assert "try again later" in busy.text
    assert busy.headers["retry-after"]
    turn.close()
    assert site.get("/skills/hostile").status_code == 200


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x" * 9_000 + "payload", id="far to the right"),
        pytest.param(
            "".join(f"{number}\n" for number in range(9_000)) + "payload\n", id="far below"
        ),
        pytest.param(f"é{'中' * 100_000}\nb" * 3 + "payload", id="lines longer than a part"),
        pytest.param("\n" * 5_000 + "payload\n\n", id="empty lines"),
    ],
)
def test_the_parts_of_a_file_are_all_of_it(site: Site, catalog: Path, text: str) -> None:
    """The parts together show each character once, whatever the lines."""
    put(catalog, "b", text=text)
    pages = list(all_parts(site, "/skills/hostile/view/notes.md"))
    joined = texts(pages[0])
    for before, page in pairwise(pages):
        joined += ("" if "continues in the next part" in before else "\n") + texts(page)
    assert joined == text.removesuffix("\n")
    assert "payload" in pages[-1]


def test_a_line_far_below_is_led_to(site: Site, catalog: Path) -> None:
    """A link to a line shows the part in which it stands."""
    put(catalog, "b", text="".join(f"line {number}\n" for number in range(1, 9_001)))
    page = site.get("/skills/hostile/view/notes.md", line=8_000).text
    assert re.search(r'id="L8000">.*line 8000<', page)
    near = site.get("/skills/hostile/view/notes.md", line=30).text
    assert 'id="L1"' in near


def test_a_file_of_the_past_is_shown_by_its_version(site: Site, catalog: Path) -> None:
    """The page and its links stay with the version that was asked for."""
    put(catalog, "old words", "new words")
    names = [row["version"] for row in site.rows("versions", skill_id="hostile", _sort="id")]
    page = site.get("/skills/hostile/view/SKILL.md", version=names[0]).text
    assert "old words" in page
    assert f"This is version {names[0]}" in page
    assert site.get("/skills/hostile/view/SKILL.md", version="never").status_code == 404


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(
            "".join(f"{number:x}\n" for number in range(9_000)),
            "".join(f"{number * 7 % 9_000:x}\n" for number in range(9_000)),
            id="short",
        ),
        pytest.param("a", "b" * 30_000 + "payload", id="a long line"),
        pytest.param(
            "a\n" * 3,
            "".join(f"{number}\n" for number in range(9_000)) + "payload",
            id="many lines",
        ),
        pytest.param(
            "".join(f"{number:x}\n" for number in range(8_000)),
            "".join(f"{(number + 4_000) % 8_000:x}\n" for number in range(8_000)),
            id="moved",
        ),
    ],
)
def test_the_parts_of_a_difference_are_all_of_it(
    site: Site,
    catalog: Path,
    old: str,
    new: str,
) -> None:
    """However many or long its lines, following the links shows each of them, and soon."""
    put(catalog, old, new)
    began = time.process_time()
    pages = list(all_parts(site, newest_difference(site)))
    assert time.process_time() - began < 30
    assert_shows_all(pages, old, new)


def test_a_difference_of_very_many_lines_comes_soon(site: Site, catalog: Path) -> None:
    """Its first part does, though hardly a line is where it was."""
    lines = [f"{number:x}\n" for number in range(30_000)]
    put(catalog, "".join(lines), "".join(lines[at * 7 % 30_000] for at in range(30_000)))
    path = newest_difference(site)
    began = time.process_time()
    page = site.get(path)
    assert time.process_time() - began < 3
    assert 'rel="next"' in page.text


def newest_difference(site: Site) -> str:
    """Return the path of the page that compares the newest version with the one before."""
    newest = re.search(r'href="(/skills/hostile/versions/[^"]+)"', site.get("/skills/hostile").text)
    assert newest
    return newest[1]


def assert_shows_all(pages: Sequence[str], old: str, new: str) -> None:
    """Both texts can be read from the pages of their difference."""
    rows = re.findall(r'class="line (add|del|same)[^>]*>.*?<code>(.*?)</code>', "".join(pages))
    for kinds, body in (({"add", "same"}, new), ({"del", "same"}, old)):
        shown = "".join(text for kind, text in rows if kind in kinds)
        assert body.replace("\n", "") in shown


def test_a_part_never_stands_still() -> None:
    """Each part of a text of line feeds alone, or of one line, is longer than nothing."""
    for data in (b"\n" * 10_000, b"a" * 300_000, "\ufeffa\n".encode() * 5_000):
        at, seen = 0, b""
        while True:
            page = file.read_part(io.BytesIO(data), len(data), at)
            seen += page.text.encode(
                "utf-8-sig" if page.encoding == "utf-8-sig" and not at else "utf-8"
            )
            if page.next_offset is None:
                break
            assert page.next_offset > at
            at = page.next_offset
        assert seen == data


def test_many_long_files_are_compared_one_by_one(
    site: Site,
    catalog: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A file that the page does not compare has a link to its own comparison."""
    monkeypatch.setattr(versions, "COMPARED_CHARS", 10)
    put(catalog, "old words", "new words", text="notes")
    newest = re.search(r'href="(/skills/hostile/versions/[^"]+)"', site.get("/skills/hostile").text)
    assert newest
    page = site.get(newest[1]).text
    assert "too long to be compared" in page
    link = re.search(r'<a href="([^"]*)">Compare only this file', page)
    assert link
    assert "too long to be compared" not in site.get(newest[1] + html.unescape(link[1])).text


def test_the_requests_of_one_client_leave_room_for_others(
    site: Site, catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also behind a proxy, which names the client; health is answered in any case."""
    put(catalog, "*a* " * 5_000)
    monkeypatch.setattr(limits, "MOST_OF_CLIENT", 2)

    async def ask(client: str, path: str) -> int:
        transport = httpx.ASGITransport(site.app, client=(client, 1))
        async with httpx.AsyncClient(transport=transport, timeout=PATIENCE) as session:
            return (await session.get(f"http://localhost{path}")).status_code

    async def crowd() -> list[int]:
        turn = await limits.take(site.datasette, limits.TEXTS)
        waiting = [asyncio.create_task(ask("10.0.0.1", "/skills/hostile")) for _ in range(2)]
        await asyncio.sleep(0)
        places = ("10.0.0.1", "/"), ("10.0.0.1", "/-/healthz"), ("10.0.0.2", "/")
        found = [await ask(*place) for place in places]
        turn.close()
        return [*found, *await asyncio.gather(*waiting), await ask("10.0.0.1", "/")]

    assert site.runner.run(crowd()) == [503, 200, 200, 200, 200, 200]
