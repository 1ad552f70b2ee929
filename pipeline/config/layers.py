"""Settings as given by command line, environment and file, not yet validated."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.config.toml_file import CONFIG_VARIABLE, FILE_NAME, PREFIX, read_toml

_PATHS = ("watched", "data")
"""Settings that are plain paths in the environment."""


class Layer(NamedTuple):
    """Values from one source, in the shape of Settings."""

    source: str
    values: Mapping[str, Any]


def read(config: Path | None, watched: Path | None, data: Path | None) -> list[Layer]:
    """Return the layers, the strongest first; see `loader.load`. Raises SettingsInvalid."""
    options = {"watched": watched, "data": data}
    return [
        Layer("the command line", {key: path for key, path in options.items() if path}),
        Layer("the environment", _environment()),
        *_file(config),
    ]


def merged(layers: Sequence[Layer]) -> dict[str, Any]:
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


def _environment() -> dict[str, Any]:
    names = {name for name in os.environ if name.upper().startswith(PREFIX)} - {CONFIG_VARIABLE}
    paths = {f"{PREFIX}{key.upper()}": key for key in _PATHS}
    if names <= paths.keys():
        return {paths[name]: os.environ[name] for name in names if os.environ[name]}
    from pipeline.config import environment  # its library is slow to import and rarely needed

    return environment.read()


def _file(config: Path | None) -> list[Layer]:
    named = config or os.environ.get(CONFIG_VARIABLE)
    path = Path(named or FILE_NAME)
    if not named and not path.exists():
        return []
    values = read_toml(path)
    values.pop("validate", None)  # for `skilldrop validate`, which reads it itself
    return [Layer(str(path), _starting_from(path.absolute().parent, values))]


def _starting_from(folder: Path, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a file, with relative paths made absolute."""
    absolute = dict(values)
    for key in ("watched", "data", "outcomes"):
        if key in absolute:
            absolute[key] = _joined(folder, absolute[key])
    if isinstance(webhook := absolute.get("webhook"), dict) and "secret_file" in webhook:
        file = _joined(folder, webhook["secret_file"])
        absolute["webhook"] = webhook | {"secret_file": file}
    for key, path in (("roots", "path"), ("links", "path"), ("hooks", "secret_file")):
        if isinstance(tables := absolute.get(key), list):
            absolute[key] = [
                table | {path: _joined(folder, table[path])}
                if isinstance(table, dict) and path in table and "git" not in table
                else table
                for table in tables
            ]
    return absolute


def _joined(folder: Path, path: object) -> object:
    if not isinstance(path, str) or not path or path.startswith("~"):
        return path
    return folder / path
