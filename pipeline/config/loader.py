"""Settings in force: defaults, then the file, the environment and the command line."""

import difflib
import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_origin

from pydantic import ValidationError

from catalog.model.errors import SettingsInvalid
from pipeline.config.error_messages import Layer, error_sentence, fields_of, tables_of
from pipeline.config.root_settings import GitRootSettings
from pipeline.config.settings import Settings

PREFIX = "SKILLDROP_"
"""Prefix of the environment variables that correspond to settings."""
FILE_NAME = "skilldrop.toml"
CONFIG_VARIABLE = f"{PREFIX}CONFIG"
"""Name of the settings file, and the environment variable that names another."""


def load(
    config: Path | None = None, watched: Path | None = None, data: Path | None = None
) -> Settings:
    """Return the settings in force.

    `config` is the settings file; without it, SKILLDROP_CONFIG or an existing skilldrop.toml in the
    working directory. `watched` and `data` come from the command line, which overrides SKILLDROP_…
    variables; these override the file, and the file overrides the defaults. Relative paths in the
    file start from its folder, all others from the working directory. Raises SettingsInvalid with
    one sentence that names the file, the key and the error.
    """
    options = {"watched": watched, "data": data}
    layers = [
        Layer("the command line", {key: path for key, path in options.items() if path}),
        Layer("the environment", _environment()),
        *_file(config),
    ]
    try:
        return Settings(**_merged(layers))
    except ValidationError as error:
        tables = tables_of(Settings)
        match error.errors(include_url=False)[0]["loc"]:
            case ("roots", int(number), *_) if "git" in _root(layers, number):
                tables["roots"] = GitRootSettings
        raise SettingsInvalid(error_sentence(error, layers, tables)) from None


def _root(layers: Sequence[Layer], number: int) -> Any:
    root = next(layer.values["roots"] for layer in layers if "roots" in layer.values)[number]
    return root if isinstance(root, dict) else {}


def _merged(layers: Sequence[Layer]) -> dict[str, Any]:
    """Return one set of values; the first layer with a key decides its value.

    `watched` and `roots` are alternatives, so a layer with either overrides both in the layers
    below. Tables are merged key by key.
    """
    values: dict[str, Any] = {}
    for layer in layers:
        overridden = {"watched", "roots"} if {"watched", "roots"} & values.keys() else set()
        for key, value in layer.values.items():
            if isinstance(values.get(key), dict) and isinstance(value, dict):
                values[key] = value | values[key]
            elif key not in values.keys() | overridden:
                values[key] = value
    return values


def _file(config: Path | None) -> list[Layer]:
    named = config or os.environ.get(CONFIG_VARIABLE)
    path = Path(named or FILE_NAME)
    if not named and not path.exists():
        return []
    values = read_toml(path)
    values.pop("validate", None)  # for `skilldrop validate`, which reads it itself
    return [Layer(str(path), _starting_from(path.absolute().parent, values))]


def read_toml(path: Path) -> dict[str, Any]:
    """Return the values of a TOML file. Raises SettingsInvalid if it cannot be read."""
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise SettingsInvalid(
            f"The configuration file {path} cannot be read: {error.strerror or error}."
        ) from error
    except UnicodeDecodeError as error:
        raise SettingsInvalid(
            f"{path}: the file is not valid UTF-8 (byte {error.start}); save it as UTF-8."
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsInvalid(f"{path}: the file is not valid TOML: {error}.") from error


def _starting_from(folder: Path, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a file, with relative paths made absolute."""
    absolute = dict(values)
    for key in ("watched", "data", "outcomes"):
        if key in absolute:
            absolute[key] = _joined(folder, absolute[key])
    for key, path in _PATHS_IN_TABLES:
        tables = absolute.get(key)
        if isinstance(tables, list):
            absolute[key] = [_with_absolute(folder, table, path) for table in tables]
        else:
            absolute |= {key: _with_absolute(folder, tables, path)} if key in absolute else {}
    return absolute


_PATHS_IN_TABLES = (
    ("roots", "path"),
    ("links", "path"),
    ("hooks", "secret_file"),
    ("webhook", "secret_file"),
)


def _with_absolute(folder: Path, table: object, key: str) -> object:
    """Return a table with an absolute path; in a repository, paths are relative to it."""
    if not isinstance(table, dict) or key not in table or "git" in table:
        return table
    return table | {key: _joined(folder, table[key])}


def _joined(folder: Path, path: object) -> object:
    if not isinstance(path, str) or not path or path.startswith("~"):
        return path
    return folder / path


def _environment() -> dict[str, Any]:
    """Return the settings of the environment.

    Raises SettingsInvalid for invalid JSON, or a variable that resembles a setting; others may use
    the prefix for other purposes.
    """
    values: dict[str, Any] = {}
    for variable in sorted(os.environ):
        name = variable.upper().removeprefix(PREFIX).lower()
        key, _, inner = name.partition("__")
        if not variable.upper().startswith(PREFIX) or key == "config":
            continue
        if key not in Settings.model_fields:
            _refuse_misspelt(variable, key)
        elif not (text := os.environ[variable]):
            continue
        elif not inner:
            values[key] = _parsed(variable, text, Settings.model_fields[key].annotation)
        elif isinstance(table := values.setdefault(key, {}), dict):
            fields = fields_of(Settings.model_fields[key].annotation)
            field = fields.get(inner)
            table[inner] = _parsed(variable, text, field and field.annotation)
    return values


def _parsed(variable: str, text: str, annotation: object) -> object:
    """Return the value of a variable; numbers and the like stay texts for the validation."""
    if get_origin(annotation) not in (tuple, dict) and not fields_of(annotation):
        return text
    try:
        return json.loads(text)
    except ValueError as error:
        raise SettingsInvalid(
            f"The environment: {variable} is not valid JSON; lists and tables must be JSON in "
            "environment variables."
        ) from error


def _refuse_misspelt(variable: str, key: str) -> None:
    known = [*Settings.model_fields, "config"]
    if matches := difflib.get_close_matches(key, known, n=1, cutoff=0.75):
        raise SettingsInvalid(
            f"The environment: {variable} is not a setting; "
            f"did you mean {PREFIX}{matches[0].upper()}?"
        )
