"""Real git repositories of tests, and a server for them on loopback."""

import base64
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.skills import write_skill

_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": "/nowhere",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Author",
    "GIT_AUTHOR_EMAIL": "author@example.org",
    "GIT_COMMITTER_NAME": "Author",
    "GIT_COMMITTER_EMAIL": "author@example.org",
}


class Repository:
    """Repository with a working tree in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "uploadpack.allowFilter", "true")

    @property
    def url(self) -> str:
        """Its URL with the scheme file."""
        return f"file://{self.folder}"

    def git(self, *arguments: str, stdin: bytes = b"") -> str:
        """Run git in it and return the output."""
        return (
            subprocess.run(
                ["git", *arguments],
                cwd=self.folder,
                env=os.environ | _ENVIRONMENT,
                input=stdin,
                check=True,
                capture_output=True,
            )
            .stdout.decode()
            .strip()
        )

    def skill(self, path: str, description: str = "Does things.") -> None:
        """Write a skill."""
        write_skill(self.folder / path, description=description)

    def commit(self) -> str:
        """Commit everything, and return the commit."""
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--message", "Change")
        return self.git("rev-parse", "HEAD")

    def commit_tree(self, *entries: str) -> str:
        """Commit a tree of entries in the form of `ls-tree`, and return the commit."""
        tree = self.git("mktree", "--missing", stdin="".join(f"{e}\n" for e in entries).encode())
        commit = self.git("commit-tree", tree, "-m", "Change")
        self.git("update-ref", "refs/heads/main", commit)
        return commit

    def blob(self, content: bytes) -> str:
        """Store a file and return its id."""
        return self.git("hash-object", "-w", "--stdin", stdin=content)


@contextmanager
def served(folder: Path, password: str | None = None) -> Iterator[str]:
    """Serve the repositories in a folder by `git http-backend`; give the URL of the folder.

    With a password, the user `reader` must have it.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if password and self.headers.get("Authorization") != _basic("reader", password):
                self.send_response(401)
                self.send_header("WWW-Authenticate", "Basic realm=test")
                self.end_headers()
                return
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            result = subprocess.run(
                ["git", "http-backend"],
                env=os.environ
                | _ENVIRONMENT
                | {
                    "GIT_PROJECT_ROOT": str(folder),
                    "GIT_HTTP_EXPORT_ALL": "1",
                    "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                    "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                    "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                    "PATH_INFO": parts.path,
                    "QUERY_STRING": parts.query,
                    "REQUEST_METHOD": self.command,
                },
                input=body,
                capture_output=True,
                check=True,
            ).stdout
            head, _, content = result.partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
            self.send_response(int(headers.pop("Status", "200 OK").split()[0]))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815  # http.server calls it

        def log_message(self, *_: object) -> None:
            pass

    with _running(Handler) as url:
        yield url


@contextmanager
def _running(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
