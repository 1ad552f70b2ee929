"""Settings of `skilldrop validate`, from the nearest skilldrop.toml or pyproject.toml."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias

from pydantic import Field, ValidationError, model_validator

from catalog.model.errors import SettingsInvalid
from catalog.model.setting import Table
from catalog.model.values import Severity
from pipeline.config.error_messages import Layer, Tables, error_sentence
from pipeline.config.loader import CONFIG_VARIABLE, FILE_NAME, read_toml

Selectors: TypeAlias = Annotated[
    tuple[str, ...], Field(description="a list of finding codes and profiles")
]
Patterns: TypeAlias = Annotated[
    tuple[str, ...], Field(description="a list of patterns, as in a .gitignore")
]


class ValidateSettings(Table):
    """Settings of `[validate]`; hyphens in keys are read as underscores."""

    select: Selectors = ()
    extend_select: Selectors = ()
    ignore: Selectors = ()
    per_path_ignores: dict[str, Selectors] = Field(
        {}, description="a table of patterns, each with a list of finding codes and profiles"
    )
    exclude: Patterns = ()
    severity: dict[str, Severity] = Field(
        {}, description="a table of finding codes and profiles, each error, warning or info"
    )

    docs_url: str | None = Field(
        None, pattern=r"\Ahttps?://", description="the address of a page, with http or https"
    )

    @model_validator(mode="before")
    @classmethod
    def _with_underscores(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        return {str(key).replace("-", "_"): value for key, value in values.items()}


_PYPROJECT = "pyproject.toml"
_NAME = "validate"
_TABLES: Tables = {_NAME: ValidateSettings}


class ValidateConfig(NamedTuple):
    """Settings in force, with their source."""

    settings: ValidateSettings
    folder: Path  # real path; patterns are relative to it
    source: str  # name of the file for messages


def load(config: Path | None = None) -> ValidateConfig:
    """Return the settings for the working directory.

    `config` is the settings file; without it, SKILLDROP_CONFIG, or the nearest file with such a
    table in the working directory and the directories above it. Raises SettingsInvalid with one
    sentence that names the file, the key and the error.
    """
    named = config or os.environ.get(CONFIG_VARIABLE)
    here = Path.cwd()
    files = [Path(named)] if named else _candidates(here)
    for file in files:
        values = _table(file, read_toml(file))
        if values is not None:
            return ValidateConfig(_checked(file, values), file.resolve().parent, _shown(file, here))
    return ValidateConfig(ValidateSettings(), here, "the defaults")


def _candidates(here: Path) -> Iterator[Path]:
    for folder in (here, *here.parents):
        yield from (file for name in (FILE_NAME, _PYPROJECT) if (file := folder / name).is_file())


def _table(file: Path, values: Mapping[str, Any]) -> Any:
    """Return the table of a file; None if it has none."""
    if file.name != _PYPROJECT:
        return values.get(_NAME)
    tool = values.get("tool")
    ours = tool.get("skilldrop") if isinstance(tool, dict) else None
    return ours.get(_NAME) if isinstance(ours, dict) else None


def _checked(file: Path, values: Any) -> ValidateSettings:
    try:
        return ValidateSettings.model_validate(values)
    except ValidationError as error:
        layer = Layer(_shown(file, Path.cwd()), {_NAME: values})
        raise SettingsInvalid(error_sentence(error, [layer], _TABLES, _NAME)) from None


def _shown(file: Path, here: Path) -> str:
    return str(file.relative_to(here) if file.is_relative_to(here) else file)
