"""Settings in force, from command line, environment and file."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from catalog.model.errors import SettingsInvalid
from pipeline.config.error_messages import TOP, Layer, Tables, error_sentence
from pipeline.config.hook_settings import HookSettings, WebhookSettings
from pipeline.config.index_settings import IndexSettings
from pipeline.config.limit_settings import LimitSettings, RetentionSettings
from pipeline.config.link_settings import LinkSettings
from pipeline.config.root_settings import GitRootSettings, RootSettings
from pipeline.config.settings import PREFIX, Settings, SiteSettings
from pipeline.config.toml_file import CONFIG_VARIABLE, FILE_NAME, read_toml

_TABLES: Tables = {
    TOP: Settings,
    "roots": RootSettings,
    "indexes": IndexSettings,
    "links": LinkSettings,
    "hooks": HookSettings,
    "webhook": WebhookSettings,
    "limits": LimitSettings,
    "retention": RetentionSettings,
    "site": SiteSettings,
}


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
        raise SettingsInvalid(error_sentence(error, layers, _tables_of(error, layers))) from None


def _tables_of(error: ValidationError, layers: Sequence[Layer]) -> Tables:
    """Return the models of the tables; that of a root depends on whether it is a repository."""
    match error.errors(include_url=False)[0]["loc"]:
        case ("roots", int(number), *_):
            roots = next(layer.values["roots"] for layer in layers if "roots" in layer.values)
            if isinstance(roots[number], dict) and "git" in roots[number]:
                return {**_TABLES, "roots": GitRootSettings}
    return _TABLES


def _environment() -> dict[str, Any]:
    if not any(variable.upper().startswith(PREFIX) for variable in os.environ):
        return {}
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


def _merged(layers: Sequence[Layer]) -> dict[str, Any]:
    """Return one set of values; the first layer with a key decides its value.

    `watched` and `roots` are alternatives, so a layer with either overrides both in the layers
    below. Tables are merged key by key.
    """
    merged: dict[str, Any] = {}
    for layer in layers:
        overridden = {"watched", "roots"} if {"watched", "roots"} & merged.keys() else set()
        for key, value in layer.values.items():
            if isinstance(merged.get(key), dict) and isinstance(value, dict):
                merged[key] = value | merged[key]
            elif key not in merged.keys() | overridden:
                merged[key] = value
    return merged
