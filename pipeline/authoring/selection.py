"""Selection of findings: by codes, by options and by comments in a SKILL.md."""

import difflib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from catalog.model.errors import SettingsInvalid
from catalog.model.finding import ALWAYS, Finding
from catalog.model.values import Severity
from catalog.text.body import with_plain_line_ends
from pipeline.config.validate_settings import ValidateConfig, ValidateSettings
from pipeline.dialects.registry import DEFAULT_PROFILES, FINDING_TYPES, OF_PROFILES
from pipeline.roots.ignore_files import spec_of

ALL = "all"
READING = "reading"
DEFAULT = (READING, *DEFAULT_PROFILES)
"""Selectors in force unless others are named."""

MARK = "skilldrop:"
"""Text without which a file has no such comment."""

# `<!-- skilldrop: ignore=CODE, CODE -->`, or `# skilldrop: ignore=CODE` in the frontmatter.
_COMMENT = re.compile(
    r"(?:<!--|(?:^|(?<=\s))#)[ \t]*skilldrop:[ \t]*(?P<verb>[\w-]+)[ \t]*=[ \t]*"
    r"(?P<codes>[\w, \t-]*?)[ \t]*(?:-->|$)"
)

_KINDS = {kind.code: kind for kind in FINDING_TYPES}
SELECTORS = frozenset({ALL, READING, *OF_PROFILES, *_KINDS})


@dataclass(frozen=True, slots=True)
class Options:
    """Selectors of the command line."""

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Selection:
    """Codes to report, with their severities and the paths where some are left out."""

    codes: frozenset[str]
    severity: Mapping[str, Severity] = field(default_factory=dict)  # by code
    per_path: tuple[tuple[str, frozenset[str]], ...] = ()  # a pattern and the codes left out
    folder: str = "/"  # real path; patterns are relative to it
    comments: bool = False  # whether comments in a SKILL.md leave out findings

    @property
    def profiles(self) -> tuple[str, ...]:
        """Names of the profiles whose rules must run."""
        return _profiles(self.codes)

    def apply(self, findings: Iterable[Finding], folder: str, document: str) -> Iterator[Finding]:
        """Yield the reported findings of a skill; `folder` is its real path."""
        for finding in findings:
            if finding.code not in self.codes or self._is_ignored(finding, folder, document):
                continue
            severity = self.severity.get(finding.code)
            yield finding._replace(severity=severity) if severity else finding

    def _is_ignored(self, finding: Finding, folder: str, document: str) -> bool:
        return any(
            finding.code in codes
            and matches((pattern,), self.folder, f"{folder}/{finding.path or document}")
            for pattern, codes in self.per_path
        )


@lru_cache
def _profiles(codes: frozenset[str]) -> tuple[str, ...]:
    return tuple(
        name for name, types in OF_PROFILES.items() if any(kind.code in codes for kind in types)
    )


def of_profiles(names: Iterable[str]) -> Selection:
    """Return the selection of these profiles, and of what is reported with any profiles."""
    return Selection(_chosen(("spec", READING, *names), ()))


def of_settings(config: ValidateConfig, options: Options, *, comments: bool = True) -> Selection:
    """Return the selection of the settings, changed by the options.

    `--select` replaces the selectors of the file. Raises SettingsInvalid for an unknown selector,
    with its source and the nearest known one.
    """
    settings, line = config.settings, "the command line"
    for key in ("select", "extend_select", "ignore"):
        check(getattr(options, key), f"{line}: {key.replace('_', '-')}")
        check(getattr(settings, key), f"{config.source}: {key.replace('_', '-')}")
    check(settings.severity, f"{config.source}: severity")
    for pattern, selectors in settings.per_path_ignores.items():
        check(selectors, f'{config.source}: per-path-ignores, "{pattern}",')
    if options.select:
        settings = ValidateSettings(
            per_path_ignores=settings.per_path_ignores, severity=settings.severity
        )
    return Selection(
        _chosen(
            (
                *(options.select or settings.select or DEFAULT),
                *settings.extend_select,
                *options.extend_select,
            ),
            (*settings.ignore, *options.ignore),
        ),
        _severities(settings.severity),
        tuple(
            (pattern, codes_of(selectors))
            for pattern, selectors in settings.per_path_ignores.items()
        ),
        os.path.realpath(config.folder),
        comments,
    )


def check(selectors: Iterable[str], source: str) -> None:
    """Raise SettingsInvalid for a selector that is neither a code nor a profile."""
    if message := unknown(selectors):
        raise SettingsInvalid(f"{source} {message}")


def unknown(selectors: Iterable[str]) -> str | None:
    """Return the end of a sentence about the first unknown selector; None if all are known."""
    for selector in selectors:
        if selector not in SELECTORS:
            near = difflib.get_close_matches(selector, sorted(SELECTORS), n=1)
            hint = f"did you mean {near[0]}?" if near else "`skilldrop rule` lists them."
            return f"names {selector!r}, which is neither a code nor a profile; {hint}"
    return None


def codes_of(selectors: Iterable[str]) -> frozenset[str]:
    """Return the codes that selectors name."""
    named = frozenset(selectors)
    return frozenset(
        code for code, kind in _KINDS.items() if not named.isdisjoint((code, kind.profile, ALL))
    )


def matches(patterns: tuple[str, ...], folder: str, path: str) -> bool:
    """Return whether patterns of a folder match an absolute path; that of a folder ends in /."""
    above = folder.rstrip("/") + "/"
    return path.startswith(above) and spec_of(patterns).match_file(
        path.removeprefix(above).replace("!/", "/")  # a skill in an archive
    )


def _chosen(select: tuple[str, ...], ignore: tuple[str, ...]) -> frozenset[str]:
    """Return the selected codes; a code takes precedence over its profile, and this over `all`.

    Findings that reject a folder in every root are selected unless they are ignored.
    """
    chosen = set()
    for code, kind in _KINDS.items():
        for selector in (code, kind.profile, ALL):
            if selector in ignore:
                break
            if selector in select:
                chosen.add(code)
                break
        else:
            chosen |= {code} if kind.rejects == ALWAYS else set()
    return frozenset(chosen)


def _severities(by_selector: Mapping[str, Severity]) -> Mapping[str, Severity]:
    """Return the severity of each code; the most specific selector decides."""
    return {
        code: by_selector[selector]
        for code, kind in _KINDS.items()
        for selector in [next((s for s in (code, kind.profile, ALL) if s in by_selector), None)]
        if selector
    }


@dataclass(slots=True)
class Ignores:
    """Findings that the comments of one file leave out."""

    everywhere: frozenset[str] = frozenset()
    by_line: dict[int, frozenset[str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)  # "12: names 'nam', which …"

    def applies(self, finding: Finding, document: str | None) -> bool:
        """Return whether a comment leaves out a finding."""
        if finding.code in self.everywhere:
            return True
        in_document = finding.path in (None, document) and finding.line is not None
        return in_document and finding.code in self.by_line.get(finding.line or 0, ())


def comments_in(text: str) -> Ignores:
    """Return the findings that the comments of a SKILL.md leave out.

    A comment after other text is about its own line, a comment alone on a line about the next
    line that is not empty; `ignore-file` is about the whole skill.
    """
    ignores, pending = Ignores(), frozenset[str]()
    for number, line in enumerate(with_plain_line_ends(text).split("\n"), 1):
        comment = _COMMENT.search(line) if MARK in line else None
        codes = _codes(comment, number, ignores) if comment else frozenset()
        if comment and comment["verb"] == "ignore-file":
            ignores.everywhere |= codes
        elif comment and not line.replace(comment[0], "").strip():
            pending |= codes
        elif line.strip():
            if codes or pending:
                ignores.by_line[number] = codes | pending
            pending = frozenset()
    return ignores


def _codes(comment: re.Match[str], number: int, ignores: Ignores) -> frozenset[str]:
    selectors: Iterable[str] = [word for word in re.split(r"[,\s]+", comment["codes"]) if word]
    if comment["verb"] not in ("ignore", "ignore-file"):
        ignores.problems.append(f"{number}: the comment must say ignore=… or ignore-file=….")
        return frozenset()
    if message := unknown(selectors):
        ignores.problems.append(f"{number}: the comment {message}")
    return codes_of(selectors)
