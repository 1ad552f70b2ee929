"""Roots that are repositories: their mirrors, and the rows about them."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from catalog.filesystem.by_descriptor import remove
from catalog.filesystem.ownership import OwnedFolder
from catalog.model.errors import PullFailed
from catalog.writing.store import Store
from pipeline.config.settings import Settings

if TYPE_CHECKING:
    from pipeline.mirrors.mirror import Mirror, Pulled


def prepare(settings: Settings, store: Store) -> None:
    """Create the folder of the mirrors, and remove mirrors that nothing needs.

    Raises FolderNotOwned and OSError.
    """
    unused = store.mirrors.unused()
    if not settings.git_roots and not unused:
        return
    with store.folders.opened(OwnedFolder(settings.mirrors_folder, "mirrors")) as dir_fd:
        for root in unused:
            folder = Path(root).parent
            if folder.parent == settings.mirrors_folder:
                remove(folder.name, dir_fd)
            store.mirrors.forget(root)


def pull_all(settings: Settings, store: Store) -> list[str]:
    """Pull each repository and switch its root to the result; return the failures.

    A root whose pull fails keeps its last state.
    """
    prepare(settings, store)
    failures = []
    for mirror, _ in settings.git_roots:
        try:
            pulled = mirror.pull()
            switch(store, mirror, pulled)
        except PullFailed as error:
            store.mirrors.failed(mirror.root, str(error))
            failures.append(str(error))
    return failures


def of_pulled(settings: Settings, troubles: Mapping[str, str]) -> list[str]:
    """Return the troubles of roots, given by their paths, but not of repositories never pulled.

    Such a repository has no folder yet, and its pull reports why.
    """
    unpulled = {mirror.root for mirror, _ in settings.git_roots if mirror.tree is None}
    return [trouble for root, trouble in troubles.items() if root not in unpulled]


def switch(store: Store, mirror: "Mirror", pulled: "Pulled") -> bool:
    """Switch a root to pulled content and store that; return whether the content is new.

    No scan may be running: all versions of one scan have one commit. Raises PullFailed.
    """
    is_new = mirror.tree != pulled.tree
    try:
        mirror.switch(pulled)
    except OSError as error:
        raise PullFailed(f"{mirror.origin} could not be switched: {error}.") from error
    store.mirrors.pulled(mirror.root, pulled.commit, datetime.now(UTC))
    return is_new
