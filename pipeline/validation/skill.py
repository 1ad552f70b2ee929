"""A skill as the input of rules: its declared fields, its texts and its files."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from posixpath import splitext
from types import MappingProxyType
from typing import Any, NamedTuple, Self, TypeAlias

from catalog.model.fields import Declared, F
from catalog.model.finding import Finding, FindingType
from catalog.model.skill import FileEntry
from catalog.model.values import Json
from catalog.text import tokens
from catalog.text.visible import with_plain_line_ends
from pipeline.parsing.document import Parsed
from pipeline.parsing.markdown import MOST_BLOCKS, Block, blocks_of
from pipeline.parsing.yaml_reader import Position
from pipeline.roots import file_kinds
from pipeline.roots.file_kinds import is_read, is_script
from pipeline.roots.words import Words, found, lower
from pipeline.validation.references import Reference, references


class TypeMismatch(NamedTuple):
    """A field whose value has the wrong type and is ignored."""

    field: str  # "user-invocable", "triggers.priority"
    message: str


class Declaration(NamedTuple):
    """Typed fields that a SKILL.md declares."""

    common: Declared
    own: Mapping[Any, Any]  # by the dialect, the fields of each that has any here
    mismatches: tuple[TypeMismatch, ...]
    clients: Mapping[str, tuple[str, ...]] = MappingProxyType({})  # that read each known field …
    extensible: str | None = None  # … and the one that reads all fields of this package

    def readers(self, field: str) -> tuple[str, ...]:
        """Return the clients that read a field, such as `hooks` or `metadata.openclaw`."""
        return self.clients.get(field, (self.extensible,) if self.extensible else ())

    def of(self, model: type[F]) -> F:
        """Return the fields of a dialect, all undeclared if it has none here."""
        return next((fields for fields in self.own.values() if isinstance(fields, model)), model())


MOST_ALIKE = 10
"""Number of findings of one code that are listed individually."""

MOST_PATHS = 500
"""More files count as mentioned; an ordinary skill has a dozen."""

_MOST_WORDS, _MOST_PLACES = 500, 1_000
"""More folders and starts of names count as mentioned; places of one that are looked at."""

_SETTINGS = (".toml", ".yaml", ".yml", ".json")
"""Ends of files that name others for a program; those beside SKILL.md need no mention."""

_IN_NAME = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_.@-")
_FOLDER, _STARTED = re.compile(rb"/(?!\.?\w)"), re.compile(rb"[*<{$\[]")  # as in `query-*.md`
_NO_COMMENT = re.compile(r"^(?:[^#\n]++|(?<=\S)#)+", re.M)  # of a line of YAML


@dataclass(frozen=True)
class Text:
    """Text that is judged: the body, a value of the frontmatter, or a file."""

    path: str
    content: str
    first_line: int = 1  # in its file
    is_script: bool = False
    is_body: bool = False
    in_field: str | None = None  # whose value it is; "" for comments of the frontmatter
    read_words: Words = field(default_factory=Words)  # found when it was read

    @property
    def name(self) -> str:
        """The subject of a sentence about it."""
        if self.in_field is not None:
            return self.in_field or "The frontmatter"
        return "The body" if self.is_body else "The file"

    @cached_property
    def words(self) -> Words:
        """The words of rules in it."""
        return self.read_words if self.read_words.is_complete else found(lower(self.content))

    @cached_property
    def blocks(self) -> list[Block]:
        """Its code fences and comments."""
        return blocks_of(self.content)

    @property
    def is_cut(self) -> bool:
        """Whether a word or blocks are in it so often that the rules do not see the rest."""
        if self.is_script or len(self.content) < 3 * MOST_BLOCKS:  # a block has at least ```
            return self.words.is_cut
        return self.words.is_cut or len(self.blocks) >= MOST_BLOCKS

    @cached_property
    def references(self) -> list[Reference]:
        """The references to files outside code fences and comments."""
        return references(self.content, self.words, self.blocks)

    def finding(
        self, kind: FindingType, message: str | None = None, *, offset: int, fix: str | None = None
    ) -> Finding:
        """Return a finding at an offset, in characters from the start of the text."""
        line = self.first_line + self.content.count("\n", 0, offset)
        return kind.at(message, fix=fix, field=self.in_field or None, path=self.path, line=line)


@dataclass(frozen=True)
class Skill:
    """Input of a rule: everything known about one skill."""

    folder: str  # its name
    document: str  # SKILL.md, or the variant that was found
    parsed: Parsed
    declaration: Declaration
    files: Sequence[FileEntry]  # sorted by path
    is_whole: bool = True  # False if some files could not be read and are missing from `files`
    other_texts: Mapping[str, str] = field(default_factory=dict)  # of files, by path
    words: Mapping[str, Words] = field(default_factory=dict)  # in files as they were read, by path
    in_other_skill: Callable[[str], bool] = lambda _: False
    """Whether another skill has the file at a path relative to this folder, so that agents find it.
    """
    withheld: Sequence[str] = ()  # paths of files with secrets, which are not published

    @cached_property
    def body(self) -> Text:
        """The text below the frontmatter."""
        body, head = self.parsed.body, len(self.head)
        is_end = self.document in self.words and self.parsed.text.startswith(body, head)
        words = self.words[self.document].between(head) if is_end else Words()
        return Text(self.document, body, self.parsed.body_line, is_body=True, read_words=words)

    @cached_property
    def head(self) -> str:
        """The text above the body: the frontmatter with its fences."""
        return with_plain_line_ends(self.parsed.text).rstrip().removesuffix(self.parsed.body)

    @cached_property
    def fields(self) -> tuple[Text, ...]:
        """The values of the frontmatter, each after its key, and its comments, if to be judged."""
        comments = _NO_COMMENT.sub("", self.head) if self.frontmatter else self.head
        values = [(key, f"{key}: {value}") for key, value in _texts(self.frontmatter)]
        values.append(("", comments.rstrip()))
        words = found(lower("\n".join(value for _, value in values)))
        ends = accumulate(len(value) + 1 for _, value in values)
        texts = (
            Text(
                self.document,
                value,
                self._position(field).line,
                in_field=field,
                read_words=words.between(end - len(value) - 1, end - 1),
            )
            for (field, value), end in zip(values, ends, strict=True)
        )
        return tuple(text for text in texts if text.words or not text.content.isascii())

    @cached_property
    def estimated_tokens(self) -> int:
        """The approximate number of tokens in SKILL.md, with its frontmatter."""
        return tokens.estimate_long(self.parsed.text)

    @cached_property
    def paths(self) -> frozenset[str]:
        """The paths of all files and directories, with "." for the skill's folder."""
        paths = [*(file.path for file in self.files), *self.withheld]
        folders = {path[:end] for path in paths for end, c in enumerate(path) if c == "/"}
        return frozenset(folders.union(paths, "."))

    @cached_property
    def led_to(self) -> frozenset[str]:
        """The files that SKILL.md mentions, or a file that it leads to; folders count for all."""
        paths = [file.path for file in self.files if file.path != self.document]
        fields = (text for _, text in _texts(self.frontmatter))
        return mentioned("\n".join((self.parsed.body, *fields)), self.other_texts, paths)

    @cached_property
    def others(self) -> tuple[Text, ...]:
        """The texts beside the body."""
        return tuple(
            Text(path, text, is_script=file_kinds.is_executed(path, text), read_words=words)
            for path, text in self.other_texts.items()
            for words in (self.words.get(path, Words()),)
        )

    @cached_property
    def texts(self) -> tuple[Text, ...]:
        """The body, the documents that it leads to, and all scripts that an agent runs."""
        led_to = (text for text in self.others if text.is_script or text.path in self.led_to)
        return self.body, *(text for text in led_to if is_read(text.path))

    @cached_property
    def judged(self) -> tuple[Text, ...]:
        """All texts that are judged for safety, whether anything leads to them or not."""
        return *self.fields, self.body, *self.others

    @property
    def unjudged(self) -> tuple[str, ...]:
        """The paths of texts that are too large or too many, and of documents that are no text."""
        known = {self.document, *self.other_texts}
        rest = (file for file in self.files if file.path not in known)
        return tuple(file.path for file in rest if file.is_text or file_kinds.is_source(file))

    @property
    def declared(self) -> Declared:
        """The common fields, which are read from every skill."""
        return self.declaration.common

    @property
    def frontmatter(self) -> Mapping[str, Json]:
        """The fields as written; empty if the frontmatter is missing or unreadable."""
        return self.parsed.frontmatter or {}

    def finding(
        self, kind: FindingType, message: str | None = None, *, field: str, fix: str | None = None
    ) -> Finding:
        """Return a finding about a field, at its position or at line 1 of the document.

        A field without a position takes that of the field that contains it.
        """
        position = self._position(field)
        line, column = position.line, position.column or None
        return kind.at(message, fix=fix, field=field, path=self.document, line=line, column=column)

    def _position(self, field: str) -> Position:
        while field and field not in self.parsed.positions:
            field = field.rpartition(".")[0]
        return self.parsed.positions.get(field, Position(1, 0))


Rule: TypeAlias = Callable[[Skill], Iterable[Finding]]


def _texts(value: Json, field: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text of a frontmatter value, with its field."""
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, f"{field}.{key}" if field else key)
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _texts(inner, f"{field}.{number}")


def mentioned(body: str, texts: Mapping[str, str], paths: Sequence[str]) -> frozenset[str]:
    """Return the paths that a body mentions, or a text that is itself mentioned.

    A mention is the name of a file or of its folder, or how its name starts, as in `query-`; in a
    script the name without its extension suffices, as in an import.
    """
    found = set(paths[MOST_PATHS:])
    left = [_Mentionable.of(path) for path in paths[:MOST_PATHS]]
    settings = [path for path in texts if path.endswith(_SETTINGS) and "/" not in path]
    unread = [("", body), *((path, texts[path]) for path in settings)]
    while unread and left:
        reader, content = unread.pop()
        text, in_script = lower(content), is_script(reader)
        new = [file for file in left if file.is_named(text, in_script)]
        if len(new) < len(left) and not in_script:
            found.update(file.path for file in new)
            unnamed = [file for file in left if file.path not in found]
            words = {word for file in unnamed for word in file.above}
            named = words if len(words) > _MOST_WORDS else {w for w in words if _names(text, w)}
            new += [file for file in unnamed if not file.above.isdisjoint(named)]
        found.update(file.path for file in new)
        left = [file for file in left if file.path not in found]
        texts_named = (file.path for file in new if file.path in texts)
        read = (path for path in texts_named if is_read(path) or path.endswith(_SETTINGS))
        unread += [(path, texts[path]) for path in read]
    return frozenset(found)


class _Mentionable(NamedTuple):
    """A file and the words that mention it, in lower case."""

    path: str
    name: bytes
    stem: bytes  # the name without its extension
    module: bytes  # the path as in an import: `scripts.run`
    above: frozenset[bytes]  # paths and names of all folders above it, and starts of its own name

    @classmethod
    def of(cls, path: str) -> Self:
        folder, _, name = lower(path).rpartition(b"/")
        stem = splitext(name)[0]
        above = {name[: end + 1] for end, c in enumerate(name[:66]) if end > 1 and c in b"-_"}
        module = b"%s.%s" % (folder.replace(b"/", b"."), stem) if folder else name
        while folder:
            outer, _, last = folder.rpartition(b"/")
            above |= {folder, last}
            folder = outer
        return cls(path, name, stem, module, frozenset(above))

    def is_named(self, text: bytes, in_script: bool) -> bool:
        if self.stem not in text:
            return False  # true of most names, so the speed depends on this test
        ways = (b"/" + self.stem, b"`%s`" % self.stem, self.name, self.module)
        return in_script or any(way in text for way in ways)


def _names(text: bytes, word: bytes) -> bool:
    """Return whether a text names a folder, as in `scripts/`, or how names start: `query-*`."""
    named, end = _STARTED if word[-1] in b"-_" else _FOLDER, 0
    for before in text.split(word, _MOST_PLACES)[:-1]:
        end += len(before) + len(word)
        if not before or before[-1] not in _IN_NAME:
            in_code = before[-4:].rstrip(b"/*").endswith(b"`") and text.startswith(b"`", end)
            if in_code or named.match(text, end):
                return True
    return False
