"""Publication of index files that differ from the catalog, and of the skills they name."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from catalog.filesystem.by_descriptor import named
from catalog.filesystem.ownership import OwnedFolder
from catalog.model.retention import Retention
from catalog.prompt_index import files as prompt_index_files
from catalog.prompt_index.builder import IndexSpec, report
from catalog.prompt_index.history import USUAL
from catalog.text.humanize import iso
from catalog.writing.store import Store


def publish_indexes(
    store: Store,
    specs: Sequence[IndexSpec],
    folder: Path,
    at: datetime,
    keep: Retention = USUAL,
) -> list[str]:
    """Rebuild every index, and return the names of those whose text is new. Raises OSError.

    Nothing is done before the first scan of a catalog that replaces a lost one. The directories of
    skills are updated first; where that fails, the indexes stay as they are. The files themselves
    are compared, so missing or damaged ones are rewritten. Files of indexes that are no longer
    configured are removed, and then the skills that no index names.
    """
    store.packager.switch_current()  # an index names only packages that can be read
    if store.takeover.is_unscanned:
        return []
    store.place()
    with named(folder), store.folders.opened(OwnedFolder(folder, "index")) as opened:
        prompt_index_files.remove_index_files(opened, specs)
        changed = _publish(store, specs, opened, at, keep)
    store.withdraw()
    return [spec.name for spec in specs if spec.file_name in changed]


def _publish(
    store: Store, specs: Sequence[IndexSpec], folder: int, at: datetime, keep: Retention
) -> set[str]:
    """Write the files of all indexes into an open folder; return the names of those written."""
    moment = iso(at)
    built = [(spec, store.indexes.build(spec)) for spec in specs]
    files: dict[str, bytes] = {}
    new = []
    for spec, index in built:
        since = store.indexes.published_at(spec, index)
        files |= prompt_index_files.files_of(
            spec, index, report(spec, index) | {"published_at": since or moment}
        )
        if since is None:
            new.append((spec, index))
    changed = prompt_index_files.write_whole(folder, files)
    for spec, index in new:
        store.indexes.record(spec, index, at, keep)
    return changed
