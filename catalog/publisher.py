"""Brings the published index files up to what the catalog says."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from catalog import packages, search
from catalog.prompt_index import IndexSpec
from catalog.store import Store


def publish_indexes(store: Store, specs: Sequence[IndexSpec], folder: Path,
                    at: datetime) -> list[str]:
    """Rebuild every index and return the names of those whose text is new. Raises OSError."""
    return [spec.name for spec in specs if _publish(store, spec, folder, at)]


def _publish(store: Store, spec: IndexSpec, folder: Path, at: datetime) -> bool:
    index = search.build_index(store.db, spec)
    left_out = search.count_indexable(store.db, spec) - len(index.entries)
    if not store.record_build(spec, index, left_out, at) and (folder / spec.file_name).exists():
        return False
    report = search.index_report(store.db, spec, index)
    return packages.publish_index(folder, spec, index, report | {
        "published_at": at.isoformat(timespec="milliseconds")})
