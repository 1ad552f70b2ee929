"""Texts of versions and files, which the catalog stores compressed."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlite_utils import Database

from catalog.database import packed_texts, schema_version
from catalog.database.connection import connect_to_read
from catalog.database.migrations import migrations
from catalog.writing.store import Store
from tests.support.packages import World, later
from tests.support.skills import SkillWriter

SKILL_MD = "---\r\nname: a\r\ndescription: Counts lines.\r\n---\r\n# Use\r\n\r\nRun it.\r\n"
DESCRIBED = json.dumps(
    {
        "name": "a",
        "display_name": None,
        "description": "Counts lines.",
        "headings": ["Use"],
        "body_chars": 14,
        "found_by": [],
    }
)
ROWS = f"""
    INSERT INTO roots (path, level, position, acceptance, profiles, judged_by)
    VALUES ('/r', 'project', 0, 'lenient', '[]', '');
    INSERT INTO skills (id, skill_id, name, description, status, level, root, path,
        current_version_id, digest, seen_digest, first_seen, last_changed, skill_md_name)
    VALUES (1, 'a', 'a', 'Counts lines.', 'active', 'project', '/r', 'a', 1, 'd', 'd', 't', 't',
        'SKILL.md');
    INSERT INTO versions (id, skill, skill_id, version, ingested_at, digest, skill_md_hash,
        file_inventory, frontmatter, skill_md_content, described)
    VALUES (1, 1, 'a', '1', '2026-11-20T10:00:00+00:00', 'd', 'h',
        '{{"hasSkillMd":true,"totalFiles":1}}', '{{"name":"a"}}', '{SKILL_MD}', '{DESCRIBED}');
    INSERT INTO files (version, path, kind, size, sha256, mode, is_text, text)
    VALUES (1, 'x.md', 'other', 3, 'h', '644', 1, 'one');
    INSERT INTO skill_text VALUES (1, 1, 'a', 'Counts lines.', '', 'Use', 'x.md', '', '', 44, 14);
    INSERT INTO skills_fts (skills_fts) VALUES ('rebuild');
    INSERT INTO skills_short_fts (skills_short_fts) VALUES ('rebuild');
"""
"""Skill as a release stored it that did not pack texts."""
TEXTS = "SELECT frontmatter, described, skill_md_content FROM {}"


UNICODE = st.text(st.characters(codec="utf-8"))


@given(st.lists(UNICODE.map(lambda text: text.replace("\n", " "))), UNICODE)
def test_packed_texts_come_back(first: list[str], last: str) -> None:
    """Each by its place, whatever it contains; only the last one may have line ends."""
    texts = [*first, last]
    packed = packed_texts.pack(*texts)
    assert [packed_texts.unpack(packed, n, len(texts)) for n in range(len(texts))] == [
        text.encode() for text in texts
    ]


@given(UNICODE, UNICODE)
def test_the_text_of_a_file_comes_back(text: str, skill_md: str) -> None:
    """Beside any SKILL.md, and as an earlier release packed it."""
    version = packed_texts.pack("{}", "{}", skill_md)
    assert version is not None
    for packed in (packed_texts.pack_file(text, skill_md), packed_texts.pack_file(text)):
        assert packed_texts.unpack_file(packed, version) == text.encode()


def test_a_file_takes_no_room_for_what_its_skill_md_says() -> None:
    """A damaged SKILL.md costs its text, and stops nothing."""
    text = "".join(map(str, range(2_000)))
    packed = packed_texts.pack_file(text, f"# Numbers {text}")
    assert packed is not None
    assert len(packed) < 100
    assert packed_texts.unpack_file(packed, b"damaged") == b""


def test_a_catalog_of_an_earlier_release_keeps_its_texts() -> None:
    """Its columns, the searched body and the full-text index are the same."""
    db = Database(memory=True)
    migrations.apply(db, stop_before="m015_packed_texts")
    db.conn.executescript(ROWS)
    texts = db.execute(TEXTS.format("versions")).fetchall()
    searched = db.execute("SELECT * FROM searched_texts").fetchall()
    migrations.apply(db)
    assert db.execute(TEXTS.format("version_contents")).fetchall() == texts
    assert texts == [('{"name":"a"}', DESCRIBED, SKILL_MD)]
    assert db.execute("SELECT * FROM searched_texts").fetchall() == searched
    assert searched[0][6] == "# Use\n\nRun it."
    assert db.execute("SELECT text FROM file_contents").fetchall() == [("one",)]
    db.execute("DELETE FROM skill_text")
    db.execute("INSERT INTO skills_fts (skills_fts, rank) VALUES ('integrity-check', 1)")


def test_a_damaged_catalog_of_an_earlier_release_keeps_its_texts(tmp_path: Path) -> None:
    """They are packed on the way into the new one."""
    path = tmp_path / "catalog.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA application_id = {schema_version.APPLICATION_ID}")
        migrations.apply(Database(connection), stop_before="m015_packed_texts")
        connection.executescript(ROWS)
    with path.open("r+b") as file:
        file.write(b"damaged")
    with closing(Store.open(path, later(0))) as store:
        texts = store.db.execute(TEXTS.format("version_contents")).fetchall()
        assert texts == [('{"name":"a"}', DESCRIBED, SKILL_MD)]
        assert store.db.execute("SELECT text FROM file_contents").fetchall() == [("one",)]


def test_programs_without_the_functions_check_copy_and_vacuum_the_file(
    tmp_path: Path, skill: SkillWriter
) -> None:
    """They read everything but the views of the texts, too."""
    world = World(tmp_path)
    skill(world.root / "a", files={"x.md": "one"})
    world.scan()
    with (
        closing(sqlite3.connect(tmp_path / "catalog.db")) as plain,
        closing(sqlite3.connect(tmp_path / "copy.db")) as copy,
    ):
        assert plain.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        plain.backup(copy)
        copy.execute("VACUUM")
        assert plain.execute("SELECT skill_id FROM versions").fetchall() == [("a",)]
        with pytest.raises(sqlite3.OperationalError, match="unpack"):
            plain.execute(TEXTS.format("version_contents"))
    with closing(connect_to_read(tmp_path / "copy.db")) as db:
        assert db.execute("SELECT text FROM file_contents WHERE path = 'x.md'").fetchone() == (
            "one",
        )
    world.store.close()


def test_a_damaged_text_is_empty_and_stops_no_scan(tmp_path: Path, skill: SkillWriter) -> None:
    """Its version stays, and the next content is stored as always."""
    world = World(tmp_path)
    skill(world.root / "a", body="one")
    world.scan()
    world.store.db.execute("UPDATE versions SET packed = x'00'")
    assert world.rows(TEXTS.format("version_contents")) == [("{}", "{}", "")]
    skill(world.root / "a", body="two")
    world.scan()
    (_, (text,)) = world.rows("SELECT skill_md_content FROM version_contents ORDER BY id")
    assert text.endswith("two")
    world.store.close()
