#!/usr/bin/env python3
"""Profile a delimited text file: what each column holds and which rows do not fit.

Reads one file, writes Markdown (or JSON) to standard output, changes nothing.
Exit code 0: the file was read; 2: it could not be, and one sentence on standard error says why.
"""

import argparse
import csv
import json
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path

TYPES = ("integer", "number", "date", "boolean", "text")  # narrowest first
DISTINCT_LIMIT = 10_000  # different values counted in a column
LINES_SHOWN = 10  # misfit lines listed one by one
CELL_SHOWN = 40  # characters of a cell in the table

INTEGER = re.compile(r"-?(0|[1-9]\d*)", re.ASCII)
NUMBER = re.compile(r"-?(0|[1-9]\d*)?(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?)?", re.ASCII)


class Unreadable(Exception):
    """The file cannot be profiled; the text says why and what to do."""


@dataclass
class Column:
    """What has been seen in one column so far."""

    name: str
    filled: int = 0
    empty: int = 0
    types: set[str] = field(default_factory=lambda: set(TYPES))
    values: Counter[str] = field(default_factory=Counter)
    overflowed: bool = False
    numbers: tuple[float, str, float, str] | None = None
    words: tuple[str, str] | None = None
    lengths: tuple[int, int] | None = None

    def see(self, cell: str) -> None:
        """Take one cell into account."""
        value = cell.strip()
        if not value:
            self.empty += 1
            return
        self.filled += 1
        if self.types != {"text"}:
            self.types &= types_of(value)
        if value in self.values or len(self.values) < DISTINCT_LIMIT:
            self.values[value] += 1
        else:
            self.overflowed = True
        self._widen(value)

    def _widen(self, value: str) -> None:
        if "number" in self.types:
            at = float(value)
            low, low_text, high, high_text = self.numbers or (at, value, at, value)
            if at < low:
                low, low_text = at, value
            if at > high:
                high, high_text = at, value
            self.numbers = (low, low_text, high, high_text)
        if "date" in self.types:
            first, last = self.words or (value, value)
            self.words = (min(first, value), max(last, value))
        shortest, longest = self.lengths or (len(value), len(value))
        self.lengths = (min(shortest, len(value)), max(longest, len(value)))

    @property
    def type(self) -> str:
        """The narrowest type that every filled cell fits."""
        return next(t for t in TYPES if t in self.types) if self.filled else "empty"

    @property
    def range(self) -> tuple[str, str]:
        """Smallest and largest: values of numbers and dates, lengths of text."""
        if self.type in ("integer", "number") and self.numbers:
            return self.numbers[1], self.numbers[3]
        if self.type == "date" and self.words:
            return self.words
        if self.type == "text" and self.lengths:
            return f"{self.lengths[0]} characters", f"{self.lengths[1]} characters"
        return "", ""

    @property
    def could_be_key(self) -> bool:
        """Whether the column is filled and different in every row, as far as was counted."""
        return not self.empty and not self.overflowed and len(self.values) == self.filled > 1


@dataclass
class Profile:
    """What is known of a whole file."""

    name: str
    encoding: str
    delimiter: str
    columns: list[Column]
    rows: int = 0
    repeated: int = 0
    misfits: list[tuple[int, int]] = field(default_factory=list)  # (line, fields)


@dataclass
class Summary:
    """One column as it is reported."""

    column: str
    type: str
    filled: int
    empty: int
    distinct: str
    smallest: str
    largest: str
    most_common: str


def main(argv: list[str] | None = None) -> int:
    """Run the command and return its exit code."""
    arguments = parse_arguments(argv)
    try:
        profile = profile_file(arguments.file, arguments.encoding, arguments.delimiter)
    except Unreadable as error:
        print(f"profile_csv: {error}", file=sys.stderr)
        return 2
    print(as_json(profile) if arguments.json else as_markdown(profile))
    return 0


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Profile a delimited text file.")
    parser.add_argument("file", type=Path, help="the file; its first record names the columns")
    parser.add_argument("--encoding", help="for example cp1252 or gb18030 (default: utf-8)")
    parser.add_argument("--delimiter", help="one character, or 'tab' (default: found out)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    return parser.parse_args(argv)


def profile_file(path: Path, encoding: str | None, delimiter: str | None) -> Profile:
    """Read a file once and return its profile; raise Unreadable where that cannot be done."""
    encoding = encoding or encoding_of(path)
    delimiter = "\t" if delimiter in ("tab", r"\t") else delimiter
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '\r\n"'):
        raise Unreadable(f"--delimiter takes one character or 'tab', not {delimiter!r}.")
    try:
        delimiter = delimiter or delimiter_of(path, encoding)
        return profile_records(path.name, encoding, delimiter, records(path, encoding, delimiter))
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"{path} is not {encoding} text ({error.reason}); "
            "name its encoding, for example --encoding cp1252 or --encoding gb18030."
        ) from error
    except LookupError as error:
        raise Unreadable(f"{encoding!r} is not an encoding that Python knows.") from error
    except csv.Error as error:
        raise Unreadable(f"{path}: {error}; a quote may be missing above that place.") from error


def encoding_of(path: Path) -> str:
    """Return the encoding that the first bytes suggest; refuse what is not text."""
    try:
        with path.open("rb") as file:
            start = file.read(4096)
    except FileNotFoundError:
        raise Unreadable(f"there is no file {path}.") from None
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror}.") from error
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if start.startswith(b"PK\x03\x04"):
        raise Unreadable(f"{path} is a zip or an Excel workbook; save it as CSV first.")
    if b"\0" in start:
        raise Unreadable(f"{path} is not a text file: it holds NUL bytes.")
    return "utf-8-sig" if start.startswith(b"\xef\xbb\xbf") else "utf-8"


def delimiter_of(path: Path, encoding: str) -> str:
    """Return the delimiter that splits the most of the first records as it splits the header."""

    def agreement(delimiter: str) -> tuple[int, int]:
        widths = [
            len(fields)
            for (_, fields), _ in zip(records(path, encoding, delimiter), range(20), strict=False)
        ]
        width = widths[0] if widths else 0
        return (widths.count(width), width) if width > 1 else (0, 0)

    return max(",;\t|", key=agreement)


def records(path: Path, encoding: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each record with the line it starts on; blank lines are skipped."""
    try:
        file = path.open(encoding=encoding, newline="")
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror}.") from error
    with file:
        reader, line = csv.reader(file, delimiter=delimiter), 1
        for fields in reader:
            if fields:
                yield line, fields
            line = reader.line_num + 1


def profile_records(
    name: str, encoding: str, delimiter: str, lines: Iterator[tuple[int, list[str]]]
) -> Profile:
    """Count what each record adds."""
    header = next(lines, None)
    if header is None:
        raise Unreadable(f"{name} is empty; it needs at least a header row.")
    columns = [Column(title.strip()) for title in header[1]]
    profile = Profile(name, encoding.removesuffix("-sig"), delimiter, columns)
    seen: set[int] = set()
    for line, fields in lines:
        profile.rows += 1
        if len(fields) != len(columns):
            profile.misfits.append((line, len(fields)))
        fields += [""] * (len(columns) - len(fields))
        for column, cell in zip(columns, fields, strict=False):
            column.see(cell)
        row = hash(tuple(fields))
        profile.repeated += row in seen
        seen.add(row)
    return profile


def types_of(value: str) -> set[str]:
    """Return every type that a filled cell fits."""
    if INTEGER.fullmatch(value):
        return {"integer", "number", "text"}
    if any(c.isdigit() for c in value) and NUMBER.fullmatch(value) and value[0] not in "eE":
        return {"number", "text"}
    if DATE.fullmatch(value) and is_real_day(value):
        return {"date", "text"}
    if value.lower() in ("true", "false", "yes", "no"):
        return {"boolean", "text"}
    return {"text"}


def is_real_day(value: str) -> bool:
    """Tell 2024-02-29 from 2024-02-31."""
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def remarks(profile: Profile) -> list[str]:
    """Return what a person should look at, one line each."""
    width = len(profile.columns)
    said = [
        f"line {line} has {fields} fields; the header has {width}"
        for line, fields in profile.misfits[:LINES_SHOWN]
    ]
    if len(profile.misfits) > LINES_SHOWN:
        said.append(f"{len(profile.misfits) - LINES_SHOWN} more lines do not fit the header")
    if width == 1:
        said.append("there is only one column; is the delimiter right? (--delimiter)")
    titles = Counter(column.name for column in profile.columns)
    said += [
        f'column name "{title}" appears {times} times'
        for title, times in titles.items()
        if title and times > 1
    ]
    if titles[""]:
        said.append(f"columns without a name: {titles['']}")
    for column in profile.columns:
        said += remarks_on(column)
    if profile.repeated:
        said.append(f"rows that repeat an earlier row exactly: {profile.repeated}")
    keys = [f'"{column.name}"' for column in profile.columns if column.could_be_key]
    if keys:
        said.append(f"columns that could be a key: {', '.join(keys)}")
    return said


def remarks_on(column: Column) -> list[str]:
    """Return what one column deserves to have said of it."""
    total = column.filled + column.empty
    if total and not column.filled:
        return [f'column "{column.name}" is empty']
    if column.empty * 2 >= total > 0:
        return [f'column "{column.name}" is {column.empty / total:.0%} empty'.replace("%", " %")]
    if len(column.values) == 1 and column.filled > 1:
        return [f'column "{column.name}" always holds the same value']
    return []


def summary(column: Column) -> Summary:
    """Return a column as it is reported."""
    smallest, largest = column.range
    common = column.values.most_common(1)
    return Summary(
        column=column.name,
        type=column.type,
        filled=column.filled,
        empty=column.empty,
        distinct=f"{len(column.values)}{'+' if column.overflowed else ''}",
        smallest=smallest,
        largest=largest,
        most_common=f"{shortened(common[0][0])} ({common[0][1]})" if common else "",
    )


def as_markdown(profile: Profile) -> str:
    """Return the report for people."""
    rows = [asdict(summary(column)) for column in profile.columns]
    titles = [title.replace("_", " ") for title in Summary.__dataclass_fields__]
    delimiter = "tab" if profile.delimiter == "\t" else f'"{profile.delimiter}"'
    written = f"encoding {profile.encoding}, delimiter {delimiter}"
    lines = [
        f"# {profile.name}",
        "",
        f"{profile.rows} rows, {len(rows)} columns, {written}",
        "",
        table_row(titles),
        "|" + "---|" * len(titles),
        *(table_row([str(cell) for cell in row.values()]) for row in rows),
    ]
    said = remarks(profile)
    if said:
        lines += ["", "## Worth a look", "", *(f"- {one_line(remark)}" for remark in said)]
    return "\n".join(lines)


def table_row(cells: list[str]) -> str:
    """Return one row of a Markdown table."""
    return "| " + " | ".join(one_line(cell).replace("|", r"\|") for cell in cells) + " |"


def one_line(text: str) -> str:
    """Collapse line breaks and other blanks."""
    return " ".join(text.split())


def shortened(text: str) -> str:
    """Cut a long cell."""
    return text if len(text) <= CELL_SHOWN else text[: CELL_SHOWN - 1] + "…"


def as_json(profile: Profile) -> str:
    """Return the report for programs."""
    return json.dumps(
        {
            "file": profile.name,
            "encoding": profile.encoding,
            "delimiter": profile.delimiter,
            "rows": profile.rows,
            "columns": [asdict(summary(c)) for c in profile.columns],
            "misfits": [{"line": line, "fields": fields} for line, fields in profile.misfits],
            "repeated_rows": profile.repeated,
            "worth_a_look": remarks(profile),
        },
        ensure_ascii=False,
        indent=2,
    )


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):  # end quietly when the reader, `head` say, has seen enough
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
