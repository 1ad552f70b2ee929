"""A skill as the input of rules: its declared fields, its texts and its files."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from posixpath import splitext
from types import MappingProxyType
from typing import Any, NamedTuple, Self, TypeAlias

from catalog.model.fields import Declared, F
from catalog.model.finding import Finding, FindingType
from catalog.model.skill import FileEntry
from catalog.model.values import Json
from catalog.text import tokens
from pipeline.parsing.document import Parsed
from pipeline.parsing.markdown import MOST_BLOCKS, Block, blocks_of
from pipeline.roots.file_kinds import is_script
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

# The patterns start with a literal, to which the regex engine skips.
_REVERSED_FOLDER = re.compile(r"/(?<!\w/)(?<!\w\./)([\w.@-]{1,64})")
_IN_CODE = re.compile(r"`([\w.@/*-]{1,64})`")


@dataclass(frozen=True)
class Text:
    """Text that an agent reads or runs: the body, a document or a script."""

    path: str
    content: str
    first_line: int = 1  # in its file
    is_script: bool = False
    is_body: bool = False
    read_words: Words = field(default_factory=Words)  # found when it was read

    @property
    def name(self) -> str:
        """The subject of a sentence about it."""
        return "The body" if self.is_body else "The file"

    @cached_property
    def words(self) -> Words:
        """The words of rules in it."""
        return self.read_words if self.read_words.is_complete else found(self.content)

    @cached_property
    def blocks(self) -> list[Block]:
        """Its code fences and comments."""
        return blocks_of(self.content)

    @property
    def is_cut(self) -> bool:
        """Whether a word or blocks are in it so often that the rules do not see the rest."""
        return self.words.is_cut or (not self.is_script and len(self.blocks) >= MOST_BLOCKS)

    @cached_property
    def references(self) -> list[Reference]:
        """The references to files outside code fences and comments."""
        return references(self.content, self.words, self.blocks)

    def finding(
        self, kind: FindingType, message: str | None = None, *, offset: int, fix: str | None = None
    ) -> Finding:
        """Return a finding at an offset, in characters from the start of the text."""
        line = self.first_line + self.content.count("\n", 0, offset)
        return kind.at(message, fix=fix, path=self.path, line=line)


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

    @cached_property
    def body(self) -> Text:
        """The text below the frontmatter."""
        body, text = self.parsed.body, self.parsed.text.rstrip()
        is_end = self.document in self.words and text.endswith(body)  # and has plain line ends
        words = self.words[self.document].after(len(text) - len(body)) if is_end else Words()
        return Text(self.document, body, self.parsed.body_line, is_body=True, read_words=words)

    @cached_property
    def estimated_tokens(self) -> int:
        """The approximate number of tokens in SKILL.md, with its frontmatter."""
        return tokens.estimate_long(self.parsed.text)

    @cached_property
    def paths(self) -> frozenset[str]:
        """The paths of all files and directories, with "." for the skill's folder."""
        paths = [file.path for file in self.files]
        folders = {path[:end] for path in paths for end, c in enumerate(path) if c == "/"}
        return frozenset(folders.union(paths, "."))

    @cached_property
    def led_to(self) -> frozenset[str]:
        """The files that the body mentions, or a file that it leads to; folders count for all."""
        paths = [file.path for file in self.files if file.path != self.document]
        return mentioned(self.parsed.body, self.other_texts, paths)

    @cached_property
    def others(self) -> tuple[Text, ...]:
        """The documents and scripts beside the body."""
        return tuple(
            Text(path, text, is_script=is_script(path), read_words=self.words.get(path, Words()))
            for path, text in self.other_texts.items()
        )

    @cached_property
    def texts(self) -> tuple[Text, ...]:
        """The body, the documents that it leads to, and all scripts."""
        led_to = (text for text in self.others if text.is_script or text.path in self.led_to)
        return self.body, *led_to

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
        position, outer = self.parsed.positions.get(field), field
        while position is None and "." in outer:
            outer = outer.rpartition(".")[0]
            position = self.parsed.positions.get(outer)
        return kind.at(
            message,
            fix=fix,
            field=field,
            path=self.document,
            line=position.line if position else 1,
            column=position.column if position else None,
        )


Rule: TypeAlias = Callable[[Skill], Iterable[Finding]]


def mentioned(body: str, texts: Mapping[str, str], paths: Sequence[str]) -> frozenset[str]:
    """Return the paths that a body mentions, or a text that is itself mentioned.

    A mention is the name of a file or of its folder, or how its name starts, as in `query-`; in a
    script the name without its extension suffices, as in an import.
    """
    found = set(paths[MOST_PATHS:])
    left = [_Mentionable.of(path) for path in paths[:MOST_PATHS]]
    unread = [("", body)]
    while unread and left:
        reader, text = unread.pop()
        text = lower(text).decode()
        in_script = is_script(reader)
        new = [file for file in left if file.is_named(text, in_script)]
        if len(new) < len(left) and not in_script:
            folders = _folders_named(text)
            starts = tuple(word for word in folders if len(word) > 2 and word[-1] in "-_")
            found.update(file.path for file in new)
            unnamed = [file for file in left if file.path not in found]
            new += [file for file in unnamed if file.is_below(folders, starts)]
        found.update(file.path for file in new)
        left = [file for file in left if file.path not in found]
        unread += [(file.path, texts[file.path]) for file in new if file.path in texts]
    return frozenset(found)


class _Mentionable(NamedTuple):
    """A file and the words that mention it, in lower case."""

    path: str
    name: str
    stem: str  # the name without its extension
    module: str  # the path as in an import: `scripts.run`
    folders: frozenset[str]  # the paths of all folders above it, and their names

    @classmethod
    def of(cls, path: str) -> Self:
        folder, _, name = lower(path).decode().rpartition("/")
        stem = splitext(name)[0]
        folders = set[str]()
        module = f"{folder}/{stem}".replace("/", ".") if folder else name
        while folder:
            above, _, last = folder.rpartition("/")
            folders |= {folder, last}
            folder = above
        return cls(path, name, stem, module, frozenset(folders))

    def is_named(self, text: str, in_script: bool) -> bool:
        stem = self.stem
        if stem not in text:
            return False  # true of most names, so the speed depends on this test
        if in_script or f"/{stem}" in text or f"`{stem}`" in text:
            return True
        return self.name in text or self.module in text

    def is_below(self, named: set[str], starts: tuple[str, ...]) -> bool:
        """Return whether a folder of the file is named, or how its name starts: `query-`."""
        return self.name.startswith(starts) or not self.folders.isdisjoint(named)


def _folders_named(text: str) -> set[str]:
    """Return the names of folders in a text, and the contents of its code spans."""
    folders, codes = {*_REVERSED_FOLDER.findall(text[::-1])}, {*_IN_CODE.findall(text)}
    return {*(folder[::-1] for folder in folders), *(code.strip("/*") for code in codes)}
