"""Settings in force for a scan, which most catalogs need no validation for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.config import layers
from pipeline.config.data_paths import followed_path, is_path, real_path
from pipeline.config.scan_settings import ScanSettings, UsualSettings


def load(
    config: Path | None = None, watched: Path | None = None, data: Path | None = None
) -> ScanSettings:
    """Return the settings of `loader.load`, which is only called if more is given than directories.

    Raises SettingsInvalid with one sentence.
    """
    if settings := _usual(layers.merged(layers.read(config, watched, data))):
        return settings
    from pipeline.config import loader  # its library is slow to import

    return loader.load(config, watched, data)


def _usual(values: Mapping[str, Any]) -> UsualSettings | None:
    """Return the settings with these values; None if they have others or need a validation."""
    watched = values.get("watched", UsualSettings.watched)
    data = values.get("data", UsualSettings.data)
    if values.keys() - {"watched", "data"} or not (is_path(watched) and is_path(data)):
        return None
    try:
        settings = UsualSettings(followed_path(watched), real_path(data))
        settings.check_apart()
    except (RuntimeError, ValueError):
        return None  # the validation names the mistake
    return settings
