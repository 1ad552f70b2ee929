"""Site that serves what `skilldrop pull` asks for, also what a real one never would."""

import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class PullSite:
    """Answers by path, and the requests that came."""

    def __init__(self) -> None:
        self.url = ""
        self.catalog = "one"
        self.is_complete = True
        self.skills: dict[str, dict[str, Any]] = {}
        self.answers: dict[str, bytes] = {}
        self.requests: list[tuple[str, Mapping[str, str]]] = []
        self.redirect: str | None = None

    def publish(self, folder: str, files: Mapping[str, str], /, **changes: Any) -> None:
        """Publish a skill with texts by path; changes replace values of its row."""
        rows: list[dict[str, Any]] = [
            {
                "path": path,
                "mode": "755" if text.startswith("#!") else "644",
                "size": len(text.encode()),
                "sha256": hashlib.sha256(text.encode()).hexdigest(),
            }
            for path, text in sorted(files.items())
        ]
        manifest = "".join(
            f"{len(row['path'].encode())}:{row['path']}{row['mode']}:{row['size']}:{row['sha256']}\n"
            for row in rows
        )
        digest = hashlib.sha256(manifest.encode()).hexdigest()
        version = f"20260101-{digest[:6]}"
        self.skills[folder] = {
            "folder": folder,
            "name": folder,
            "skill_id": folder,
            "version": version,
            "digest": f"sha256:{digest}",
            **changes,
        }
        place = f"/skills/{folder}/versions/{version}"
        self.answers[f"{place}/files/"] = json.dumps({"files": rows}).encode()
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as packed:
            for path, text in files.items():
                packed.writestr("SKILL.md" if path.lower() == "skill.md" else path, text)
        self.answers[f"{place}/bundle.zip"] = archive.getvalue()

    def paths(self) -> list[str]:
        """Return the paths of the requests, and forget them."""
        paths = [path for path, _ in self.requests]
        self.requests.clear()
        return paths

    def listing(self) -> bytes:
        """Return the list of skills."""
        return json.dumps(
            {
                "catalog": self.catalog,
                "is_complete": self.is_complete,
                "skills": list(self.skills.values()),
            }
        ).encode()


@contextmanager
def pull_site() -> Iterator[PullSite]:
    """Yield a running site."""
    site = PullSite()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            site.requests.append((self.path, dict(self.headers.items())))
            body = site.listing() if path == "/pull.json" else site.answers.get(path)
            if site.redirect:
                self.send_response(302)
                self.send_header("Location", site.redirect)
                body = b""
            elif body is None:
                self.send_response(404)
                body = b'{"error": "No skill is there."}'
            else:
                etag = f'"{hashlib.sha256(body).hexdigest()}"'
                is_known = self.headers.get("If-None-Match") == etag
                self.send_response(304 if is_known else 200)
                self.send_header("ETag", etag)
                body = b"" if is_known else body
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        site.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, args=(0.05,)).start()
        try:
            yield site
        finally:
            server.shutdown()
