"""Settings from environment variables named SKILLDROP_…."""

import difflib
import os
from typing import Any

from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict, SettingsError

from catalog.model.errors import SettingsInvalid
from pipeline.config.settings import Settings
from pipeline.config.toml_file import PREFIX


class _InEnvironment(Settings, BaseSettings):
    """Settings in the form that pydantic-settings requires."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", env_ignore_empty=True
    )


def read() -> dict[str, Any]:
    """Return the settings. Raises SettingsInvalid for a misspelt name or an invalid value."""
    try:
        values = EnvSettingsSource(_InEnvironment)()
    except SettingsError as error:
        key = next((name for name in Settings.model_fields if f'"{name}"' in str(error)), "")
        raise SettingsInvalid(
            f"The environment: {PREFIX}{key.upper()} is not valid JSON; lists and tables must be "
            "JSON in environment variables."
        ) from error
    _refuse_misspelt()
    return values


def _refuse_misspelt() -> None:
    """Refuse variables that resemble a setting; others may use the prefix for other purposes."""
    known = [*Settings.model_fields, "config"]
    for variable in sorted(os.environ):
        key = variable.lower().removeprefix(PREFIX.lower()).partition("__")[0]
        if not variable.upper().startswith(PREFIX) or key in known:
            continue
        if matches := difflib.get_close_matches(key, known, n=1, cutoff=0.75):
            raise SettingsInvalid(
                f"The environment: {variable} is not a setting; "
                f"did you mean {PREFIX}{matches[0].upper()}?"
            )
