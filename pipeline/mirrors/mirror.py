"""Mirror of a repository: one folder for each content, and a link to the present one.

`<folder>/current` leads to `<folder>/<id of a git tree>`, and is replaced in one step, so a reader
never sees a checkout that is not complete.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from catalog.filesystem import operations
from catalog.filesystem.operations import descended, directory, exchange_names, remove
from catalog.model.errors import PullFailed
from catalog.model.skill import GitOrigin
from pipeline.mirrors.git import Git

CURRENT = "current"
_COMMIT = "commit"
"""File with the commit and the tree of the present content."""
MOST_FILES = 1_000_000
"""Most files of a mirror: a few objects of git can stand for billions of files."""
_MOST_PACKS = 32
"""Packs of a repository after which all is fetched again: git never drops old content."""
_OBJECT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_PULLED = "refs/skilldrop/pulled"


class Pulled(NamedTuple):
    """Commit of a mirror, and the id of its tree, whose folder is ready."""

    commit: str
    tree: str


@dataclass(frozen=True, slots=True)
class Mirror:
    """Mirror of a repository below the data directory."""

    origin: GitOrigin
    folder: Path
    most_bytes: int  # while it is pulled: history, files and messages together

    @property
    def root(self) -> str:
        """The link to the present content, which is the path of the root."""
        return str(self.folder / CURRENT)

    @property
    def tree(self) -> str | None:
        """Id of the tree that the link leads to; None if there is none."""
        with suppress(OSError):
            tree = os.readlink(self.root)
            if _OBJECT.fullmatch(tree) and (self.folder / tree).is_dir():
                return tree
        return None

    @property
    def commit(self) -> str | None:
        """Commit of the present content; None if that is unknown."""
        with suppress(OSError, ValueError):
            commit, tree = (self.folder / _COMMIT).read_text("ascii").split()
            return commit if tree == self.tree else None
        return None

    def pull(self, must_stop: Callable[[], bool] = lambda: False) -> Pulled:
        """Bring the content of the origin into a folder beside the present one.

        Nothing that readers see changes until `switch`. Raises PullFailed, with one sentence that
        names the origin.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with self._opened() as dir_fd, suppress(FileExistsError):
                os.mkdir("work", dir_fd=dir_fd)
            with self._opened("work") as dir_fd:
                remove("tree", dir_fd)  # of a pull that failed
            git = Git(self.folder / "work", self.origin.url, self.most_bytes, must_stop)
            return self._pull(git)
        except (PullFailed, OSError) as error:
            raise PullFailed(f"{self.origin} could not be pulled: {error}.") from error

    def switch(self, pulled: Pulled) -> None:
        """Let the link lead to pulled content; keep the content before, and remove older.

        Raises PullFailed.
        """
        try:
            self._switch(pulled)
        except OSError as error:
            raise PullFailed(f"{self.origin} could not be switched: {error}.") from error

    def _switch(self, pulled: Pulled) -> None:
        before = self.tree
        with self._opened() as dir_fd:
            (self.folder / "next").unlink(missing_ok=True)
            (self.folder / "next").write_text(f"{pulled.commit} {pulled.tree}\n")
            os.replace("next", _COMMIT, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
            if before == pulled.tree:
                return
            os.symlink(pulled.tree, "next", dir_fd=dir_fd)
            os.replace("next", CURRENT, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
            for name in os.listdir(dir_fd):
                if _OBJECT.fullmatch(name) and name not in (before, pulled.tree):
                    remove(name, dir_fd)

    @contextmanager
    def _opened(self, *names: str) -> Iterator[int]:
        """Yield the open folder, or one in it. Raises OSError, also where one of them is a link."""
        with (
            directory(self.folder.parent) as mirrors,
            descended(mirrors, (self.folder.name, *names)) as dir_fd,
        ):
            yield dir_fd

    def _pull(self, git: Git) -> Pulled:
        if not git.repository.is_dir():
            git.create()
        ref = self._resolve(git)
        tree = self.tree
        if tree and self.commit and self.commit in ref[1:] and not self._is_edited(git, tree):
            return Pulled(self.commit, tree)
        try:
            if _packs(git.repository) > _MOST_PACKS:
                git.create()
            return self._fetch(git, ref[0])
        except BaseException:  # the next attempt starts with an empty repository
            git.forget()
            raise

    def _resolve(self, git: Git) -> tuple[str, ...]:
        """Return the full name of the ref, and its commits. This reads no objects."""
        asked = self.origin.ref
        if asked and _OBJECT.fullmatch(asked):
            return asked, asked
        names = (
            ["HEAD"]
            if asked is None
            else [asked]
            if asked.startswith("refs/")
            else [f"refs/heads/{asked}", f"refs/tags/{asked}"]
        )
        lines = git.line("ls-remote", "origin", *names, *(f"{name}^{{}}" for name in names))
        found: dict[str, list[str]] = {}
        for commit, _, name in (line.partition("\t") for line in lines.splitlines()):
            found.setdefault(name.removesuffix("^{}"), []).append(commit)
        for name in names:
            if name in found:
                return name, *found[name]
        raise PullFailed(f"it has no branch or tag {asked}" if asked else "it has no commits")

    def _fetch(self, git: Git, ref: str) -> Pulled:
        """Fetch the newest commit with the files of the path, and check them out."""
        path = self.origin.path
        newest = ["--depth=1", *(["--filter=blob:none"] if path else [])]
        git.run(
            "fetch", "--quiet", *newest, "--no-tags", "--no-recurse-submodules",
            "--no-write-fetch-head", "origin", f"+{ref}:{_PULLED}",
        )  # fmt: skip
        commit = git.line("rev-parse", "--verify", f"{_PULLED}^{{commit}}")
        tree = git.line("rev-parse", "--verify", f"{commit}^{{tree}}")
        if path:
            tree = _subtree(git, tree, path)
        if tree != self.tree or self._is_edited(git, tree):
            self._check_out(git, tree)
        return Pulled(commit, tree)

    def _is_edited(self, git: Git, tree: str) -> bool:
        """Return whether the present content is not that of its commit, by the stats of files."""
        index = git.folder / "index"
        if not index.exists():
            return True
        content = self.folder / tree
        env = {"GIT_WORK_TREE": str(content), "GIT_INDEX_FILE": str(index)}
        git.run("ls-files", "-z", "--modified", "--deleted", "--others", env=env, cwd=content)
        return bool((git.folder / "stdout").stat().st_size)

    def _check_out(self, git: Git, tree: str) -> None:
        with git.output("ls-tree", "-r", "-z", tree) as chunks:
            if sum(chunk.count(b"\0") for chunk in chunks) > MOST_FILES:
                raise PullFailed(f"it has more than {MOST_FILES} files")
        made = git.folder / "tree"
        with directory(git.folder) as work:
            remove("index", work)
            made.mkdir()
            git.run(
                "read-tree", "--reset", "-u", tree,
                env={"GIT_WORK_TREE": str(made), "GIT_INDEX_FILE": str(git.folder / "index")},
                cwd=made,
            )  # fmt: skip
            operations.sync(work)  # files that a power failure empties would never be pulled again
            with self._opened() as folder:
                if tree == self.tree:  # it was edited
                    exchange_names(made, self.folder / tree)
                    return
                remove(tree, folder)
                os.rename("tree", tree, src_dir_fd=work, dst_dir_fd=folder)


def _subtree(git: Git, tree: str, path: str) -> str:
    """Return the id of the folder at a path of a tree; links in it are not followed."""
    line = git.line("ls-tree", "--full-tree", "-z", tree, "--", path).rstrip("\0")
    kind, _, name = line.partition("\t")
    if name != path or kind.split(" ")[1] != "tree":
        raise PullFailed(f"it has no folder {path}")
    return kind.split(" ")[2]


def _packs(repository: Path) -> int:
    with suppress(OSError):
        return sum(name.endswith(".pack") for name in os.listdir(repository / "objects" / "pack"))
    return 0
