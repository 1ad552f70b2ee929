"""Settings in force, validated."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from catalog.model.errors import SettingsInvalid
from pipeline.config import layers
from pipeline.config.error_messages import TOP, Tables, error_sentence
from pipeline.config.hook_settings import HookSettings, WebhookSettings
from pipeline.config.index_settings import IndexSettings
from pipeline.config.layers import Layer
from pipeline.config.limit_settings import LimitSettings, RetentionSettings
from pipeline.config.link_settings import LinkSettings
from pipeline.config.root_settings import GitRootSettings, RootSettings
from pipeline.config.settings import Settings, SiteSettings

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
    sources = layers.read(config, watched, data)
    try:
        return Settings(**layers.merged(sources))
    except ValidationError as error:
        raise SettingsInvalid(error_sentence(error, sources, _tables_of(error, sources))) from None


def _tables_of(error: ValidationError, sources: Sequence[Layer]) -> Tables:
    """Return the models of the tables; that of a root depends on whether it is a repository."""
    match error.errors(include_url=False)[0]["loc"]:
        case ("roots", int(number), *_):
            roots = next(layer.values["roots"] for layer in sources if "roots" in layer.values)
            if isinstance(roots[number], dict) and "git" in roots[number]:
                return {**_TABLES, "roots": GitRootSettings}
    return _TABLES
