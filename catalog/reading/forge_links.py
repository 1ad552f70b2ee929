"""Web pages of repositories on well-known forges, made from their URLs; nothing is fetched."""

from posixpath import join
from urllib.parse import quote, urlsplit

_FOLDER = {
    "github.com": "/tree/{commit}/{path}",
    "gitlab.com": "/-/tree/{commit}/{path}",
    "bitbucket.org": "/src/{commit}/{path}",
    "codeberg.org": "/src/commit/{commit}/{path}",
    "git.sr.ht": "/tree/{commit}/item/{path}",
}
"""Address of a folder at a commit, below the page of the repository."""


def label(url: str) -> str:
    """Return the URL of a repository for people: without scheme, credentials and `.git`."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    if parts.scheme in ("", "file"):
        return url
    host = parts.netloc.rpartition("@")[2]
    return f"{host}{parts.path.rstrip('/').removesuffix('.git')}"


def page(url: str, commit: str | None, *path: str) -> str | None:
    """Return the web page of a folder of a repository, at a commit if there is one.

    The path is relative to the repository. None for a URL that is not of http or https, or of a
    forge that is not well known; credentials in a URL are left out.
    """
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        is_plain = parts.scheme in ("http", "https") and parts.port is None
    except ValueError:
        return None
    if not is_plain or host not in _FOLDER:
        return None
    repository = parts.path.strip("/").removesuffix(".git")
    if repository.count("/") < 1:
        return None
    address = f"https://{host}/{quote(repository, safe='/~')}"
    if not commit:
        return address
    folder = quote(join("", *filter(None, path)).strip("/"))
    rest = _FOLDER[host].format(commit=quote(commit, safe=""), path=folder)
    return address + rest.rstrip("/").removesuffix("/item")
