"""The difference between two versions, in words."""

from collections.abc import Mapping
from typing import Any

import pytest

from catalog.model.skill import FileEntry, RootSpec
from catalog.reading.skills import versions
from catalog.writing.store import Store
from tests.support.records import NOON, ROOT, judged, rooted, sha

LONG = "Takes a text and gives the count of its words."
FIRST = {"SKILL.md": "", "scripts/run.py": "one\ntwo\n", "logo.png": None}


def entries(files: Mapping[str, str | None]) -> tuple[FileEntry, ...]:
    """Return the files of a skill; None is the content of a picture."""
    return tuple(
        FileEntry(
            path,
            9,
            sha(text if text is not None else path),
            0o644,
            "skill_md" if path == "SKILL.md" else "script" if path.endswith(".py") else "other",
            text is not None,
            text if path != "SKILL.md" else None,
        )
        for path, text in files.items()
    )


@pytest.mark.parametrize(
    ("files", "fields", "said"),
    [
        (
            {"scripts/run.py": "one\n2\nthree\n"},
            {},
            "changed scripts/run.py, +2 \u22121 lines in 1 file",
        ),
        ({"scripts/new.py": "x\n"}, {}, "added scripts/new.py"),
        ({"logo.png": "", "art/logo.png": None}, {}, "added art/logo.png, changed logo.png"),
        (
            {f"{name}.txt": name for name in "abcde"},
            {"license": "MIT"},
            "added a.txt, b.txt, c.txt and 2 more, license added",
        ),
        ({}, {"description": f"{LONG} Also of letters."}, "description edited"),
        ({}, {"description": "Draws pictures of cats."}, "description rewritten"),
        (
            {},
            {"tools": ("Bash", "Read"), "hosts": ("acme.dev",), "license": None},
            "new tools Bash, Read, new host acme.dev",
        ),
    ],
)
def test_a_version_says_what_it_changes(
    files: dict[str, str | None], fields: dict[str, Any], said: str
) -> None:
    """Scripts and other files by name, fields, new tools and hosts, and the numbers of lines."""
    with_text: dict[str, Any] = {
        "description": LONG,
        "skill_md_content": "same",
        "skill_md_hash": sha("same"),
    }
    store = rooted(Store.in_memory(), RootSpec(ROOT))
    for content, digest, more in ((FIRST, "a", {}), (FIRST | files, "b", fields)):
        change = judged("a", files=entries(content), digest=digest, **with_text | more)
        store.apply([change], trigger="command", at=NOON)
    new, old = versions.of_skill(store.db, 1)
    assert (new["changes"], old["changes"]) == (said, None)
    store.close()


def test_a_file_that_moved_is_neither_added_nor_removed() -> None:
    """It has the same content under another path."""
    store = rooted(Store.in_memory(), RootSpec(ROOT))
    moved = {"SKILL.md": "", "run.py": "one\ntwo\n"}
    for content, digest in ((FIRST, "a"), (moved, "b")):
        change = judged("a", files=entries(content), digest=digest)
        store.apply([change], trigger="command", at=NOON)
    assert versions.of_skill(store.db, 1)[0]["changes"] == (
        "moved scripts/run.py to run.py, removed logo.png"
    )
    store.close()
