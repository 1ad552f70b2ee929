"""Catalog, opened with Python's sqlite3, the sqlite3 shell, sqlite-utils and a bare Datasette.

No function, tokenizer or plugin of skilldrop is registered anywhere in this module.
"""

import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support import bare, program
from tests.support.made_archives import pack_zip
from tests.support.paths import REPOSITORY
from tests.support.skills import write_skill

METADATA = REPOSITORY / "datasette-metadata.yml"
PAGES = Path(__file__).with_name("bare_pages.py")

MOST_TABLES = 30
"""Without those inside full-text tables."""

WORD = "quokka"
"""Word in every kind of text of one skill and in an outcome."""
MEETING = "把会议录音整理成纪要"
CHINESE = [MEETING[at : at + length] for length in range(1, 5) for at in range(0, 10 - length, 2)]
"""Words of one to four characters."""

BODY = f"# How to count a {WORD}\n\nStay three metres away from every animal in the colony.\n"
SHARED = "Two skills have this very sentence in a file of their own.\n"

CONFIG = """
settle_quiet = 0
data = "data"

[[roots]]
path = "company"
level = "enterprise"

[[roots]]
path = "team"
profiles = ["spec", "advice", "safety", "apexbridge"]

[[indexes]]
name = "default"
budget_chars = 500
overflow = "exclude"
"""

RUN = {
    "output": {"animals": 3},
    "status": "success",
    "message": f"Counted every {WORD}.",
    "tokenUsage": {"input": 10, "output": 5},
    "warnings": ["It rained."],
    "intermediateSteps": [
        {"stepId": "1", "stepName": "count", "input": {}, "output": [3], "duration": 1.5}
    ],
    "memoryWrites": [
        {
            "ownerType": "user",
            "ownerId": "anna",
            "type": "fact",
            "importance": 3,
            "content": f"Anna likes the {WORD}.",
        }
    ],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, elsewhere: Callable[..., None]) -> Path:
    """Return the data directory of made skills of every status, after several scans."""
    folder = tmp_path_factory.mktemp("made")
    write_made_skills(folder)
    elsewhere(scan, folder)
    for version in ("print(2)\n", "print(3)\n"):  # SKILL.md stays
        (folder / "team" / WORD / "scripts/count.py").write_text(version)
        elsewhere(scan, folder)
    shutil.rmtree(folder / "team/gone")
    (folder / "team/moved").rename(folder / "team/moved-away")
    (folder / f"data/outcomes/{WORD}").mkdir()
    (folder / f"data/outcomes/{WORD}/run-1.json").write_text(json.dumps(RUN))
    (folder / "data/outcomes/broken.json").write_text("{")
    elsewhere(scan, folder)
    return folder / "data"


def write_made_skills(folder: Path) -> None:
    """Write roots with skills in two languages and of every form."""
    (folder / "skilldrop.toml").write_text(CONFIG)
    team = folder / "team"
    write_skill(
        team / WORD,
        description=f"Counts each {WORD}. Use when somebody asks how many live on an island.",
        more=f"metadata:\n  tags: [{WORD}, island]",
        body=BODY,
        files={"scripts/count.py": "print(1)\n", f"references/{WORD}.md": SHARED},
    )
    write_skill(team / "shares", files={"references/the-same.md": SHARED})
    write_skill(team / "会议纪要", description=f"{MEETING}。", body="# 步骤\n\n听一遍。\n")
    write_skill(team / "表格", description="核对数字。")
    write_skill(team / "pictures", files={"assets/logo.png": bytes(range(256)) * 9})
    crlf = "---\r\nname: crlf\r\ndescription: Reads files of Windows.\r\n---\r\n\r\n# 标题\r\n"
    write_skill(team / "crlf", files={"SKILL.md": crlf})
    bom = "\ufeff---\nname: bom\ndescription: Reads files of editors.\n---\n# One\n"
    write_skill(team / "bom", files={"SKILL.md": bom})
    write_skill(team / "rejected", description="")
    write_skill(team / "shadowed", name="taken")
    write_skill(folder / "company/taken", description="Wins the name. Use when two have it.")
    write_skill(team / "hidden", more="disable-model-invocation: true")
    write_skill(team / "secrets", files={".env": "TOKEN=1\n"})
    write_skill(team / "gone")
    write_skill(team / "moved")
    write_skill(folder / "packed")
    pack_zip(folder / "packed", team / "pack.zip")
    sample = REPOSITORY / "tests/samples/apexbridge/good/weather-query"
    shutil.copytree(sample, team / "weather-query")


@pytest.fixture(scope="module")
def real(
    corpus: Path, tmp_path_factory: pytest.TempPathFactory, elsewhere: Callable[..., None]
) -> Path:
    """Return the data directory of real skills."""
    folder = tmp_path_factory.mktemp("real")
    (folder / "skilldrop.toml").write_text(
        f'settle_quiet = 0\ndata = "data"\nwatched = "{corpus / "packages"}"\n'
    )
    elsewhere(scan, folder)
    return folder / "data"


@pytest.fixture(params=["made", "real"])
def data(request: pytest.FixtureRequest) -> Path:
    """Return a data directory: of made skills, and of real ones where they are there."""
    found: Path = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def db(data: Path) -> Iterator[sqlite3.Connection]:
    """Return its catalog, opened to read."""
    with closing(opened(data)) as db:
        yield db


@pytest.fixture
def made_db(made: Path) -> Iterator[sqlite3.Connection]:
    """Return the catalog of made skills, opened to read."""
    with closing(opened(made)) as db:
        yield db


@pytest.fixture
def copy(data: Path, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Return a copy of the catalog, opened to write."""
    with closing(opened(data)) as db, closing(copied(db, tmp_path / "copy.db")) as copy:
        yield copy


# Rows


@pytest.mark.requirement("card/store")
def test_every_row_of_every_table_and_view_is_readable(db: sqlite3.Connection) -> None:
    """Each value is a text, a number or nothing."""
    for name in [*tables(db), *views(db)]:
        for row in db.execute(f'SELECT * FROM "{name}"'):
            assert {type(value) for value in row} <= {str, int, float, type(None)}, name


def test_the_sqlite_shell_reads_every_table_and_view(data: Path, db: sqlite3.Connection) -> None:
    """It has no extension of skilldrop loaded."""
    shell = shutil.which("sqlite3")
    if not shell:
        pytest.skip("there is no sqlite3 shell")
    names = [*tables(db), *views(db)]
    questions = "".join(f'SELECT count(*) FROM (SELECT * FROM "{name}");\n' for name in names)
    questions += "".join(f'SELECT * FROM "{name}";\n' for name in names)
    done = subprocess.run(
        [shell, "-readonly", "-batch", data / "catalog.db"],
        input=questions,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) > len(names)


def test_json_is_text_that_parses(db: sqlite3.Connection) -> None:
    """The metadata for Datasette says which columns contain JSON."""
    columns = described(db, r"JSON(?! Lines)")
    assert {("skills", "tags"), ("skills", "frontmatter"), ("skills", "file_inventory")} <= columns
    seen = 0
    for table, column in columns:
        for (value,) in db.execute(f'SELECT "{column}" FROM "{table}" WHERE "{column}" NOT NULL'):
            try:
                json.loads(value)
            except (TypeError, ValueError) as error:
                pytest.fail(f"{table}.{column}: {error}: {value!r:.80}")
            seen += 1
    assert seen > 100


def test_times_are_iso_8601_in_utc(db: sqlite3.Connection) -> None:
    """Names and descriptions of columns say which ones contain times."""
    columns = described(db, "^Time ") | {
        (table, column)
        for table in [*tables(db), *views(db)]
        for column in columns_of(db, table)
        if re.search(r"(_at|_since|^since|^first_seen|^last_changed)$", column)
    }
    form = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
    seen = 0
    for table, column in columns:
        if column == "version" or table.startswith("_sqlite_"):  # sqlite-utils writes its own
            continue
        for (value,) in db.execute(f'SELECT "{column}" FROM "{table}" WHERE "{column}" NOT NULL'):
            assert isinstance(value, str), (table, column, value)
            assert form.fullmatch(value), (table, column, value)
            seen += 1
    assert seen > 40


def test_any_client_may_write(copy: sqlite3.Connection) -> None:
    """Each row can be updated, deleted and inserted again; triggers and checks need only SQLite."""
    for table in tables(copy):
        if is_virtual(copy, table):
            continue
        columns = ", ".join(f'"{column}"' for column in stored_columns(copy, table))
        same = ", ".join(f'"{column}" = "{column}"' for column in stored_columns(copy, table))
        copy.execute("BEGIN")
        copy.execute(f'UPDATE "{table}" SET {same}')
        copy.execute(f'CREATE TEMP TABLE kept AS SELECT {columns} FROM "{table}"')
        copy.execute(f'DELETE FROM "{table}"')
        copy.execute(f'INSERT INTO "{table}" ({columns}) SELECT {columns} FROM kept')
        copy.execute("ROLLBACK")
    copy.execute("REINDEX")


def test_the_file_is_sound(db: sqlite3.Connection) -> None:
    """SQLite's integrity check passes, and each foreign key has its row."""
    assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert db.execute("PRAGMA foreign_key_check").fetchall() == []


def test_the_schema_is_small(db: sqlite3.Connection) -> None:
    """The tables inside full-text tables do not count."""
    assert len(tables(db)) <= MOST_TABLES, tables(db)


# The fields of the product specification


@pytest.mark.requirement("prd/install-content", "card/store")
def test_skill_definitions_have_the_fields_of_the_specification(db: sqlite3.Connection) -> None:
    """Each active skill has them under the names of the specification."""
    db.row_factory = sqlite3.Row
    found = db.execute("SELECT * FROM skill_definitions WHERE isActive").fetchall()
    assert len(found) > 9
    for skill in found:
        assert set(skill.keys()) >= {
            "id",
            "skillId",
            "name",
            "description",
            "fileInventory",
            "currentVersion",
            "isActive",
            "skill_md_content",
        }
        assert json.loads(skill["fileInventory"])["hasSkillMd"] is True
        assert re.match(r"\d{8}-\d{6}", skill["currentVersion"])


def test_skill_md_content_is_the_authors_text(db: sqlite3.Connection) -> None:
    """Line ends and a byte order mark are kept, so its UTF-8 bytes equal the file in the root."""
    found = db.execute(
        "SELECT s.root, s.path, d.skill_md_content FROM skill_definitions AS d"
        " JOIN skills AS s ON s.id = d.id WHERE d.isActive AND s.path NOT LIKE '%!/%'"
    ).fetchall()
    assert len(found) > 9
    for root, path, content in found:
        (skill_md,) = (f for f in Path(root, path).iterdir() if f.name.lower() == "skill.md")
        assert content.encode() == skill_md.read_bytes(), path


def test_skill_packages_lead_to_the_published_files(data: Path, db: sqlite3.Connection) -> None:
    """The folder at each path has a SKILL.md with that hash and the counted number of files."""
    found = db.execute(
        "SELECT version, skill_md_hash, file_inventory, package_path FROM skill_packages"
        " WHERE package_path NOT NULL"
    ).fetchall()
    assert len(found) > 9
    for version, skill_md_hash, inventory, package_path in found:
        package = data / "packages" / package_path
        assert package.name == version
        (skill_md,) = (f for f in package.iterdir() if f.name.lower() == "skill.md")
        assert hashlib.sha256(skill_md.read_bytes()).hexdigest() == skill_md_hash
        files = [f for f in package.rglob("*") if f.is_file()]
        assert json.loads(inventory)["totalFiles"] == len(files)


def test_a_skill_has_its_inventory_and_its_package_beside_it(data: Path) -> None:
    """The table of skills has both for each active skill."""
    with closing(opened(data)) as db:
        found = db.execute(
            "SELECT file_inventory, package_path FROM skills WHERE status = 'active'"
        ).fetchall()
    assert len(found) > 9
    for inventory, package_path in found:
        assert json.loads(inventory)["totalFiles"] > 0
        assert (data / "packages" / package_path).is_dir()


@pytest.mark.parametrize("text", [BODY, SHARED], ids=["SKILL.md", "another file"])
def test_a_text_lies_in_one_row(made_db: sqlite3.Connection, text: str) -> None:
    """Three versions of a skill share a SKILL.md, and two skills share another file."""
    assert made_db.execute(
        f"SELECT count(*) FROM skill_packages WHERE package_path LIKE '{WORD}/%'"
    ).fetchone() == (3,)
    holding: dict[str, int] = {}
    for table in tables(made_db):
        if is_virtual(made_db, table):
            continue
        for column in stored_columns(made_db, table):
            (rows,) = made_db.execute(
                f'SELECT count(*) FROM "{table}" WHERE instr("{column}", ?)', [text]
            ).fetchone()
            if rows:
                holding[f"{table}.{column}"] = rows
    assert list(holding.values()) == [1], holding


# Full text


def test_full_text_tables_find_an_english_word(made_db: sqlite3.Connection) -> None:
    """Each matching row contains the word."""
    assert full_text_tables(made_db)
    for table in full_text_tables(made_db):
        found = matches(made_db, table, WORD)
        assert found, table
        assert all(WORD in " ".join(map(str, row.values())).lower() for row in found), table


@pytest.mark.parametrize("word", [*CHINESE, "会", "纪要", "会议纪", "会议纪要"])
def test_full_text_tables_find_chinese_words(made_db: sqlite3.Connection, word: str) -> None:
    """Names and descriptions match words of up to four characters; other skills do not match."""
    named = [
        table
        for table in full_text_tables(made_db)
        if {"name", "description"} <= set(columns_of(made_db, table))
    ]
    assert named
    for table in named:
        names = " ".join(row["name"] for row in matches(made_db, table, word))
        assert "会议纪要" in names, table
        assert "表格" not in names, table


def test_full_text_agrees_with_the_rows(copy: sqlite3.Connection) -> None:
    """SQLite's own check passes before and after a VACUUM, which may change row ids."""
    for table in full_text_tables(copy):
        check(copy, table)
        word = some_word(copy, table)
        before = matches(copy, table, word)
        copy.execute("VACUUM")
        check(copy, table)
        assert matches(copy, table, word) == before != []


def test_full_text_follows_the_skills(tmp_path: Path) -> None:
    """Scans after a change, a renaming and a removal keep it up to date."""
    (tmp_path / "skilldrop.toml").write_text('settle_quiet = 0\ndata = "data"\nwatched = "team"\n')
    team = tmp_path / "team"
    for name, description in (("one", "Counts pelicans."), ("two", "清点鹈鹕。"), ("six", "Naps.")):
        write_skill(team / name, description=description)
    scan(tmp_path)
    write_skill(team / "one", description="Counts kingfishers.")
    write_skill(team / "two", description="清点翠鸟。")
    scan(tmp_path)
    (team / "two").rename(team / "three")
    write_skill(team / "three", description="清点翠鸟。")
    shutil.rmtree(team / "six")
    scan(tmp_path)
    with closing(opened(tmp_path / "data")) as db:
        for table in full_text_tables(db):
            for word, name in (("kingfishers", "one"), ("翠鸟", "three"), ("three", "three")):
                assert any(name in row["name"] for row in matches(db, table, word)), (table, word)
            for word in ("pelicans", "鹈鹕"):
                assert matches(db, table, word) == [], (table, word)
        with closing(copied(db, tmp_path / "copy.db")) as copy:
            for table in full_text_tables(copy):
                check(copy, table)


# Tools in an environment without skilldrop


@pytest.fixture(scope="session")
def without_skilldrop() -> None:
    """Check that the environment cannot import skilldrop and has no plugin of it."""
    found = bare.run(
        "-c",
        "from importlib import metadata, util\n"
        "print(util.find_spec('catalog'), util.find_spec('pipeline'), *sorted("
        "one.name for one in metadata.distributions() if 'skilldrop' in one.name))",
    )
    assert (found.stdout, found.stderr) == ("None None\n", "")


@pytest.mark.usefixtures("without_skilldrop")
def test_sqlite_utils_prints_rows(data: Path) -> None:
    """Tables and views are printed as JSON."""
    for name in ("skills", "versions", "skill_definitions", "skill_packages"):
        assert len(json.loads(sqlite_utils("rows", data, name))) > 9, name


@pytest.mark.usefixtures("without_skilldrop")
def test_sqlite_utils_prints_the_schema_and_answers_queries(data: Path) -> None:
    """The schema has the views, and a query returns the text of a SKILL.md."""
    assert "skill_definitions" in sqlite_utils("schema", data)
    sql = "SELECT skill_md_content FROM skill_definitions WHERE isActive LIMIT 1"
    (row,) = json.loads(sqlite_utils("query", data, sql))
    assert row["skill_md_content"].lstrip("\ufeff").startswith("---")


@pytest.mark.usefixtures("without_skilldrop")
@pytest.mark.parametrize(
    ("word", "name"), [(WORD, WORD), ("会", "会议纪要"), ("会议录音", "会议纪要")]
)
def test_sqlite_utils_searches_skills(made: Path, word: str, name: str) -> None:
    """It detects the full-text table of `skills`."""
    assert name in {row["name"] for row in json.loads(sqlite_utils("search", made, "skills", word))}


@cache
def asked_of_datasette(data: Path) -> dict[str, tuple[int, str]]:
    """Return the status and the beginning of the answer to each address."""
    done = bare.run(PAGES, data / "catalog.db", METADATA)
    assert done.returncode == 0, done.stderr
    answers: dict[str, tuple[int, str]] = json.loads(done.stdout)
    return answers


@pytest.mark.requirement("card/bare")
@pytest.mark.usefixtures("without_skilldrop")
def test_a_bare_datasette_answers_every_page(data: Path) -> None:
    """The status is 200 for tables, views and canned queries, as HTML and as JSON."""
    answers = asked_of_datasette(data)
    with closing(opened(data)) as db:
        wanted = {f"/catalog/{name}" for name in [*tables(db), *views(db)]}
    assert wanted <= answers.keys()
    assert len(answers) > 2 * len(wanted)
    failed = {page: error for page, (status, error) in answers.items() if status != 200}
    assert failed == {}, sorted(failed)


@pytest.mark.usefixtures("without_skilldrop")
@pytest.mark.parametrize("name", ["skills", "searched_texts"])
def test_a_bare_datasette_searches_whole_skills(made: Path, name: str) -> None:
    """It finds a word in names and in bodies, in the table of skills and in the view of texts."""
    _, answer = asked_of_datasette(made)[f"/catalog/{name}.json?_search={WORD}&_shape=array"]
    assert answer.startswith("[{"), answer


# Questions to the schema


def opened(data: Path) -> sqlite3.Connection:
    """Open the catalog in a data directory to read, as any program would."""
    return sqlite3.connect(f"file:{data / 'catalog.db'}?mode=ro", uri=True)


def copied(db: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    """Copy a database to a file, and open that to write without implicit transactions."""
    copy = sqlite3.connect(path, isolation_level=None)
    db.backup(copy)
    return copy


def tables(db: sqlite3.Connection) -> list[str]:
    """Return the tables, without SQLite's own and those inside full-text tables."""
    inside = {
        f"{table}_{part}"
        for table in full_text_tables(db)
        for part in ("data", "idx", "content", "docsize", "config")
    }
    return [
        name
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if name not in inside and not name.startswith("sqlite_")
    ]


def views(db: sqlite3.Connection) -> list[str]:
    """Return the views."""
    return [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'view'")]


def full_text_tables(db: sqlite3.Connection) -> list[str]:
    """Return the full-text tables."""
    return [
        name
        for name, sql in db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
        if re.search(r"USING\s+fts\d\b", sql, re.IGNORECASE)
    ]


def is_virtual(db: sqlite3.Connection, table: str) -> bool:
    """Return whether a table is a full-text table, or another one without rows of its own."""
    (sql,) = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", [table]).fetchone()
    return str(sql).upper().startswith("CREATE VIRTUAL")


def columns_of(db: sqlite3.Connection, table: str) -> list[str]:
    """Return the columns of a table or view, with generated ones."""
    return [name for _, name, *_, hidden in _columns(db, table) if hidden != 1]


def stored_columns(db: sqlite3.Connection, table: str) -> list[str]:
    """Return the columns that can be written."""
    return [name for _, name, *_, hidden in _columns(db, table) if hidden == 0]


def _columns(db: sqlite3.Connection, table: str) -> list[Any]:
    return [tuple(row) for row in db.execute(f'PRAGMA table_xinfo("{table}")')]


def described(db: sqlite3.Connection, pattern: str) -> set[tuple[str, str]]:
    """Return tables and columns whose description for Datasette has a pattern."""
    metadata = yaml.safe_load(METADATA.read_text("utf-8"))["databases"]["catalog"]["tables"]
    there = {name: columns_of(db, name) for name in [*tables(db), *views(db)]}
    return {
        (table, column)
        for table, about in metadata.items()
        for column, text in (about.get("columns") or {}).items()
        if re.search(pattern, text) and column in there.get(table, ())
    }


def matches(db: sqlite3.Connection, table: str, word: str) -> list[dict[str, Any]]:
    """Return the rows of a full-text table that match a word."""
    found = db.execute(f'SELECT rowid, * FROM "{table}" WHERE "{table}" MATCH ?', [word])
    names = [each[0] for each in found.description]
    return [dict(zip(names, row, strict=True)) for row in found]


def some_word(db: sqlite3.Connection, table: str) -> str:
    """Return an English word that a full-text table has."""
    for row in db.execute(f'SELECT * FROM "{table}"'):
        for value in row:
            if word := re.search(r"\b[a-z]{4,}\b", str(value or "")):
                return word[0]
    raise AssertionError(f"there is no word in {table}")


def check(db: sqlite3.Connection, table: str) -> None:
    """Let SQLite compare a full-text table with its content. Raises sqlite3.DatabaseError."""
    db.execute(f"""INSERT INTO "{table}"("{table}", rank) VALUES ('integrity-check', 1)""")


# Programs


def scan(folder: Path) -> None:
    """Run `skilldrop scan` with the settings in a folder, in a process that only scans."""
    for name in [name for name in os.environ if "SKILLDROP_" in name]:
        del os.environ[name]
    os.chdir(folder)
    done = program.run("scan")
    assert done.returncode == 0, done.stderr


def sqlite_utils(command: str, data: Path, *words: str) -> str:
    """Run sqlite-utils on the catalog; return its output."""
    done = bare.run("-m", "sqlite_utils", command, data / "catalog.db", *words)
    assert (done.returncode, done.stderr) == (0, ""), f"{command} {words}"
    return done.stdout
