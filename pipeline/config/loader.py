"""Settings in force: defaults, then the file, the environment and the command line."""

import difflib
import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from catalog.model.errors import NotPossible
from catalog.text.suggestions import similarity
from pipeline.config.root_settings import GitRootSettings
from pipeline.config.selection import ValidateConfig, ValidateSettings
from pipeline.config.settings import Settings

PREFIX = "SKILLDROP_"
"""Prefix of the environment variables that correspond to settings."""
FILE_NAME = "skilldrop.toml"
_PYPROJECT = "pyproject.toml"
CONFIG_VARIABLE = f"{PREFIX}CONFIG"
"""Name of the settings file, and the environment variable that names another."""

Names: TypeAlias = tuple[str | int, ...]
"""Name of a setting: its table, its number in a list of tables, its key."""
_Tables: TypeAlias = Mapping[str, type]
"""Models of tables by name, and that of all settings by `_TOP`."""
_TOP = ""
_DEFAULTS = "the defaults"


class _Layer(NamedTuple):
    """Values from one source, in the shape of Settings."""

    source: str
    values: Mapping[str, Any]


def load(
    config: Path | None = None, watched: Path | None = None, data: Path | None = None
) -> Settings:
    """Return the settings in force.

    `config` is the settings file; without it, the one of `file_in_force`. `watched` and `data` come
    from the command line, which overrides SKILLDROP_… variables; these override the file, and the
    file overrides the defaults. Relative paths in the file, and its default paths, start from its
    folder, all others from the working directory. Raises NotPossible with one sentence that names
    the file, the key and the error.
    """
    layers = _layers(config, watched, data)
    values = _merged(layers)
    try:
        return Settings(**values)
    except ValidationError as error:
        tables = _tables_of(Settings)
        match _problem(error)["loc"]:
            case ("roots", int(number), *_):
                root = values["roots"][number]
                if isinstance(root, dict) and "git" in root:
                    tables["roots"] = GitRootSettings
        raise NotPossible(_sentence(error, layers, tables)) from None


def sources(
    config: Path | None = None, watched: Path | None = None, data: Path | None = None
) -> Iterator[tuple[str, Any, str]]:
    """Yield the name, the JSON value and the source of each setting in force. Raises as `load`."""
    settings, layers = load(config, watched, data), _layers(config, watched, data)
    values = settings.model_dump(mode="json", by_alias=True, serialize_as_any=True)
    values.pop("watched" if settings.roots else "roots")
    for key, value in values.items():
        for names, inner in _flat((key,), value):
            given = [layer for layer in layers if key in layer.values and _has_key(layer, names)]
            yield ".".join(map(str, names)), inner, given[0].source if given else _DEFAULTS


def _flat(names: Names, value: Any) -> Iterator[tuple[Names, Any]]:
    """Yield the values of tables and of lists of tables, which are counted from 1, with names."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        value = dict(enumerate(value, 1))
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _flat((*names, key), inner)
    else:
        yield names, value


def file_in_force(config: Path | None = None) -> Path | None:
    """Return the settings file: the given one, that of SKILLDROP_CONFIG, or the first that exists.

    These are skilldrop.toml in the working directory and the user's; None if there is neither.
    """
    if named := config or os.environ.get(CONFIG_VARIABLE):
        return Path(named)
    return next(filter(os.path.exists, (Path(FILE_NAME), user_file())), None)


def user_file() -> Path:
    """Return the place of the user's settings file."""
    return Path(os.path.expanduser("~/.config/skilldrop"), FILE_NAME)


def load_validation(config: Path | None = None) -> ValidateConfig:
    """Return the settings of `[validate]` for the working directory.

    `config` is the settings file; without it, SKILLDROP_CONFIG, or the nearest file with such a
    table in the working directory and the directories above it. Raises NotPossible as `load`.
    """
    _environment()  # for its errors
    named, here = config or os.environ.get(CONFIG_VARIABLE), Path.cwd()
    for file in [Path(named)] if named else _files_above(here):
        values: Any = read_toml(file)
        for key in ("tool", "skilldrop", "validate") if file.name == _PYPROJECT else ("validate",):
            values = values.get(key) if isinstance(values, dict) else None
        if values is None:
            continue
        try:
            settings = ValidateSettings.model_validate(values)
        except ValidationError as error:
            source = str(file.relative_to(here) if file.is_relative_to(here) else file)
            layer, tables = _Layer(source, {"validate": values}), {"validate": ValidateSettings}
            raise NotPossible(_sentence(error, [layer], tables, "validate")) from None
        return ValidateConfig(settings, file.resolve().parent)
    return ValidateConfig(ValidateSettings(), here)


def _files_above(folder: Path) -> Iterator[Path]:
    for above in (folder, *folder.parents):
        yield from (file for name in (FILE_NAME, _PYPROJECT) if (file := above / name).is_file())


def _merged(layers: Sequence[_Layer]) -> dict[str, Any]:
    """Return one set of values; the first layer with a key decides its value.

    `watched` and `roots` are alternatives, so a layer with either overrides both in the layers
    below. Tables are merged key by key. Raises NotPossible if a layer has both.
    """
    values: dict[str, Any] = {}
    for layer in layers:
        if {"watched", "roots"} <= layer.values.keys():
            raise NotPossible(
                f"{layer.source}: watched and [[roots]] are both set, but only one of them counts. "
                "Remove watched, or name its folder in a [[roots]] table."
            )
        overridden = {"watched", "roots"} if {"watched", "roots"} & values.keys() else set()
        for key, value in layer.values.items():
            if isinstance(values.get(key), dict) and isinstance(value, dict):
                values[key] = value | values[key]
            elif key not in values.keys() | overridden:
                values[key] = value
    return values


def _layers(config: Path | None, watched: Path | None, data: Path | None) -> list[_Layer]:
    options = {"watched": watched, "data": data}
    layers = [
        _Layer("the command line", {key: path for key, path in options.items() if path}),
        _Layer("the environment", _environment()),
    ]
    if path := file_in_force(config):
        folder = path.absolute().parent
        layers.append(_Layer(str(path), _starting_from(folder, read_toml(path))))
        paths = {key: folder / Settings.model_fields[key].default for key in ("watched", "data")}
        layers.append(_Layer(_DEFAULTS, paths))
    return layers


def read_toml(path: Path) -> dict[str, Any]:
    """Return the values of a TOML file. Raises NotPossible if it cannot be read."""
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise NotPossible(
            f"The settings file {path} cannot be read: {error.strerror or error}. "
            "Name another with --config."
        ) from error
    except UnicodeDecodeError as error:
        raise NotPossible(
            f"{path}: the file is not valid UTF-8 (byte {error.start}); save it as UTF-8."
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise NotPossible(f"{path}: the file is not valid TOML: {error}.") from error


def _starting_from(folder: Path, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a file, with relative paths made absolute."""
    absolute = dict(values)
    for key in ("watched", "data", "outcomes"):
        if key in absolute:
            absolute[key] = _joined(folder, absolute[key])
    for key in ("roots", "links"):
        tables = absolute.get(key)
        if isinstance(tables, list):
            absolute[key] = [_with_absolute(folder, table) for table in tables]
        else:
            absolute |= {key: _with_absolute(folder, tables)} if key in absolute else {}
    return absolute


def _with_absolute(folder: Path, table: object) -> object:
    """Return a table with an absolute path; in a repository, paths are relative to it."""
    if not isinstance(table, dict) or "path" not in table or "git" in table:
        return table
    return table | {"path": _joined(folder, table["path"])}


def _joined(folder: Path, path: object) -> object:
    if not isinstance(path, str) or not path or path.startswith("~"):
        return path
    return folder / path


def _environment() -> dict[str, Any]:
    """Return the settings of the environment.

    Raises NotPossible for invalid JSON, and for a variable with the prefix that is no setting.
    """
    values: dict[str, Any] = {}
    known = _by_key(Settings)
    for variable in sorted(os.environ):
        name = variable.upper().removeprefix(PREFIX).lower()
        key, _, inner = name.partition("__")
        if not variable.upper().startswith(PREFIX) or key in _NO_SETTINGS:
            continue
        if key not in known:
            nested = (
                f"{key}__{field}" for key in known for field in fields_of(known[key].annotation)
            )
            names = [*map(str.upper, (*known, *_NO_SETTINGS, *nested))]
            nearest = _nearest(name.upper(), names, PREFIX)
            raise NotPossible(f"The environment: {variable} is not a setting; {nearest}")
        if not (text := os.environ[variable]):
            continue
        if not inner:
            values[key] = _parsed(variable, text, known[key].annotation)
        elif isinstance(table := values.setdefault(key, {}), dict):
            fields = fields_of(known[key].annotation)
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
        raise NotPossible(
            f"The environment: {variable} is not valid JSON; lists and tables must be JSON in "
            "environment variables."
        ) from error


_NO_SETTINGS = ("config", "token")
"""Other variables with the prefix: the name of the file, and the token of `skilldrop pull`."""


# Errors of the models as sentences


def _sentence(
    error: ValidationError, layers: Sequence[_Layer], tables: _Tables, *table: str
) -> str:
    """Return one sentence about the first error, with the source and the key.

    `table` is the table that was validated, if it was not all settings.
    """
    problem = _problem(error)
    where = (*table, *problem["loc"])
    sentence = f"{_source(where, layers)}: {_complaint(problem, where, tables)}"
    return sentence.replace("the ", "The ", 1) if sentence.startswith("the ") else sentence


def _problem(error: ValidationError) -> Mapping[str, Any]:
    """Return the first error of a model; a key that is missing may only be misspelled."""
    return min(error.errors(include_url=False), key=lambda each: each["type"] == "missing")


def fields_of(model: object) -> Mapping[str, FieldInfo]:
    """Return the fields of a model or dataclass of pydantic; other types have none."""
    return getattr(model, "__pydantic_fields__", {})


def _by_key(model: object) -> dict[str, FieldInfo]:
    """Return the fields of a model by the keys that a file has for them."""
    return {field.alias or name: field for name, field in fields_of(model).items()}


def _tables_of(model: type) -> dict[str, type]:
    """Return a model with those of its tables."""
    found = {name: _table_in(field.annotation) for name, field in _by_key(model).items()}
    return {_TOP: model} | {name: table for name, table in found.items() if table}


def _table_in(annotation: Any) -> type | None:
    """Return the model of a table or of a list of tables."""
    if fields_of(annotation):
        return annotation  # type: ignore[no-any-return]  # only classes have fields
    return next((table for part in get_args(annotation) if (table := _table_in(part))), None)


def _source(where: Sequence[str | int], layers: Sequence[_Layer]) -> str:
    """Return the source of the value at a location; all sources for an error without location."""
    if not where:
        given = [layer for layer in layers if layer.values and layer.source != _DEFAULTS]
        return " and ".join(layer.source for layer in reversed(given))
    having = [layer for layer in layers if where[0] in layer.values]
    having = [layer for layer in having if _has_key(layer, where)] or having
    return having[0].source if having else _DEFAULTS


def _has_key(layer: _Layer, where: Sequence[str | int]) -> bool:
    table = layer.values[str(where[0])]
    return not isinstance(table, dict) or len(where) == 1 or where[1] in table


def _complaint(problem: Mapping[str, Any], where: Sequence[str | int], tables: _Tables) -> str:
    message = problem.get("ctx", {}).get("error")
    match where:
        case ():
            return f"{message}."
        case (str(top),) if top in tables and (message or _TOP not in tables):
            return f"[{top}] {message or 'must be a table'}."
        case (str(top), int(number)):
            return f"[[{top}]] number {number + 1} {message or 'must be a table'}."
        case (str(top), int(number), str(key), *_):
            return _complaint_of(problem, key, tables[top], f"[[{top}]] number {number + 1}")
        case (str(top), str(key), *_) if top in tables:
            return _complaint_of(problem, key, tables[top], f"[{top}]")
    return _complaint_of(problem, str(where[0]), tables[_TOP], "", tables)


def _complaint_of(
    problem: Mapping[str, Any], key: str, model: type, table: str, tables: Mapping[str, type] = {}
) -> str:
    inside = f" in {table}" if table else ""
    known = _by_key(model)
    if key not in known:
        inner = [
            f"{name} in {known[top].description}"
            for top in filter(None, tables)
            for name in _by_key(tables[top])
        ]
        return f"there is no setting {key}{inside}; {_nearest(key, [*known, *inner])}"
    if problem["type"] == "missing":
        return f"{table} has no {key}; it must be {known[key].description}."
    value = problem["input"]
    text = repr(str(value) if isinstance(value, Path) else value)
    shown = "a table" if isinstance(value, dict) else text
    description = known[key].description or ""
    choices = description.removeprefix("one of ").removeprefix("a list of ").split(", ")
    near = difflib.get_close_matches(str(value), choices, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"{key}{inside} is {shown}; it must be {description}.{hint}"


def _nearest(name: str, known: Sequence[str], prefix: str = "") -> str:
    """Return the known name that is the most like another one, as a question, or all names."""
    parts = [(part, each) for each in known for part in (each.split()[0], each.split("__")[-1])]
    alike, nearest = max((similarity(name, part), each) for part, each in parts)
    if alike > 0.8:
        return f"did you mean {prefix}{nearest}?"
    return f"the settings are {', '.join(each for each in known if ' ' not in each)}."
