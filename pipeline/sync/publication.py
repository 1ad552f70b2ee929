"""Publication of the prompt indexes as configured."""

from datetime import datetime

from catalog.writing.index_publisher import publish_indexes
from catalog.writing.store import Store
from pipeline.config.settings import Settings


def publish(settings: Settings, store: Store, at: datetime) -> list[str]:
    """Rebuild the configured indexes; return the names of those with a new text. Raises OSError."""
    return publish_indexes(
        store,
        settings.indexes,
        settings.index_folder,
        at,
        settings.retention,
    )
