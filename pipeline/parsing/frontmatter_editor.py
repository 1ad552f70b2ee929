"""Frontmatter as text: fields are added and taken away, and all else stays as it is written."""

from collections.abc import Mapping

import yaml

from catalog.model.values import Json
from pipeline.parsing.yaml_reader import YamlText, read_yaml
from pipeline.parsing.yaml_scalars import typed


def dumped(fields: Mapping[str, Json]) -> str:
    """Return fields as lines of YAML; texts that look like something else are quoted."""
    return str(
        yaml.dump(
            _plain(fields), Dumper=_Writer, allow_unicode=True, sort_keys=False, width=100_000
        )
    )


def as_typed(read: YamlText, fields: Mapping[str, Json]) -> dict[str, Json]:
    """Return some fields of a text with the types that YAML gives them."""
    return {key: typed(value, key, read.quoted) for key, value in fields.items()}


def with_fields(text: str, taken: frozenset[str], added: Mapping[str, str]) -> str | None:
    """Return frontmatter without some fields and with others, at its end, as lines of YAML.

    The text is YAML whose lines end in LF. Comments and the other fields stay as they are,
    unless that is not possible: then all of it is rewritten. None where even that does not
    say what it should.
    """
    expected = _fields(text)
    if expected is None:
        return None
    kept = {key: value for key, value in expected[1].items() if key not in taken}
    new = {key: (_fields(lines) or (None, {}))[1].get(key) for key, lines in added.items()}
    wanted = {**kept, **new}
    below = "".join(added.values())
    edited = _ended(_without(text, taken)) + below
    for candidate in (edited, dumped(as_typed(expected[0], kept)) * bool(kept) + below):
        found = _fields(candidate)
        if found and found[1] == wanted:
            return candidate
    return None


def blocks(text: str) -> dict[str, str]:
    """Return the lines of each field, with the comments above it, where that can be told.

    Empty for what is not written with one field below the other.
    """
    read = _fields(text)
    if read is None:
        return {}
    lines = text.split("\n")
    starts = _starts(read[0], read[1])
    if starts is None:
        return {}
    ends = [
        _comments_start(lines, start, previous)
        for previous, (start, _) in zip(
            [0, *(start + 1 for start, _ in starts)], starts, strict=False
        )
    ]
    found = {}
    for at, (_, key) in enumerate(starts):
        end = ends[at + 1] if at + 1 < len(ends) else len(lines)
        found[key] = _ended("\n".join(lines[ends[at] : end]).strip("\n"))
    return found


def _fields(text: str) -> tuple[YamlText, Mapping[str, Json]] | None:
    read = read_yaml(text)
    if not isinstance(read, YamlText):
        return None
    value = {} if read.value is None else read.value
    return (read, value) if isinstance(value, Mapping) else None


def _starts(read: YamlText, fields: Mapping[str, Json]) -> list[tuple[int, str]] | None:
    """Return the line, from 0, on which each field starts; None where two share one."""
    places = [(read.positions[key], key) for key in fields if key in read.positions]
    lines = {place.line for place, _ in places}
    if len(lines) < len(fields) or any(place.column != 1 for place, _ in places):
        return None
    return sorted((place.line - 1, key) for place, key in places)


def _comments_start(lines: list[str], start: int, previous: int) -> int:
    """Return where the comments begin that stand above a field."""
    while start > previous and lines[start - 1].startswith("#"):
        start -= 1
    return start


def _without(text: str, taken: frozenset[str]) -> str:
    """Return a text without the lines of some fields; comments between fields stay."""
    read = _fields(text)
    if read is None or (starts := _starts(read[0], read[1])) is None:
        return text
    lines = text.split("\n")
    kept = lines[: starts[0][0]] if starts else lines
    for at, (start, key) in enumerate(starts):
        end = starts[at + 1][0] if at + 1 < len(starts) else len(lines)
        if key not in taken:
            kept += lines[start:end]
        else:
            own = end
            while own > start + 1 and (not lines[own - 1].strip() or lines[own - 1][0] == "#"):
                own -= 1
            kept += lines[own:end]
    return "\n".join(kept)


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _plain(value: Json) -> Json:
    """Return a value of dicts and lists alone, which are all that the writer knows."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


class _Writer(yaml.SafeDumper):
    """Quotes what YAML 1.2 takes for something else than text, as well as what 1.1 does."""


def _text(writer: _Writer, text: str) -> yaml.ScalarNode:
    is_text = isinstance(typed(text, "", frozenset()), str)
    return writer.represent_scalar("tag:yaml.org,2002:str", text, None if is_text else "'")


_Writer.add_representer(str, _text)
