"""References of a body to files: targets of links, paths in code spans and on their own lines."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from operator import attrgetter
from posixpath import normpath
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import unquote

from pipeline.parsing.markdown import Block, lies_in
from pipeline.roots.words import Words, searched

MOST_REFERENCES = 1_000
"""More references are ignored; an ordinary body has a dozen."""

# Patterns start with a literal if possible, because the regex engine then skips to it.
_LINK = re.compile(r"\]\([ \t]{0,9}(?:<([^<>\n]{1,1000})>|([^\s()<>]{1,1000})(?=\)|\s+[\"'(]))")
_DEFINITION = re.compile(r"\]:[ \t]{0,9}<?([^\s<>]{1,1000})")
_ATTRIBUTE = re.compile(r"""=(?:(?<=\bsrc=)|(?<=\bhref=))["']([^"'<>\s]{1,300})["']""")
_CODE = re.compile("`([^`\n]{1,300})`")
_PATH_IN_CODE = re.compile(
    r"(?<![\w./~$}-])(?:\./)?((?:\.\./)*(?:scripts|references?|assets|templates)/"
    r"[\w./@+-]{1,200}\.\w{1,8})(?![\w*/<{\[-])"
)
_ALONE = re.compile(
    r"[ \t]{0,9}(?:[-*+][ \t]|\d{1,3}[.)][ \t])?[ \t]{0,3}(?:\./)?"
    r"((?:scripts|references?|assets|templates)/[\w./@+-]{1,200}\.\w{1,8})(?=[ \t]{0,9}(?:\n|\Z))"
)
_COMMAND = re.compile(
    r"[ \t>]{0,20}(?:\$ )?(?:(?:python3?|bash|sh|zsh|node|ruby|perl|tsx|bun|uv run|deno run"
    r"|npx tsx)[ \t]+(?:-\w+[ \t]+)*|\./)"
    r"((?:scripts|references?|assets|templates)/[\w./@+-]{1,200}\.\w{1,8})(?=[ \t\n]|\Z)"
)
_RUN = re.compile(
    r"((?:python3?|bash|sh|node|uv run) )?[./]{0,9}(?:\$\{CLAUDE_SKILL_DIR\}/)?[a-z]+/"
)
_SHELL_FENCE = re.compile(
    r"[ \t>]{0,20}(?:(?:[-*+]|\d{1,3}[.)])[ \t]{1,4})?[`~]{3,}[ \t]*(?:sh|bash|shell|zsh|console)?"
    r"[ \t]*\n"
)
_PROJECT = re.compile(r"\b(?:docker build|kubectl apply|helm upgrade|pytest tests|npm run build)\b")
_SPAN = re.compile(r"`(?<!``)(?:[^`\n]{1,1000}+`(?!`)|(`{0,8})(?!`)[^\n]{0,1000}?(?<!`)`\1(?!`))")
_NO_FILES = ("https://", "http://", "#")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//|#")
_PLACEHOLDER = re.compile(
    r"[{}<>$*|\[\]]|\.\.\.|…|%\w+%|path/to/"
    r"|(?:^|[/_.-])(?:X{1,4}|N{1,4}|YY(?:YY)?|MM|DD|HH|xx+|nn+|[Ff]oo|[Bb]ar|[Yy]our|YOUR|[Mm]y|MY"
    r"|(?:file|script|skill)[-_]?name|NAME|placeholder)(?=[/_.-]|$)"
)
_ELSEWHERE = re.compile(
    r"\b(?:(?:creat|writ|sav|generat|stor|emit|produc|delet|remov|renam)(?:e|es)\b[^.;:|—]{0,25}"
    r"|add (?:an? |the |another )?(?:new )?(?:file )?\W{0,3}"
    r"|(?:e\.g\.|for (?:example|instance)\b|such as\b)[^.;:|—]{0,60}"
    r"|(?:outputs?|results?)[*:\s]{1,5}|package['’]s\b[^.;|—]{0,8}"
    r"|missing |other skill\b[^.;|—]{0,40}"
    r"|(?:your|user['’]s|projects?|repo(?:sitor(?:y|ies))?|codebase|workspace)\b[^.;`]{0,30})\Z"
    r"|(?:比如|例如)[^.;:|—]{0,60}\Z|`x` (?:→|->) \Z"
    r"|(?<!this skill)(?<!the skill)['’]s +(?:own )?(?:`x`(?:,| and| or) ){0,9}\Z",
    re.IGNORECASE,
)
_IN_THE_PROJECT = re.compile(
    r"[^.;`\n]{0,20}\b(?:in|of|from) (?:the|your|their|each) (?:[\w'’-]+ ){0,2}"
    r"(?:project|repo|repository|codebase|workspace)\b",
    re.IGNORECASE,
)
_MAY_BE_ABSENT = re.compile(
    r"[^.;\n]{0,20}\b(?:would\b|no longer\b"
    r"|(?:if|when|where) (?:it|they|present|there|any|available)\b"
    r"|is overridden\b|is (?:missing|absent)\b|optional\b"
    r"|(?:does|do|may|might) not exist)|[`*_]{0,3} \([^()\n]{0,20}skill\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"(?:\b(?:Check|Consult|Execute|Follow|Load|Open|Read|Refer to|Run|See|Use)"
    r"|\b(?:consult|load|read|refer to|see)) [\"*_(]{0,3}\Z"
    r"|(?:执行|查看|运行|阅读|参见) ?\Z"
)
_NEXT_ITEM = re.compile(r"\n(?=\s*(?:[-*+|#>]|\d{1,3}[.)]|\n))")
_DOMAIN = re.compile(r"[\w.-]+\.(?:com|org|net|io|dev|ai|app|edu|gov)")
_FOLDERS = searched(("scripts/", "reference/", "references/", "assets/", "templates/"))
_LINE = 200  # characters of a line, before and after a path, that show whose file it is …
_NEAR = 100  # … and of those before it, without code, the ones that a pattern reaches
_OWN_FOLDER = "${CLAUDE_SKILL_DIR}/"  # Claude Code replaces it with the skill's folder
_ON_THIS_MACHINE = re.compile(
    r"(?:file:|~|[A-Za-z]:[\\/]|\\\\"
    r"|/(?:etc|home|root|proc|sys|dev|var|tmp|usr|opt|mnt|private|(?-i:Users|Volumes))(?:/|$)"
    r"|(?:\.\./)+(?:etc|home|root|proc|Users)/|(?:\.\./)+\.[a-z])",
    re.IGNORECASE,
)


Blocks: TypeAlias = Callable[[], Sequence[Block]]
"""The blocks of a body, which few bodies need."""
Sign: TypeAlias = Literal["link", "order", "command", "name"]
"""How a text names a file: by a link; after "Read" and the like, or alone on a line; in a command;
or only by its name."""


class Reference(NamedTuple):
    """Reference of a body to a file."""

    target: str  # without #fragment and ?query; relative ones normalised: "references/a.md"
    offset: int  # in characters from the start of the body
    sign: Sign = "link"

    @property
    def leads_to_machine(self) -> bool:
        """Whether it points to the reader's machine: a system folder, a home folder or a drive."""
        return bool(_ON_THIS_MACHINE.match(self.target))

    @property
    def leads_outside(self) -> bool:
        """Whether it points outside the skill folder."""
        return self.target.startswith(("/", "../")) or self.target == ".."


def references(body: str, words: Words, blocks: Blocks) -> list[Reference]:
    """Return the references outside the blocks of a body, each target once, in order.

    `words` are those found in the body. A path in a code span or on its own line counts only
    below scripts/, references/, assets/ or templates/, unless its line says that it lies in
    the reader's project, is written there or is an example. A link in a code span is an example.
    URLs and placeholders are ignored.
    """
    candidates = islice(_candidates(body, words, blocks), MOST_REFERENCES)
    last_first = sorted(candidates, key=attrgetter("offset"), reverse=True)
    return sorted({at.target: at for at in last_first}.values(), key=attrgetter("offset"))


def commands(body: str, words: Words, blocks: Blocks) -> list[Reference]:
    """Return the scripts that shell fences run, each once; none of fences that build a project."""
    by_target: dict[str, Reference] = {}
    if "scripts/" in words:
        shell = [each for each in blocks() if _SHELL_FENCE.match(body, each.start)]
        shell = [each for each in shell if not _PROJECT.search(body, each.start, each.end)]
        in_shell = (at for at in _offsets(words) if lies_in(shell, at))
        for line in lines_at(body, in_shell):
            command = _COMMAND.match(body, *line)
            if command and not _PLACEHOLDER.search(command[1]):
                target = normpath(command[1])
                by_target.setdefault(target, Reference(target, command.start(1), "command"))
    return list(by_target.values())


def _candidates(body: str, words: Words, blocks: Blocks) -> Iterator[Reference]:
    folders, links = _offsets(words), [*islice(_links(body), MOST_REFERENCES)]
    inside = blocks() if folders or links else ()
    folders = [at for at in folders if not lies_in(inside, at)]
    targets = [(at, target) for at, target in links if not lies_in(inside, at)]
    starts = sorted(at for at, _ in targets)
    examples = [s.span() for line in lines_at(body, starts) for s in _SPAN.finditer(body, *line)]
    known: set[str] = set()  # those of which a later mention tells nothing new
    for line in lines_at(body, folders):
        for code in islice(_CODE.finditer(body, *line), MOST_REFERENCES):
            if "/" not in code[1] or code[1] in known or lies_in(inside, code.start()):
                continue
            if body.startswith("](", code.end()):
                continue  # the link says where it leads
            paths = _PATH_IN_CODE.findall(code[1].replace(_OWN_FOLDER, ""))
            new = {at for at in {*map(normpath, paths)} - known if not _PLACEHOLDER.search(at)}
            if new and not _is_elsewhere(body, code.start(), code.end()):
                known |= new
                before = body[max(line[0], code.start() - _NEAR) : code.start()]
                sign: Sign = "name"
                if run := _RUN.match(code[1]):
                    sign = "order" if _ORDER.search(before) else "command" if run[1] else "name"
                yield from (Reference(path, code.start(), sign) for path in sorted(new))
        alone = _ALONE.match(body, *line)
        if alone and not _PLACEHOLDER.search(alone[1]):
            known.add(path := normpath(alone[1]))
            yield Reference(path, alone.start(1), "order")
    for at, target in targets:
        if not lies_in(examples, at):
            yield Reference(target, at)


def _links(body: str) -> Iterator[tuple[int, str]]:
    """Yield offset and path of each link, definition of a link, and HTML attribute to a file."""
    definitions = (at for at in _DEFINITION.finditer(body) if _defines(body, at.start()))
    for link in chain(_LINK.finditer(body), definitions, _ATTRIBUTE.finditer(body)):
        if target := _target(link[link.lastindex or 1]):
            yield link.start(), target


def _offsets(words: Words) -> list[int]:
    return sorted(chain.from_iterable(words.get(folder, ()) for folder in _FOLDERS))


def lines_at(body: str, offsets: Iterable[int]) -> list[tuple[int, int]]:
    """Return the start and end offsets of the lines with these offsets."""
    lines: list[tuple[int, int]] = []
    for at in offsets:
        if not lines or at > lines[-1][1]:
            end = body.find("\n", at)
            lines.append((body.rfind("\n", 0, at) + 1, len(body) if end < 0 else end))
    return lines


def _is_elsewhere(body: str, start: int, end: int) -> bool:
    """Return whether a line says that the path in it lies in the reader's project."""
    before = _NEXT_ITEM.split(body[max(start - _LINE, 0) : start])[-1].replace("\n", " ")
    return bool(
        _ELSEWHERE.search(_CODE.sub("`x`", before)[-_NEAR:])
        or _IN_THE_PROJECT.match(body, end, end + _LINE)
        or _MAY_BE_ABSENT.match(body, end, end + _LINE)
    )


def _target(written: str) -> str | None:
    """Return the path of a link's target, or None if it is not a file."""
    if written.startswith(_NO_FILES):
        return None  # true of most links
    path = written.removeprefix(_OWN_FOLDER)
    if _ON_THIS_MACHINE.match(path):
        return path
    if _URL.match(path):
        return None
    path = path.partition("#")[0].partition("?")[0]
    if "%" in path:
        path = unquote(path)
    if not ("/" in path or "." in path) or _PLACEHOLDER.search(path) or _DOMAIN.fullmatch(path):
        return None
    return normpath(path)


def _defines(body: str, bracket: int) -> bool:
    """Return whether the line up to this closing bracket is `[label`, as in `[label]: target`."""
    line = body[max(body.rfind("\n", bracket - 300, bracket) + 1, bracket - 300) : bracket]
    return line.lstrip(" ").startswith("[") and "]" not in line
