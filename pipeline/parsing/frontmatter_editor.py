"""Editor of frontmatter text that adds and removes fields and leaves the rest unchanged."""

from collections.abc import Mapping
from itertools import pairwise

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


def as_typed(read: YamlText, fields: Mapping[str, Json], prefix: str = "") -> dict[str, Json]:
    """Return fields of a YAML text with their YAML types; prefix is that of their paths."""
    return {key: typed(value, f"{prefix}{key}", read.quoted) for key, value in fields.items()}


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
    parts = _parts(text) or [("", text.split("\n"))]
    left = "\n".join(line for key, lines in parts if key not in removed for line in lines)
    edited = _with_line_end(left) + added_text
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
    found: dict[str, list[str]] = {}
    key, above = "", list[str]()
    for name, lines in _parts(text) or ():
        if name:
            key, found[name], above = name, above + lines, []
            continue
        end = len(lines)
        while end and lines[end - 1].startswith("#"):
            end -= 1
        above = lines[end:]
        if key:
            found[key] += lines[:end]
    if key:
        found[key] += above
    return {name: _with_line_end("\n".join(lines).strip("\n")) for name, lines in found.items()}


def _fields(text: str) -> tuple[YamlText, Mapping[str, Json]] | None:
    read = read_yaml(text)
    if not isinstance(read, YamlText):
        return None
    value = {} if read.value is None else read.value
    return (read, value) if isinstance(value, Mapping) else None


def _parts(text: str) -> list[tuple[str, list[str]]] | None:
    """Return the lines of each field by its key, and by "" those before, between and after fields.

    None unless each field starts at the beginning of its own line.
    """
    read = _fields(text)
    if read is None:
        return None
    places = [(read[0].positions[key], key) for key in read[1] if key in read[0].positions]
    starts = sorted((place.line - 1, key) for place, key in places)
    if len(dict(starts)) < len(read[1]) or any(place.column != 1 for place, _ in places):
        return None
    lines = text.split("\n")
    parts = [("", lines[: starts[0][0] if starts else None])]
    for (start, key), (end, _) in pairwise([*starts, (len(lines), "")]):
        last = end
        while last > start + 1 and (not lines[last - 1].strip() or lines[last - 1][0] == "#"):
            last -= 1
        parts += [(key, lines[start:last]), ("", lines[last:end])]
    return parts


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
