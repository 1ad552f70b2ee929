"""The Markdown of skills as HTML."""

import re
import time

import pytest

from catalog.site.rendering import links, markdown
from catalog.site.rendering.links import LinkBase


def html(text: str, paths: frozenset[str] = frozenset()) -> str:
    """Return a text as the page of the skill `s` shows it."""
    return markdown.render(text, LinkBase("/skills/s", paths=paths)).html


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("<script>alert(1)</script>", id="a script"),
        pytest.param("a <img src=x onerror=alert(1)> b", id="a handler"),
        pytest.param("[x](javascript:alert(1))", id="a link that runs"),
        pytest.param("[x](JaVaScRiPt:alert(1))", id="the same in disguise"),
        pytest.param("[x](java&#115;cript:alert(1))", id="the same as an entity"),
        pytest.param("[x](data:text/html,<script>alert(1)</script>)", id="a page in a link"),
        pytest.param("[x](vbscript:x)", id="another language"),
        pytest.param("![x](https://example.org/track.gif)", id="a picture elsewhere"),
        pytest.param("![x](//example.org/track.gif)", id="the same without a scheme"),
        pytest.param("![x](pictures/drawing.svg)", id="a picture that could hold a script"),
        pytest.param("<iframe src='https://example.org'></iframe>", id="a frame"),
        pytest.param("<style>body{display:none}</style>", id="a style"),
        pytest.param("```<script>\nx\n```", id="in the language of a fence"),
        pytest.param('[x](http://a "\\" onmouseover=alert(1)")', id="in a title"),
    ],
)
def test_nothing_in_it_runs_or_calls_elsewhere(text: str) -> None:
    """Whatever is written becomes words, or a link that a person has to follow."""
    found = html(text)
    for tag in ("<script", "<img", "<iframe", "<style", "<svg", "style="):
        assert tag not in found
    for attribute in ("javascript:", "data:", "vbscript:"):
        assert f'href="{attribute}' not in found.lower()
    assert '" onmouseover' not in found.replace('title=" onmouseover', "")


@pytest.mark.parametrize(
    "html",
    [
        "<script>alert(1)</script>",
        "<a href='javascript:alert(1)'>",
        "<img src=x onerror=alert(1)>",
        "<p style='position:fixed'>",
        "<svg onload=alert(1)>",
        "<base href='//example.org/'>",
        "<form action='//example.org/'><input name=x>",
        "<a href='data:text/html,x'>",
    ],
)
def test_the_sanitiser_is_a_wall_of_its_own(html: str) -> None:
    """The sanitiser removes scripts and traps even if the renderer let HTML through."""
    left = markdown.SANITISER.clean(html)
    for trap in ("script", "alert", "style", "svg", "base", "form", "input", "data:"):
        assert trap not in left


@pytest.mark.parametrize(
    ("link", "href"),
    [
        ("references/a.md", "/skills/s/view/references/a.md"),
        ("a b.md", None),  # no link at all in Markdown
        ("<a b.md>", "/skills/s/view/a%20b.md"),
        ("./references/../scripts/run.py", "/skills/s/view/scripts/run.py"),
        ("../../other/SKILL.md", None),  # out of the skill, to no known place
        ("references/", "/skills/s/view/references"),
        ("none.md", None),
        ("/references/a.md", "/skills/s/view/references/a.md"),
        ("/none", None),  # never a page of this site
        ("references/a.md#L3", "/skills/s/view/references/a.md#L3"),
        (".", "/skills/s#files"),
        ("?a=b", None),
        ("#Steps", "#md-steps"),
        ("#none", None),
        ("skill://x", None),
        ("https://example.org/x?y=1", "https://example.org/x?y=1"),
        ("mailto:a@example.org", "mailto:a@example.org"),
    ],
)
def test_links_lead_to_the_pages_of_files(link: str, href: str | None) -> None:
    """A relative link means a file of the skill, an anchor a heading of the text."""
    paths = frozenset({"references/a.md", "a b.md", "scripts/run.py"})
    found = html(f"[x]({link})\n\n# Steps", paths).partition("<h3")[0]
    assert f'href="{href}"' in found if href else "href" not in found
    if link in ("none.md", "/none", "../../other/SKILL.md"):
        assert '<span>x</span> <span class="missing">(not in this package)</span>' in found


def test_links_out_of_the_skill_lead_to_their_known_places() -> None:
    """Dots at the start of a name do not lead out."""
    base = LinkBase("/s", paths=frozenset({"..c.md"}), outside={"../b/SKILL.md": "/skills/b"})
    rendered = markdown.render("[x](../b/SKILL.md#use) [y](..c.md)", base)
    assert re.findall('href="([^"]*)"', rendered.html) == ["/skills/b", "/s/view/..c.md"]


def test_pictures_of_the_skill_are_shown() -> None:
    """They come from its own files."""
    assert 'src="/skills/s/files/assets/a.png"' in html(
        "![A](assets/a.png)", frozenset({"assets/a.png"})
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<Good>\n```python\nif a:\n\n    b\n```\n</Good>", "<p>&lt;Good&gt;</p>\n<pre"),
        ("<details>\n<summary>*a*</summary>", "&lt;summary&gt;<em>a</em>&lt;/summary&gt;"),
        ("<!-- hidden\n\nstill -->", "<p>&lt;!-- hidden</p>\n<p>still --&gt;</p>"),
        ("- <b>x</b> *y*", "<li>&lt;b&gt;x&lt;/b&gt; <em>y</em></li>"),
    ],
)
def test_html_is_shown_as_it_was_written(text: str, shown: str) -> None:
    """Also comments, which a reader of the page could not see otherwise; Markdown in it works."""
    assert shown in html(text)


def test_only_two_tildes_strike_through() -> None:
    """A single one means about, as in `~$5`."""
    assert html("~$5 (~$2 a day), ~~old~~") == "<p>~$5 (~$2 a day), <s>old</s></p>\n"


def test_headings_can_be_led_to() -> None:
    """Each has an anchor of its own and a link to itself, and stands below those of the page."""
    found = html("# Steps\n\n## Steps\n\n[up](#steps)\n\n#### Last\n")
    assert '<h3 id="md-steps">Steps<a class="anchor" href="#md-steps" aria-label=' in found
    assert '<h4 id="md-steps-1">Steps<' in found
    assert '<h6 id="md-last">Last<' in found


@pytest.mark.parametrize(
    ("heading", "slug"),
    [
        ("A & B", "a--b"),
        ("`code` and *more*", "code-and-more"),
        ("[Link](x.md): text", "link-text"),
        ("1. First!", "1-first"),
        ("\U0001f680 Go", "-go"),
        ("snake_case - dash", "snake_case---dash"),
        ("会议纪要（一）", "会议纪要一"),
        ("Cafe\u0301", "cafe\u0301"),
    ],
)
def test_anchors_are_those_of_github(heading: str, slug: str) -> None:
    """So that links in a text, written for GitHub, lead to their headings."""
    assert f'id="md-{slug}"' in html(f"## {heading}")


def test_the_contents_leave_out_the_title() -> None:
    """A single first-level heading is the title; the entries begin at level 1."""
    rendered = markdown.render("# Title\n\n## One\n\n### Two\n\n## Three\n")
    assert [(entry.level, entry.text) for entry in rendered.contents] == [
        (1, "One"),
        (2, "Two"),
        (1, "Three"),
    ]
    assert markdown.render("# Only\n").contents == ()


def test_code_is_highlighted_by_classes() -> None:
    """In a known language, up to a size, and letter by letter as it was written."""
    found = html("```python\nif a < 1:  # why\n    pass\n```\n")
    assert '<span class="kw">if</span> a &lt; <span class="nu">1</span>' in found
    assert '<span class="cm"># why</span>' in found
    for plain in ("```\nif a\n```", "```none\nif a\n```", "    if a"):
        assert "<span" not in html(plain)
    assert "<span" not in html(f"```python\nif {'a' * 2_000}\n```")
    assert html("```python\n" + "if a\n" * 20_000 + "```").count("<span") == 0


def test_tables_are_tables() -> None:
    """They are no part of plain Markdown, but skills are full of them."""
    assert "<td>1</td>" in html("| a |\n|---|\n| 1 |\n")


def test_what_is_too_long_is_not_rendered() -> None:
    """A text of megabytes has no blocks, and the bound that it passes is named."""
    rendered = markdown.render("word " * markdown.LONGEST)
    assert rendered.html == ""
    assert f"the limit is {markdown.LONGEST:,}" in rendered.unrendered_reason


def test_what_takes_too_long_is_not_rendered() -> None:
    """A text may be short and yet full of work; the time that it may take is named."""
    rendered = markdown.render("*a* " * 1_000, seconds=0)
    assert rendered.html == ""
    assert "takes more than 0 s" in rendered.unrendered_reason


def test_headings_alike_take_no_longer_than_others() -> None:
    """Nearly ten thousand headings of the same words, each with an anchor of its own."""
    began = time.process_time()
    rendered = markdown.render("# a\n" * 9_900, seconds=5)
    assert time.process_time() - began < 4
    anchors = re.findall('<h3 id="([^"]*)"', rendered.html)
    assert anchors[:3] == ["md-a", "md-a-1", "md-a-2"]
    assert len(set(anchors)) == 9_900
    assert len(rendered.contents) == links.MOST


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", '<span class="unseen" title="right-to-left override">[U+202E]</span>'),
        (
            "`a\u200bb`",
            '<code>a<span class="unseen" title="zero width space">[U+200B]</span>b</code>',
        ),
        ("# a\u2066", "[U+2066]</span><a class="),
        ('[x](https://a.example "b\u202ec>\u202e")', 'title="b[U+202E]c&gt;[U+202E]"'),
        ("![a\u202eb](a.png)", 'alt="a[U+202E]b"'),
        ("\U0001f468\u200d\U0001f469", "\U0001f468\u200d\U0001f469"),
    ],
)
def test_invisible_characters_are_shown(text: str, shown: str) -> None:
    """In running text with a mark, in attributes as code points; emoji stay in one piece."""
    found = html(text, frozenset({"a.png"}))
    assert shown.replace("&gt;", ">") in found.replace("&gt;", ">")
    assert not {"\u202e", "\u200b", "\u2066"} & set(found)


def test_a_text_that_is_nested_too_deeply_is_not_rendered() -> None:
    """Each of ten thousand quotes in one another would be an element of the page."""
    assert html(">" * markdown.DEEPEST).count("<blockquote>") == markdown.DEEPEST
    for nested in (">" * 10_000 + " x", "- " * 50_000 + "x", "*a _b " * 10_000 + "b_ a*" * 10_000):
        rendered = markdown.render(nested)
        assert rendered.html == ""
        assert f"more than {markdown.DEEPEST} deep" in rendered.unrendered_reason


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 150_000, id="open brackets"),
        pytest.param("![](" * 40_000, id="open pictures"),
        pytest.param("[a]: " + "x" * 50_000 + "\n\n" + "[a]" * 49_000, id="a long target"),
        pytest.param("".join("`" * n + " " for n in range(600)), id="open code"),
        pytest.param("<!--" * 45_000, id="open comments"),
        pytest.param("<div>\n" * 9_000, id="lines of HTML"),
        pytest.param("|a" * 300 + "\n" + "|-" * 300 + "\n" + "|b\n" * 9_000, id="a wide table"),
        pytest.param("*a_" * 60_000, id="open emphasis"),
    ],
)
def test_a_hostile_text_takes_no_longer_than_the_limit(text: str) -> None:
    """Each is within the limits of size, and would cost a slow parser minutes."""
    began = time.process_time()
    markdown.render(text)
    assert time.process_time() - began < 2 * markdown.SECONDS


def test_a_list_of_tasks_has_boxes() -> None:
    """As GitHub shows it, and only at the start of an item."""
    text = html("- [ ] open\n- [x] done [ ]\n- [ ](a.md)\n\n[ ] no item")
    assert re.findall("[☐☑][^<]*", text) == ["☐ open", "☑ done [ ]"]
