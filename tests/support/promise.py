"""Random lives of a root under a real service, and the promise that holds after each."""

import ctypes
import hashlib
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any, ClassVar, TypeAlias

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from catalog.audit.verdicts import Difference
from catalog.filesystem.ownership import MARKER
from catalog.model.errors import SkilldropError
from catalog.model.naming import entry_name
from catalog.model.paths import text_path, top_of_archive
from pipeline.config.settings import Settings
from pipeline.service import reconcile
from pipeline.service.open_catalog import open_store
from pipeline.service.requests import handle
from pipeline.service.run_once import scan_once
from pipeline.service.scanning.engines import serial
from tests.support.departures import Departures
from tests.support.made_archives import pack_tar, pack_zip
from tests.support.mishaps import Mishaps
from tests.support.serving import FAKETIME, Serving, ServingProcess
from tests.support.skills import write_skill
from tests.support.without_rights import bound_by_permissions

_RENAME_EXCHANGE = 2
_libc = ctypes.CDLL(None, use_errno=True)

Rows: TypeAlias = dict[str, tuple[tuple[str, Any], ...]]
"""Columns of each skill, by path."""

SECRET, MARK = "secret", "Zanzibarmark"
NAMES = ["a", "b", "B", "with space", "--help", "会议", os.fsdecode(b"caf\xe9")]
PARENTS = ["", "team", "team/deep", "a", "a/assets", "b/inner"]
DESCRIPTIONS = ["Counts words.", "Counts lines. Use when asked how many.", "处理会议纪要。", ""]
LINKS = "See [one](../a/SKILL.md), [two](../../b/notes.md) and [three](../moved/SKILL.md).\n"
FILES = ["scripts/run.py", "notes.md", "assets/logo.bin", "assets/SKILL.md", ".env", "x.log"]
PATTERNS = ["*.log", "notes.md", "a/", "!*.log", "deep", "scripts/*"]

folders = st.builds(
    lambda parent, name: f"{parent}/{name}" if parent else name,
    st.sampled_from(PARENTS),
    st.sampled_from(NAMES),
)
descriptions = st.sampled_from(DESCRIPTIONS)
contents = st.binary(max_size=64)
archives = st.sampled_from(["pack.zip", "team/pack.tgz", "b/inner/pack.skill", "other.tar.gz"])


class Life(Departures, Mishaps):
    """All actions of people and programs on a root, in any order, with pauses for comparisons.

    Impossible actions, such as deleting a missing folder, have no effect.
    """

    serving: ClassVar[type[Serving]] = Serving

    def __init__(self) -> None:
        super().__init__()
        self.top = Path(tempfile.mkdtemp(prefix="promise-"))
        self.outside = self.top / "outside"
        self.outside.mkdir()
        write_skill(
            self.outside / SECRET,
            name="same",
            description=MARK,
            files={"notes.md": MARK, "scripts/run.py": MARK},
        )
        write_skill(self.outside / SECRET / "inner", name="same", description=MARK)
        self.locked: list[tuple[Path, int]] = []
        self._bound = ExitStack()
        if self.serving is Serving:  # a program that is started has the rights of its user
            self._bound.enter_context(bound_by_permissions())
        self.it = self.serving(self.top)
        if isinstance(self.it, ServingProcess) and FAKETIME:
            self.it.set_clock(0)
        self.has_links = False
        self.number = 0

    @initialize()
    def begin(self) -> None:
        """Start the service."""
        self.it.start()

    @rule()
    def be_idle(self) -> None:
        """Do nothing.

        Hypothesis begins with runs of this rule only: the first one in its order, by the number
        of arguments and by name. Any other rule, repeated that often, would take a minute.
        """

    # Arrivals

    @rule(folder=folders, description=descriptions, file=st.sampled_from(FILES), content=contents)
    def write(self, folder: str, description: str, file: str, content: bytes) -> None:
        """Write a skill file by file, as `cp -r` does."""
        with suppress(OSError):
            write_skill(
                self.it.root / folder,
                name="same",
                description=description,
                more="depends_on: [moved, burst]",
                body=LINKS,
                files={file: content},
            )

    @rule(folder=folders, description=descriptions)
    def write_slowly(self, folder: str, description: str) -> None:
        """Write a skill in pieces, with pauses longer than a scan takes."""
        path = self.it.root / folder
        with suppress(OSError):
            path.mkdir(parents=True, exist_ok=True)
            with (path / "SKILL.md").open("w", encoding="utf-8") as file:
                for piece in ("---\nname: slow\n", f"description: {description}\n", "---\n"):
                    file.write(piece)
                    file.flush()
                    time.sleep(0.03)  # longer than a scan

    @rule(folder=folders, description=descriptions, inner=st.sampled_from(["", "inner", "x/y"]))
    def move_in(self, folder: str, description: str, inner: str) -> None:
        """Make a skill elsewhere and move it in whole, perhaps with another inside it."""
        made = self._elsewhere()
        write_skill(made, name="moved", description=description)
        if inner:
            write_skill(made / inner, name="moved-inner", description="Is inside another.")
        with suppress(OSError):
            (self.it.root / folder).parent.mkdir(parents=True, exist_ok=True)
            made.rename(self.it.root / folder)

    # Archives

    @rule(archive=archives, description=descriptions, inner=st.sampled_from(["", "inner", "x/y"]))
    def drop_archive(self, archive: str, description: str, inner: str) -> None:
        """Put a complete archive in place, or replace one; one without a skill is rejected."""
        with suppress(OSError):
            path = self.it.root / archive
            path.parent.mkdir(parents=True, exist_ok=True)
            self._packed(archive, description, inner).rename(path)

    @rule(
        archive=archives,
        description=descriptions,
        share=st.floats(0.1, 0.9),
        rests=st.sampled_from([0.0, 0.05, 0.3]),
        is_completed=st.booleans(),
    )
    def copy_archive(
        self, archive: str, description: str, share: float, rests: float, is_completed: bool
    ) -> None:
        """Copy an archive in two parts with a pause between them, or only the first part."""
        data = self._packed(archive, description, "inner").read_bytes()
        cut = int(len(data) * share)
        with suppress(OSError):
            path = self.it.root / archive
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                file.write(data[:cut])
                file.flush()
                time.sleep(rests)  # the pause of the copy
                if is_completed:
                    file.write(data[cut:])

    @rule(archive=archives)
    def cut_archive(self, archive: str) -> None:
        """Truncate an archive, so that it is rejected and its last good skills stay."""
        with suppress(OSError):
            path = self.it.root / archive
            os.truncate(path, path.stat().st_size // 2)

    @rule(archive=archives)
    def delete_archive(self, archive: str) -> None:
        """Delete an archive."""
        with suppress(OSError):
            (self.it.root / archive).unlink()

    # Changes

    @rule(folder=folders, description=descriptions)
    def edit_in_place(self, folder: str, description: str) -> None:
        """Write over SKILL.md without a new inode."""
        with suppress(OSError), (self.it.root / folder / "SKILL.md").open("r+b") as file:
            file.truncate()
            file.write(f"---\nname: edited\ndescription: {description}\n---\n".encode())

    @rule(folder=folders, description=descriptions)
    def save_as_editors_do(self, folder: str, description: str) -> None:
        """Write a temporary file and rename it over SKILL.md; keep the old one as a backup."""
        path = self.it.root / folder / "SKILL.md"
        with suppress(OSError):
            swap = path.with_name(".SKILL.md.swp")
            swap.write_text(f"---\nname: saved\ndescription: {description}\n---\nText.\n")
            shutil.copy2(path, path.with_name("SKILL.md~"))
            swap.rename(path)

    @rule(folder=folders, file=st.sampled_from(FILES), content=contents)
    def change_a_file(self, folder: str, file: str, content: bytes) -> None:
        """Change, add or delete a file beside SKILL.md, and the bit that lets it run."""
        path = self.it.root / folder / file
        with suppress(OSError):
            if content:
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(content)
                path.chmod(0o755 if content[0] % 2 else 0o644)
            else:
                path.unlink()

    @rule(
        parent=st.sampled_from(PARENTS),
        name=st.sampled_from([".skillignore", ".gitignore"]),
        patterns=st.lists(st.sampled_from(PATTERNS), max_size=2),
    )
    def ignore(self, parent: str, name: str, patterns: list[str]) -> None:
        """Write an ignore file, or delete it if it has no pattern."""
        path = self.it.root / parent / name
        with suppress(OSError):
            if patterns:
                path.write_text("\n".join(patterns))
            else:
                path.unlink()

    @rule(parent=st.sampled_from(PARENTS), name=st.sampled_from(["x.rar", "notes.md", "x.tmp"]))
    def drop_something_else(self, parent: str, name: str) -> None:
        """Put a file in place that is no skill."""
        with suppress(OSError):
            (self.it.root / parent / name).write_bytes(b"x")

    @rule(folder=folders, times=st.integers(2, 30))
    def edit_in_a_burst(self, folder: str, times: int) -> None:
        """Save again and again."""
        for number in range(times):
            self.edit_in_place(folder, f"Version {number}.")

    # Moves and departures

    @rule(folder=folders, other=folders)
    def rename(self, folder: str, other: str) -> None:
        """Rename a folder, with all that is in it."""
        with suppress(OSError):
            (self.it.root / folder).rename(self.it.root / other)

    @rule(one=st.sampled_from(["team", "a", "b"]), other=st.sampled_from(["crew", "team", "b"]))
    def rename_above(self, one: str, other: str) -> None:
        """Rename a folder in which skills lie."""
        with suppress(OSError):
            (self.it.root / one).rename(self.it.root / other)

    @rule(folder=folders, other=folders)
    def exchange(self, folder: str, other: str) -> None:
        """Let two folders change places in one step."""
        _libc.renameat2(
            -100,
            os.fsencode(self.it.root / folder),
            -100,
            os.fsencode(self.it.root / other),
            _RENAME_EXCHANGE,
        )

    @rule(folder=folders)
    def move_out(self, folder: str) -> None:
        """Move a folder out of the root."""
        with suppress(OSError):
            (self.it.root / folder).rename(self._elsewhere())

    @rule(folder=folders)
    def delete(self, folder: str) -> None:
        """Delete a folder with all that is in it."""
        shutil.rmtree(self.it.root / folder, ignore_errors=True)

    @rule(folder=folders)
    def delete_skill_md(self, folder: str) -> None:
        """Delete only SKILL.md, so that the folder is no skill any more."""
        with suppress(OSError):
            (self.it.root / folder / "SKILL.md").unlink()

    # Links

    @rule(folder=folders, other=folders, where=st.sampled_from(["root", "outside", "nowhere"]))
    def link(self, folder: str, other: str, where: str) -> None:
        """Replace a folder by a link to another one, to one outside, or to nothing."""
        base = {"root": self.it.root, "outside": self.outside, "nowhere": Path("/nowhere")}[where]
        with suppress(OSError):
            os.symlink(base / other, self.it.root / folder)
            self.has_links = True

    @rule(folder=folders)
    def unlink(self, folder: str) -> None:
        """Remove a link."""
        with suppress(OSError):
            (self.it.root / folder).unlink()

    @rule(folder=folders, times=st.integers(1, 40))
    def swap_for_a_link(self, folder: str, times: int) -> None:
        """Exchange a folder with a link out of the root, and back, during a scan."""
        link, place = self._elsewhere(), self.it.root / folder
        link.symlink_to(self.outside / SECRET)
        with suppress(OSError):  # so that it is due, and looked at meanwhile
            (place / "touched.md").write_text(f"{self.number}")
        for _ in range(2 * times):
            _libc.renameat2(-100, os.fsencode(link), -100, os.fsencode(place), _RENAME_EXCHANGE)
            time.sleep(0.005)  # as long as the scan of a folder

    # Permissions

    @precondition(lambda self: self.serving is Serving)
    @rule(
        folder=folders,
        name=st.sampled_from(["", "SKILL.md", "scripts"]),
        mode=st.sampled_from([0o000, 0o100, 0o400]),
    )
    def lock(self, folder: str, name: str, mode: int) -> None:
        """Remove the right to read, to enter, or both."""
        path = self.it.root / folder / name
        with suppress(OSError):
            if path.is_symlink() or path.parent.is_symlink():
                return
            self.locked.append((path, path.stat().st_mode & 0o777))
            path.chmod(mode)

    @rule()
    def unlock(self) -> None:
        """Restore all rights, in reverse order."""
        while self.locked:
            path, mode = self.locked.pop()
            with suppress(OSError):
                if not path.is_symlink():
                    path.chmod(mode)

    # The service

    @rule()
    def restart(self) -> None:
        """Stop the service in order and start it again."""
        self.it.stop()
        self.it.start()

    @rule(folder=folders, description=descriptions)
    def change_while_stopped(self, folder: str, description: str) -> None:
        """Stop, make a change that the start must find, and start again."""
        self.it.stop()
        self.edit_in_place(folder, description)
        self.move_in(folder, description, "inner")
        self.it.start()

    @precondition(lambda self: isinstance(self.it, ServingProcess))
    @rule(folder=folders, times=st.integers(10, 400))
    def suspend(self, folder: str, times: int) -> None:
        """Stop the process with a signal while much changes, as on a machine that swaps."""
        assert isinstance(self.it, ServingProcess)
        self.it.suspend()
        for number in range(times):
            write_skill(
                self.it.root / "burst",
                description=f"Burst {number}.",
                files={f"f{number % 7}": str(number)},
            )
        self.delete(folder)
        self.it.resume()

    # The promise

    @rule()
    def look(self) -> None:
        """Wait until the service is quiet, and compare."""
        self.right_the_clock()
        self.it.settle()
        if self.locked:
            self.unlock()
            self.it.settle()
        if self.has_mounted:
            self.it.rescan()
        self.mend_damage()
        if self.it.health()["held_removals"]:  # so much came and went that it has to be confirmed
            self.assert_held_are_published()
            assert (found := self._differences()) == [], found
            if self.has_mounted:
                self.mount()
                self.it.rescan()
            reconcile.repair(self.it.settings, accepts_removals=True)
            self.it.settle()
        if self.has_links:  # what changes behind a link is no event where the link is
            self.it.rescan()
        self.check()

    def check(self) -> None:
        """Assert that folder, catalog and index agree, and that history makes no difference."""
        assert self._marked() == []
        self.assert_times_go_on()
        found = self._differences()
        assert found == [], found
        stands_in = {
            path
            for (path,) in self.it.rows(
                "SELECT path FROM skills WHERE newest_rejected_at IS NOT NULL"
            )
        }
        live, rebuilt = _content(self.it.settings), _content(self._rebuilt())
        _drop_rejected_archives(live, rebuilt, stands_in)
        for path in stands_in & live.keys():
            assert dict(rebuilt.pop(path))["status"] == "rejected"
            live.pop(path)
        # A last good version competes for its name, too, and the first to have a name keeps it.
        depends_on_history = bool(stands_in) or _has_rivals(live)
        if depends_on_history:
            live, rebuilt = _without_status(live), _without_status(rebuilt)
        assert live == rebuilt
        if not depends_on_history:
            text = (self.top / "rebuilt/index/default.txt").read_text("utf-8")
            assert _without_versions(self.it.index()) == _without_versions(
                text.replace(str(self.top / "rebuilt"), str(self.it.settings.data))
            )

    def _differences(self) -> list[Difference | str]:
        found = reconcile.compare_once(self.it.settings, engine=serial).differences
        return [*found, *unpublished(self.it)]

    def teardown(self) -> None:
        """Compare once more and end."""
        try:
            if self.it.is_running:
                self.look()
        finally:
            self.it.stop()
            self.forget_mishaps()
            if self.is_mounted:
                subprocess.run(["umount", "-l", self.it.root / "disk"], check=True)
            self._bound.close()
            shutil.rmtree(self.top, ignore_errors=True)

    def _marked(self) -> list[str]:
        """Return the tables and packages that hold text from outside of the root."""
        found = [
            path
            for path in (self.it.settings.packages_folder).rglob("*.*")
            if path.is_file() and MARK.encode() in path.read_bytes()
        ]
        catalog = f"file:{self.it.settings.catalog_path}?mode=ro"
        with closing(sqlite3.connect(catalog, uri=True)) as db:
            tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            found_in = [
                table
                for (table,) in tables
                if any(MARK in repr(row) for row in db.execute(f'SELECT * FROM "{table}"'))
            ]
        return [*map(str, found), *found_in]

    def _packed(self, archive: str, description: str, inner: str) -> Path:
        """Make an archive elsewhere, of a skill and perhaps another one beside it."""
        made = self._elsewhere()
        if description:
            write_skill(made / "top", name="packed", description=description)
        if inner:
            write_skill(made / inner, name="packed-inner", description=f"{description} Beside.")
        else:
            (made / "notes").mkdir(parents=True)
        pack = pack_tar if archive.endswith(("tgz", "tar.gz")) else pack_zip
        return pack(made, self.outside / f"packed-{self.number}")

    def _elsewhere(self) -> Path:
        self.number += 1
        return self.outside / f"made-{self.number}"

    def _rebuilt(self) -> Settings:
        """Make a new catalog of the same root, and return its settings."""
        data = self.top / "rebuilt"
        for folder, _, _ in os.walk(data):  # packages are read-only, and permissions bind us here
            os.chmod(folder, 0o700)
        shutil.rmtree(data, ignore_errors=True)
        settings = self.it.settings.model_copy(update={"data": data, "settle_quiet": 0.0})
        store = open_store(settings)
        scan_once(settings, store, engine=serial)
        store.close()
        return settings


class LifeOfAProcess(Life):
    """Life with `skilldrop up` in a separate process."""

    serving = ServingProcess


class ReviewedServing(Serving):
    """Service whose root needs a review of every version."""

    def __init__(self, folder: Path) -> None:
        root = {"path": folder / "root", "review": "always"}
        super().__init__(folder, roots=[root])


class LifeUnderReview(Life):
    """Life in which reviewers decide, and agents get only what they have approved."""

    serving = ReviewedServing

    @rule()
    def approve_all(self) -> None:
        """Approve the newest version of each folder."""
        for (place,) in self.it.rows(f"SELECT DISTINCT {_PLACE} {_VERSIONS}"):
            self._decide("approved", place, None)

    @rule(number=st.integers(0, 9), decision=st.sampled_from(["approved", "rejected"]))
    def decide(self, number: int, decision: str) -> None:
        """Decide on one of the contents that were ever stored."""
        rows = self.it.rows(f"SELECT {_PLACE}, v.version {_VERSIONS}")
        if number < len(rows):
            self._decide(decision, *rows[number])

    def _decide(self, decision: str, place: str, version: str | None) -> None:
        asked: dict[str, Any] = {"skill": place, "version": version}
        with suppress(SkilldropError):  # its folder may be gone
            handle(
                self.it.settings, "review", asked | {"decision": decision, "by": "ana", "why": None}
            )

    def run_short(self, quota: dict[str, int], number: int) -> None:
        """Do nothing: the rule expects that a new skill is published."""

    def leave_the_configuration(self) -> None:
        """Do nothing: the rule changes another setting than `roots`."""

    def check(self) -> None:
        """Assert that folder and catalog agree, and that each package was approved."""
        assert self._marked() == []
        found = self._differences()
        assert found == [], found
        assert self.it.rows(_UNAPPROVED) == []


def unpublished(it: Serving) -> list[str]:
    """Return how the published skills differ from the catalog, compared without the program.

    Each active skill with a package, which agents or users may start, has one folder. There is
    nothing else, no link, and no file that another name reaches.
    """
    wrong, expected = [], set()
    files: dict[int, dict[str, str]] = {}
    for version, path, content in it.rows("SELECT version, path, sha256 || ' ' || mode FROM files"):
        files.setdefault(version, {})[path] = content
    for skill_id, name, version in it.rows(_PUBLISHED):
        folder = it.settings.skills_folder / entry_name(name, skill_id)
        expected.add(folder.name)
        found = {}
        for path in folder.rglob("*"):
            stat = path.lstat()
            if S_ISREG(stat.st_mode) and stat.st_nlink == 1:
                mode = {0o444: "644", 0o555: "755"}.get(stat.st_mode & 0o777)
                sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
                found[text_path(str(path.relative_to(folder)))] = f"{sha256} {mode}"
            elif not S_ISDIR(stat.st_mode) or stat.st_mode & 0o777 != 0o555:
                wrong.append(f"{path} has mode {stat.st_mode:o} and {stat.st_nlink} links")
        if found != files[version]:
            wrong.append(f"{folder} has {found} instead of {files[version]}")
    present = {path.name for path in it.settings.skills_folder.glob("*")} - {MARKER}
    return [*wrong, *(f"{name} is missing or left over" for name in expected ^ present)]


_PUBLISHED = """
    SELECT s.skill_id, s.name, s.current_version_id FROM skills AS s
    WHERE s.status = 'active' AND s.package_path IS NOT NULL
        AND (s.model_invocable = 1 OR s.user_invocable = 1)
"""
_PLACE = "s.root || '/' || s.path"
_VERSIONS = """
    FROM versions AS v JOIN skills AS s ON s.id = v.skill
    WHERE s.path != 'sentinel' ORDER BY v.id DESC
"""
_UNAPPROVED = """
    SELECT s.path, s.package_path FROM skills AS s JOIN versions AS v ON v.id = s.current_version_id
    WHERE s.package_path IS NOT NULL AND 'approved' IS NOT
        (SELECT decision FROM reviews WHERE digest = v.digest ORDER BY id DESC LIMIT 1)
"""
_SKILLS = """
    SELECT s.root, s.path, s.skill_id, s.name, s.description, s.status, s.digest, s.level,
           s.frontmatter, s.file_inventory, w.path AS shadowed_by, v.skill_md_content,
           (SELECT group_concat(f.path || ' ' || f.sha256 || ' ' || f.mode, char(10))
            FROM (SELECT * FROM files WHERE version = v.id ORDER BY path) AS f) AS files,
           (SELECT group_concat(code || ' ' || ifnull(path, ''), char(10))
            FROM (SELECT * FROM findings WHERE skill = s.id
                 AND code NOT IN ('last-good-version-stands', 'skill-reference-broken',
                                  'dependency-missing') ORDER BY code, path)) AS findings,
           (SELECT group_concat(target || ifnull(problem, ''), char(10))
            FROM (SELECT * FROM skill_references WHERE skill = s.id ORDER BY id)) AS "references"
    FROM skills AS s LEFT JOIN version_contents AS v ON v.id = s.current_version_id
    LEFT JOIN skills AS w ON w.id = s.shadowed_by
    WHERE s.status != 'removed'
"""


def _without_versions(index: str) -> str:
    """Drop the version in each path, which depends on the time."""
    return re.sub(r"/\d{8}-\d{6}(-\d+)?\b", "", index)


def _drop_rejected_archives(live: Rows, rebuilt: Rows, stands_in: set[str]) -> None:
    """Drop rejected archives from both catalogs, and assert that their rows agree.

    A new catalog has one row for such an archive. An older one has this row, too, or a row for each
    skill that it knows in the archive.
    """
    for top in [
        path
        for path, row in rebuilt.items()
        if path == top_of_archive(path) and dict(row)["status"] == "rejected"
    ]:
        inside = [path for path in live if top_of_archive(path) == top]
        assert inside
        assert all(
            path in stands_in or dict(live[path])["status"] == "rejected" for path in inside
        ), inside
        rebuilt.pop(top)
        for path in inside:
            live.pop(path)


def _content(settings: Settings) -> Rows:
    """Return the row of each folder, without how and when it was stored."""
    db = sqlite3.connect(f"file:{settings.catalog_path}?mode=ro", uri=True)
    try:
        cursor = db.execute(_SKILLS)
        names = [column[0] for column in cursor.description]
        return {row[1]: _accepted(dict(zip(names, row, strict=True))) for row in cursor}
    finally:
        db.close()


def _accepted(row: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Drop the fields of a rejected row that remain from an accepted one."""
    if row["status"] == "rejected":
        keys: Sequence[str] = ("root", "path", "skill_id", "name", "status", "level", "findings")
        return tuple((key, row[key]) for key in keys)
    return tuple(row.items())


def _has_rivals(rows: Rows) -> bool:
    """Return whether several accepted folders have the same skill_id."""
    accepted = [row for row in map(dict, rows.values()) if row["status"] in ("active", "shadowed")]
    return len({row["skill_id"] for row in accepted}) < len(accepted)


_DECIDED = ("status", "shadowed_by", "references")  # a link to a shadowed skill is broken


def _without_status(rows: Rows) -> Rows:
    return {
        path: tuple((key, value) for key, value in row if key not in _DECIDED)
        for path, row in rows.items()
    }
