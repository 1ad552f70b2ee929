"""Folder that is kept equal to the published skills; everything else in it is left alone."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, Protocol
from urllib.parse import parse_qs

from catalog.pull.site import BROKEN, LOCK_FILE, Refused, SiteError, check_name, check_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from catalog.pull.site import Listing, Skill

NEXT = ".skilldrop-next"
"""Folder in the folder, where changed skills are built."""
_FORM = "pull 1"
_LEFT_BY_SYSTEMS = frozenset({"__pycache__", ".DS_Store", "Thumbs.db", "desktop.ini"})
_TOGETHER = 100
"""Skills that are fetched, and written down, before they are placed."""


class Source(Protocol):
    """Published skills: those of a `Site`, or of a catalog on this machine."""

    def listing(self, query: str, etag: str = "") -> Listing | None:
        """Return the skills of a query string; None if they are those of the etag."""

    def fetch(self, skill: Skill, to: Path) -> dict[str, str]:
        """Write the files of a skill; return the SHA-256 of each. Raises SiteError and Refused."""


class NotPossible(Exception):
    """Nothing can be done in this folder; the text is a sentence."""


State = Literal["same", "former", "gone", "edited"]
"""How a folder is: as copied, as copied before, not there, or changed by somebody."""


class Locked(NamedTuple):
    """Skill that was copied."""

    version: str
    digest: str  # as published
    repaired: str  # SHA-256 of the repaired SKILL.md, if it has that
    files: Mapping[str, str]  # SHA-256 by path
    former_files: Mapping[str, str] | None = None  # while the folder is exchanged


@dataclass
class Pulled:
    """What a pull did, by the names of folders."""

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)  # changed here, so they stay
    taken: list[str] = field(default_factory=list)  # somebody else's entry has this name
    failed: dict[str, str] = field(default_factory=dict)  # with a sentence
    repaired: list[str] = field(default_factory=list)  # with a repaired SKILL.md
    withheld: list[str] = field(default_factory=list)  # no longer published, but not removed
    reason: str = ""  # why, as a sentence

    @property
    def is_whole(self) -> bool:
        """Whether the folder equals the published skills."""
        return not (self.edited or self.taken or self.failed or self.withheld)


class Folder:
    """The folder and its lock file, which says what was copied."""

    def __init__(self, path: Path) -> None:
        """Raise NotPossible if the folder is kept by another program."""
        self.path = path
        self._next = path / NEXT
        self._fetched = self._next / "skills"
        try:
            path.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise NotPossible(f"{path} is not a directory.") from None
        except OSError as error:
            raise NotPossible(f"{path}: {error.strerror}.") from None
        if (path / ".skilldrop").exists():
            raise NotPossible(f"{path} belongs to a catalog of skilldrop; choose another folder.")
        self.catalog, self.query, self.etag = "", "", ""
        self.skills: dict[str, Locked] = {}
        self._read()

    def pull(
        self,
        site: Source,
        query: str,
        agrees: Callable[[str], bool],
        step: Callable[[int, int], None],
    ) -> Pulled:
        """Make the folder equal to the published skills; return what was done.

        agrees is asked with a sentence before most skills are removed, before any is that another
        kind of selection leaves out, and before anything is replaced by that of another catalog.
        step is called with the number of skills fetched and to fetch. Raises SiteError, NotPossible
        and OSError; what was done by then stays.
        """
        result = Pulled()
        with self._alone():
            states = {name: self._state(name) for name in self.skills}
            is_known = query == self.query and all(map("same".__eq__, states.values()))
            listing = site.listing(query, self.etag if is_known else "")
            if listing is None:
                result.unchanged.extend(self.skills)
                return result
            is_other = self.skills and self.catalog != listing.catalog
            if is_other and not self._may(
                agrees, "The skills there belong to another catalog.", result
            ):
                result.withheld.extend(self.skills)
                return result
            is_other = bool(self.skills) and kind(query) != kind(self.query)
            self.catalog, self.etag = listing.catalog, ""
            self.query = self.query if is_other else query
            try:
                self._update(site, listing.skills, states, result, step)
                self._withdraw(listing, result, agrees, is_other=is_other)
                self.query = self.query if result.withheld else query
                result.repaired += (name for name, each in self.skills.items() if each.repaired)
                if result.is_whole:
                    self.etag = listing.etag
            finally:
                self._write()
        return result

    def _update(
        self,
        site: Source,
        wanted: Mapping[str, Skill],
        states: Mapping[str, State],
        result: Pulled,
        step: Callable[[int, int], None],
    ) -> None:
        """Fetch the skills that differ, and place each in one step."""
        changed = []
        for name, skill in wanted.items():
            if self._is_in_the_way(name, states.get(name), result):
                continue
            if states.get(name) == "same" and self.skills[name][1:3] == skill[3:]:
                result.unchanged.append(name)
            else:
                changed.append(skill)
        todo, done = iter(changed), 0
        with ThreadPoolExecutor(4) as pool:
            while batch := list(islice(todo, _TOGETHER)):
                fetches = [
                    pool.submit(site.fetch, each, self._fetched / each.folder) for each in batch
                ]
                fetched = []
                for skill, fetch in zip(batch, fetches):
                    try:
                        fetched.append((skill, fetch.result()))
                    except (SiteError, Refused) as error:
                        result.failed[skill.folder] = str(error)
                    step(done := done + 1, len(changed))
                for skill, files in fetched:
                    former = self.skills.get(skill.folder)
                    self.skills[skill.folder] = Locked(*skill[2:], files, former and former.files)
                self._write()
                for skill, _ in fetched:
                    self._place(skill.folder, result)

    def _place(self, name: str, result: Pulled) -> None:
        """Exchange a folder with the one that was fetched, unless it was changed meanwhile."""
        place, former = self.path / name, self._next / "former"
        locked = self.skills[name]
        state = self._state(name)
        if locked.former_files is None and state != "gone":
            result.taken.append(name)
            del self.skills[name]
            return
        if self._is_in_the_way(name, state, result):
            self.skills[name] = locked._replace(files=locked.former_files or {}, former_files=None)
            return
        if state != "gone":
            os.replace(place, former)
        try:
            os.replace(self._fetched / name, place)
        except OSError:
            if state != "gone":
                os.replace(former, place)
            raise
        if state != "gone":
            shutil.rmtree(former)
        self.skills[name] = locked._replace(former_files=None)
        (result.updated if locked.former_files else result.added).append(name)

    def _withdraw(
        self, listing: Listing, result: Pulled, agrees: Callable[[str], bool], *, is_other: bool
    ) -> None:
        """Remove the skills that are no longer published, or no longer selected."""
        gone = [name for name in self.skills if name not in listing.skills]
        if not gone:
            return
        total = len(self.skills)
        if not listing.is_complete:
            result.reason = "The site is still building its catalog."
        elif is_other or 2 * len(gone) > total:
            self._may(agrees, f"{len(gone)} of {total} skills would be removed.", result)
        if result.reason:
            result.withheld.extend(gone)
            return
        for name in gone:
            state = self._state(name)  # now: it may have been edited during the downloads
            if self._is_in_the_way(name, state, result):
                continue
            if state != "gone":
                os.replace(self.path / name, self._fetched / name)
            del self.skills[name]
            result.removed.append(name)

    def _may(self, agrees: Callable[[str], bool], sentence: str, result: Pulled) -> bool:
        """Ask before a great change; note the sentence if nobody agrees."""
        if not (is_agreed := agrees(sentence)):
            result.reason = f"{sentence} Add --yes to agree, or choose another DIR."
        return is_agreed

    def _is_in_the_way(self, name: str, state: State | None, result: Pulled) -> bool:
        """Return whether a place has something that is not ours, and note it."""
        if state is None and os.path.lexists(self.path / name):
            result.taken.append(name)
            return True
        if state == "edited":
            result.edited.append(name)
        return state == "edited"

    def _state(self, name: str) -> State:
        """Return how a folder differs from what was copied into it."""
        folder, locked = self.path / name, self.skills[name]
        if not os.path.lexists(folder):
            return "gone"
        files = None if folder.is_symlink() or not folder.is_dir() else _files(folder)
        if files == locked.files:
            return "same"
        return "former" if files is not None and files == locked.former_files else "edited"

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other pulls away from the folder. Raises NotPossible."""
        lock = self.path / ".skilldrop-lock"
        for ours in (lock, self._next):
            if ours.is_symlink():
                raise NotPossible(f"{ours} is a link; remove it.")
        if self._next.exists() and not lock.exists():
            raise NotPossible(f"{self._next} was not made by a pull; move it away.")
        with lock.open("a") as file:
            try:
                _hold(file)
            except OSError:
                raise NotPossible(f"Another pull to {self.path} is running.") from None
            shutil.rmtree(self._next, ignore_errors=True)  # left by a crash
            self._fetched.mkdir(parents=True)
            try:
                yield
            finally:
                shutil.rmtree(self._next, ignore_errors=True)

    # Lock file

    def _read(self) -> None:
        path = self.path / LOCK_FILE
        try:
            value = json.loads(path.read_bytes())
            if value["lock_version"] != _FORM:
                raise ValueError("another program has written it")
            self.catalog, self.query, self.etag = (
                str(value[key]) for key in ("catalog", "query", "etag")
            )
            for row in value["skills"]:
                locked = Locked(*(row[key] for key in Locked._fields))
                check_name(row["folder"])
                for each in (*locked.files, *(locked.former_files or ())):
                    check_path(each)
                self.skills[row["folder"]] = locked
        except FileNotFoundError:
            return
        except (*BROKEN, AttributeError, Refused) as error:
            raise NotPossible(
                f"{path} is not a lock file of a pull ({error}), so nothing beside it is changed. "
                "Restore it, or choose another folder."
            ) from None

    def _write(self) -> None:
        value = {
            "lock_version": _FORM,
            "catalog": self.catalog,
            "query": self.query,
            "etag": self.etag,
            "skills": [
                {"folder": name, **each._asdict()} for name, each in sorted(self.skills.items())
            ],
        }
        new = self._next / LOCK_FILE
        with new.open("w", encoding="utf-8") as file:
            json.dump(value, file, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self.path / LOCK_FILE)


def kind(query: str) -> tuple[object, ...]:
    """Return what a query string selects, where all names count as one."""
    given = parse_qs(query, keep_blank_values=True)
    return (*map(given.get, ("index", "level", "tag")), bool({"only", "also"} & given.keys()))


def _files(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file by path; those of other entries, such as links, are empty."""
    found = {}
    for top, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in _LEFT_BY_SYSTEMS]
        links = [name for name in folders if os.path.islink(os.path.join(top, name))]
        for name in {*files, *links} - _LEFT_BY_SYSTEMS:
            path = os.path.join(top, name)
            key = os.path.relpath(path, folder).replace(os.sep, "/")
            found[key] = "" if os.path.islink(path) or not os.path.isfile(path) else _sha256(path)
    return found


def _sha256(path: str) -> str:
    sha256 = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(2**20):
            sha256.update(piece)
    return sha256.hexdigest()


def _hold(file: IO[Any]) -> None:
    """Lock an open file until it is closed, where the system can. Raises OSError if it is."""
    try:
        import fcntl
    except ImportError:
        try:
            import msvcrt
        except ImportError:
            return
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
