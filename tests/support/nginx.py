"""The real nginx with the configuration of `deploy/`, on other ports and paths."""

import getpass
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.support.waiting import wait_for

HOST = "127.0.0.1"
DEPLOYED = Path(__file__).parents[2] / "deploy" / "nginx.conf"


@contextmanager
def nginx(
    folder: Path,
    listen: int,
    sites: Sequence[int],
    mcp: Sequence[int] = (),
    *,
    cached: bool = True,
) -> Iterator[str]:
    """Run nginx before the sites and MCP servers at some ports, and yield its URL.

    It answers below /static/ with files of the folder `static`.
    """
    config = folder / "nginx.conf"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(_configuration(folder, listen, sites, mcp or sites, cached=cached))
    errors = folder / "errors"
    server = subprocess.Popen(["nginx", "-e", str(errors), "-c", str(config)])

    def check() -> None:
        assert server.poll() is None, errors.read_text()

    try:
        wait_for((folder / "pid").exists, check)
        yield f"http://{HOST}:{listen}/"
    finally:
        server.terminate()
        server.wait()


def _configuration(
    folder: Path, listen: int, sites: Sequence[int], mcp: Sequence[int], *, cached: bool
) -> str:
    text = DEPLOYED.read_text()
    for name, ports in (("skilldrop", sites), ("skilldrop_mcp", mcp)):
        servers = "".join(f"    server {HOST}:{port};\n" for port in ports)
        text, found = re.subn(
            rf"(upstream {name} {{\n)(    server [\d.]+:\d+;\n)+", rf"\1{servers}", text
        )
        assert found == 1
    text = text.replace("127.0.0.1:8080", f"{HOST}:{listen}")
    text = text.replace("/var/cache/nginx/skilldrop", f"{folder}/cache")
    if not cached:
        text = text.replace("proxy_cache skilldrop;", "")
    text = text.replace(
        "    location / {", f"    location /static/ {{ root {folder}; }}\n    location / {{"
    )
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    own = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    return (
        f"user {getpass.getuser()};\ndaemon off;\nworker_processes 1;\n"
        f"pid {folder}/pid;\nerror_log {folder}/errors;\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{own}{text}\n}}\n"
    )
