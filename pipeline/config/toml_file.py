"""TOML files: one sentence for a file that cannot be read."""

from pathlib import Path
from typing import Any

from catalog.model.errors import SettingsInvalid

PREFIX = "SKILLDROP_"
"""Prefix of the environment variables that correspond to settings."""
FILE_NAME = "skilldrop.toml"
CONFIG_VARIABLE = f"{PREFIX}CONFIG"
"""Name of the settings file, and the environment variable that names another."""


def read_toml(path: Path) -> dict[str, Any]:
    """Return the values of a TOML file. Raises SettingsInvalid if it cannot be read."""
    import tomllib  # many commands have no file to read

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
