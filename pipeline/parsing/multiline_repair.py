"""Repairs of texts that are not valid YAML because of their line breaks or quotes."""

import re
from dataclasses import dataclass

PROSE = ("description", "when_to_use", "compatibility")
"""Fields that hold sentences."""

_PROSE = re.compile(rf"(?P<key>(?:{'|'.join(PROSE)})[ ]*:[ \t]+)(?P<value>\S.*)")
_OTHER = re.compile(
    r"[ \t]*(?:name|description|license|compatibility|metadata|allowed-tools|tools|model|version"
    r"|author|tags|category|triggers|when_to_use|argument-hint|user-invocable|color|hooks"
    r"|disable-model-invocation)[ ]*:(?:[ \t]|$)"
)
_KEY = re.compile(r"[\w.-]+[ ]*:(?:[ \t]|$)")
_NO_TEXT = re.compile(r"#|<{7}|={7}|>{7}|---")
_BLOCK = re.compile(r"[|>][-+1-9]{0,2}$")
_COMMENT = re.compile(r"(?:^|[ \t])#")
_EXAMPLE, _EXAMPLE_ENDS = "<example>", "</example>"
_QUOTED = re.compile(
    r"""(?P<before>[ ]*(?:-[ ]+)*(?:[\w.-]+[ ]*:[ \t]+)?)
        (?P<quote>["'])(?P<inside>.+)(?P=quote)[ \t]*""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class RepairedText:
    """Lines that replace the same number of lines."""

    first: int  # from 0
    lines: list[str]


def single_quoted(text: str) -> str:
    """Return a text in single quotes, which YAML reads literally."""
    return "'" + text.replace("'", "''") + "'"


def whole_text(lines: list[str], number: int) -> RepairedText | None:
    """Return a field of sentences that spans several lines as one quoted text.

    The field is the last one at or above the line at which libyaml stopped. Lines that are not
    indented belong to it if they do not look like a field, or if they precede the end of an
    example that began in it. None if the text could have another meaning.
    """
    first = next(
        (n for n in range(min(number, len(lines) - 1), -1, -1) if _PROSE.match(lines[n])), None
    )
    if first is None:
        return None
    field = _PROSE.fullmatch(lines[first].rstrip())
    last = _last_line(lines, first)
    if field is None or last == first or number > last + 1:
        return None
    value, below = field["value"], lines[first + 1 : last + 1]
    if _BLOCK.match(value):
        aligned = _aligned(below)
        return RepairedText(first + 1, aligned) if aligned != below else None
    if value[0] in "\"'[{" or any(_COMMENT.search(line) for line in (value, *below)):
        return None
    texts = [line.replace("'", "''") for line in (value, *map(str.strip, below))]
    indented = [f"  {text}" if text else "" for text in texts[1:]]
    repaired = [f"{field['key']}'{texts[0]}", *indented]
    repaired[-1] += "'"
    return RepairedText(first, repaired)


def _aligned(block: list[str]) -> list[str]:
    """Return the lines of a block indented like its first; one with tabs stays as it is."""
    first = next(line for line in block if line.strip())  # its last line is not empty
    width = len(first) - len(first.lstrip(" "))
    if first.startswith("\t"):
        return block
    if not width:
        return [f"  {line}".rstrip() for line in block]
    return [
        " " * width + line.strip()
        if (line.strip() and not line.startswith(" " * width)) or line[width:].startswith("\t")
        else line
        for line in block
    ]


def _last_line(lines: list[str], first: int) -> int:
    """Return the last line of the text that starts on a line, or that line if it is unclear."""
    end = next((n for n in range(first + 1, len(lines)) if _OTHER.match(lines[n])), len(lines))
    if end < len(lines) and lines[end][:1] in " \t":
        return first  # a field with a wrong indentation
    ends = [n for n in range(first, end) if _EXAMPLE_ENDS in lines[n]]
    if _EXAMPLE in "".join(lines[first:end]) and ends:
        end = ends[-1] + 1
    else:
        end = next((n for n in range(first + 1, end) if _KEY.match(lines[n])), end)
    if any(_NO_TEXT.match(line) for line in lines[first + 1 : end]):
        return first
    while end > first + 1 and not lines[end - 1].strip():
        end -= 1
    return end - 1


def escaped_quotes(line: str) -> str | None:
    r"""Return a line with its quoted value escaped, if quotes or backslashes in it break it.

    `"the "best" way"`, `'it's'` and `"\d+"` are read literally between the outer quotes.
    None if the first quote inside may end a part: `"a", "b"`.
    """
    value = _QUOTED.fullmatch(line.rstrip())
    if value is None:
        return None
    quote, inside = value["quote"], value["inside"]
    escaped = r"\\." if quote == '"' else "''"
    inner = re.sub(escaped, "__", inside).partition(quote)
    if inner[1] and not inner[2][:1].isalnum():
        return None
    plain = re.sub(r'\\(["\\])', r"\1", inside) if quote == '"' else inside.replace("''", "'")
    return f"{value['before']}{single_quoted(plain)}"
