"""Reference of the settings: each key with its default, values and meaning."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import ByteSize
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from catalog.model.setting import LinkedDirectory, Retention, SiteSettings
from catalog.prompt_index.spec import IndexSpec
from docs_from_code.markdown import prose
from pipeline.config.hook import Hook
from pipeline.config.loader import PREFIX, fields_of
from pipeline.config.root_settings import GitRootSettings, RootSettings
from pipeline.config.selection import ValidateSettings
from pipeline.config.settings import Settings
from pipeline.roots.local.folder import Limits

_MEANINGS: dict[str, str] = yaml.safe_load(
    Path(__file__).with_name("settings.yml").read_text("utf-8")
)

_TABLES: dict[str, type] = {
    "roots": RootSettings,
    "git-roots": GitRootSettings,
    "indexes": IndexSpec,
    "links": LinkedDirectory,
    "hooks": Hook,
    "site": SiteSettings,
    "retention": Retention,
    "limits": Limits,
    "validate": ValidateSettings,
}

_OPENING = f"""\
# Settings

<!-- Generated from the settings models and docs_from_code/settings.yml by `make docs`. -->

Settings are read once, at the start, from the file that `--config` or `{PREFIX}CONFIG` names, else
from `skilldrop.toml` in the working directory, else from `~/.config/skilldrop/skilldrop.toml`. Each
key can also come from the environment:
`{PREFIX}` and the key in capitals, with two underscores before a key of a table
(`{PREFIX}SITE__PORT=8080`). Lists and tables are JSON there. The command line overrides the
environment, the environment overrides the file, and the file overrides the defaults. Every command
refuses unknown keys, values and variables. `skilldrop config show` prints all, with their sources.
[Configure](../how-to/configure.md) has examples.

Each key stands before its default, if it has one, its unit or possible values, and its meaning.
Sizes are numbers of bytes or texts such as `"100 MiB"`.
"""

_HEADS = {
    "roots": "`[[roots]]`",
    "git-roots": "`[[roots]]` with `git`",
    "indexes": "`[[indexes]]`",
    "links": "`[[links]]`",
    "hooks": "`[[hooks]]`",
}


def page() -> str:
    """Return the page; KeyError for a setting without a meaning."""
    parts = [_OPENING, "## Top of the file\n\n" + _table("", Settings)]
    for name, model in _TABLES.items():
        head = _HEADS.get(name, f"`[{name}]`")
        parts.append(f"## {head} {{ #{name} }}\n\n{_MEANINGS[name]}\n\n" + _table(name, model))
    return "\n".join(parts)


def keys() -> set[str]:
    """Return all keys on the page; the keys of tables have the form `table.key`."""
    return {*_TABLES, *(name for name, _ in _fields("", Settings))} | {
        name for table, model in _TABLES.items() for name, _ in _fields(table, model)
    }


def explained() -> set[str]:
    """Return all keys in settings.yml."""
    return set(_MEANINGS)


def _table(table: str, model: type) -> str:
    return "".join(
        f"- `{name.rpartition('.')[2]}`{_default(field)}{prose(_value(field))}. "
        f"{prose(_MEANINGS[name])}\n"
        for name, field in _fields(table, model)
        if name not in _TABLES
    )


def _value(field: FieldInfo) -> str:
    """Return the allowed values in words; the opening explains sizes, a default the rest."""
    words = field.description or ""
    if words == "true or false":
        return ""
    return ", a size" if words.startswith("a number of bytes") else f", {words}"


def _fields(table: str, model: type) -> Iterator[tuple[str, FieldInfo]]:
    added = model.__annotations__  # without those of a model that it extends
    for key, field in fields_of(model).items():
        if key not in added:
            continue
        name = field.alias or key
        yield f"{table}.{name}" if table else name, field


def _default(field: FieldInfo) -> str:
    value: Any = field.default
    if value is PydanticUndefined:
        return ", required"
    if value is None:
        return ""
    if isinstance(value, ByteSize):
        value = value.human_readable(separator=" ").replace(".0", "")
    elif isinstance(value, float):
        value = float(f"{value:g}") if value % 1 else int(value)
    return f" = `{json.dumps(value, default=str)}`"
