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
    9  pipeline.cli.entry
    8  pipeline.cli.app > pipeline.commands > pipeline.cli.output.status > pipeline.cli.output.lint > pipeline.cli.output.sarif
    7  pipeline.cli.output.terminal
    7  pipeline.cli.output.index_table  pipeline.sync.reconcile > pipeline.sync.run_once  pipeline.authoring.add
    7  pipeline.service.loop > pipeline.service.change_log
    6  pipeline.sync.request_handlers > pipeline.service.scan_queue
    6  pipeline.authoring.convert > pipeline.dialects.apexbridge.conversion_plan > pipeline.parsing.frontmatter_editor > pipeline.dialects.apexbridge.code_block
    5  pipeline.sync.synchronizer > pipeline.sync.removals > pipeline.sync.engines.dask_cluster > pipeline.sync.engines.processes
    5  pipeline.watch.supervisor  pipeline.outcomes.collect
    5  pipeline.authoring.lint
    4  pipeline.sync.engines.scanner  pipeline.watch.observer  pipeline.sync.open_catalog > pipeline.sync.package_sources  pipeline.sync.lost_mounts
    3  pipeline.validation.verdict
    3  pipeline.roots.reader > pipeline.roots.local.partial_read > pipeline.roots.archives.reader > pipeline.roots.archives.tree > pipeline.roots.local.walk
    2  pipeline.rules  pipeline.watch.settling  pipeline.config.loader > pipeline.config.environment > pipeline.config.settings
    2  pipeline.roots.local.descent > pipeline.roots.local.directory > pipeline.roots.local.links
    2  pipeline.roots.archives.zip_file > pipeline.roots.archives.tar_file > pipeline.roots.archives.members
    2  pipeline.outcomes.parser
    1  pipeline.roots.local.folder > pipeline.roots.snapshot
    1  pipeline.validation.fields.frontmatter > pipeline.dialects.apexbridge.fields > pipeline.validation.fields.types
    1  pipeline.outcomes.schema
    1  pipeline.parsing.document > pipeline.parsing.repair > pipeline.parsing.yaml_reader > pipeline.parsing.fences > pipeline.parsing.decoding
    1  pipeline.roots.local.files
    0  pipeline.findings  pipeline.parsing.markdown  pipeline.cli.output.source_excerpt
    0  pipeline.roots.local.root_directory > pipeline.roots.names
    0  pipeline.authoring.atomic_replace  pipeline.sync.uptime
    0  pipeline.cli.stopping  pipeline.parsing.yaml_scalars  pipeline.roots.local.mounts  pipeline.sync.removal_guard  pipeline.parsing.multiline_repair
    0  pipeline.service.troubles  pipeline.cli.output.log_format  pipeline.service.systemd  pipeline.service.timer
    0  pipeline.sync.engines.pool > pipeline.sync.engines.worker > pipeline.sync.engines.fork_pool

    6  catalog.site  catalog.mcp.server
    5  catalog.reading.browse > catalog.reading.index_views
    5  catalog.writing.index_publisher  catalog.database.replication  catalog.audit.packages > catalog.audit.verdicts
    5  catalog.reading.bundle > catalog.reading.reader > catalog.reading.published
    4  catalog.writing.store > catalog.writing.repair > catalog.writing.packager > catalog.writing.rows.batch > catalog.writing.rows.shadowing
    3  catalog.writing.recovery  catalog.writing.quota  catalog.writing.history_retention  catalog.writing.damaged_copies
    3  catalog.prompt_index.history  catalog.writing.rows.run_outcomes  catalog.reading.search  catalog.prompt_index.files
    3  catalog.writing.rows.lookalikes  catalog.writing.packages.inspection  catalog.writing.adoption
    3  catalog.prompt_index.explain > catalog.prompt_index.query
    3  catalog.writing.retention  catalog.writing.pins > catalog.reading.versions  catalog.database.request_table
    3  catalog.writing.rows.search_rows
    2  catalog.text.snippets
    2  catalog.writing.packages.builder > catalog.writing.packages.folder > catalog.writing.packages.staging
    2  catalog.database.connection > catalog.database.migrations > catalog.ddl
    2  catalog.prompt_index.builder > catalog.prompt_index.budget
    3  catalog.writing.rows.purge  catalog.database.file_check
    2  catalog.writing.rows.write_buffer > catalog.writing.rows.apexbridge > catalog.writing.rows.fulltext > catalog.writing.rows.rows
    1  catalog.writing.rows.removals  catalog.database.withheld
    1  catalog.model.precedence  catalog.prompt_index.formats > catalog.prompt_index.messages  catalog.text.ngrams  catalog.database.lock
    0  catalog.reading.health
    2  catalog.database.health
    0  catalog.model.outcome > catalog.model.skill  catalog.model.errors  catalog.model.naming  catalog.text.tokens
    0  catalog.database.sql  catalog.text.body  catalog.database.limits  catalog.text.confusables
    1  catalog.filesystem.safe_open  catalog.model.publication_findings  catalog.filesystem.ownership > catalog.filesystem.by_descriptor
    1  catalog.reading.skill_content
    0  catalog.model.paths  catalog.text.suggestions  catalog.reading.paging  catalog.text.differences
    0  catalog.prompt_index.locations  catalog.text.truncate  catalog.filesystem.fsync
    0  catalog.text.sanitize > catalog.text.invisible
"""

# Each third-party package with the modules that may import it; their split-off parts may, too.
HOMES = {
    "apscheduler": ["pipeline.service.timer"],
    "click": [
        "pipeline.cli.app",
        "pipeline.commands",
        "pipeline.cli.output.index_table",
        "pipeline.cli.output.terminal",
    ],
    "datasette": ["catalog.site"],
    "distributed": ["pipeline.sync.engines.dask_cluster"],
    "frontmatter": ["pipeline.parsing.document"],
    "h11": ["catalog.site"],
    "jinja2": ["catalog.site"],
    "jsonschema": ["pipeline.rules"],
    "markdown_it": ["catalog.site"],
    "markupsafe": ["catalog.site"],
    "mcp": ["catalog.mcp.server"],
    "nh3": ["catalog.site"],
    "pluggy": ["catalog.site"],
    "pydantic": [
        "pipeline.validation.fields.frontmatter",
        "pipeline.config.loader",
        "pipeline.outcomes.schema",
        "pipeline.outcomes.parser",
        "catalog.mcp.server",
    ],
    "pydantic_core": ["pipeline.validation.fields.frontmatter"],
    "pydantic_settings": ["pipeline.config.environment"],
    "sqlite_utils": [
        "catalog.database.migrations",
        "catalog.writing.store",
        "catalog.prompt_index.history",
        "catalog.writing.rows.run_outcomes",
        "catalog.reading.browse",
        "catalog.reading.search",
        "catalog.prompt_index.explain",
        "catalog.reading.reader",
        "catalog.writing.rows.removals",
        "catalog.mcp.server",
        "catalog.writing.retention",
        "catalog.writing.pins",
        "catalog.database.request_table",
        "catalog.audit.verdicts",
        "catalog.audit.packages",
        "catalog.writing.rows.lookalikes",
        "catalog.writing.recovery",
        "catalog.writing.quota",
        "catalog.writing.history_retention",
        "catalog.writing.adoption",
        "catalog.database.health",
        "catalog.writing.rows.search_rows",
    ],
    "uvicorn": ["catalog.site", "catalog.mcp.server"],
    "watchdog": ["pipeline.watch.observer"],
    "yaml": ["pipeline.parsing.document", "pipeline.authoring.convert"],
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
        pytest.param("pipeline/validation/verdict.py", "from pipeline import rules", "", id="down"),
        pytest.param(
            "pipeline/validation/profiles/spec/rules.py",
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
            "pipeline/roots/snapshot.py",
            "import catalog.site",
            "",
            id="from the pipeline to any floor of the catalog",
        ),
        pytest.param(
            "catalog/writing/store.py",
            "from catalog.writing.rows.shadowing import hold",
            "",
            id="to a part",
        ),
        pytest.param(
            "catalog/writing/rows/shadowing.py",
            "from sqlite_utils import Database",
            "",
            id="a part lives in the home of its whole",
        ),
        pytest.param(
            "pipeline/roots/snapshot.py",
            "from pipeline.roots.reader import look",
            "pipeline.roots.snapshot:1 imports pipeline.roots.reader.look: floor 1 does not import floor 3",
            id="up",
        ),
        pytest.param(
            "pipeline/roots/snapshot.py",
            "from .disk import look",
            "floor 1 does not import floor 3",
            id="up, relative",
        ),
        pytest.param(
            "pipeline/validation/verdict.py",
            "from pipeline import disk",
            "floor 3 does not import floor 3",
            id="sideways",
        ),
        pytest.param(
            "catalog/writing/rows/shadowing.py",
            "from catalog import store",
            "floor 4 does not import floor 4",
            id="from a part to its whole",
        ),
        pytest.param(
            "catalog/site/pages.py",
            "def page():\n    import pipeline.config.loader",
            "catalog.site.pages:2 imports pipeline.config.loader: the catalog works without",
            id="from the catalog to the pipeline, hidden in a function",
        ),
        pytest.param(
            "catalog/writing/rows/rows.py",
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
            "pipeline/roots/reader.py",
            "import watchdog.events",
            "imports watchdog, whose home is pipeline.watch.observer",
            id="a stray package",
        ),
        pytest.param(
            "pipeline/cli/app.py",
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
