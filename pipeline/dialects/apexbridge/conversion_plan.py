"""Plan that converts an older layout to an ApexBridge package, made without changing any file."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count
from posixpath import splitext

from catalog.model.finding import Finding
from catalog.model.values import Json
from catalog.text.visible import printable, quoted, with_plain_line_ends
from pipeline.dialects.apexbridge.codes import (
    ALLOWLIST_MISSING,
    REQUIRED_FIELD_MISSING,
    SCRIPT_MISSING,
    SECTION_MISSING,
)
from pipeline.dialects.apexbridge.field_rules import MAY_BE_EMPTY, REQUIRED
from pipeline.dialects.apexbridge.fields import OLD_FILESYSTEM, OLD_NETWORK
from pipeline.dialects.apexbridge.file_rules import CHINESE, missing_sections
from pipeline.parsing import codes, document, markdown
from pipeline.parsing.document import parse
from pipeline.parsing.frontmatter_editor import as_typed, blocks, dumped, with_fields
from pipeline.parsing.yaml_reader import Unreadable, YamlText, read_yaml
from pipeline.validation.profile import OldLayout, Plan
from pipeline.validation.profiles.spec.codes import DESCRIPTION_MISSING, NAME_MISSING

METADATA = ("METADATA.yml", "METADATA.yaml", "metadata.yml", "metadata.yaml")
LEGACY = ".legacy"
FOLDERS = ("scripts", "references", "assets")

_NO_SCRIPT = """\
// A placeholder: the package had no script when it was migrated.
export async function execute(): Promise<never> {
  throw new Error("This skill has no script yet.");
}
"""
_SECTIONS: Mapping[str, tuple[str, str]] = {
    "description": ("{description}", "{description}"),
    "parameters": ("See `input_schema` in the frontmatter.", "见文件开头的 `input_schema`。"),
    "output": ("See `output_schema` in the frontmatter.", "见文件开头的 `output_schema`。"),
    "steps": ("Run [{entry}]({entry}).", "运行 [{entry}]({entry})。"),
    "examples": ("There is no example yet.", "尚无示例。"),
    "safety": (
        "Nobody has described yet how sensitive data is handled.",
        "尚未说明敏感数据的处理规范。",
    ),
}
"""Texts of missing sections, in English and Chinese."""
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_ANY_OBJECT: Json = {"type": "object", "additionalProperties": True}
_RESTRICTED: Mapping[str, Json] = {
    "timeout_ms": 5000,
    "memory_mb": 128,
    "network": "none",
    "filesystem": "none",
}
_ADDRESSES = (
    "If the skill needs the network, write network: allowlist, and the addresses under "
    "network_allowlist."
)
_UNREADABLE = {codes.INVALID_UTF_8.code} | {
    kind.code
    for kind in codes.TYPES
    if "lenient" in kind.rejects and kind is not codes.FRONTMATTER_MISSING
}
"""Codes of findings that prevent migration; a SKILL.md without frontmatter can be migrated."""


def plan(old: OldLayout) -> Plan:
    """Return the plan for an older layout; never raises. The plan for its result is empty."""
    planning = _Planner(old)
    try:
        return planning.plan()
    except _NotConvertibleError as refused:
        return Plan(findings=refused.args, refused=True)


class _NotConvertibleError(Exception):
    """The folder cannot be migrated as it is; its arguments are the findings that say why."""


class _Planner:
    """Planner that builds the future content of the folder step by step."""

    def __init__(self, old: OldLayout) -> None:
        self.old = old
        self.steps: list[str] = []
        self.findings: list[Finding] = []
        self.moves: dict[str, str] = {}
        self.writes: dict[str, bytes] = {}
        self.scripts = {path for path in old.files if path.startswith("scripts/")}
        self.removed: set[str] = set()  # fields
        self.added: dict[str, str] = {}  # fields, as lines of YAML
        self.fields: dict[str, Json] = {}  # all fields that will be declared
        self.head, self.body = "", ""

    def plan(self) -> Plan:
        self._read()
        before = (self.head, self.body)
        self._merge_metadata()
        self._move_script()
        self._move_code()
        self._fill()
        self._add_sections()
        folders = tuple(
            name
            for name in FOLDERS
            if name not in self.old.folders
            and not any(path.startswith(f"{name}/") for path in self.writes)
        )
        self.steps += [f"create the folder {name}/" for name in folders]
        if self.added or self.removed or before != (self.head, self.body):
            self._write_document()
        return Plan(tuple(self.steps), self.moves, self.writes, folders, tuple(self.findings))

    def _read(self) -> None:
        """Split SKILL.md; raises _RefusedError if it cannot be read without loss."""
        parsed = parse(self.old.skill_md, self.old.document)
        errors = [finding for finding in parsed.findings if finding.code in _UNREADABLE]
        text = with_plain_line_ends(parsed.text).lstrip()
        cut = document.cut_at_fences(text) if parsed.frontmatter is not None else None
        if errors or (cut is None and parsed.frontmatter is not None):
            raise _NotConvertibleError(*(errors or parsed.findings))
        self.has_crlf = "\r\n" in parsed.text
        self.head, self.body = (cut.frontmatter, cut.body) if cut else ("", f"\n{text}")
        if self.head and not self.head.endswith("\n"):
            self.head += "\n"
        self.fields = dict(parsed.frontmatter or {})
        read = read_yaml(self.head)
        if not isinstance(read, YamlText):
            raise _NotConvertibleError(*parsed.findings)  # it needed repairs
        self.read = read

    def _merge_metadata(self) -> None:
        name = next((name for name in METADATA if name in self.old.files), None)
        if name is None:
            return
        text = with_plain_line_ends(self.old.texts.get(name, ""))
        read = read_yaml(text)
        if isinstance(read, Unreadable):
            raise _NotConvertibleError(read.finding._replace(path=name))
        fields: Json = {} if read.value is None else read.value
        if not isinstance(fields, Mapping):
            message = f"{name} does not consist of `key: value` fields."
            raise _NotConvertibleError(codes.FRONTMATTER_NOT_MAPPING.at(message, path=name, line=1))
        lines = blocks(text)
        for key, value in fields.items():
            if _is_empty(self.fields.get(key)):
                self._add(key, value, lines.get(key) or dumped(as_typed(read, {key: value})))
                self.steps.append(f"take {printable(key)} from {name}")
            elif self.fields[key] != value:
                step = f"keep {printable(key)} from SKILL.md; {name} has {quoted(str(value))}"
                self.steps.append(step)
        legacy = self._free_path(f"{name}{LEGACY}")
        self.moves[name] = legacy
        self.steps.append(f"keep {name} as {legacy}")

    def _move_script(self) -> None:
        """Rename the older scripts/main.… to its name in packages."""
        mains = sorted(path for path in self.scripts if splitext(path)[0] == "scripts/main")
        if not mains or self._entry():
            return
        old, new = mains[0], f"scripts/execute{splitext(mains[0])[1]}"
        self.moves[old] = new
        self.scripts = {new if path == old else path for path in self.scripts}
        self.steps.append(f"move {old} to {new}")
        mention = re.compile(rf"(?:(?<![\w/])|(?<=\./)){re.escape(old)}(?![\w-])")
        self.head, in_head = mention.subn(new, self.head)
        self.body, in_body = mention.subn(new, self.body)
        read = read_yaml(self.head)
        if in_head and isinstance(read, YamlText) and isinstance(read.value, Mapping):
            self.read = read
            self.fields |= read.value
        if in_head or in_body:
            self.steps.append(f"write {new} instead of {old} in SKILL.md")

    def _move_code(self) -> None:
        """Move the code of the body into a script."""
        block = code_block(self.body)
        if block is None:
            return
        path = f"scripts/execute.{block.ending or DEFAULT_ENDING}"
        if self.scripts:
            self.steps.append("leave the code block in SKILL.md, because a script exists already")
            return
        self.writes[path] = self._encoded(block.code)
        self.scripts.add(path)
        lines = self.body.split("\n")
        see = f"见 [{path}]({path})。" if block.is_chinese else f"See [{path}]({path})."
        lines[block.first : block.last + 1] = [see]
        self.body = "\n".join(lines)
        self.steps.append(f"move the code block of SKILL.md to {path}")
        if not block.ending:
            self.steps.append(f"assume .{DEFAULT_ENDING}, because it does not name its language")

    def _fill(self) -> None:
        """Declare each missing field with a placeholder and a finding."""
        if not self.scripts:
            path = "scripts/execute.ts"
            self.writes[path] = self._encoded(_NO_SCRIPT)
            self.scripts.add(path)
            self.steps.append(f"write the placeholder {path}")
            message = f"The package had no script; a placeholder was written to {path}."
            self._ask(SCRIPT_MISSING.at(message, path=path))
        self._replace_permissions()
        for name, value in self._placeholders():
            declared = self.fields.get(name)
            if _is_empty(declared) and not (declared == {} and name in MAY_BE_EMPTY):
                self._fill_in(name, value)
        resources = self.fields.get("resources")
        if isinstance(resources, Mapping) and _is_empty(resources.get("entry")):
            entry: Json = f"./{self._script()}"
            others = as_typed(self.read, dict(resources), "resources.")
            completed = {"entry": entry} | {k: v for k, v in others.items() if k != "entry"}
            self._add("resources", completed, dumped({"resources": completed}))
            self.steps.append(f"declare resources.entry: {entry}")

    def _add_sections(self) -> None:
        """Add each missing section, with what the frontmatter says about it."""
        known = {"description": str(self.fields["description"]), "entry": self._script()}
        headings = markdown.headings(self.body, markdown.blocks_of(self.body))
        is_chinese = _CHINESE.search(" ".join(headings) or known["description"]) is not None
        for section in missing_sections(self.head + self.body, self.body):
            title = CHINESE[section] if is_chinese else section.capitalize()
            text = _SECTIONS[section][is_chinese].format_map(known)
            above = f"{self.body.rstrip()}\n" if self.body.strip() else ""
            self.body = f"{above}\n## {title}\n\n{text}\n"
            self.steps.append(f"add the section {title}")
            message = f"The body had no section {section}; {title} was added with a first sentence."
            fix = "Replace the sentence with what its readers need."
            self._ask(SECTION_MISSING.at(message, path=self.old.document, fix=fix))

    def _ask(self, finding: Finding) -> None:
        """Add a finding about a placeholder, which is valid but may say too little."""
        self.findings.append(finding._replace(severity="warning"))

    def _placeholders(self) -> Iterator[tuple[str, Json]]:
        words = _texts(self.fields.get("keywords")) or _texts(self.fields.get("tags"))
        yield "name", self.old.folder
        paragraph = markdown.first_paragraph(self.body)
        yield "description", paragraph or "TODO: say what this skill does and when to use it."
        yield "version", "0.0.0"
        yield "type", "direct"
        yield "capabilities", ["unspecified"]
        yield "tags", words or ["untagged"]
        name = self.fields.get("displayName") or self.fields.get("name")
        yield "triggers", {"phrases": [name if isinstance(name, str) else self.old.folder]}
        yield "input_schema", _ANY_OBJECT
        yield "output_schema", _ANY_OBJECT
        yield "security", _RESTRICTED
        yield "resources", {"entry": f"./{self._script()}"}

    def _fill_in(self, name: str, value: Json) -> None:
        shown = f"{name}: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"
        self._add(name, value, dumped({name: value}))
        self.steps.append(f"fill in {printable(shown)}")
        kinds = {"name": NAME_MISSING, "description": DESCRIPTION_MISSING}
        kind, fix = kinds.get(name, REQUIRED_FIELD_MISSING), REQUIRED.get(name)
        message = f"{name} was missing; {printable(shown)} was filled in."
        self._ask(kind.at(message, field=name, path=self.old.document, fix=fix))

    def _replace_permissions(self) -> None:
        old = self.fields.get("permissions")
        if not isinstance(old, Mapping) or not _is_empty(self.fields.get("security")):
            return
        security: dict[str, Json] = dict(_RESTRICTED)
        for name, meanings in (("network", OLD_NETWORK), ("filesystem", OLD_FILESYSTEM)):
            value = old.get(name)
            if isinstance(value, str) and value.lower() in meanings:
                security[name] = meanings[value.lower()]
            elif not _is_empty(value):
                step = f"leave permissions unchanged: its {name} has no equivalent in security"
                self.steps.append(step)
                return
        if security["network"] == "allowlist":
            security["network"] = "none"
            message = "permissions allowed every address; network: none was written instead."
            self._ask(ALLOWLIST_MISSING.at(message, field="security.network", fix=_ADDRESSES))
        self._remove("permissions")
        self.steps.append("replace permissions with security")
        self._fill_in("security", security)

    def _write_document(self) -> None:
        text = with_fields(self.head, frozenset(self.removed), self.added)
        if text is None:
            message = "The missing fields cannot be added to the frontmatter."
            finding = codes.YAML_INVALID.at(message, path=self.old.document, line=1)
            raise _NotConvertibleError(finding)
        self.writes[self.old.document] = self._encoded(f"---\n{text}---\n{self.body}")

    def _add(self, key: str, value: Json, lines: str) -> None:
        if key in self.fields:
            self._remove(key)
        self.fields[key] = value
        self.added[key] = lines

    def _remove(self, key: str) -> None:
        self.fields.pop(key, None)
        if self.added.pop(key, None) is None:
            self.removed.add(key)

    def _entry(self) -> str | None:
        """Return the script that already has its name in packages."""
        return next(
            (path for path in sorted(self.scripts) if splitext(path)[0] == "scripts/execute"), None
        )

    def _script(self) -> str:
        return self._entry() or min(self.scripts)

    def _free_path(self, path: str) -> str:
        numbered = (f"{path}.{number}" for number in count(2))
        return next(free for free in chain([path], numbered) if free not in self.old.files)

    def _encoded(self, text: str) -> bytes:
        return (text.replace("\n", "\r\n") if self.has_crlf else text).encode()


def _is_empty(value: Json) -> bool:
    return value in (None, (), [], {}) or (isinstance(value, str) and not value.strip())


def _texts(value: Json) -> list[Json]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


# The code block in the body of an older skill, under a heading such as Code.

HEADINGS = ("code", "source code", "implementation", "代码", "代碼", "代码实现", "源代码")
"""Headings above the code, in lower case and without surrounding numbers and punctuation."""

_ENDINGS = {
    **{ending: ending for ending in ("ts", "js", "mjs", "py", "sh", "rb", "go", "php", "lua")},
    "typescript": "ts",
    "javascript": "js",
    "python": "py",
    "python3": "py",
    "bash": "sh",
    "shell": "sh",
    "ruby": "rb",
    "perl": "pl",
    "powershell": "ps1",
}
DEFAULT_ENDING = "ts"
"""File ending for a block without a known language: ApexBridge's own scripts are TypeScript."""

_AROUND = re.compile(r"^[\W\d_]+|[\W_]+$")
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*([^\s`]*)[^`]*$")


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Code block of a text; lines count from 0."""

    first: int  # the line of the opening fence …
    last: int  # … and of the closing one
    ending: str | None  # of a file with this code; None without a known language
    code: str
    is_chinese: bool  # of the heading above it


def code_block(text: str) -> CodeBlock | None:
    """Return the first closed code block under a code heading, if there is one.

    The text's lines end in LF. A section ends at the next heading of its level or above.
    """
    heading, level, lines = "", 0, text.split("\n")
    after = 0  # the last block
    for first, line in enumerate(lines):
        if first < after:
            continue
        if fence := _FENCE.match(line):
            closing = re.compile(rf" {{0,3}}{fence[1]}{fence[1][0]}*\s*")
            last = next((n for n in range(first + 1, len(lines)) if closing.fullmatch(lines[n])), 0)
            if not last:
                return None  # the rest is code
            if heading:
                code = "".join(f"{line}\n" for line in lines[first + 1 : last])
                ending = _ENDINGS.get(fence[2].lower())
                return CodeBlock(first, last, ending, code, not heading.isascii())
            after = last + 1
        elif title := _HEADING.match(line):
            name = _AROUND.sub("", title[2]).lower()
            if name in HEADINGS:
                heading, level = name, len(title[1])
            elif len(title[1]) <= level:
                heading, level = "", 0
    return None
