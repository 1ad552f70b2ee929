"""Highlighted code."""

import html
import re
import time

import pytest

from catalog.site.rendering import highlight

CODE = '#!/bin/sh\n\n<script>&amp;\n"a" \'b\' {"c": 1.5} # d\n\tdef f(x): return x\n---\n- e: f\n'


@pytest.mark.parametrize("name", sorted({*highlight._LANGUAGES}))
def test_the_code_is_kept_letter_by_letter(name: str) -> None:
    """Each lexer of the list exists; only spans with known classes are added."""
    lines = highlight.lines(CODE, name)
    assert lines is not None
    marked = "\n".join(lines)
    assert html.unescape(re.sub(r'<span class="\w+">|</span>', "", marked)) == CODE
    assert set(re.findall(r'class="(\w+)"', marked)) <= highlight.CLASSES


@pytest.mark.parametrize(
    ("name", "code"),
    [("csharp", '"' + "a\n" * 29_000), ("java", "\n" * 59_000), ("make", "/*" + "a\n" * 29_000)],
)
def test_hostile_code_is_given_up_in_time(name: str, code: str) -> None:
    """Lexers that take quadratic time end at their limit."""
    began = time.thread_time()
    highlight.lines(code, name, seconds=0.2)
    assert time.thread_time() - began < 2


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("scripts/run.py", "python"),
        ("a.tsx", "typescript"),
        ("Dockerfile", "docker"),
        ("Makefile", "make"),
        ("notes.txt", ""),
        ("LICENSE", ""),
    ],
)
def test_a_file_is_of_the_language_of_its_name(path: str, language: str) -> None:
    """Others are shown without colours."""
    assert highlight.language_of(path) == language
