"""The house: what may import what, and where each third-party package lives.

Would it still be useful if the watched folder vanished for ever? Then it belongs in `catalog`,
else in `pipeline`. `pipeline` imports `catalog`, never the other way round.
"""

import ast
import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

REPOSITORY = Path(__file__).parents[1]
PACKAGES = ("pipeline", "catalog")

# A module imports from lower floors of its package only, and `pipeline` from all of `catalog`.
# `a > b` says that b is a part split off a, which a may import though both stand on one floor.
# A package (`pipeline.rules`) stands for all its modules, which may import one another.
FLOORS = """
    9  pipeline.program
    8  pipeline.cli > pipeline.commands > pipeline.report > pipeline.lint_formats > pipeline.sarif
    7  pipeline.terminal
    7  pipeline.index_table  pipeline.reconcile > pipeline.one_pass  pipeline.adding
    7  pipeline.service > pipeline.journal
    6  pipeline.wishes > pipeline.passes
    6  pipeline.migrate > pipeline.migration > pipeline.field_text > pipeline.code_block
    5  pipeline.rounds > pipeline.missing > pipeline.cluster > pipeline.engines
    5  pipeline.supervision  pipeline.outcomes
    5  pipeline.validate
    4  pipeline.scan  pipeline.watch  pipeline.opening > pipeline.originals  pipeline.lost_mounts
    3  pipeline.ingest
    3  pipeline.disk > pipeline.glance > pipeline.archive > pipeline.archive_tree > pipeline.walk
    2  pipeline.rules  pipeline.settle  pipeline.config > pipeline.environment > pipeline.settings
    2  pipeline.descent > pipeline.directory > pipeline.links
    2  pipeline.zip_members > pipeline.tar_members > pipeline.members
    2  pipeline.outcome_reading
    1  pipeline.signature > pipeline.snapshot
    1  pipeline.frontmatter > pipeline.apexbridge > pipeline.field_types
    1  pipeline.outcome_form
    1  pipeline.parse > pipeline.repair > pipeline.yaml_text > pipeline.fences > pipeline.raw_text
    1  pipeline.seen_file
    0  pipeline.findings  pipeline.markdown  pipeline.excerpt
    0  pipeline.root_directory > pipeline.names
    0  pipeline.replacing  pipeline.uptime
    0  pipeline.stopping  pipeline.yaml_types  pipeline.mounts  pipeline.brake  pipeline.sentences
    0  pipeline.troubles  pipeline.logs  pipeline.systemd  pipeline.timer
    0  pipeline.crew > pipeline.workers > pipeline.forked

    6  catalog.site  catalog.mcp_server
    5  catalog.browse > catalog.browse_indexes
    5  catalog.publisher  catalog.replication  catalog.package_audit > catalog.audit
    5  catalog.bundle > catalog.reader > catalog.published
    4  catalog.store > catalog.mending > catalog.packaging > catalog.intake > catalog.contest
    3  catalog.recovery  catalog.quota  catalog.thinning  catalog.asides
    3  catalog.index_history  catalog.runs  catalog.search  catalog.index_files
    3  catalog.lookalikes  catalog.package_look  catalog.adoption
    3  catalog.index_account > catalog.index_query
    3  catalog.garbage  catalog.pins > catalog.history  catalog.requests
    3  catalog.search_rows
    2  catalog.excerpts
    2  catalog.making > catalog.package_folder > catalog.staging
    2  catalog.connection > catalog.schema > catalog.ddl
    2  catalog.prompt_index > catalog.fitting
    3  catalog.purging  catalog.file_check
    2  catalog.gathered > catalog.apexbridge > catalog.texts > catalog.rows
    1  catalog.removals  catalog.withheld
    1  catalog.ranking  catalog.formats > catalog.wording  catalog.ngrams  catalog.lock
    0  catalog.told
    2  catalog.health
    0  catalog.outcome > catalog.record  catalog.errors  catalog.naming  catalog.tokens
    0  catalog.statements  catalog.bodies  catalog.sqlite_limits  catalog.confusables
    1  catalog.confined  catalog.standing  catalog.ownership > catalog.by_descriptor
    1  catalog.skill_content
    0  catalog.file_names  catalog.asked_names  catalog.paging  catalog.differences
    0  catalog.locations  catalog.shortening  catalog.syncing
    0  catalog.prose > catalog.invisible
"""

# Each third-party package with the modules that may import it; their split-off parts may, too.
HOMES = {
    "apscheduler": ["pipeline.timer"],
    "click": ["pipeline.cli", "pipeline.commands", "pipeline.index_table", "pipeline.terminal"],
    "datasette": ["catalog.site"],
    "distributed": ["pipeline.cluster"],
    "frontmatter": ["pipeline.parse"],
    "h11": ["catalog.site"],
    "jinja2": ["catalog.site"],
    "jsonschema": ["pipeline.rules"],
    "markdown_it": ["catalog.site"],
    "markupsafe": ["catalog.site"],
    "mcp": ["catalog.mcp_server"],
    "nh3": ["catalog.site"],
    "pluggy": ["catalog.site"],
    "pydantic": [
        "pipeline.frontmatter",
        "pipeline.config",
        "pipeline.outcome_form",
        "pipeline.outcome_reading",
        "catalog.mcp_server",
    ],
    "pydantic_core": ["pipeline.frontmatter"],
    "pydantic_settings": ["pipeline.environment"],
    "sqlite_utils": [
        "catalog.schema",
        "catalog.store",
        "catalog.index_history",
        "catalog.runs",
        "catalog.browse",
        "catalog.search",
        "catalog.index_account",
        "catalog.reader",
        "catalog.removals",
        "catalog.mcp_server",
        "catalog.garbage",
        "catalog.pins",
        "catalog.requests",
        "catalog.audit",
        "catalog.package_audit",
        "catalog.lookalikes",
        "catalog.recovery",
        "catalog.quota",
        "catalog.thinning",
        "catalog.adoption",
        "catalog.health",
        "catalog.search_rows",
    ],
    "uvicorn": ["catalog.site", "catalog.mcp_server"],
    "watchdog": ["pipeline.watch"],
    "yaml": ["pipeline.parse", "pipeline.migrate"],
}

# Extras: their homes cannot be imported where they are not installed.
OPTIONAL = {"distributed", "mcp"}


class Place(NamedTuple):
    """Where a module stands: its floor, what it was split off, and what was split off it."""

    floor: int
    wholes: list[str]
    parts: list[str]


class Module(NamedTuple):
    """One source file of a package."""

    name: str  # dotted; a package has the name of its folder
    file: Path

    @property
    def tree(self) -> ast.Module:
        """The parsed source."""
        return ast.parse(self.file.read_text("utf-8"), str(self.file))


def places() -> dict[str, Place]:
    """Read the table of floors."""
    found = {}
    for line in filter(None, map(str.strip, FLOORS.splitlines())):
        floor, *groups = re.split(r" {2,}", line)
        for group in groups:
            chain = group.split(" > ")
            for at, name in enumerate(chain):
                found[name] = Place(int(floor), chain[:at], chain[at + 1 :])
    return found


PLACES = places()


def modules(repository: Path) -> list[Module]:
    """Find every module of both packages."""
    files = sorted(file for package in PACKAGES for file in (repository / package).rglob("*.py"))
    return [Module(dotted(file.relative_to(repository)), file) for file in files]


def dotted(path: Path) -> str:
    """Return the name under which a file is imported."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def standing(name: str) -> str | None:
    """Return the row of the table that a dotted name falls under: itself or what holds it."""
    while name and name not in PLACES:
        name = name.rpartition(".")[0]
    return name or None


def imports(module: Module) -> Iterator[tuple[int, str]]:
    """Yield the line and full dotted name of everything a module imports, wherever in its code."""
    inside = module.name if module.file.stem == "__init__" else module.name.rpartition(".")[0]
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            source = "." * node.level + (node.module or "")
            for alias in node.names:
                yield node.lineno, f"{importlib.util.resolve_name(source, inside)}.{alias.name}"


def homeless(repository: Path) -> Iterator[str]:
    """Say which modules stand on no floor."""
    for module in modules(repository):
        if module.name not in PACKAGES and not standing(module.name):
            yield (
                f"{module.name} stands on no floor: add it to FLOORS in "
                "tests/test_architecture.py, above all it imports and below all that import it"
            )


def wrong_imports(repository: Path) -> Iterator[str]:
    """Say which imports do not point down."""
    for module in modules(repository):
        for line, imported in imports(module):
            if imported.partition(".")[0] in PACKAGES and (why := objection(module.name, imported)):
                yield f"{module.name}:{line} imports {imported}: {why}"


def objection(importer: str, imported: str) -> str | None:
    """Say what is wrong about one import between our own modules, if anything is."""
    above, below = standing(importer), standing(imported)
    if not below:
        return "import a module that stands on a floor"
    if importer.startswith("catalog") and below.startswith("pipeline"):
        return "the catalog works without the pipeline; move what both need into catalog"
    if not above or above == below or importer.partition(".")[0] != below.partition(".")[0]:
        return None
    if PLACES[below].floor < PLACES[above].floor or below in PLACES[above].parts:
        return None
    return (
        f"floor {PLACES[above].floor} does not import floor {PLACES[below].floor}; "
        "move what is needed down, or write `a > b` in FLOORS if b was split off a"
    )


def strays(repository: Path) -> Iterator[str]:
    """Say where a third-party package is imported outside its home."""
    for module in modules(repository):
        row = standing(module.name) or module.name
        allowed_as = {row, *(PLACES[row].wholes if row in PLACES else ())}
        for line, imported in imports(module):
            package = imported.partition(".")[0]
            if package in sys.stdlib_module_names or package in PACKAGES:
                continue
            if not allowed_as & set(HOMES.get(package, ())):
                home = " or ".join(HOMES.get(package, ["no module yet; give it one in HOMES"]))
                yield f"{module.name}:{line} imports {package}, whose home is {home}"


def refuse(complaints: Iterator[str]) -> None:
    """Fail with all complaints, one a line."""
    if told := "\n".join(complaints):
        pytest.fail(told, pytrace=False)


def test_every_module_stands_on_a_floor() -> None:
    """A new module is given its place when it is written, not when it is in the way."""
    refuse(homeless(REPOSITORY))


def test_imports_point_down() -> None:
    """No module imports from its own floor or above, and the catalog nothing of the pipeline."""
    refuse(wrong_imports(REPOSITORY))


def test_a_third_party_package_has_one_home() -> None:
    """To replace a library is to change one module."""
    refuse(strays(REPOSITORY))


def test_the_catalog_works_without_the_pipeline() -> None:
    """Every module of the catalog can be imported where `pipeline` cannot."""
    names = [
        module.name
        for module in modules(REPOSITORY)
        if module.name.startswith("catalog")
        and not any(imported.partition(".")[0] in OPTIONAL for _, imported in imports(module))
    ]
    program = (
        "import importlib, sys; sys.modules['pipeline'] = None\n"
        f"for name in {names!r}: importlib.import_module(name)"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", program],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "\n".join(done.stderr.splitlines()[-3:]) == ""
    assert done.returncode == 0


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_itself_only_says_what_it_is(package: str) -> None:
    """The top-level `__init__.py` is a docstring: importing one module never loads another."""
    (only,) = Module(package, REPOSITORY / package / "__init__.py").tree.body
    assert isinstance(only, ast.Expr)
    assert isinstance(only.value, ast.Constant)


@pytest.mark.parametrize("module", modules(REPOSITORY), ids=lambda module: module.name)
def test_a_module_says_in_one_sentence_what_it_owns(module: Module) -> None:
    """Its docstring opens with one sentence, on which nothing but a blank line follows."""
    opening = (ast.get_docstring(module.tree) or "").partition("\n\n")[0]
    assert re.fullmatch(r".+\.", opening, re.DOTALL), "the first paragraph ends with a full stop"
    assert not re.search(r"[.!?]\s+[A-Z]", opening), "the first paragraph is one sentence"


@pytest.mark.parametrize(
    ("module", "source", "complaint"),
    [
        pytest.param("pipeline/ingest.py", "from pipeline import rules", "", id="down"),
        pytest.param(
            "pipeline/rules/spec.py",
            "from pipeline.rules.rule import Rule",
            "",
            id="inside a package of one floor",
        ),
        pytest.param(
            "pipeline/rules/__init__.py",
            "from . import spec",
            "",
            id="relative, inside a package of one floor",
        ),
        pytest.param(
            "pipeline/snapshot.py",
            "import catalog.site",
            "",
            id="from the pipeline to any floor of the catalog",
        ),
        pytest.param("catalog/store.py", "from catalog.contest import hold", "", id="to a part"),
        pytest.param(
            "catalog/contest.py",
            "from sqlite_utils import Database",
            "",
            id="a part lives in the home of its whole",
        ),
        pytest.param(
            "pipeline/snapshot.py",
            "from pipeline.disk import look",
            "pipeline.snapshot:1 imports pipeline.disk.look: floor 1 does not import floor 3",
            id="up",
        ),
        pytest.param(
            "pipeline/snapshot.py",
            "from .disk import look",
            "floor 1 does not import floor 3",
            id="up, relative",
        ),
        pytest.param(
            "pipeline/ingest.py",
            "from pipeline import disk",
            "floor 3 does not import floor 3",
            id="sideways",
        ),
        pytest.param(
            "catalog/contest.py",
            "from catalog import store",
            "floor 4 does not import floor 4",
            id="from a part to its whole",
        ),
        pytest.param(
            "catalog/site/pages.py",
            "def page():\n    import pipeline.config",
            "catalog.site.pages:2 imports pipeline.config: the catalog works without",
            id="from the catalog to the pipeline, hidden in a function",
        ),
        pytest.param(
            "catalog/rows.py",
            "from catalog import Database",
            "import a module that stands on a floor",
            id="from the package itself",
        ),
        pytest.param(
            "pipeline/helpers.py",
            "",
            "pipeline.helpers stands on no floor: add it",
            id="a module without a floor",
        ),
        pytest.param(
            "pipeline/disk.py",
            "import watchdog.events",
            "imports watchdog, whose home is pipeline.watch",
            id="a stray package",
        ),
        pytest.param(
            "pipeline/cli.py",
            "import requests",
            "imports requests, whose home is no module yet",
            id="a new package",
        ),
    ],
)
def test_the_house_rules_notice(tmp_path: Path, module: str, source: str, complaint: str) -> None:
    """What is allowed passes and what is not is named with its place and the way out."""
    file = tmp_path / module
    file.parent.mkdir(parents=True)
    file.write_text(source, "utf-8")
    told = "\n".join([*homeless(tmp_path), *wrong_imports(tmp_path), *strays(tmp_path)])
    assert complaint in told
    assert bool(complaint) == bool(told)
