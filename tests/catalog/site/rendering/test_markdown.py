"""The Markdown of skills as HTML."""

import re
import time

import pytest

from catalog.site.rendering import markdown


def html(text: str, folder: str = "", skip: int = 0) -> str:
    """Return a text as the page of the skill `s` shows it."""
    rendered = markdown.render(text, folder, "/skills/s/view/", "/skills/s/files/", skip)
    return "".join(block.html for block in rendered.blocks)


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
    left = markdown._sanitise(html)
    for trap in ("script", "alert", "style", "svg", "base", "form", "input", "data:"):
        assert trap not in left


@pytest.mark.parametrize(
    ("link", "folder", "href"),
    [
        ("references/a.md", "", "/skills/s/view/references/a.md"),
        ("a b.md", "", None),  # no link at all in Markdown
        ("<a b.md>", "", "/skills/s/view/a%20b.md"),
        ("../scripts/run.py", "references", "/skills/s/view/scripts/run.py"),
        ("../../other/SKILL.md", "", None),  # out of the skill, to no known place
        ("#Steps", "", "#md-steps"),
        ("https://example.org/x?y=1", "", "https://example.org/x?y=1"),
        ("mailto:a@example.org", "", "mailto:a@example.org"),
    ],
)
def test_links_lead_to_the_pages_of_files(link: str, folder: str, href: str | None) -> None:
    """A relative link means a file of the skill, an anchor a heading of the text."""
    found = html(f"[x]({link})", folder)
    assert f'href="{href}"' in found if href else "href" not in found


def test_links_out_of_the_skill_lead_to_their_known_places() -> None:
    """From any file of the skill; dots at the start of a name do not lead out."""
    outside = {"../b/SKILL.md": "/skills/b"}
    text = "[x](../../b/SKILL.md#use) [y](../..c.md)"
    blocks = markdown.render(text, "docs", "/v/", "/f/", outside=outside).blocks
    assert re.findall('href="([^"]*)"', blocks[0].html) == ["/skills/b", "/v/..c.md"]


def test_pictures_of_the_skill_are_shown() -> None:
    """They come from its own files."""
    assert 'src="/skills/s/files/assets/a.png"' in html("![A](assets/a.png)")


def test_headings_can_be_led_to() -> None:
    """Each has an anchor of its own, and stands below the headings of the page."""
    found = html("# Steps\n\n## Steps\n\n[up](#steps)\n\n#### Last\n")
    assert '<h3 id="md-steps">Steps</h3>' in found
    assert '<h4 id="md-steps-2">Steps</h4>' in found
    assert '<h6 id="md-last">Last</h6>' in found


def test_blocks_know_their_lines() -> None:
    """They count from the beginning of the file, frontmatter included."""
    text = "---\nname: a\n---\n\n# One\n\nTwo\nlines\n\n- a\n- b\n"
    rendered = markdown.render(text, "", "/v/", "/f/", 3)
    assert [(block.first, block.last) for block in rendered.blocks] == [(5, 5), (7, 8), (10, 11)]
    assert "name: a" not in "".join(block.html for block in rendered.blocks)


def test_tables_are_tables() -> None:
    """They are no part of plain Markdown, but skills are full of them."""
    assert "<td>1</td>" in html("| a |\n|---|\n| 1 |\n")


def test_what_is_too_long_is_not_rendered() -> None:
    """A text of megabytes has no blocks, and the bound that it passes is named."""
    rendered = markdown.render("word " * markdown.LONGEST, "", "/v/", "/f/", 0)
    assert rendered.blocks == ()
    assert f"the limit is {markdown.LONGEST:,}" in rendered.unrendered_reason


def test_what_takes_too_long_is_not_rendered() -> None:
    """A text may be short and yet full of work; the time that it may take is named."""
    rendered = markdown.render("*a* " * 1_000, "", "/v/", "/f/", 0, seconds=0)
    assert rendered.blocks == ()
    assert "takes more than 0 s" in rendered.unrendered_reason


def test_headings_alike_take_no_longer_than_others() -> None:
    """Nearly ten thousand headings of the same words, each with an anchor of its own."""
    began = time.process_time()
    rendered = markdown.render("# a\n" * 9_900, "", "/v/", "/f/", 0, seconds=5)
    assert time.process_time() - began < 4
    assert [block.html for block in rendered.blocks[:3]] == [
        '<h3 id="md-a">a</h3>\n',
        '<h3 id="md-a-2">a</h3>\n',
        '<h3 id="md-a-3">a</h3>\n',
    ]
    assert len({block.html for block in rendered.blocks}) == 9_900


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", '<span class="unseen" title="right-to-left override">[U+202E]</span>'),
        (
            "`a\u200bb`",
            '<code>a<span class="unseen" title="zero width space">[U+200B]</span>b</code>',
        ),
        ("# a\u2066", "[U+2066]</span></h3>"),
        ('[x](https://a.example "b\u202ec>\u202e")', 'title="b[U+202E]c&gt;[U+202E]"'),
        ("![a\u202eb](a.png)", 'alt="a[U+202E]b"'),
        ("\U0001f468\u200d\U0001f469", "\U0001f468\u200d\U0001f469"),
    ],
)
def test_invisible_characters_are_shown(text: str, shown: str) -> None:
    """In running text with a mark, in attributes as code points; emoji stay in one piece."""
    found = html(text)
    assert shown.replace("&gt;", ">") in found.replace("&gt;", ">")
    assert not {"\u202e", "\u200b", "\u2066"} & set(found)


def test_deep_nesting_ends_somewhere() -> None:
    """Ten thousand quotes in one another are words from some depth on."""
    assert html(">" * 10_000 + " x").count("<blockquote>") < 50
