"""One home for each third-party package; import-linter checks the direction of imports."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.support.paths import REPOSITORY

MODULES = sorted(
    file for package in ("pipeline", "catalog") for file in (REPOSITORY / package).rglob("*.py")
)

HOMES = {
    "apscheduler": "pipeline.service.loop",
    "click": "pipeline.cli",
    "datasette": "catalog.site",
    "distributed": "pipeline.service.scanning.dask_cluster",
    "frontmatter": "pipeline.parsing.document",
    "h11": "catalog.site.server",
    "humanize": "catalog.text.humanize",
    "hyperscan": "pipeline.roots.words",
    "jinja2": "catalog.site",
    "jsonschema": "pipeline.dialects.apexbridge.field_rules",
    "markupsafe": "catalog.site",
    "anyio": "catalog.mcp",
    "mcp": "catalog.mcp",
    "nh3": "catalog.site.rendering",
    "pluggy": "catalog.site",
    "prometheus_client": "catalog.site.api.metrics",
    "pydantic": "pipeline.validation pipeline.dialects"
    " pipeline.config pipeline.outcomes pipeline.roots.local.folder catalog.mcp"
    " catalog.model catalog.listings catalog.prompt_index",
    "pydantic_core": "pipeline.validation pipeline.outcomes.schema",
    "pygments": "catalog.site.rendering.highlight",
    "pyromark": "catalog.site.rendering pipeline.dialects.apexbridge.conversion_plan",
    "sqlite_utils": "catalog.database.schema catalog.database.views catalog.database.queries",
    "uvicorn": "catalog.site.server catalog.mcp",
    "watchdog": "pipeline.watch",
    "jellyfish": "catalog.text.suggestions",
    "wcwidth": "pipeline.cli.output.terminal",
    "pathspec": "pipeline.roots.ignore_files",
    "yaml": "pipeline.parsing pipeline.authoring.convert catalog.mcp.skills_extension "
    "catalog.site.server.app catalog.site.api.service pipeline.cli.commands.rule",
}
"""The packages or modules that may import each library."""


def name_of(module: Path) -> str:
    """Return the name under which a file is imported."""
    return ".".join(module.relative_to(REPOSITORY).with_suffix("").parts)


@cache
def libraries(module: Path) -> frozenset[str]:
    """Return the packages that a module imports, wherever in its code."""
    names: list[str] = []
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.append(node.module or "")
    return frozenset(name.partition(".")[0] for name in names)


@pytest.mark.parametrize("library", HOMES)
def test_a_library_is_imported_only_in_its_home(library: str) -> None:
    """To replace a library, one place must change."""
    strays = [
        name_of(module)
        for module in MODULES
        if library in libraries(module)
        and not any(f"{name_of(module)}.".startswith(f"{home}.") for home in HOMES[library].split())
    ]
    assert strays == []


@pytest.mark.requirement("card/packages")
@pytest.mark.parametrize("library", HOMES)
def test_a_home_is_used(library: str) -> None:
    """A library without an import leaves the table."""
    assert any(library in libraries(module) for module in MODULES)


def test_a_module_starts_with_one_sentence() -> None:
    """It describes the module; a package's __init__ has nothing else."""
    for module in MODULES:
        name, tree = name_of(module), ast.parse(module.read_text("utf-8"))
        opening = (ast.get_docstring(tree) or "").partition("\n\n")[0]
        assert re.fullmatch(r".+\.", opening, re.DOTALL), f"{name}: no full stop at the end"
        assert not re.search(r"[.!?]\s+[A-Z]", opening), f"{name}: more than one sentence"
        assert module.stem != "__init__" or len(tree.body) == 1, name
