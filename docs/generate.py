"""Writes the pages of this folder that are made from the code: run `python docs/generate.py`."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
import yaml
from sqlite_utils import Database

from catalog.database.migrations import migrations
from catalog.model.finding import ALWAYS, IF_STRICT, NEVER, UNLESS_PERMISSIVE, FindingType
from pipeline.cli.app import cli
from pipeline.cli.lazy import deferred
from pipeline.cli.output.finding_types import REGISTRY
from pipeline.dialects.registry import PROFILES
from pipeline.outcomes.schema import SCHEMAS

HERE = Path(__file__).parent

_OPENING = """\
# Findings

<!-- Made by docs/generate.py from the registry; edit pipeline/findings/ instead. -->

Everything that `skilldrop` can say about a skill. Each finding has a stable code, a severity and
a profile, and names the file, the line and what to do next. `spec_valid` is no as soon as there
is one finding of profile `spec` and severity `error`. What a finding means for loading the skill
depends on the acceptance of its root: `strict`, `lenient` (the default) or `permissive`.
"""

_PROFILES = {
    "reading": "What is met while a folder is read, whichever profiles are asked for.",
    "spec": "The Agent Skills specification, to the letter; it is always asked.",
    "advice": "What the specification and its guides recommend, so that a skill is found "
    "and followed.",
    "safety": "What could deceive a reader, mislead an agent or run on its machine. Skills are "
    "untrusted text; a finding here means that a person should look at that line.",
    "claude-code": "What Claude Code reads differently from how it was meant.",
    "apexbridge": "What an ApexBridge package must declare and hold; see "
    "[apexbridge.md](apexbridge.md). Asked for by name only, as no other skill is one.",
    "outcome": "What is wrong with a file that a runtime dropped after a run; never of a skill.",
}

_REJECTS = {
    ALWAYS: "rejects the skill",
    UNLESS_PERMISSIVE: "rejects the skill unless the root is permissive",
    IF_STRICT: "rejects the skill if the root is strict",
    NEVER: "never rejects",
}


def findings_page() -> str:
    """Return the text of findings.md."""
    parts = [_OPENING]
    for profile in ("reading", *PROFILES, "outcome"):
        kinds = [kind for kind in REGISTRY.values() if kind.profile == profile]
        parts += [_overview(profile, kinds), *map(_paragraph, kinds)]
    return "\n".join(parts)


def _overview(profile: str, kinds: Sequence[FindingType]) -> str:
    rows = (
        f"| [{kind.code}](#{kind.code}) | {kind.severity} | {_cell(kind.summary)} |\n"
        for kind in kinds
    )
    return (
        f"## `{profile}`\n\n{_PROFILES[profile]}\n\n"
        f"| code | severity | what is wrong |\n|---|---|---|\n{''.join(rows)}"
    )


def _paragraph(kind: FindingType) -> str:
    return (
        f"### `{kind.code}`\n\n"
        f"{_prose(kind.summary)}\n\n"
        f"- **Do:** {_prose(kind.fix)}\n"
        f"- **Severity:** {kind.severity}; {_REJECTS[kind.rejects]}.\n"
        f"- **Source:** {_prose(kind.source)}.\n"
    )


def _prose(text: str) -> str:
    """Return a text that Markdown shows as it is written; what stands in backticks stays code."""
    pieces = text.split("`")
    for at in range(0, len(pieces), 2):
        for mark in r"\*_<>[]#":
            pieces[at] = pieces[at].replace(mark, f"\\{mark}")
    return "`".join(pieces)


def _cell(text: str) -> str:
    return _prose(text).replace("|", r"\|")


_COMMANDS = """\
# Commands

<!-- Made by docs/generate.py from the commands' own help; edit pipeline/commands/ instead. -->

Exit codes: 0 done, 1 findings or differences, 2 wrong usage or a trouble that is yours to mend,
3 internal error (please report it), 130 interrupted.
"""


_SETTINGS = {**cli.context_settings, "terminal_width": 96, "max_content_width": 96}


def commands_page() -> str:
    """Return the text of commands.md: what `--help` says, command by command."""
    parts = [_COMMANDS, _help(cli, None)]
    with click.Context(cli, info_name="skilldrop", **_SETTINGS) as top:
        parts += [
            _help(command.real, top)
            for command in sorted(deferred(), key=lambda command: command.name or "")
        ]
    return "\n".join(parts)


def _help(command: click.Command, top: click.Context | None) -> str:
    name = "skilldrop" if top is None else f"skilldrop {command.name}"
    with click.Context(
        command, parent=top, info_name=name.rpartition(" ")[2], **_SETTINGS
    ) as context:
        return f"## `{name}`\n\n```text\n{command.get_help(context)}\n```\n"


_SCHEMA = """\
# Schema

<!-- Made by docs/generate.py from the migrations and datasette-metadata.yml. -->

The catalog is one SQLite file, `catalog.db`, in WAL mode. One process writes it; any number may
read it. Times are ISO 8601 in UTC, JSON columns are valid JSON, yes and no are 1 and 0.
"""


def schema_page() -> str:
    """Return the text of schema.md: every table and view, every column, and what it holds."""
    db = Database(memory=True)
    migrations.apply(db)
    described = yaml.safe_load((HERE.parent / "datasette-metadata.yml").read_text("utf-8"))
    tables = described["databases"]["catalog"]["tables"]
    parts = [_SCHEMA]
    for name in (*db.table_names(), *db.view_names()):
        if (table := tables.get(name)) and not table.get("hidden"):
            rows = "".join(
                f"| `{column}` | {type_ or 'any'} | {_cell(' '.join(said.split()))} |\n"
                for column, type_, said in _columns(db, name, table)
            )
            said = re.sub(r"<[^>]+>", "", table.get("description") or table["description_html"])
            parts.append(
                f"## `{name}`\n\n{' '.join(said.split())}\n\n"
                f"| column | type | holds |\n|---|---|---|\n{rows}"
            )
    return "\n".join(parts)


def _columns(db: Database, name: str, table: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for row in db.query(f"SELECT name, type FROM pragma_table_xinfo('{name}')"):
        yield row["name"], row["type"].lower(), table["columns"].get(row["name"], "")


def json_schema(name: str) -> str:
    """Return the JSON Schema of a form that runtimes write."""
    schema = SCHEMAS[name].model_json_schema(mode="validation")
    return (
        json.dumps(
            {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema},
            ensure_ascii=False,
            indent=2,
        )
        + "\n"
    )


PAGES: Mapping[str, Callable[[], str]] = {
    "findings.md": findings_page,
    "commands.md": commands_page,
    "schema.md": schema_page,
    **{f"schemas/{name}.json": partial(json_schema, name) for name in SCHEMAS},
}

if __name__ == "__main__":
    for page, text in PAGES.items():
        (HERE / page).write_text(text(), "utf-8")
