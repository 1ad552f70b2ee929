"""The program: its arguments, its repetition, and what it says."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import time
from dataclasses import asdict
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode

from catalog.pull import timer
from catalog.pull.folder import Folder, NotPossible, Pulled
from catalog.pull.site import Site, SiteError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DONE, DIFFERENT, FAILED, INTERRUPTED = 0, 1, 2, 130
_LOOK = 20.0
"""Seconds between two looks at the clock, so that time asleep counts."""

DESCRIPTION = """\
Keep the published skills of a site in DIR, for the agents of this machine.

Only differences are fetched, each byte is compared with its digest, and each folder is exchanged
in one step. Skills that are no longer published are removed. Without a selection, that of the
earlier pull to DIR stays in force; --all takes every skill. Names of --only add to those named
before, until --drop names them; another selection removes none unasked. A folder that skilldrop
did not make, or that was edited here, stays; delete it to get the published one. Exit 1 if
something stays so. Without DIR it is ~/.claude/skills if there is a folder ~/.claude, else
~/.agents/skills."""

EXAMPLES = """\
Examples:
  {0} https://skills.example.org
  {0} https://skills.example.org ~/.codex/skills --tag office
  {0} https://skills.example.org --every 15m

A site with tokens: put yours into SKILLDROP_TOKEN, or into a file for --token-file."""


def parser(program: str) -> argparse.ArgumentParser:
    """Return the parser of the arguments."""
    result = argparse.ArgumentParser(
        program,
        description=DESCRIPTION,
        epilog=EXAMPLES.format(program),
        formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=96),
        allow_abbrev=False,
    )
    add = result.add_argument
    add("site", metavar="URL", help="address of the site")
    add("folder", metavar="DIR", nargs="?", type=Path, help="folder of skills of an agent")
    add("--index", nargs=1, metavar="NAME", help="only the skills of this prompt index")
    add("--level", action="append", metavar="LEVEL", help="only this level; may be repeated")
    add("--tag", action="append", metavar="TAG", help="only this tag; may be repeated")
    add("--only", action="append", metavar="SKILL", help="only this skill; may be repeated")
    add("--drop", action="append", metavar="SKILL", help="drop this skill of an earlier --only")
    add("--all", action="store_true", help="all skills, where an earlier pull selected some")
    add("--repair", action="store_true", help="repair SKILL.md where agents would not load it")
    add("--token-file", type=Path, metavar="FILE", help="file with the token of a reader")
    add("--every", type=_seconds, metavar="TIME", help="repeat, such as every 15m, 2h or 1d")
    add("--install-timer", action="store_true", help="let systemd repeat it, by default each 15m")
    add("--yes", action="store_true", help="ask nothing, and remove also most of the skills")
    add("--json", action="store_true", help="print the result as JSON")
    return result


def main(arguments: list[str] | None = None, program: str = "pull.pyz") -> int:
    """Run the program; return its exit code."""
    given = _given(parser(program), arguments)
    folder = (given.folder or _usual()).expanduser()
    try:
        if given.install_timer:
            return timer.install(
                given.site, folder, _repeated(given, folder), given.every, given.yes
            )
        while True:
            begun = time.time()
            try:
                code = _once(given, folder)
            except (SiteError, NotPossible, OSError) as error:
                print(f"Error: {error}", file=sys.stderr)
                code = FAILED
            if given.every is None:
                return code
            while time.time() < begun + given.every:
                time.sleep(min(_LOOK, given.every))
    except (NotPossible, SiteError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


def _given(parser: argparse.ArgumentParser, arguments: list[str] | None) -> argparse.Namespace:
    """Return the arguments; exit with a sentence if they are none."""
    given, others = parser.parse_known_args(arguments)
    if others:
        name = others[0].partition("=")[0]
        known = [word for word in parser.format_help().split() if word.startswith("--")]
        near = [each for each in known if each.startswith(name)] or get_close_matches(name, known)
        parser.error(f"there is no {name}" + (f"; the nearest is {near[0]}" if near else ""))
    if given.drop and (given.every or given.install_timer):
        parser.error("--drop is for one pull; give it without a repetition")
    if given.all and (given.drop or _selection(given)):
        parser.error("--all takes every skill; give it without another selection")
    return given


def _once(given: argparse.Namespace, folder: Path) -> int:
    """Pull once, and say what was done."""
    token = os.environ.get("SKILLDROP_TOKEN")
    if given.token_file:
        try:
            token = given.token_file.expanduser().read_text("utf-8").strip()
        except OSError as error:
            raise NotPossible(f"{given.token_file} cannot be read: {error.strerror}.") from None
    site, there = Site(given.site, token), Folder(folder)
    query = _query(given, there)
    result = there.pull(
        site,
        query,
        partial(agrees, given.yes),
        _progress if sys.stderr.isatty() else lambda *_: None,
    )
    if given.json:
        print(json.dumps({"folder": str(folder), **asdict(result)}, ensure_ascii=False))
    else:
        print("\n".join(said(result, folder)))
        kept = {} if _selection(given) or given.drop else parse_qs(query, keep_blank_values=True)
        if words := _words(kept):
            print(f"  selected as before: {_visible(shlex.join(words))}; --all takes every skill")
    return DONE if result.is_whole else DIFFERENT


_SELECTING = ("index", "level", "tag", "only")


def _selection(given: argparse.Namespace) -> dict[str, list[str]]:
    """Return the values of the options that select skills."""
    return {key: values for key in _SELECTING if (values := getattr(given, key))}


def _words(selection: Mapping[str, list[str]]) -> list[str]:
    """Return the options of a selection; names of an earlier pull are those of --only, too."""
    keys = [*_SELECTING, "also"]
    words = [(key.replace("also", "only"), each) for key in keys for each in selection.get(key, [])]
    return [word for key, value in words for word in (f"--{key}", value)]


def _query(given: argparse.Namespace, there: Folder) -> str:
    """Return the query for the selection: the given one with earlier names, else the earlier."""
    selection, dropped = _selection(given), given.drop or []
    repair = {"repair": ["1"]} if given.repair else {}
    before = parse_qs(there.query, keep_blank_values=True)
    names = {*before.get("only", []), *before.get("also", [])}
    if not (selection or given.all):
        selection = {key: before[key] for key in _SELECTING[:-1] if key in before}
        selection |= {"only": []} if names else {}
    if not ("only" in selection or dropped):
        return urlencode(selection | repair, doseq=True)
    is_same = all(selection.get(key) == before.get(key) for key in _SELECTING[:-1])
    asked = sorted(names - {""}) if is_same else []
    for name in dropped:
        if name not in asked:
            known = ", ".join(asked) or "none"
            raise NotPossible(f"{name} is not among the skills that --only named there: {known}.")
    only = selection.get("only", [])
    also = [name for name in asked if name not in (*only, *dropped)]
    nothing = [] if only else [""]  # an empty name selects no skill
    return urlencode(selection | repair | {"also": also or nothing}, doseq=True)


def said(result: Pulled, folder: Path) -> Iterator[str]:
    """Yield the counts of a pull, and a line for each skill that changed or was left alone."""
    counts = [
        f"{len(names)} {word}"
        for word in ("added", "updated", "unchanged", "removed")
        if (names := getattr(result, word)) or word == "unchanged"
    ]
    yield f"{_visible(str(folder))}: {', '.join(counts)}"
    for word in ("added", "updated", "removed"):
        for name in getattr(result, word):
            yield f"  {word} {_visible(name)}"
    for name in result.repaired:
        yield f"  repaired: {_visible(name)}/SKILL.md; both digests are in skilldrop.lock"
    for name in result.taken:
        way = "move that away to get it"
        if (folder / name).resolve().parent.joinpath(".skilldrop").exists():
            way = f"`skilldrop unlink {_visible(str(folder))}` removes that link"
        yield f"  not copied: {_visible(name)}: the name is taken there; {way}"
    for name in result.edited:
        yield f"  left alone: {_visible(name)} was edited here; delete it to get the published one"
    for name, reason in result.failed.items():
        yield f"  not copied: {_visible(name)}: {_visible(reason)}"
    if result.withheld:
        yield f"  {result.reason} Not removed: {', '.join(map(_visible, result.withheld[:10]))}"


def _visible(text: str) -> str:
    """Return a text of others without characters that would change the terminal."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def agrees(yes: bool, sentence: str) -> bool:
    """Return whether somebody agrees to a great change; nobody does where nobody can be asked."""
    if yes or not sys.stdin or not sys.stdin.isatty():
        return yes
    return input(f"{sentence} Go on? [y/N] ").strip().lower() in ("y", "yes")


def _progress(done: int, total: int) -> None:
    end = "\n" if done == total else ""
    print(f"\r{done} of {total} skills", end=end, file=sys.stderr, flush=True)


def _usual() -> Path:
    home = Path.home()
    return home / (".claude" if (home / ".claude").is_dir() else ".agents") / "skills"


def _repeated(given: argparse.Namespace, folder: Path) -> list[str]:
    """Return the arguments for a repetition without people."""
    words = [given.site, str(folder.absolute()), *_words(_selection(given))]
    words += [f"--{flag}" for flag in ("all", "repair") if getattr(given, flag)]
    if given.token_file:
        words += ["--token-file", str(given.token_file.expanduser().absolute())]
    return words


def _seconds(text: str) -> float:
    """Return the seconds of a time such as 15m. Raises ValueError."""
    seconds = float(text[:-1]) * {"m": 60, "h": 3600, "d": 86_400}.get(text[-1:], 0)
    if not 10 <= seconds < 1e9:
        raise ValueError
    return seconds


_seconds.__name__ = "time"  # in the messages of argparse
