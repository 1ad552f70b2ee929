"""Replication with Litestream, which copies the catalog while it is written."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path
from typing import NoReturn

from catalog.database import connection as database_connection
from catalog.database import migrations
from catalog.database.connection import leave_readable
from catalog.database.lock import WriterLock, lock_of
from catalog.model.errors import CatalogBusy, CatalogUnusable, ReplicationFailed


def replicate(catalog: Path, url: str, interval: float) -> NoReturn:
    """Turn this process into one that copies every change to a URL until it is stopped.

    What was committed `interval` seconds before a crash is safe there, if sending it takes no
    longer than half of that. Raises NotInCatalog, CatalogUnusable and ReplicationFailed.
    """
    database_connection.open_catalog(catalog).conn.close()
    program = _litestream()
    pause = f"{interval / 4:g}s"  # between two looks for changes, and between two sendings
    settings = {
        "dbs": [
            {
                "path": str(catalog),
                "monitor-interval": pause,
                "replica": {"url": url, "sync-interval": pause},
            }
        ]
    }
    file = os.memfd_create("litestream.yml", flags=0)  # kept open: the program reads it from here
    os.write(file, json.dumps(settings).encode())
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(
        program,
        [program, "replicate", "-no-expand-env", "-config", f"/proc/self/fd/{file}"],
        _environment(),
    )


def restore(url: str, catalog: Path, *, replace: bool = False) -> None:
    """Bring the newest copy at a URL back as a catalog file, which is there whole or not at all.

    What is replaced goes if it is a catalog; what may be none is put aside. Raises CatalogBusy
    where a catalog is there and must not be replaced or is being written, CatalogUnusable where
    it is a database of another program, and ReplicationFailed where nothing can be brought back.
    """
    program = _litestream()
    if catalog.exists() and not replace:
        raise CatalogBusy(
            f"There is a catalog at {catalog} already. Name another --data "
            "directory, or add --replace."
        )
    catalog.parent.mkdir(parents=True, exist_ok=True)
    lock = WriterLock(lock_of(catalog))
    try:
        is_ours = _is_ours(catalog)
        with tempfile.TemporaryDirectory(dir=catalog.parent, prefix=".restore-") as beside:
            new = Path(beside, catalog.name)
            done = subprocess.run(
                [program, "restore", "-integrity-check", "quick", "-o", new, url],
                env=_environment(),
                capture_output=True,
                text=True,
                errors="replace",
            )
            if done.returncode:
                raise ReplicationFailed(f"Nothing was restored from {url}: {_last(done.stderr)}.")
            database_connection.open_catalog(new).conn.close()  # a catalog of skilldrop
            for leftover in ("-shm", "-wal", ""):  # beside the new file the old ones would lie
                old = catalog.with_name(f"{catalog.name}{leftover}")
                if is_ours and leftover:
                    old.unlink(missing_ok=True)
                elif not is_ours and os.path.lexists(old):
                    old.rename(_aside(old))
            new.replace(catalog)
            leave_readable(sqlite3.connect(catalog), catalog)
    finally:
        lock.close()


def _is_ours(catalog: Path) -> bool:
    """Tell whether a file is a catalog by its header, or not there; a damaged one may not be.

    Raises CatalogUnusable where it is a database of another program.
    """
    try:
        with catalog.open("rb") as file:
            header = file.read(100)
    except FileNotFoundError:
        return True
    if int.from_bytes(header[68:72], "big") == migrations.APPLICATION_ID:
        return True
    if header.startswith(b"SQLite format 3\0"):
        raise CatalogUnusable(
            f"{catalog} is a database of another program, and is not replaced. "
            "Name another --data directory."
        )
    return False


def _aside(file: Path) -> Path:
    """Return a name that is still free, for a file that nobody knows."""
    return next(
        aside
        for number in count(1)
        if not os.path.lexists(aside := file.with_name(f"{file.name}.~{number}~"))
    )


def _litestream() -> str:
    here = os.path.dirname(sys.executable)  # where pip put it, though it may not be on the PATH
    found = shutil.which("litestream", path=f"{here}{os.pathsep}{os.environ.get('PATH', '')}")
    if not found:
        raise ReplicationFailed(
            "Litestream is not installed here: install skilldrop with its "
            "extra, skilldrop[replicate]."
        )
    return found


def _environment() -> dict[str, str]:
    """Return the environment; Litestream 0.5 stops at AWS_CA_BUNDLE, of which Go has its own."""
    environment = dict(os.environ)
    if bundle := environment.pop("AWS_CA_BUNDLE", None):
        environment.setdefault("SSL_CERT_FILE", bundle)
    return environment


def _last(said: str) -> str:
    lines = [line for line in said.splitlines() if line.strip()]
    return lines[-1].removeprefix("Error: ").rstrip(".") if lines else "it did not say why"
