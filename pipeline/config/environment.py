"""Settings from SKILLDROP_… variables of the environment."""

import difflib
import os
from typing import Any

from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict, SettingsError

from catalog.model.errors import SettingsInvalid
from pipeline.config.settings import PREFIX, Settings


class _InEnvironment(Settings, BaseSettings):
    """The settings as the library wants to see them."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", env_ignore_empty=True
    )


def said() -> dict[str, Any]:
    """Return what is set there. Raises SettingsInvalid for what is misspelt or cannot be read."""
    try:
        found = EnvSettingsSource(_InEnvironment)()
    except SettingsError as error:
        key = next((name for name in Settings.model_fields if f'"{name}"' in str(error)), "")
        raise SettingsInvalid(
            f"The environment: {PREFIX}{key.upper()} is not JSON, in which lists and tables are "
            "written there."
        ) from error
    _refuse_misspelt()
    return found


def _refuse_misspelt() -> None:
    """Refuse what looks like a misspelt setting; others may use the prefix for their own."""
    known = [*Settings.model_fields, "config"]
    for variable in sorted(os.environ):
        key = variable.lower().removeprefix(PREFIX.lower()).partition("__")[0]
        if not variable.upper().startswith(PREFIX) or key in known:
            continue
        if near := difflib.get_close_matches(key, known, n=1, cutoff=0.75):
            raise SettingsInvalid(
                f"The environment: {variable} is not a setting; "
                f"did you mean {PREFIX}{near[0].upper()}?"
            )
