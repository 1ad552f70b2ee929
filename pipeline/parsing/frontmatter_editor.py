"""Editor of frontmatter text that adds and removes fields and leaves the rest unchanged."""

from collections.abc import Mapping

import yaml

from catalog.model.values import Json
from pipeline.parsing.yaml_reader import YamlText, read_yaml, typed


def dumped(fields: Mapping[str, Json]) -> str:
    """Return fields as lines of YAML; texts that YAML would read as another type are quoted."""
    return str(
        yaml.dump(
            _plain(fields), Dumper=_Writer, allow_unicode=True, sort_keys=False, width=100_000
        )
    )


def as_typed(read: YamlText, fields: Mapping[str, Json]) -> dict[str, Json]:
    """Return fields of a YAML text with their YAML types."""
    return {key: typed(value, key, read.quoted) for key, value in fields.items()}


def with_fields(text: str, removed: frozenset[str], added: Mapping[str, str]) -> str | None:
    """Return frontmatter without the removed fields and with the added ones at its end.

    The text is YAML whose lines end in LF; added fields are given as lines of YAML. Comments and
    the other fields stay unchanged if possible; otherwise the whole text is rewritten. None if
    even that does not give the expected fields.
    """
    original = _fields(text)
    if original is None:
        return None
    kept = {key: value for key, value in original[1].items() if key not in removed}
    new = {key: (_fields(lines) or (None, {}))[1].get(key) for key, lines in added.items()}
    expected = {**kept, **new}
    added_text = "".join(added.values())
    edited = _with_line_end(_without(text, removed)) + added_text
    rewritten = dumped(as_typed(original[0], kept)) * bool(kept) + added_text
    for candidate in (edited, rewritten):
        result = _fields(candidate)
        if result and result[1] == expected:
            return candidate
    return None


def blocks(text: str) -> dict[str, str]:
    """Return the lines of each field, with the comments above it.

    Empty unless each field starts at the beginning of its own line.
    """
    read = _fields(text)
    if read is None:
        return {}
    lines = text.split("\n")
    starts = _starts(read[0], read[1])
    if starts is None:
        return {}
    firsts = [
        _comments_start(lines, start, previous)
        for previous, (start, _) in zip(
            [0, *(start + 1 for start, _ in starts)], starts, strict=False
        )
    ]
    result = {}
    for index, (_, key) in enumerate(starts):
        end = firsts[index + 1] if index + 1 < len(firsts) else len(lines)
        result[key] = _with_line_end("\n".join(lines[firsts[index] : end]).strip("\n"))
    return result


def _fields(text: str) -> tuple[YamlText, Mapping[str, Json]] | None:
    read = read_yaml(text)
    if not isinstance(read, YamlText):
        return None
    value = {} if read.value is None else read.value
    return (read, value) if isinstance(value, Mapping) else None


def _starts(read: YamlText, fields: Mapping[str, Json]) -> list[tuple[int, str]] | None:
    """Return the line, from 0, on which each field starts; None if two share one."""
    places = [(read.positions[key], key) for key in fields if key in read.positions]
    lines = {place.line for place, _ in places}
    if len(lines) < len(fields) or any(place.column != 1 for place, _ in places):
        return None
    return sorted((place.line - 1, key) for place, key in places)


def _comments_start(lines: list[str], start: int, previous: int) -> int:
    """Return the line on which the comments above a field start."""
    while start > previous and lines[start - 1].startswith("#"):
        start -= 1
    return start


def _without(text: str, removed: frozenset[str]) -> str:
    """Return a text without the lines of the removed fields; comments between fields stay."""
    read = _fields(text)
    if read is None or (starts := _starts(read[0], read[1])) is None:
        return text
    lines = text.split("\n")
    kept = lines[: starts[0][0]] if starts else lines
    for index, (start, key) in enumerate(starts):
        end = starts[index + 1][0] if index + 1 < len(starts) else len(lines)
        if key not in removed:
            kept += lines[start:end]
        else:
            field_end = end
            while field_end > start + 1 and _is_blank_or_comment(lines[field_end - 1]):
                field_end -= 1
            kept += lines[field_end:end]
    return "\n".join(kept)


def _is_blank_or_comment(line: str) -> bool:
    return not line.strip() or line.startswith("#")


def _with_line_end(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _plain(value: Json) -> Json:
    """Return a value with dicts and lists only, the containers that the writer supports."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


class _Writer(yaml.SafeDumper):
    """Writer that quotes texts that YAML 1.1 or 1.2 would read as another type."""


def _text(writer: _Writer, text: str) -> yaml.ScalarNode:
    is_text = isinstance(typed(text, "", frozenset()), str)
    return writer.represent_scalar("tag:yaml.org,2002:str", text, None if is_text else "'")


_Writer.add_representer(str, _text)
