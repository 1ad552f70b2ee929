"""Examples like those in the documents, and the documents' own where they lie beside the clone."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from catalog.model.outcome import RunFile, RunOutcome
from catalog.prompt_index import query
from catalog.prompt_index.spec import IndexSpec
from pipeline.authoring.lint import Judgement, judge_paths
from pipeline.cli.output.finding_types import REGISTRY
from pipeline.dialects.registry import DEFAULT_PROFILES
from pipeline.outcomes.parser import judge_outcome
from tests.support.documents import document, skills_in
from tests.support.roots_of_levels import Roots
from tests.support.shelf import Shelf
from tests.support.skills import DESCRIPTION, write_skill

# Names, as the document tells them: the finding of each, if any

NAMES = {
    "csv-export": None,
    "log-analysis": None,
    "图表": None,
    "CSV-Export": "name-not-lower-case",
    "-csv": "name-outer-hyphen",
    "csv--export": "name-double-hyphen",
}
DESCRIPTIONS = {
    "Reads tables from CSV files, joins them and draws charts. Use when somebody has CSV files or "
    "asks for a chart of a table.": True,
    "Rates the tone of product reviews and returns a score between -1 and 1": True,
    "Does CSV things.": False,
    "A handy skill for sales": False,
}
"""Descriptions that say enough, and others that do not."""
FIELDS = {
    "license: Proprietary. LICENSE.txt has complete terms": "license",
    "license: Apache-2.0": "license",
    "compatibility: Made for Claude Code (or similar programs)": "compatibility",
    "compatibility: Needs git, jq and access to the internet": "compatibility",
    'metadata:\n  author: some-org\n  version: "1.0"': "metadata",
    "allowed-tools: Bash(git:*) Bash(jq:*) Read": "allowed-tools",
}


def findings(folder: Path, *profiles: str) -> dict[str, str]:
    """Return the severities of the findings about a skill by their codes."""
    (judgement,) = judge_paths([folder], profiles=profiles or DEFAULT_PROFILES)
    return {finding.code: finding.severity for finding in judgement.findings}


@pytest.mark.requirement("agent-skills/name-examples")
@pytest.mark.parametrize(("name", "code"), NAMES.items())
def test_a_name_breaks_the_rule_beside_it(name: str, code: str | None, tmp_path: Path) -> None:
    """And no other rule; a valid one breaks none."""
    found = findings(write_skill(tmp_path / name), "spec")
    assert found == ({code: "error"} if code else {})


def test_the_names_of_the_documents_are_judged_as_they_say(tmp_path: Path) -> None:
    """Each invalid one has a comment with its reason."""
    for number in ("000", "003"):
        lines = re.findall(r"^\s*name: ([\w-]+)(?:\s+#.*)?$", document(number), re.MULTILINE)
        assert len(set(lines)) >= 6
        for name in set(lines):
            found = findings(write_skill(tmp_path / number / name), "spec")
            is_wrong = name != name.lower() or name.startswith("-") or "--" in name
            assert bool(found) == is_wrong, name


@pytest.mark.requirement("agent-skills/description-examples", "textbook/describe-examples")
@pytest.mark.parametrize(("description", "is_good"), DESCRIPTIONS.items())
def test_a_poor_description_is_told(description: str, is_good: bool, tmp_path: Path) -> None:
    """A good one has no finding of advice."""
    found = findings(write_skill(tmp_path / "some", description=description), "advice")
    is_told = any(code.startswith("description-") for code in found)
    assert is_told != is_good


@pytest.mark.parametrize("number", ["000", "002", "003"])
def test_the_descriptions_of_the_documents_are_judged_as_they_say(
    number: str, tmp_path: Path
) -> None:
    """The good one is longer than the poor one."""
    text = document(number)
    examples = re.findall(r'^(?:description: |\| [差好] \| ")(.+?)(?:$|")', text, re.MULTILINE)
    good, poor = max(examples, key=len), [line for line in examples if len(line) < 30]
    assert not told(good, tmp_path / "good")
    assert poor
    assert all(told(line, tmp_path / f"poor-{at}") for at, line in enumerate(poor))


def told(description: str, folder: Path) -> list[str]:
    """Return the codes of the findings about a description."""
    found = findings(write_skill(folder, description=description), "advice")
    return [code for code in found if code.startswith("description-")]


@pytest.mark.requirement("agent-skills/compatibility-examples", "agent-skills/example-skills")
@pytest.mark.parametrize(("line", "field"), FIELDS.items())
def test_an_example_of_a_field_is_valid_and_stored(line: str, field: str, tmp_path: Path) -> None:
    """It has no finding of the specification, and the catalog has it as written."""
    shelf = Shelf(tmp_path)
    folder = write_skill(shelf.root / "some", more=line, files={"LICENSE.txt": "Terms.\n"})
    assert findings(folder, "spec") == {}
    shelf.scan()
    (stored,) = shelf.db.execute("SELECT frontmatter FROM skills").fetchone()
    assert json.loads(stored)[field] == yaml.safe_load(line)[field]
    shelf.close()


@pytest.mark.parametrize("number", ["000", "003"])
def test_the_example_files_of_the_documents_are_valid(number: str, tmp_path: Path) -> None:
    """Two of SKILL.md, and one of each field."""
    text = document(number)
    files = re.findall(r"^---\nname: [\w-]+\n(?:.+\n)+---$", text, re.MULTILINE)
    lines = re.findall(r"^(?:license|compatibility|allowed-tools): .+$", text, re.MULTILINE)
    assert (len(files), len(set(lines))) == (2, 4 + any("Apache" in line for line in lines))
    for at, file in enumerate(files):
        name = file.split("\n")[1].removeprefix("name: ")
        folder = write_skill(tmp_path / f"{at}" / name, files={"SKILL.md": f"{file}\n# A\n"})
        assert findings(folder, "spec") == {}
    for at, line in enumerate(lines):
        assert findings(write_skill(tmp_path / f"line-{at}", more=line), "spec") == {}


# The textbook


def book_example(name: str) -> str:
    """Return a SKILL.md of the form that the textbook shows."""
    return (
        f'---\nname: {name}\ndescription: "Explains queries of a database in plain words"\n---\n'
        "## Instructions\nWhen somebody gives a query:\n1. Name its tables\n2. Say what it finds\n"
    )


@pytest.mark.requirement("textbook/book-required", "textbook/book-example", "textbook/book-name")
def test_a_skill_of_the_textbook_is_one_file(tmp_path: Path) -> None:
    """It has no finding of the specification; in a folder of another name it has one."""
    good = write_skill(
        tmp_path / "explain-query", files={"SKILL.md": book_example("explain-query")}
    )
    assert findings(good, "spec") == {}
    other = write_skill(tmp_path / "other", files={"SKILL.md": book_example("explain-query")})
    assert findings(other, "spec") == {"name-not-folder": "error"}


def test_the_example_of_the_textbook_is_valid(tmp_path: Path) -> None:
    """The document has no line break before its heading."""
    found = re.search(r"^(---\nname: (.+)\n.+\n---)(## (?:.+\n)+)", document("002"), re.MULTILINE)
    assert found
    text = f"{found[1]}\n{found[3]}"
    assert findings(write_skill(tmp_path / found[2], files={"SKILL.md": text}), "spec") == {}


TREE = {"scripts/pages.py": "script", "references/api.md": "reference", "assets/form.json": "asset"}


@pytest.mark.requirement(
    "textbook/book-tree", "textbook/book-loading", "textbook/step-no-body", "prd/install-inventory"
)
def test_each_file_of_the_example_tree_has_its_kind(tmp_path: Path) -> None:
    """The index has none of their texts."""
    shelf = Shelf(tmp_path)
    write_skill(shelf.root / "pages", files=dict.fromkeys(TREE, "Zebra.\n"), body="# Quagga\n")
    shelf.scan()
    kinds = dict(shelf.db.execute("SELECT path, kind FROM files").fetchall())
    assert kinds == TREE | {"SKILL.md": "skill_md"}
    index = query.build_index(shelf.db, IndexSpec()).text
    assert DESCRIPTION in index
    assert "Zebra" not in index
    assert "Quagga" not in index
    shelf.close()


@pytest.mark.requirement("textbook/book-tools", "textbook/book-booleans")
def test_fields_may_be_written_as_in_the_textbook(tmp_path: Path) -> None:
    """A list of tools, and booleans as YAML has them, are read as they are meant."""
    shelf = Shelf(tmp_path)
    more = (
        "allowed-tools:\n  - Bash\n  - Read\ndisable-model-invocation: true\nuser-invocable: true"
    )
    write_skill(shelf.root / "some", more=more)
    shelf.scan()
    stored = shelf.db.execute(
        "SELECT allowed_tools, model_invocable, user_invocable FROM skills"
    ).fetchone()
    assert tuple(stored) == ("Bash Read", 0, 1)
    shelf.close()


@pytest.mark.requirement("textbook/budget-example", "prd/lazy-all", "prd/goal-tokens")
def test_thirty_skills_are_all_in_the_default_index(tmp_path: Path) -> None:
    """Each with its description of 200 characters, whole."""
    shelf = Shelf(tmp_path)
    described = {f"skill-{n:02}": f"Case {n:02} " + "word " * 37 + "ends here." for n in range(30)}
    assert {len(text) for text in described.values()} <= set(range(195, 206))
    for name, description in described.items():
        write_skill(shelf.root / name, description=description)
    shelf.scan()
    built = query.build_index(shelf.db, IndexSpec())
    assert all(description in built.text for description in described.values())
    assert len(built.text) < 16_000
    shelf.close()


@pytest.mark.requirement("textbook/plugin-layout")
@pytest.mark.parametrize("path", ["office/skills/pdf", "office/pdf"])
def test_a_skill_of_a_plugin_has_its_namespace(path: str, tmp_path: Path) -> None:
    """Its first folder is the plugin, whether or not a folder named skills is below it."""
    catalog = Roots(tmp_path, [("plugins", "plugin")])
    write_skill(tmp_path / "plugins" / path)
    catalog.scan()
    assert [row[0] for row in catalog.skills("name").values()] == ["office:pdf"]


# The product requirements


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    """Return a catalog with a package of the form that the document shows, and one more."""
    shelf = Shelf(tmp_path)
    scripts = {f"scripts/step_{n}.py": "import sys\nprint(sys.argv[1])\n" for n in range(8)}
    documents = dict.fromkeys(("REFERENCE.md", "FORMS.md", "LICENSE.txt"), "# Text\n")
    write_skill(
        shelf.root / "pdf",
        more="license: Proprietary. LICENSE.txt has complete terms\nauthor: some-org",
        body="# PDF\n\nSee REFERENCE.md and FORMS.md.\n",
        files=scripts | documents,
    )
    write_skill(shelf.root / "sheet", files={"scripts/recalc.py": "print(1)\n"})
    shelf.scan()
    yield shelf
    shelf.close()


@pytest.mark.requirement(
    "prd/example-package", "prd/no-manifest", "prd/install-required", "prd/install-rows"
)
def test_a_package_with_frontmatter_alone_is_installed(shelf: Shelf) -> None:
    """With its documents, scripts and license; both tables have its rows."""
    row = shelf.db.execute(
        "SELECT d.fileInventory, d.skill_md_content, s.license, s.author, p.package_path"
        " FROM skill_definitions AS d JOIN skills AS s ON s.skill_id = d.skillId"
        " JOIN skill_packages AS p ON p.version = d.currentVersion WHERE d.name = 'pdf'"
        " AND p.package_path LIKE 'pdf/%'"
    ).fetchone()
    inventory = json.loads(row[0])
    assert (len(inventory["scriptFiles"]), inventory["totalFiles"]) == (8, 12)
    assert inventory["referenceFiles"] == ["FORMS.md", "REFERENCE.md"]
    assert row[1] == (shelf.root / "pdf/SKILL.md").read_text("utf-8")
    assert tuple(row)[2:4] == ("Proprietary. LICENSE.txt has complete terms", "some-org")
    assert (shelf.packages / row[4] / "scripts/step_0.py").is_file()


@pytest.mark.requirement("prd/no-legacy-columns")
def test_no_table_has_columns_of_the_former_format(shelf: Shelf) -> None:
    """Neither of a manifest nor of containers; `tools` are the names in allowed-tools."""
    columns = {
        column
        for (table,) in shelf.db.execute("SELECT name FROM sqlite_master WHERE type != 'index'")
        for (column,) in shelf.db.execute("SELECT name FROM pragma_table_info(?)", [table])
    }
    assert "file_inventory" in columns
    assert not columns & {"manifest", "manifest_json", "container_skills", "skill_format"}


@pytest.mark.requirement("prd/no-manifest-rules")
def test_no_finding_is_about_a_manifest() -> None:
    """It is a file like others."""
    texts = [f"{kind.code} {kind.summary} {kind.fix}" for kind in REGISTRY.values()]
    assert not [text for text in texts if "manifest.json" in text]


@pytest.mark.requirement("prd/execute-path", "prd/goal-scripts")
def test_a_script_runs_by_its_path_below_current(shelf: Shelf) -> None:
    """With an argument, by the interpreter that the instructions name."""
    script = shelf.packages / "pdf/current/scripts/step_0.py"
    done = subprocess.run([sys.executable, script, "input.pdf"], capture_output=True, check=True)
    assert done.stdout == b"input.pdf\n"


# ApexBridge


@pytest.mark.requirement("apexbridge/security-example")
def test_limits_beside_unused_addresses_have_no_finding(tmp_path: Path) -> None:
    """The example lists addresses although its network is none."""
    more = (
        "type: direct\nversion: 1.0.0\nsecurity:\n  timeout_ms: 5000\n  memory_mb: 128\n"
        '  network: "none"\n  network_allowlist:\n    - https://api.example.org\n'
        '  filesystem: "read-only"\n  environment:\n    ZONES: "UTC,Asia/Tokyo"'
    )
    found = judged(write_skill(tmp_path / "some", more=more))
    assert not [finding for finding in found.findings if (finding.field or "").startswith("sec")]


def test_the_blocks_of_the_document_have_no_finding(tmp_path: Path) -> None:
    """Those of triggers and security; the files that resources names are missing."""
    blocks = re.findall(r"```yaml\n(\w+:\n(?:[ ].*\n)+)```", document("004"))
    assert [block.split(":")[0] for block in blocks] == ["triggers", "security", "resources"]
    more = "type: direct\nversion: 1.0.0\n" + "".join(blocks)
    found = judged(write_skill(tmp_path / "some", more=more.rstrip()))
    parts = ("triggers", "security", "resources")
    named = {f.code for f in found.findings if (f.field or "").split(".")[0] in parts}
    assert named == {"resource-missing"}


def judged(folder: Path) -> Judgement:
    """Return the judgement on a package."""
    (judgement,) = judge_paths([folder], profiles=("apexbridge",))
    return judgement


def test_all_packages_of_the_document_are_found() -> None:
    """The basic one, two of weather, and three whole ones."""
    assert len(list(skills_in(document("004")))) == 6


# Trees and JSON


def files_in(tree: str) -> dict[str, str]:
    """Return the files of a drawn tree, relative to the folder of its SKILL.md."""
    files, above = {}, list[tuple[int, str]]()
    for line in tree.splitlines():
        branch = re.match(r"(.*[├└]─+ )(\w[\w.-]+/?)(?= |$)", line)
        if branch:
            above = [(place, name) for place, name in above if place < len(branch[1])]
            path = "".join(name for _, name in above) + branch[2]
            above.append((len(branch[1]), branch[2]))
            if not path.endswith("/"):
                files[path] = "print(1)\n" if path.endswith(".py") else "# Text\n"
    (top,) = (path.removesuffix("SKILL.md") for path in files if path.endswith("SKILL.md"))
    return {path.removeprefix(top): text for path, text in files.items()}


OUR_TREE = """
table/
├── SKILL.md              ← with two fields
├── REFERENCE.md
├── scripts/              ← two scripts
│   ├── read.py
│   ├── helpers/
│   │   └── cells.py
│   └── ...
├── references/
│   └── api.pdf
├── tests/
│   └── check.py
└── LICENSE.txt
"""


def is_taken(tree: str, shelf: Shelf) -> None:
    """Check that each file of a tree is in the catalog, its inventory and its package."""
    files = files_in(tree)
    files.pop("SKILL.md")
    write_skill(shelf.root / "drawn", files=files)
    shelf.scan()
    row = shelf.db.execute("SELECT file_inventory FROM skills WHERE name = 'drawn'").fetchone()
    inventory = json.loads(row[0])
    assert inventory["totalFiles"] == len(files) + 1
    assert inventory["scriptFiles"] == sorted(name for name in files if name.startswith("scripts/"))
    published = shelf.version_folder("drawn")
    assert all((published / name).is_file() for name in files)
    found = judged(shelf.root / "drawn").findings
    assert not [f for f in found if f.code in ("script-missing", "code-outside-scripts")]


@pytest.mark.requirement("apexbridge/layout-optional", "prd/example-package")
def test_each_file_of_a_tree_is_taken(shelf: Shelf) -> None:
    """All of them are published, and the inventory counts them."""
    assert len(files_in(OUR_TREE)) == 7
    is_taken(OUR_TREE, shelf)


@pytest.mark.parametrize(("number", "files"), [("001", 7), ("002", 3), ("004", 4)])
def test_each_file_of_a_tree_of_the_documents_is_taken(
    number: str, files: int, shelf: Shelf
) -> None:
    """The largest tree of each document."""
    drawn = re.findall(r"(?:^.*[├└│].*\n)+", document(number), re.MULTILINE)
    tree = max(drawn, key=len)
    assert len(files_in(tree)) == files
    is_taken(tree, shelf)


INVENTORY = {
    "hasSkillMd": True,
    "hasScripts": True,
    "hasReferences": True,
    "scriptFiles": ["scripts/one.py", "scripts/two.py"],
    "referenceFiles": ["GUIDE.md", "FIELDS.md"],
    "templateFiles": [],
    "totalFiles": 5,
    "totalSizeBytes": 0,
}


def is_inventory(example: dict[str, object], shelf: Shelf) -> None:
    """Check that the catalog has the inventory of a package with the files that it lists."""
    paths = [path for value in example.values() if isinstance(value, list) for path in value]
    write_skill(shelf.root / "listed", files=dict.fromkeys(paths, "x\n"))
    shelf.scan()
    row = shelf.db.execute("SELECT file_inventory FROM skills WHERE name = 'listed'").fetchone()
    stored = json.loads(row[0])
    assert list(stored) == list(example)
    for key, value in example.items():
        if not key.startswith("total"):
            assert stored[key] == (sorted(value) if isinstance(value, list) else value), key


@pytest.mark.requirement("prd/definition-inventory")
def test_the_inventory_is_that_of_its_files(shelf: Shelf) -> None:
    """It has exactly these keys, in this order."""
    is_inventory(INVENTORY, shelf)


def test_the_inventory_of_the_document_is_that_of_its_files(shelf: Shelf) -> None:
    """Its totals count further files that it does not name."""
    (example,) = (each for each in examples("001") if "totalFiles" in each)
    is_inventory(example, shelf)


def examples(number: str) -> Iterator[dict[str, object]]:
    """Yield the objects in blocks of JSON of a document."""
    for block in re.findall(r"```json\n(.*?)```", document(number), re.DOTALL):
        for text in re.split(r"(?<=\})\n(?=\{)", block.strip()):
            yield json.loads(text)


def test_the_envelope_of_the_document_is_an_outcome() -> None:
    """Its importance of 0.8 is 4 of 5; its memory has no owner."""
    (example,) = examples("004")
    outcome = judge_outcome(RunFile("run.json", None), json.dumps(example).encode())
    assert isinstance(outcome, RunOutcome)
    assert (outcome.form, outcome.findings) == ("abp", ())
    (write,) = outcome.memory_writes
    assert (write.importance, write.importance_declared, write.owner_type) == (4, 0.8, None)


def test_the_response_of_the_document_has_the_columns_of_the_view(shelf: Shelf) -> None:
    """Each key of it, and of its inventory."""
    (example,) = (each for each in examples("001") if "skillId" in each)
    row = shelf.db.execute("SELECT * FROM skill_definitions WHERE name = 'pdf'")
    stored = dict(zip((column[0] for column in row.description), row.fetchone(), strict=True))
    assert example.keys() <= stored.keys()
    inventory = example["fileInventory"]
    assert isinstance(inventory, dict)
    assert inventory.keys() <= json.loads(stored["fileInventory"]).keys()
    assert re.fullmatch(r"\d{8}-\d{6}", stored["currentVersion"])
    assert stored["isActive"] == 1
