"""Requests to a site: its list of skills, and the verified files of one."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import zipfile
from http.client import HTTPException
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from http.client import HTTPResponse
    from pathlib import Path

LOCK_FILE = "skilldrop.lock"
TIMEOUT = 60.0
"""Seconds without a byte from the site."""
MOST_LIST_BYTES = 256 * 1024 * 1024
_PIECE = 1024 * 1024
BROKEN = (OSError, HTTPException, ValueError, KeyError, TypeError, RecursionError)
"""What an answer raises that is incomplete, or has not the right form."""

ON_WINDOWS = os.name == "nt"
NOT_ON_WINDOWS = re.compile(
    r"""[<>:"\\|?*\0-\x1f]|[. ](?:/|$)|(?:^|/)(?:con|prn|aux|nul|(?:com|lpt)[1-9])\s*(?:[./]|$)""",
    re.IGNORECASE,
)
"""What a path on Windows cannot have: characters, ends of names, and names of devices."""


class SiteError(Exception):
    """A site did not give what it should; the text is a sentence."""


class Refused(Exception):
    """A skill that cannot be copied to this machine; the text is a sentence."""


class Skill(NamedTuple):
    """Published skill."""

    folder: str  # its name among the skills
    skill_id: str
    version: str
    digest: str
    repaired: str = ""  # SHA-256 of the SKILL.md with repairs that takes the place of its own


class Listing(NamedTuple):
    """Skills to keep."""

    catalog: str  # identity
    is_complete: bool  # whether the catalog has all skills, so that others may be removed
    skills: Mapping[str, Skill]  # by folder
    etag: str


class _SameAddress(HTTPRedirectHandler):
    """Follow no redirect: it might carry the token to another host."""

    def redirect_request(
        self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: str
    ) -> None:
        raise SiteError(f"The site leads to another address, {newurl}; give that one.")


class Site:
    """A site, with a reader's token if it needs one."""

    def __init__(self, url: str, token: str | None = None) -> None:
        """Raise SiteError if the URL is none of a site."""
        try:
            parts = urlsplit(url)
            is_site = parts.scheme in ("http", "https") and bool(parts.hostname and parts.port != 0)
        except ValueError:
            is_site = False
        if not is_site:
            raise SiteError(f"{url} is no address of a site; it begins with https:// or http://.")
        self.url = url.rstrip("/")
        self.shown_url = self.url.partition("/token/")[0]
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._opener = build_opener(_SameAddress)

    def listing(self, query: str, etag: str = "") -> Listing | None:
        """Return the skills of a query string; None if they are those of the etag."""
        with self._open(f"/pull.json?{query}", {"If-None-Match": etag}) as answer:
            if answer.status == 304:
                return None
            tag = answer.headers.get("ETag", "")
            try:
                value = json.loads(_whole(answer))
                rows = ({"repaired": "", **row} for row in value["skills"])
                skills = [Skill(*(str(row[key]) for key in Skill._fields)) for row in rows]
                return Listing(
                    str(value["catalog"]),
                    value["is_complete"] is True,
                    {skill.folder: skill for skill in skills},
                    tag,
                )
            except BROKEN:
                raise SiteError(f"{self.shown_url} is not a site of skilldrop.") from None

    def fetch(self, skill: Skill, to: Path) -> dict[str, str]:
        """Write the files of a skill into a new folder; return the SHA-256 of each by path.

        Every byte is compared with the digest of the skill. Raises SiteError and Refused.
        """
        check_name(skill.folder)
        version = (
            f"/skills/{quote(skill.skill_id, safe='')}/versions/{quote(skill.version, safe='')}"
        )
        try:
            with self._open(f"{version}/files/") as answer:
                files = json.loads(_whole(answer))["files"]
            if _digest(files) != skill.digest:
                raise SiteError(f"The files of {skill.folder} are not those of its digest.")
            names = {file["path"]: _name(file["path"]) for file in files}
            for path in names.values():
                check_path(path)
            if sys.platform in ("win32", "darwin") and len(
                {n.casefold() for n in names.values()}
            ) < len(names):
                raise Refused("two of its files differ only in upper and lower case")
            with TemporaryFile() as archive:
                with self._open(f"{version}/bundle.zip") as answer:
                    shutil.copyfileobj(answer, archive, _PIECE)
                with zipfile.ZipFile(archive) as packed:
                    for file in files:
                        with packed.open(names[file["path"]]) as content:
                            _write(content, to.joinpath(*names[file["path"]].split("/")), file)
        except (*BROKEN, zipfile.BadZipFile) as error:
            raise SiteError(f"{skill.folder} did not arrive whole ({error}).") from None
        hashes = {names[file["path"]]: str(file["sha256"]) for file in files}
        if skill.repaired:
            with self._open(f"{version}/files/SKILL.md?repaired=1") as answer:
                text = _whole(answer)
            if hashlib.sha256(text).hexdigest() != skill.repaired:
                raise SiteError(f"The repaired SKILL.md of {skill.folder} is another one now.")
            (to / "SKILL.md").write_bytes(text)
            hashes["SKILL.md"] = skill.repaired
        return hashes

    def _open(self, path: str, headers: Mapping[str, str] = {}) -> HTTPResponse:
        """Return the answer to a request. Raises SiteError."""
        request = Request(self.url + path, headers={**self._headers, **headers})
        try:
            answer: HTTPResponse = self._opener.open(request, timeout=TIMEOUT)
        except HTTPError as error:
            if error.code == 304:
                return error  # type: ignore[return-value]  # it is an answer, too
            with error:
                raise SiteError(f"{self.shown_url} answers: {_sentence(error)}") from None
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "reason", error)
            reason = getattr(reason, "strerror", None) or reason  # without its number
            raise SiteError(f"{self.shown_url} cannot be reached: {reason}.") from None
        return answer


def check_name(folder: str) -> None:
    """Raise Refused for a name that the folder of a skill cannot have."""
    if "/" in folder or folder[:1] == "." or folder == LOCK_FILE:
        raise Refused(f"{folder!r} is no name of a folder")
    check_path(folder)


def check_path(path: str) -> None:
    """Raise Refused for a path that leads out of its folder, or that this machine cannot have."""
    parts = path.split("/")
    if "\0" in path or not {"", ".", ".."}.isdisjoint(parts):
        raise Refused(f"the path {path!r} leads out of its folder")
    for part in parts if ON_WINDOWS else ():
        if NOT_ON_WINDOWS.search(part):
            raise Refused(f"Windows cannot have a file with the name {part!r}")


def _name(path: str) -> str:
    """Return the path of a file in a copy: any spelling of SKILL.md becomes SKILL.md."""
    return "SKILL.md" if path.lower() == "skill.md" else path


def _digest(files: Sequence[Mapping[str, Any]]) -> str:
    """Return the digest of a skill: SHA-256 over its sorted paths, modes, sizes and hashes."""
    manifest = hashlib.sha256()
    for file in sorted(files, key=lambda file: str(file["path"])):
        path = file["path"].encode()
        manifest.update(
            b"%d:%s%s"
            % (len(path), path, f"{file['mode']}:{file['size']}:{file['sha256']}\n".encode())
        )
    return f"sha256:{manifest.hexdigest()}"


def _write(content: IO[bytes], to: Path, file: Mapping[str, Any]) -> None:
    """Write a file. Raises ValueError if its bytes are not those of its SHA-256."""
    to.parent.mkdir(parents=True, exist_ok=True)
    sha256, left = hashlib.sha256(), int(file["size"])
    with to.open("xb") as copy:
        while piece := content.read(min(_PIECE, left + 1)):
            left -= len(piece)
            if left < 0:
                break
            sha256.update(piece)
            copy.write(piece)
    if left or sha256.hexdigest() != file["sha256"]:
        raise ValueError(f"{file['path']} has other bytes than published")
    to.chmod(0o755 if file["mode"] == "755" else 0o644)


def _whole(answer: HTTPResponse) -> bytes:
    content = answer.read(MOST_LIST_BYTES + 1)
    if len(content) > MOST_LIST_BYTES:
        raise SiteError("The site's list is too long.")
    return content


def _sentence(error: HTTPError) -> str:
    """Return the reason of a refusal as the site gives it, or what to do about it."""
    if error.code == 401:
        return "It needs the token of a reader: put yours into SKILLDROP_TOKEN or a --token-file."
    text = error.read(_PIECE).decode(errors="replace")
    try:
        reason = str(json.loads(text)["error"])
    except (ValueError, KeyError, TypeError):
        reason = text.strip().partition("\n")[0] if "<" not in text else ""
    if error.code == 404 and not reason.endswith("."):  # of another server, or of Datasette
        return f"{error.code} {error.reason}. Give the address of the site itself."
    return reason or f"{error.code} {error.reason}."
