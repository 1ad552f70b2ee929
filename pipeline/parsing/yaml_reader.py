"""YAML text as plain values, built from libyaml's events so that every scalar stays a string."""

import math
import re
from collections.abc import Mapping, Set
from typing import NamedTuple

import yaml
from yaml.error import MarkedYAMLError
from yaml.events import (
    AliasEvent,
    CollectionStartEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
)

from catalog.model.finding import Finding, FindingType
from catalog.model.values import Json
from pipeline.parsing import codes

MAX_DEPTH = 20
"""Levels of mappings and lists; real frontmatter has at most six."""

MAX_NODES = 4_000
"""Keys, values, mappings and lists together; real frontmatter has a few dozen."""

_TOO_DEEP = f"The frontmatter is nested deeper than {MAX_DEPTH} levels."
_MAX_FINDINGS = 20
_COMMENT = re.compile(r"(?:^|[ \t])#")
_NOT_LINE_END = re.compile(r"[^\n]")
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})

# In YAML 1.1, which libyaml follows, the first three end a line; libyaml skips the last at the
# start of a line. In YAML 1.2 all are text. While libyaml reads, characters that Unicode
# reserves for internal use replace them.
_SPECIAL = "\x85\u2028\u2029\ufeff"
_STAND_INS = "\ufdd0\ufdd1\ufdd2\ufdd3"
_HIDE = str.maketrans(_SPECIAL, _STAND_INS)
_RESTORE = str.maketrans(_STAND_INS, _SPECIAL)


class Position(NamedTuple):
    """A place in a file; line and column count from 1."""

    line: int
    column: int


class YamlText(NamedTuple):
    """Value of a YAML text, with the positions of its keys."""

    value: Json
    positions: Mapping[str, Position]  # of every key: "name", "metadata.author", "hooks.0.run"
    findings: tuple[Finding, ...]
    quoted: frozenset[str] = frozenset()  # paths of values in quotes or blocks: text in any schema


class Unreadable(NamedTuple):
    """Reason why a YAML text has no value."""

    finding: Finding
    repairable: bool = False  # bad syntax, not valid YAML that is refused on purpose


def read_yaml(text: str, first_line: int = 1, first_column: int = 1) -> YamlText | Unreadable:
    """Read one YAML document whose lines end in LF; the text starts at that line and column.

    Every scalar is the string that was written, folded and unescaped as YAML says: `no`, `8004`
    and `1.0` stay text. A plain scalar that is empty, `~` or `null` is None. Nothing is looked
    up, merged or constructed. The caller limits the size.
    """
    reader = _Reader(text, first_line, first_column)
    try:
        value = reader.document()
    except _RefusedError as refused:
        # An alias without any anchor is text that needs quotes.
        repairable = refused.finding.code == codes.YAML_ALIAS.code and "&" not in text
        return Unreadable(refused.finding, repairable)
    except yaml.YAMLError as error:
        return Unreadable(reader.broken(error, text), repairable=True)
    if "\t" in text:
        reader.check_tabs(text)
    return YamlText(value, reader.positions, tuple(reader.findings), frozenset(reader.quoted_paths))


class _RefusedError(Exception):
    """The YAML is refused, although it may be well formed."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.code)
        self.finding = finding


class _Reader:
    """Reader of one document, a value at a time from libyaml's events."""

    def __init__(self, text: str, first_line: int, first_column: int) -> None:
        self.positions: dict[str, Position] = {}
        self.findings: list[Finding] = []
        self.quoted_paths: list[str] = []
        self._first_line = first_line
        self._first_column = first_column
        self._hidden = not text.isascii() and any(character in text for character in _SPECIAL)
        # Any loader will do: only its events are used, and it never constructs anything.
        self._loader = yaml.CBaseLoader(text.translate(_HIDE) if self._hidden else text)
        self._nodes = 0
        # Ranges of quoted and block scalars: the first character, and the one after the last.
        self._quoted: list[tuple[int, int]] = []
        self._is_complete = False

    def document(self) -> Json:
        """Return the value of the only document; None if there is none."""
        value = None
        while (event := self._loader.get_event()) is not None:
            if isinstance(event, DocumentStartEvent) and not self._is_complete:
                value = self._value(self._next(), "", 0)
            elif isinstance(event, DocumentEndEvent):
                self._is_complete = True
        return value

    def check_tabs(self, text: str) -> None:
        """Find the first tab that is not in quotes, a block scalar or a comment."""
        pieces: list[str] = []
        offset = 0
        for start, end in self._quoted:
            pieces += text[offset:start], _NOT_LINE_END.sub("-", text[start:end])
            offset = end
        unquoted = "".join([*pieces, text[offset:]])
        for number, line in enumerate(unquoted.split("\n")):
            comment = _COMMENT.search(line)
            column = line.find("\t", 0, comment.start() if comment else len(line))
            if column >= 0:
                self._note(codes.TAB_OUTSIDE_QUOTES, None, self._position(number, column))
                return

    def broken(self, error: yaml.YAMLError, text: str) -> Finding:
        """Return the finding for an error of libyaml in a text."""
        if not isinstance(error, MarkedYAMLError) or error.problem_mark is None:
            return codes.YAML_INVALID.at(
                f"The frontmatter is not valid YAML: {error}.", line=self._first_line
            )
        message, mark = error.problem or "", error.problem_mark
        if message.endswith("end of stream") and error.context_mark is not None:
            mark = error.context_mark  # of an unclosed quote, the place where it opens
        position = self._position(mark.line, mark.column)
        if "maximum nesting depth" in message:  # of libyaml 0.2.6, which looks far ahead
            return codes.FRONTMATTER_TOO_LARGE.at(
                _TOO_DEEP, line=position.line, column=position.column
            )
        if error.context and error.context_mark is not None:
            first = self._position(error.context_mark.line, 0).line
            start = f" that begins on line {first}" if first != position.line else ""
            message = f"{error.context}{start}, {message}"
        fix = next((fix for part, fix in _FIXES.items() if part in message), None)
        if wide := _WIDE_COLON.search(text):
            fix = f"Write a plain colon and a space after {wide[1]}, instead of the wide ：."
        return codes.YAML_INVALID.at(
            f"The frontmatter is not valid YAML at line {position.line}: {message}.",
            fix=fix,
            line=position.line,
            column=position.column,
        )

    def _value(self, event: Event, path: str, depth: int) -> Json:
        """Return the value that starts with an event; path is its own."""
        event = self._counted(event)
        if isinstance(event, ScalarEvent):
            if event.style and depth:
                self.quoted_paths.append(path)
            text = self._text(event)
            return None if not event.style and text in _NULLS else text
        if depth == MAX_DEPTH:
            raise self._refused(codes.FRONTMATTER_TOO_LARGE, event, _TOO_DEEP)
        if isinstance(event, MappingStartEvent):
            return self._mapping(path, depth)
        items: list[Json] = []
        while not isinstance(event := self._next(), SequenceEndEvent):
            items.append(self._value(event, _below(path, str(len(items))), depth + 1))
        return items

    def _mapping(self, path: str, depth: int) -> dict[str, Json]:
        fields: dict[str, Json] = {}
        column: int | None = None  # of the first mapping below it
        while not isinstance(event := self._next(), MappingEndEvent):
            key_event = self._counted(event)
            if not isinstance(key_event, ScalarEvent):
                raise self._refused(codes.YAML_KEY_NOT_TEXT, key_event)
            key, position = self._text(key_event), self._start_of(key_event)
            inner = _below(path, key)
            earlier = self.positions.setdefault(inner, position)
            if key in fields:
                lines = f"on line {earlier.line} and again on line {position.line}"
                message = f"`{inner}` is written {lines}."
                self._note(codes.DUPLICATE_KEY, message, position, inner)
            event = self._next()
            if isinstance(event, MappingStartEvent) and not event.flow_style:
                column = self._checked_indentation(event, inner, column)
            value = self._value(event, inner, depth + 1)
            fields.setdefault(key, value)
        return fields

    def _checked_indentation(self, event: Event, path: str, column: int | None) -> int:
        """Return the column of the mappings in a mapping, and note one in another column."""
        position = self._start_of(event)
        if column is not None and column != position.column:
            self._note(
                codes.UNEVEN_INDENTATION,
                f"The content of `{path}` starts in column {position.column}, that of the field "
                f"before it in column {column}.",
                position,
                path,
            )
        return position.column if column is None else column

    def _text(self, event: ScalarEvent) -> str:
        if event.style and event.start_mark and event.end_mark:
            self._quoted.append((event.start_mark.index, event.end_mark.index))
        return event.value.translate(_RESTORE) if self._hidden else event.value

    def _next(self) -> Event:
        event = self._loader.get_event()
        assert event is not None  # the last one ends the stream
        return event

    def _counted(self, event: Event) -> ScalarEvent | CollectionStartEvent:
        """Return the first event of a key or value; refuse references and too many values."""
        if isinstance(event, AliasEvent):
            raise self._refused(codes.YAML_ALIAS, event, f"*{event.anchor} is an alias.")
        assert isinstance(event, (ScalarEvent, CollectionStartEvent))
        self._nodes += 1
        if self._nodes > MAX_NODES:
            message = f"The frontmatter has more than {MAX_NODES:,} parts."
            raise self._refused(codes.FRONTMATTER_TOO_LARGE, event, message)
        if event.anchor is not None:
            raise self._refused(codes.YAML_ALIAS, event, f"&{event.anchor} is an anchor.")
        if event.tag is not None:
            message = f"The tag {event.tag} before a value was ignored."
            self._note(codes.YAML_TAG, message, self._start_of(event))
        return event

    def _note(
        self, kind: FindingType, message: str | None, position: Position, field: str | None = None
    ) -> None:
        if len(self.findings) < _MAX_FINDINGS:
            self.findings.append(
                kind.at(message, field=field, line=position.line, column=position.column)
            )

    def _refused(
        self, kind: FindingType, event: Event, message: str | None = None
    ) -> _RefusedError:
        start = self._start_of(event)
        return _RefusedError(kind.at(message, line=start.line, column=start.column))

    def _start_of(self, event: Event) -> Position:
        mark = event.start_mark
        assert mark is not None  # libyaml marks every event
        return self._position(mark.line, mark.column)

    def _position(self, line: int, column: int) -> Position:
        return Position(self._first_line + line, column + (1 if line else self._first_column))


def _below(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


LONGEST_NUMBER = 300
"""Digits; a longer one stays text."""

_BOOLEANS = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")


def typed(value: Json, path: str, quoted: Set[str]) -> Json:
    """Return the value at a path with its plain scalars as booleans and numbers.

    quoted contains the paths of quoted scalars, which are always text. Infinities and NaN have no
    form in JSON, so they stay text.
    Source: YAML 1.2.2, section 10.3.2, Tag Resolution.
    """
    if isinstance(value, str):
        return value if path in quoted else _scalar(value)
    if isinstance(value, Mapping):
        return {key: typed(inner, f"{path}.{key}", quoted) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [typed(inner, f"{path}.{index}", quoted) for index, inner in enumerate(value)]
    return value


def _scalar(text: str) -> Json:
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if len(text) > LONGEST_NUMBER:
        return text
    if _INTEGER.fullmatch(text):
        return int(text, 0 if text[:2] in ("0o", "0x") else 10)
    if _FLOAT.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return text


_WIDE_COLON = re.compile(r"^([\w-]+)：", re.MULTILINE)  # of a Chinese or Japanese keyboard
_FIXES: Mapping[str, str] = {
    "end of stream": "Close the quote or bracket that opens here; double a quote that is text.",
    "document start": "Delete the ... line and the text after it, or move that into the body.",
    "unknown escape": "Double the backslash, or put the value in single quotes.",
    "tab": "Write spaces instead of the tab.",
    "comment or line break": "Write the text on the lines below, each indented by two spaces.",
    "expected ':'": (
        "Write `key: value` with a plain colon and a space; indent a line that continues the text "
        "above it by two spaces."
    ),
    "mapping values": (
        "Put the value in quotes, because it contains a colon; or indent the field like its "
        "neighbours."
    ),
    "expected key": (
        "Indent the line like its neighbours; put a value that contains quotes in quotes of the "
        "other kind."
    ),
    "not allowed in this context": (
        "Put the value in quotes, or write the list on the lines below the field."
    ),
}
