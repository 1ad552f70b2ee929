"""Settings in force, from command line, environment and file."""

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from catalog.model.errors import SettingsInvalid
from pipeline.config.error_messages import _Layer, _sentence
from pipeline.config.settings import (
    PREFIX,
    Settings,
)

FILE_NAME = "skilldrop.toml"


def load(
    config: Path | None = None, watched: Path | None = None, data: Path | None = None
) -> Settings:
    """Return the settings in force.

    config is the file to read; without one it is SKILLDROP_CONFIG, or skilldrop.toml in the
    working directory where there is one. watched and data are those of the command line, which
    win over SKILLDROP_… in the environment, that over the file, and that over the defaults.
    Relative paths in the file start from its folder, all others from the working directory.
    Raises SettingsInvalid with one sentence that says which file, which key and what is wrong.
    """
    told = {"watched": watched, "data": data}
    layers = [
        _Layer("the command line", {key: path for key, path in told.items() if path is not None}),
        _Layer("the environment", _environment()),
        *_file(config),
    ]
    try:
        return Settings(**_merged(layers))
    except ValidationError as error:
        raise SettingsInvalid(_sentence(error, layers)) from None


def _environment() -> dict[str, Any]:
    if not any(variable.upper().startswith(PREFIX) for variable in os.environ):
        return {}
    from pipeline.config import environment  # its library takes long to import, and few need it

    return environment.said()


def _file(config: Path | None) -> list[_Layer]:
    named = config or os.environ.get(f"{PREFIX}CONFIG")
    path = Path(named or FILE_NAME)
    if not named and not path.exists():
        return []
    try:
        values = tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise SettingsInvalid(
            f"The configuration file {path} cannot be read: {error.strerror or error}."
        ) from error
    except UnicodeDecodeError as error:
        raise SettingsInvalid(
            f"{path}: the file is not UTF-8 (byte {error.start}); save it as UTF-8."
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsInvalid(f"{path}: the file is not TOML: {error}.") from error
    return [_Layer(str(path), _starting_from(path.absolute().parent, values))]


def _starting_from(folder: Path, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a file with their relative paths made absolute."""
    found = dict(values)
    for key in ("watched", "data", "outcomes"):
        found.update({key: _joined(folder, found[key])} if key in found else {})
    if isinstance(roots := found.get("roots"), list):
        found["roots"] = [
            root | {"path": _joined(folder, root["path"])}
            if isinstance(root, dict) and "path" in root
            else root
            for root in roots
        ]
    return found


def _joined(folder: Path, path: object) -> object:
    if not isinstance(path, str) or not path or path.startswith("~"):
        return path
    return folder / path


def _merged(layers: Sequence[_Layer]) -> dict[str, Any]:
    """Return one set of values; the first layer that speaks of a key decides it.

    `watched` and `roots` say the same thing in two ways, so a layer that names either silences
    both in the layers below; tables are merged key by key.
    """
    merged: dict[str, Any] = {}
    for layer in layers:
        silenced = {"watched", "roots"} if {"watched", "roots"} & merged.keys() else set()
        for key, value in layer.values.items():
            if isinstance(merged.get(key), dict) and isinstance(value, dict):
                merged[key] = value | merged[key]
            elif key not in merged.keys() | silenced:
                merged[key] = value
    return merged
