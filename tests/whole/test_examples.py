import csv
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

WATCHED = Path(__file__).parents[2] / "watched"
EXAMPLES = ("csv-profile", "release-checklist", "skill-authoring", "会议纪要")
BEYOND_THE_SPECIFICATION = {"release-checklist": {"disable-model-invocation"}}
SPECIFIED = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}

PROFILE_CSV = WATCHED / "csv-profile" / "scripts" / "profile_csv.py"


def frontmatter_and_body(example: str) -> tuple[dict[str, object], str]:
    """Read an example without the parser of this project."""
    _, frontmatter, body = (WATCHED / example / "SKILL.md").read_text("utf-8").split("---\n", 2)
    return yaml.safe_load(frontmatter), body


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_valid_to_the_letter(example: str) -> None:
    """Name, description, compatibility and metadata keep every limit of the specification."""
    fields, _ = frontmatter_and_body(example)
    name, description = fields["name"], fields["description"]
    assert name == example
    assert isinstance(name, str)
    assert re.fullmatch(r"[^\W_]+(-[^\W_]+)*", name)
    assert name == name.lower()
    assert len(name) <= 64
    assert isinstance(description, str)
    assert 100 <= len(description) <= 1024
    assert len(str(fields.get("compatibility", ""))) <= 500
    metadata = fields["metadata"]
    assert isinstance(metadata, dict)
    assert all(isinstance(part, str) for pair in metadata.items() for part in pair)


@pytest.mark.parametrize("example", EXAMPLES)
def test_only_one_example_has_other_fields(example: str) -> None:
    """Its body explains the fields beyond the specification."""
    fields, body = frontmatter_and_body(example)
    beyond = set(fields) - SPECIFIED
    assert beyond == BEYOND_THE_SPECIFICATION.get(example, set())
    assert all(f"`{field}` is a field of" in body for field in beyond)


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_links_every_file_it_ships(example: str) -> None:
    """The body names each file beside SKILL.md, and each of its links leads to a file."""
    _, body = frontmatter_and_body(example)
    folder = WATCHED / example
    shipped = {
        file.relative_to(folder).as_posix()
        for file in folder.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    } - {"SKILL.md"}
    assert {path for path in shipped if path not in body} == set()
    assert {link for link in re.findall(r"\]\(([^)]+)\)", body) if link not in shipped} == set()


def test_only_the_release_checklist_is_hidden_from_models() -> None:
    """One example shows `disable-model-invocation`; the others can enter a prompt index."""
    hidden = [e for e in EXAMPLES if frontmatter_and_body(e)[0].get("disable-model-invocation")]
    assert hidden == ["release-checklist"]


def profile(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the script as an agent would."""
    command: Sequence[str | Path] = (sys.executable, "-I", "-B", PROFILE_CSV, *arguments)
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


def test_the_csv_profile_prints_what_its_skill_promises(tmp_path: Path) -> None:
    """The sample in the body of csv-profile gives exactly the report printed below it."""
    _, body = frontmatter_and_body("csv-profile")
    sample = re.search(r"```csv\n(.*?)```", body, re.DOTALL)
    report = re.search(r"```markdown\n(.*?)```", body, re.DOTALL)
    assert sample
    assert report
    people = tmp_path / "people.csv"
    people.write_text(sample[1], "utf-8")

    done = profile(people)

    assert (done.returncode, done.stderr, done.stdout) == (0, "", report[1])


@pytest.mark.parametrize(
    ("cells", "kind", "smallest", "largest"),
    [
        pytest.param(["10", "-1", "9", "-20"], "integer", "-20", "10", id="integers by value"),
        pytest.param(["3", "1e2", "-.5"], "number", "-.5", "1e2", id="numbers by value"),
        pytest.param(
            ["01067", "80331"], "text", "5 characters", "5 characters", id="leading zeros stay text"
        ),
        pytest.param(["2024-02-29", "2023-12-31"], "date", "2023-12-31", "2024-02-29", id="dates"),
        pytest.param(
            ["2024-02-31"],
            "text",
            "10 characters",
            "10 characters",
            id="a day that is not in the calendar",
        ),
        pytest.param(["yes", "FALSE"], "boolean", "", "", id="booleans"),
        pytest.param(["1", "n/a"], "text", "1 characters", "3 characters", id="one stray word"),
        pytest.param(["e5", "."], "text", "1 characters", "2 characters", id="not quite numbers"),
        pytest.param(["1,234"], "text", "5 characters", "5 characters", id="thousands separator"),
        pytest.param([" ", ""], "empty", "", "", id="blanks are empty"),
    ],
)
def test_the_csv_profile_tells_types_apart(
    tmp_path: Path, cells: list[str], kind: str, smallest: str, largest: str
) -> None:
    """A column has the narrowest type that all its filled cells fit."""
    file = tmp_path / "cells.csv"
    with file.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([["row", "cell"], *enumerate(cells)])

    column = json.loads(profile(file, "--json").stdout)["columns"][1]

    assert (column["type"], column["smallest"], column["largest"]) == (kind, smallest, largest)


@pytest.mark.parametrize(
    ("cells", "remark"),
    [
        pytest.param(["a", "b", ""], [], id="a third empty is nothing to speak of"),
        pytest.param(["a", "b", "", ""], ['column "cell" is 50 % empty'], id="half empty"),
        pytest.param(["", ""], ['column "cell" is empty'], id="empty"),
        pytest.param(["a", "a"], ['column "cell" always holds the same value'], id="constant"),
        pytest.param(["a", "b"], ['columns that could be a key: "cell"'], id="a key"),
        pytest.param(["a"], [], id="one row makes no key"),
    ],
)
def test_the_csv_profile_comments_on_unusual_columns(
    tmp_path: Path, cells: list[str], remark: list[str]
) -> None:
    """Columns that are half empty, constant or different in every row."""
    file = tmp_path / "cells.csv"
    file.write_text("".join(f"{cell},x\n" for cell in ["cell", *cells]), "utf-8")

    told = json.loads(profile(file, "--json").stdout)["worth_a_look"]

    assert [line for line in told if '"cell"' in line] == remark


@pytest.mark.parametrize(
    ("content", "delimiter", "encoding"),
    [
        pytest.param(b"a;b\n1,5;2\n", ";", "utf-8", id="semicolon among decimal commas"),
        pytest.param("名\tb\n1\t2\n".encode("utf-8-sig"), "\t", "utf-8", id="tab after a BOM"),
        pytest.param("a|b\n1|2\n".encode("utf-16"), "|", "utf-16", id="utf-16"),
    ],
)
def test_the_csv_profile_detects_the_format_of_a_file(
    tmp_path: Path, content: bytes, delimiter: str, encoding: str
) -> None:
    """Delimiter and encoding are recognised without options."""
    file = tmp_path / "file.txt"
    file.write_bytes(content)
    told = json.loads(profile(file, "--json").stdout)
    assert (told["delimiter"], told["encoding"], len(told["columns"])) == (delimiter, encoding, 2)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        pytest.param(None, "there is no file", id="missing"),
        pytest.param(b"", "needs at least a header row", id="empty"),
        pytest.param(b"PK\x03\x04", "save it as CSV first", id="a workbook"),
        pytest.param(b"a\0b", "holds NUL bytes", id="binary"),
        pytest.param(b"a,b\n\xe9,2\n", "--encoding cp1252", id="another encoding"),
        pytest.param(b'a,b\n"' + b"x" * 200_000, "a quote may be missing", id="an open quote"),
    ],
)
def test_the_csv_profile_explains_in_one_sentence_why_it_cannot_read(
    tmp_path: Path, content: bytes | None, told: str
) -> None:
    """Exit code 2, and one line with the advice."""
    file = tmp_path / "file.csv"
    if content is not None:
        file.write_bytes(content)
    done = profile(file)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert told in done.stderr


def test_the_csv_profile_ends_quietly_if_its_reader_stops(tmp_path: Path) -> None:
    """A pipe into `head` shows no traceback, however long the report is."""
    file = tmp_path / "wide.csv"
    file.write_text(",".join(f"column-{number}" for number in range(5_000)) + "\n", "utf-8")
    with subprocess.Popen(
        (sys.executable, "-I", "-B", PROFILE_CSV, file, "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as profiling:
        assert profiling.stdout
        assert profiling.stderr
        assert profiling.stdout.readline() == b"{\n"
        profiling.stdout.close()
        assert profiling.stderr.read() == b""


def test_the_csv_profile_names_every_line_that_does_not_fit(tmp_path: Path) -> None:
    """Ragged rows are listed by the first line of their record, and repeats are counted."""
    file = tmp_path / "orders.csv"
    file.write_text('id,note\n1,"two\nlines"\n\n2\n1,"two\nlines"\n', "utf-8")
    told = json.loads(profile(file, "--json").stdout)
    assert told["misfits"] == [{"line": 5, "fields": 1}]
    assert told["repeated_rows"] == 1
