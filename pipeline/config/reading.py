"""Settings of the commands that only read the catalog.

They start twice as fast without the models of all settings, and work while another setting is
wrong.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.config import layers
from pipeline.config.data_paths import DATA, DataPaths, is_path, real_path
from pipeline.config.site import SITE, Site


@dataclass(frozen=True)
class ReadingSettings(DataPaths):
    """Place of the catalog, and the settings that readers have."""

    data: Path
    usage: bool
    site: Site


def load(
    config: Path | None = None, watched: Path | None = None, data: Path | None = None
) -> ReadingSettings:
    """Return the settings, which come from the same places as those of `loader.load`.

    Others are validated only where there is no catalog. Raises SettingsInvalid with one sentence.
    """
    values = layers.merged(layers.read(config, watched, data))
    return _unvalidated(values) or _validated(config, watched, data)


def _unvalidated(values: Mapping[str, Any]) -> ReadingSettings | None:
    """Return the settings; None without a catalog, or if one of them may be wrong."""
    data, usage, site = values.get("data", DATA), values.get("usage", True), values.get("site", {})
    if not (is_path(data) and isinstance(usage, bool)):
        return None
    if not (isinstance(site, dict) and all(map(_has_type_of_default, site.items()))):
        return None
    address = {key: value for key, value in site.items() if key in Site._fields}
    try:
        settings = ReadingSettings(real_path(data), usage, Site(**address))
    except RuntimeError:
        return None
    return settings if settings.catalog_path.exists() else None


def _has_type_of_default(item: tuple[str, object]) -> bool:
    key, value = item
    return key not in Site._fields or type(value) is type(getattr(SITE, key))


def _validated(config: Path | None, watched: Path | None, data: Path | None) -> ReadingSettings:
    from pipeline.config import loader  # its library is slow to import

    settings = loader.load(config, watched, data)
    site = Site(*(getattr(settings.site, name) for name in Site._fields))
    return ReadingSettings(settings.data, settings.usage, site)
