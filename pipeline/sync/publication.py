"""Publication of the prompt indexes as configured."""

from datetime import datetime

from catalog.writing.index_publisher import publish_indexes
from catalog.writing.store import Store
from pipeline.config.scan_settings import ScanSettings


def publish(settings: ScanSettings, store: Store, at: datetime) -> list[str]:
    """Rebuild the configured indexes; return the names of those with a new text. Raises OSError."""
    return publish_indexes(
        store,
        settings.index_specs,
        settings.index_folder,
        at,
        settings.index_retention,
    )
