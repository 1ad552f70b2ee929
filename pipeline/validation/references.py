"""References of a body to files: targets of links, paths in code spans and on their own lines."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from operator import attrgetter
from posixpath import normpath
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import unquote

from pipeline.parsing.markdown import MOST_BLOCKS, Block, block_at
from pipeline.roots.words import Words, searched

MOST_REFERENCES = 1_000
"""More references are ignored; an ordinary body has a dozen."""

# Patterns start with a literal if possible, because the regex engine then skips to it.
_LINK = re.compile(
    r"\](?:\([ \t]{0,9}(?:<([^<>\n]{1,1000})>|([^\s()<>]{1,1000})(?=\)|\s+[\"'(]))"
    r"|:[ \t]{0,9}<?(?P<definition>[^\s<>]{1,1000}))"
)
_ATTRIBUTE = re.compile(r"""=(?:(?<=\bsrc=)|(?<=\bhref=))["']([^"'<>\s]{1,300})["']""")
_CODE = re.compile("`([^`\n]{1,300}+)`")
_WHOLE_CODE = re.compile("(?<=`)[^`\n]{1,200}+(?=`)")
_PATH_IN_CODE = re.compile(
    r"(?<![\w./~$}-])(?:\./)?((?:\.\./)*(?:scripts|references?|assets|templates)/"
    r"[\w./@+-]{1,200}\.\w{1,8})(?![\w*/<{\[-])"
)
_ALONE = re.compile(
    r"[ \t]{0,9}+(?:[-*+][ \t]|\d{1,3}[.)][ \t])?+[ \t]{0,3}+(?:\./)?+"
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
_MARKED = re.compile(r"[{}<>$*|\[\]…%](?:(?<!%)|\w+%)")
_PLACEHOLDER = re.compile(  # in a path after a slash
    r"[/_.-](?:\.\.(?<=\.{3})|path/to/|(?:XX{0,3}|NN{0,3}|YY(?:YY)?|MM|DD|HH|xx+|nn+|[Ff]oo|[Bb]ar"
    r"|[Yy]our|YOUR|[Mm]y|MY|file[-_]?name|script[-_]?name|skill[-_]?name|NAME|placeholder)"
    r"(?=[/_.-]|$))"
)
_ELSEWHERE = re.compile(  # in lower case; it starts with a set, which few characters pass
    r"(?=[acdefgmoprsuwy比例`'’])(?:\b(?:"
    r"(?:creat|writ|sav|generat|stor|emit|produc|delet|remov|renam)(?:e|es)\b[^.;:|—]{0,25}"
    r"|add (?:an? |the |another )?(?:new )?(?:file )?\W{0,3}"
    r"|(?:e\.g\.|for (?:example|instance)\b|such as\b)[^.;:|—]{0,60}"
    r"|(?:outputs?|results?)[*:\s]{1,5}|package['’]s\b[^.;|—]{0,8}"
    r"|missing |other skill\b[^.;|—]{0,40}"
    r"|(?:your|user['’]s|projects?|repo(?:sitor(?:y|ies))?|codebase|workspace)\b[^.;`]{0,30})"
    r"|(?:比如|例如)[^.;:|—]{0,60}|`x` (?:→|->) "
    r"|(?<!this skill)(?<!the skill)['’]s +(?:own )?(?:`x`(?:,| and| or) ){0,9})\Z"
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
_LONG_LINE = 2_000  # characters before and after a link that show whether it is in a code span
_OWN_FOLDER = "${CLAUDE_SKILL_DIR}/"  # Claude Code replaces it with the skill's folder
_ON_THIS_MACHINE = re.compile(
    r"(?:file:|~|[A-Za-z]:[\\/]|\\\\"
    r"|/(?:etc|home|root|proc|sys|dev|var|tmp|usr|opt|mnt|private|(?-i:Users|Volumes))(?:/|$)"
    r"|(?:\.\./)+(?:etc|home|root|proc|Users)/|(?:\.\./)+\.[a-z])",
    re.IGNORECASE,
)


Sign: TypeAlias = Literal["link", "machine", "order", "command", "name"]
"""How a text names a file: by a link; by one to the reader's machine, as to a system or home folder
or a drive; after "Read" and the like, or alone on a line; in a command; or only by its name."""


class Reference(NamedTuple):
    """Reference of a body to a file."""

    target: str  # without #fragment and ?query; relative ones normalised: "references/a.md"
    offset: int  # in characters from the start of the body
    sign: Sign = "link"

    @property
    def leads_outside(self) -> bool:
        """Whether it points outside the skill folder."""
        return self.target.startswith(("/", "../")) or self.target == ".."


def references(body: str, words: Words, blocks: Sequence[Block]) -> list[Reference]:
    """Return the references outside the blocks of a body, each target once, in order.

    `words` are those found in the body. A path in a code span or on its own line counts only
    below scripts/, references/, assets/ or templates/, unless its line says that it lies in
    the reader's project, is written there or is an example. A link in a code span is an example.
    URLs and placeholders are ignored.
    """
    candidates = islice(_candidates(body, words, blocks), MOST_REFERENCES)
    last_first = sorted(candidates, key=attrgetter("offset"), reverse=True)
    return sorted({at.target: at for at in last_first}.values(), key=attrgetter("offset"))


def commands(body: str, words: Words, blocks: Sequence[Block]) -> list[Reference]:
    """Return the scripts that shell fences run, each once; none of fences that build a project."""
    by_target: dict[str, Reference] = {}
    offsets = _offsets(words) if "scripts/" in words else ()
    for block, inside in groupby(offsets, lambda at: block_at(blocks, at)):
        if block and _SHELL_FENCE.match(body, block.start):
            runs = [_COMMAND.match(body, *line) for line in lines_at(body, inside)]
            if any(runs) and not _PROJECT.search(body, block.start, block.end):
                for run in filter(None, runs):
                    target = normpath(run[1])
                    by_target.setdefault(target, Reference(target, run.start(1), "command"))
    return [at for at in by_target.values() if not _is_placeholder(at.target)]


def _candidates(body: str, words: Words, blocks: Sequence[Block]) -> Iterator[Reference]:
    known: set[str] = set()  # those of which a later mention tells nothing new

    def is_new(at: int) -> bool:
        again = _WHOLE_CODE.match(body, at)
        is_told = body[at - 2 : at] == "](" or (again and again[0] in known)
        return not (is_told or block_at(blocks, at))

    for start, end in lines_at(body, filter(is_new, _offsets(words))):
        for code in islice(_CODE.finditer(body, start, end), MOST_REFERENCES):
            leads_on = body.startswith("](", code.end())  # the link says where
            if "/" not in code[1] or code[1] in known or leads_on or block_at(blocks, code.start()):
                continue
            paths = _PATH_IN_CODE.findall(code[1].replace(_OWN_FOLDER, ""))
            new = {at for at in {*map(normpath, paths)} - known if not _is_placeholder(at)}
            if new and not _is_elsewhere(body, code.start(), code.end()):
                known |= new
                before = body[max(start, code.start() - _NEAR) : code.start()]
                sign: Sign = "name"
                if run := _RUN.match(code[1]):
                    sign = "order" if _ORDER.search(before) else "command" if run[1] else "name"
                yield from (Reference(path, code.start(), sign) for path in sorted(new))
        alone = _ALONE.match(body, start, end)
        if alone and not _is_placeholder(alone[1]):
            known.add(path := normpath(alone[1]))
            yield Reference(path, alone.start(1), "order")
    yield from _links(body, blocks)


def _links(body: str, blocks: Sequence[Block]) -> Iterator[Reference]:
    """Yield the links, definitions of links, and HTML attributes that lead to files."""
    for pattern in (_LINK, _ATTRIBUTE):
        known: set[str] = set()
        for link in islice(pattern.finditer(body), MOST_BLOCKS):
            written, at = link[link.lastindex or 1], link.start()
            if written.startswith(_NO_FILES) or written in known or block_at(blocks, at):
                continue
            if _is_in_code(body, at) or (link.lastgroup and not _defines(body, at)):
                continue
            known.add(written)
            if target := _target(written):
                yield Reference(target, at, "machine" if _ON_THIS_MACHINE.match(target) else "link")


def _offsets(words: Words) -> list[int]:
    return sorted(chain.from_iterable(words.get(folder, ()) for folder in _FOLDERS))


def lines_at(body: str, offsets: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the start and end offsets of the lines with these offsets."""
    end = -1
    for at in offsets:
        if at > end:
            end = body.find("\n", at)
            end = len(body) if end < 0 else end
            yield body.rfind("\n", 0, at) + 1, end


def _is_elsewhere(body: str, start: int, end: int) -> bool:
    """Return whether a line says that the path in it lies in the reader's project."""
    before = _NEXT_ITEM.split(body[max(start - _LINE, 0) : start])[-1].replace("\n", " ")
    return bool(
        _ELSEWHERE.search(_CODE.sub("`x`", before)[-_NEAR:].lower())
        or _IN_THE_PROJECT.match(body, end, end + _LINE)
        or _MAY_BE_ABSENT.match(body, end, end + _LINE)
    )


def _target(written: str) -> str | None:
    """Return the path of a link's target, or None if it is not a file."""
    path = written.removeprefix(_OWN_FOLDER)
    if _ON_THIS_MACHINE.match(path):
        return path
    if _URL.match(path):
        return None
    path = unquote(path.partition("#")[0].partition("?")[0])
    if not ("/" in path or "." in path) or _is_placeholder(path) or _DOMAIN.fullmatch(path):
        return None
    return normpath(path)


def _is_placeholder(path: str) -> bool:
    return bool(_MARKED.search(path) or _PLACEHOLDER.search(f"/{path}"))


def _is_in_code(body: str, at: int) -> bool:
    """Return whether an offset lies in a code span, where a link is an example."""
    before = body[max(at - _LONG_LINE, 0) : at].rpartition("\n")[2]
    if before.count("`") % 2 == 0 and "``" not in before:
        return False  # as code spans before it are closed
    spans = _SPAN.finditer(body, at - len(before), at + _LONG_LINE)
    return next((span.start() <= at for span in spans if span.end() > at), False)


def _defines(body: str, bracket: int) -> bool:
    """Return whether the line up to this closing bracket is `[label`, as in `[label]: target`."""
    line = body[max(body.rfind("\n", bracket - 300, bracket) + 1, bracket - 300) : bracket]
    return line.lstrip(" ").startswith("[") and "]" not in line
