"""Selection of findings: by `[validate]`, by options and by comments in a skill."""

import difflib
import os
import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self, TypeAlias

from pydantic import Field, model_validator

from catalog.model.errors import NotPossible
from catalog.model.finding import ALWAYS, Finding, FindingType
from catalog.model.setting import Table
from catalog.model.skill import Report
from catalog.model.values import Severity
from catalog.text.visible import with_plain_line_ends
from pipeline.dialects.registry import DEFAULT_PROFILES, FINDING_TYPES, OF_PROFILES
from pipeline.roots.ignore_files import spec_of

Selectors: TypeAlias = Annotated[
    tuple[str, ...], Field(description="a list of finding codes and profiles")
]
Patterns: TypeAlias = Annotated[
    tuple[str, ...], Field(description="a list of patterns, as in a .gitignore")
]


class ValidateSettings(Table):
    """Settings of `[validate]`; hyphens in keys are read as underscores."""

    select: Selectors = ()
    ignore: Selectors = ()
    per_path_ignores: dict[str, Selectors] = Field(
        {}, description="a table of patterns, each with a list of finding codes and profiles"
    )
    exclude: Patterns = ()
    severity: dict[str, Severity] = Field(
        {}, description="a table of finding codes and profiles, each danger, error, warning or info"
    )

    @model_validator(mode="before")
    @classmethod
    def _with_underscores(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        return {str(key).replace("-", "_"): value for key, value in values.items()}

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        given = {"select": self.select, "ignore": self.ignore, "severity": self.severity}
        for pattern, selectors in self.per_path_ignores.items():
            given[f'per-path-ignores, "{pattern}",'] = selectors
        for key, named in given.items():
            if message := _unknown(named):
                raise ValueError(f"{key} {message}")
        return self


class ValidateConfig(NamedTuple):
    """Settings of `[validate]` in force, with their place."""

    settings: ValidateSettings
    folder: Path  # real path; patterns are relative to it


ALL = "all"
READING, SAFETY = "reading", "safety"
DEFAULT = (READING, *DEFAULT_PROFILES)
"""Selectors in force unless others are named."""

MARK = "skilldrop:"
"""Text without which a file has no such comment."""

# `<!-- skilldrop: ignore=CODE, CODE -->`, or `# skilldrop: ignore=CODE` in the frontmatter.
_COMMENT = re.compile(
    r"(?:<!--|(?:^|(?<=\s))#)[ \t]*skilldrop:[ \t]*(?P<verb>[\w-]+)[ \t]*=[ \t]*"
    r"(?P<codes>[\w, \t-]*?)[ \t]*(?:-->|$)"
)

SELECTORS = frozenset({ALL, READING, *OF_PROFILES, *(kind.code for kind in FINDING_TYPES)})


@dataclass(frozen=True)
class CodeSelection:
    """Codes to report, with their severities and the paths where some are left out."""

    codes: frozenset[str]
    severity: Mapping[str, Severity] = field(default_factory=dict)  # by code
    per_path: tuple[tuple[str, frozenset[str]], ...] = ()  # a pattern and the codes left out
    folder: str = "/"  # real path; patterns are relative to it
    comments: bool = False  # whether comments in a SKILL.md leave out findings

    @cached_property
    def profiles(self) -> tuple[str, ...]:
        """Names of the profiles whose rules must run."""
        return tuple(
            name
            for name, types in OF_PROFILES.items()
            if any(kind.code in self.codes for kind in types)
        )

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


def of_profiles(names: Iterable[str]) -> CodeSelection:
    """Return the selection of these profiles, and of findings that any profile reports."""
    return CodeSelection(_chosen(("spec", READING, *names), ()))


def of_settings(
    config: ValidateConfig, options: ValidateSettings, *, comments: bool = True
) -> CodeSelection:
    """Return the selection of the settings, changed by the selectors of the command line.

    Its `select` replaces the selectors of the file. Raises NotPossible for an unknown selector of
    the command line.
    """
    settings = config.settings
    for option, selectors in (("select", options.select), ("ignore", options.ignore)):
        if message := _unknown(selectors):
            raise NotPossible(f"the command line: {option} {message}.")
    file = ValidateSettings() if options.select else settings
    select = options.select or file.select or DEFAULT
    return CodeSelection(
        _chosen(select, (*file.ignore, *options.ignore)),
        _severities(settings),
        tuple(
            (pattern, _codes_of(selectors))
            for pattern, selectors in settings.per_path_ignores.items()
        ),
        os.path.realpath(config.folder),
        comments,
    )


def report_of_roots(settings: ValidateSettings) -> Report:
    """Return the report of roots by `ignore` and `severity`; their profiles select the rules."""
    return partial(_reported, _codes_of(settings.ignore), _severities(settings))


def _reported(
    ignored: frozenset[str],
    severity: Mapping[str, Severity],
    findings: tuple[Finding, ...],
    texts: Mapping[str, str],
    document: str | None,
) -> tuple[Finding, ...]:
    """Return the findings to report; comments of a skill leave out none about its safety."""
    of_safety = {finding for finding in findings if finding.profile in (READING, SAFETY)}
    paths = {document, *(finding.path for finding in findings if finding not in of_safety)}
    named = {path: text for path, text in texts.items() if path in paths}
    kept = of_safety.union(without_commented(findings, named, document)[0])
    return tuple(
        finding._replace(severity=severity.get(finding.code, finding.severity))
        for finding in findings
        if finding.code not in ignored and finding in kept
    )


def _severities(settings: ValidateSettings) -> dict[str, Severity]:
    return {
        kind.code: settings.severity[selector]
        for kind in FINDING_TYPES
        if settings.severity and (selector := _nearest(kind, settings.severity))
    }


def _unknown(selectors: Iterable[str]) -> str | None:
    """Return the end of a sentence about the first unknown selector; None if all are known."""
    for selector in selectors:
        if selector not in SELECTORS:
            near = difflib.get_close_matches(selector, sorted(SELECTORS), n=1)
            hint = f"the nearest is {near[0]}" if near else "`skilldrop rule` lists them"
            return f"names {selector!r}, which is neither a code nor a profile; {hint}"
    return None


def _codes_of(selectors: Collection[str]) -> frozenset[str]:
    """Return the codes that selectors name."""
    return frozenset(one.code for one in FINDING_TYPES if selectors and _nearest(one, selectors))


def matches(patterns: tuple[str, ...], folder: str, path: str) -> bool:
    """Return whether patterns of a folder match an absolute path; that of a folder ends in /."""
    above, path = (each.replace(os.sep, "/") for each in (folder.rstrip("/") + "/", path))
    return path.startswith(above) and spec_of(patterns).match_file(
        path.removeprefix(above).replace("!/", "/")  # a skill in an archive
    )


def _chosen(select: tuple[str, ...], ignore: tuple[str, ...]) -> frozenset[str]:
    """Return the selected codes; a code takes precedence over its profile, and this over `all`.

    Findings that reject a folder in every root are selected unless they are ignored.
    """
    chosen = set()
    for kind in FINDING_TYPES:
        selector = _nearest(kind, (*select, *ignore))
        if selector not in ignore and (selector or kind.rejects == ALWAYS):
            chosen.add(kind.code)
    return frozenset(chosen)


def _nearest(kind: FindingType, selectors: Container[str]) -> str | None:
    """Return the most specific of the selectors that name a finding type; None if none does."""
    return next((one for one in (kind.code, kind.profile, ALL) if one in selectors), None)


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


def without_commented(
    findings: tuple[Finding, ...], texts: Mapping[str, str], document: str | None
) -> tuple[tuple[Finding, ...], list[str]]:
    """Return the findings that no comment leaves out, and the problems of the comments.

    Comments of SKILL.md may be about the whole skill, those of another file about that file.
    """
    notes: list[str] = []
    for path, text in texts.items():
        if MARK not in text:
            continue
        ignores = comments_in(text)
        notes += (f"{path}:{problem}" for problem in ignores.problems)
        findings = tuple(
            finding
            for finding in findings
            if (path != document and finding.path != path) or not ignores.applies(finding, path)
        )
    return findings, notes


def _codes(comment: re.Match[str], number: int, ignores: Ignores) -> frozenset[str]:
    selectors = [word for word in re.split(r"[,\s]+", comment["codes"]) if word]
    if comment["verb"] not in ("ignore", "ignore-file"):
        ignores.problems.append(f"{number}: the comment must say ignore=… or ignore-file=….")
        return frozenset()
    if message := _unknown(selectors):
        ignores.problems.append(f"{number}: the comment {message}.")
    return _codes_of(selectors)
