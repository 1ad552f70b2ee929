"""Changes of packages that follow a commit: versions become public or hidden, skills linked."""

import time
from collections.abc import Iterable, Sequence

from catalog.database.queries import Database
from catalog.writing.packages.folder import PackageFolder, Packages
from catalog.writing.rows import publication
from catalog.writing.rows.publication import Published
from catalog.writing.siblings import siblings

_NOW = float("-inf")
"""Time since when a version is superseded that agents must not see at all."""


class AfterCommit:
    """Committed changes that are not made yet; a failed one is made the next time."""

    def __init__(self, db: Database) -> None:
        """Begin without changes."""
        self._db = db
        self.patience = 0.0
        """Seconds for which the SKILL.md of a superseded version stays."""
        self._public: dict[str, None] = {}  # package_paths that `current` is to lead to
        self._restored: dict[str, None] = {}  # package_paths that get their plain names back
        self._superseded: dict[str, float] = {}  # package_paths to hide, and since when
        self._linked: dict[str, None] = {}  # each skill_id whose links to other skills may differ
        self._retired: dict[str, None] = {}  # each skill_id whose `current` is to be removed

    def __copy__(self) -> "AfterCommit":
        """Return the same changes, which later ones do not alter."""
        same = AfterCommit(self._db)
        same.patience = self.patience
        same._public, same._retired = dict(self._public), dict(self._retired)
        same._linked = dict(self._linked)
        same._restored, same._superseded = dict(self._restored), dict(self._superseded)
        return same

    @property
    def is_pending(self) -> bool:
        """Whether a change is left to make."""
        return bool(
            self._public or self._restored or self._superseded or self._linked or self._retired
        )

    def note(self, published: Published) -> None:
        """Add the changes of a publication."""
        self._public |= dict.fromkeys(published.public)
        self._retired |= dict.fromkeys(published.retired)
        for package_path in published.public:
            self._retired.pop(package_path.partition("/")[0], None)
            self._superseded.pop(package_path, None)
        self.note_names(published.restored, published.superseded)
        self._superseded |= dict.fromkeys(published.waiting, _NOW)

    def note_links(self, skill_ids: Iterable[str]) -> None:
        """Add each skill_id whose links to other skills may have changed."""
        self._linked |= dict.fromkeys(skill_ids)

    def note_names(self, current: Iterable[str], superseded: Iterable[str]) -> None:
        """Add changes of names in packages; where the names are right, nothing will be done."""
        for package_path in current:
            self._superseded.pop(package_path, None)
            self._restored[package_path] = None
        for package_path in superseded:
            self._restored.pop(package_path, None)
            self._superseded[package_path] = time.monotonic()

    def restore_names(self, packages: Packages) -> None:
        """Give SKILL.md its plain name in packages that become current. Raises OSError."""
        self._set_names(packages, list(self._restored), is_current=True)
        self._restored.clear()

    def switch_current(self, folder: PackageFolder) -> None:
        """Point each `current` to the committed version; hide the former one after `patience`.

        Links to other skills follow. The versions of inactive skills wait for `withdraw`. Raises
        OSError.
        """
        if self._linked and not folder.path.exists():
            self._linked.clear()  # nothing is published, so nothing is linked
        if not (self._public or self._superseded or self._linked):
            return
        with folder.opened() as packages:
            self.restore_names(packages)
            for package_path in list(self._public):
                packages.switch_current(package_path)
                del self._public[package_path]
            self._link(packages)
            self._hide(packages)

    def withdraw(self, folder: PackageFolder) -> None:
        """Remove the `current` of inactive skills, and hide their versions. Raises OSError."""
        if not self._retired:
            return
        with folder.opened() as packages:
            for skill_id in list(self._retired):
                packages.remove_current(skill_id)
                del self._retired[skill_id]
            self._hide(packages)

    def _link(self, packages: Packages) -> None:
        linked = siblings(self._db, self._linked) if self._linked else {}
        for skill_id in list(self._linked):
            packages.link_siblings(skill_id, linked.get(skill_id, {}))
            del self._linked[skill_id]

    def _hide(self, packages: Packages) -> None:
        hidden = [
            package_path
            for package_path, since in self._superseded.items()
            if since == _NOW
            or (
                package_path.partition("/")[0] not in self._retired
                and time.monotonic() - since >= self.patience
            )
        ]
        self._set_names(packages, hidden, is_current=False)
        for package_path in hidden:
            del self._superseded[package_path]

    def _set_names(
        self, packages: Packages, package_paths: Sequence[str], *, is_current: bool
    ) -> None:
        for package_path, files in publication.skill_files(self._db, package_paths):
            packages.set_names(package_path, files, is_current=is_current)
