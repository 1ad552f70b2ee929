"""Replication of the catalog with Litestream, while it is written."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import NoReturn

from catalog.database import connection as database_connection
from catalog.database import schema_version
from catalog.database.connection import is_damage, leave_readable, refuse_directory
from catalog.database.lock import WriterLock, lock_of
from catalog.model.errors import CatalogBusy, CatalogUnusable, ReplicationFailed


def replicate(catalog: Path, url: str, interval: float) -> NoReturn:
    """Replace this process by one that copies every change to a URL until it is stopped.

    Changes committed `interval` seconds before a crash are safe there, if sending takes at most
    half that time. Raises NotInCatalog, CatalogUnusable and ReplicationFailed.
    """
    database_connection.open_catalog(catalog).conn.close()
    program = _litestream()
    pause = f"{interval / 4:g}s"  # between two checks for changes, and between two uploads
    settings = {
        "dbs": [
            {
                "path": str(catalog),
                "monitor-interval": pause,
                "replica": {"url": url, "sync-interval": pause},
            }
        ]
    }
    file = os.memfd_create("litestream.yml", flags=0)  # stays open: the program reads it
    os.write(file, json.dumps(settings).encode())
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(
        program,
        [program, "replicate", "-no-expand-env", "-config", f"/proc/self/fd/{file}"],
        _environment(),
    )


def restore(url: str, catalog: Path, *, replace: bool = False) -> None:
    """Restore the newest copy at a URL as the catalog file, whole or not at all.

    Running readers of a replaced catalog all go on with the new one, from the same moment. Any
    other file is kept under another name. Raises CatalogBusy
    where a catalog exists and may not be replaced or is being written, CatalogUnusable where the
    path is a directory or a database of another program, and ReplicationFailed where nothing can
    be restored.
    """
    program = _litestream()
    if catalog.exists() and not replace:
        raise CatalogBusy(
            f"There is a catalog at {catalog} already. Choose another --data "
            "directory, or add --replace."
        )
    catalog.parent.mkdir(parents=True, exist_ok=True)
    lock = WriterLock(lock_of(catalog))
    try:
        is_ours = _is_ours(catalog)
        with tempfile.TemporaryDirectory(dir=catalog.parent, prefix=".restore-") as temporary:
            new = Path(temporary, catalog.name)
            process = subprocess.run(
                [program, "restore", "-integrity-check", "quick", "-o", new, url],
                env=_environment(),
                capture_output=True,
                text=True,
                errors="replace",
            )
            if process.returncode:
                raise ReplicationFailed(
                    f"Nothing was restored from {url}: {_last_line(process.stderr)}."
                )
            database_connection.open_catalog(new).conn.close()  # refuses other databases
            if not (is_ours and _overwrite(catalog, new)):
                _replace(catalog, new, is_ours=is_ours)
    finally:
        lock.close()


def _overwrite(catalog: Path, new: Path) -> bool:
    """Write a database over the one in a catalog file, in one transaction; return whether it fits.

    Processes that have the file open see the old state until the commit, and then the new one.
    """
    if not catalog.exists():
        return False
    try:
        with closing(sqlite3.connect(f"{new.absolute().as_uri()}?mode=ro", uri=True)) as source:
            target = sqlite3.connect(catalog)
            try:
                pragmas = ("page_size", "journal_mode")
                if any(_pragma(target, name) != _pragma(source, name) for name in pragmas):
                    return False
                source.backup(target)  # all pages in one step
                leave_readable(target, catalog)
            finally:
                target.close()
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            return False
        raise CatalogUnusable(f"{catalog} cannot be written: {error}.") from error
    return True


def _pragma(connection: sqlite3.Connection, name: str) -> object:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def _replace(catalog: Path, new: Path, *, is_ours: bool) -> None:
    """Put a file in the place of a catalog, or of another file, which is kept beside it."""
    for leftover in ("-shm", "-wal", ""):  # the old log does not fit the new file
        old = catalog.with_name(f"{catalog.name}{leftover}")
        if is_ours and leftover:
            old.unlink(missing_ok=True)
        elif not is_ours and os.path.lexists(old):
            old.rename(_aside(old))
    new.replace(catalog)
    leave_readable(sqlite3.connect(catalog), catalog)


def _is_ours(catalog: Path) -> bool:
    """Return whether a file is a catalog by its header, or does not exist.

    A damaged header gives False. Raises CatalogUnusable for a database of another program, and
    for a directory.
    """
    refuse_directory(catalog)
    try:
        with catalog.open("rb") as file:
            header = file.read(100)
    except FileNotFoundError:
        return True
    if int.from_bytes(header[68:72], "big") == schema_version.APPLICATION_ID:
        return True
    if header.startswith(b"SQLite format 3\0"):
        raise CatalogUnusable(
            f"{catalog} is a database of another program, so it is not replaced. "
            "Choose another --data directory."
        )
    return False


def _aside(file: Path) -> Path:
    """Return a free path beside a file, to keep it under."""
    return next(
        aside
        for number in count(1)
        if not os.path.lexists(aside := file.with_name(f"{file.name}.~{number}~"))
    )


def _litestream() -> str:
    here = os.path.dirname(sys.executable)  # where pip puts it, which may not be on PATH
    program = shutil.which("litestream", path=f"{here}{os.pathsep}{os.environ.get('PATH', '')}")
    if not program:
        raise ReplicationFailed(
            "Litestream is not installed here: install skilldrop with its "
            "extra, skilldrop[replicate]."
        )
    return program


def _environment() -> dict[str, str]:
    """Return the environment with SSL_CERT_FILE, which Go reads, instead of AWS_CA_BUNDLE.

    Litestream 0.5 stops at the latter.
    """
    environment = dict(os.environ)
    if bundle := environment.pop("AWS_CA_BUNDLE", None):
        environment.setdefault("SSL_CERT_FILE", bundle)
    return environment


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("Error: ").rstrip(".") if lines else "Litestream gave no reason"
