"""Rules of ApexBridge about a package's files, and the sections of its body."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from posixpath import normpath, splitext

from catalog.model.finding import Finding
from catalog.model.skill import FileEntry
from catalog.text.visible import quoted
from pipeline.dialects.apexbridge import codes
from pipeline.dialects.apexbridge.fields import ApexBridgeFields
from pipeline.parsing import markdown
from pipeline.roots.file_kinds import may_be_native
from pipeline.validation.skill import MOST_ALIKE, Rule, Skill

SCRIPTS = "scripts/"
CODE = frozenset(
    """
    .bat .bash .cjs .cmd .cts .fish .go .java .js .jsx .ksh .lua .mjs .mts .php .pl .ps1 .py .r
    .rb .rs .sh .swift .ts .tsx .zsh
""".split()
)
"""File endings of source code for interpreters and compilers."""

# Required sections: the Chinese name, and the words for a heading in English and Chinese.
_SECTIONS: Mapping[str, tuple[str, str, str]] = {
    "description": (
        "描述",
        r"descriptions?|overview|about|introduction|summary|purpose|what (?:it|this skill) does",
        "描述|说明|說明|简介|簡介|介绍|介紹|概述|概览|概覽|功能|用途",
    ),
    "parameters": (
        "参数",
        "parameters?|params|inputs?|arguments?|args",
        "参数|參數|输入|輸入|入参",
    ),
    "output": (
        "输出",
        "outputs?|returns?|results?|return values?|response",
        "输出|輸出|返回|结果|結果|出参",
    ),
    "steps": (
        "执行步骤",
        "steps?|instructions?|procedure|process|workflow|how it works|execution|how to use|usage",
        "步骤|步驟|流程|执行|執行|操作|用法",
    ),
    "examples": ("示例", "examples?|samples?", "示例|例子|样例|樣例|范例|範例|案例"),
    "safety": (
        "安全提示",
        "safety|security|compliance|privacy|warnings?|cautions?|caveats|limitations|notes?",
        "安全|合规|合規|隐私|隱私|注意|警告|限制",
    ),
}
SECTIONS = {
    name: re.compile(rf"\b(?:{english})\b|{chinese}", re.IGNORECASE)
    for name, (_, english, chinese) in _SECTIONS.items()
}
"""Pattern of the headings of each section that ApexBridge requires."""
CHINESE: Mapping[str, str] = {name: chinese for name, (chinese, *_) in _SECTIONS.items()}
"""Chinese name of each section."""
_SENSITIVE = re.compile(
    r"(?=[abchmpsu\u3400-\u9fff])"  # skips characters that start none of the words
    r"(?:\b(?:passwords?|passphrases?|credentials?|secrets?|(?:api|private) ?keys?|access tokens?"
    r"|pii|personal(?:ly)? (?:data|information|identifiable)|user profiles?|sensitive|confidential"
    r"|patients?|medical|health (?:data|records?)|passports?|social security|credit cards?"
    r"|bank accounts?|salar(?:y|ies)|payroll|biometrics?)\b"
    "|密码|密碼|口令|凭证|凭据|密钥|密鑰|令牌|个人(?:信息|数据|资料)|個人(?:資訊|資料)|用户资料|用戶資料"
    "|隐私|隱私|敏感|机密|機密|保密|身份证|身分證|护照|護照|病历|病歷|患者|银行卡|信用卡|工资|薪资|薪資)",
    re.IGNORECASE,
)

_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts")  # only types, which are not executed


def script_exists(skill: Skill) -> Iterator[Finding]:
    """Find an empty scripts/, or several scripts without an entry."""
    if not skill.is_whole:
        return
    resources = skill.declaration.of(ApexBridgeFields).resources
    entries = [
        file.path
        for file in skill.files
        if file.path.startswith(SCRIPTS) and file.path.count("/") == 1 and _is_code(file)
    ]
    if not any(file.path.startswith(SCRIPTS) for file in skill.files):
        yield codes.SCRIPT_MISSING.at(path=skill.document, line=1)
    elif resources and not resources.entry and len(entries) > 1:
        message = f"The package has {len(entries)} scripts, but resources.entry names none of them."
        fix = f"Name one of them: entry: ./{entries[0]}."
        yield skill.finding(codes.ENTRY_MISSING, message, field="resources", fix=fix)


def resources_exist(skill: Skill) -> Iterator[Finding]:
    """Find resources that are absolute, outside the folder or missing."""
    for field, written in _resources(skill):
        path = normpath(written.replace("\\", "/"))
        if _leaves(written, path):
            message = f"{field} is {quoted(written)}, which is not inside the skill's folder."
            yield skill.finding(codes.RESOURCE_OUTSIDE_FOLDER, message, field=field)
        elif skill.is_whole and path not in skill.paths:
            message = f"{field} names {quoted(written)}, which does not exist."
            yield skill.finding(codes.RESOURCE_MISSING, message, field=field)
        elif field == "resources.entry" and not path.startswith(SCRIPTS):
            message = f"resources.entry is {quoted(written)}, which is not under scripts/."
            yield skill.finding(codes.ENTRY_NOT_SCRIPT, message, field=field)


def code_is_in_scripts(skill: Skill) -> Iterator[Finding]:
    """Find executable code outside scripts/ and tests/."""
    stray = (
        file
        for file in skill.files
        if not file.path.startswith((SCRIPTS, "tests/")) and _is_code(file)
    )
    for file in islice(stray, MOST_ALIKE):
        yield codes.CODE_OUTSIDE_SCRIPTS.at(path=file.path)


def sections_exist(skill: Skill) -> Iterator[Finding]:
    """Find each required section without a heading in the body."""
    if skill.parsed.frontmatter is None:
        return
    for section in missing_sections(skill.parsed.text, skill.parsed.body):
        message = f"The body has no section {section} ({CHINESE[section]})"
        sensitive = _SENSITIVE.search(skill.parsed.text) if section == "safety" else None
        message += f" and mentions {quoted(sensitive.group())}." if sensitive else "."
        yield skill.body.finding(codes.SECTION_MISSING, message, offset=0)


RULES: tuple[Rule, ...] = (
    script_exists,
    resources_exist,
    code_is_in_scripts,
    sections_exist,
)


def _is_code(file: FileEntry) -> bool:
    """Return whether a file is executable code, by its ending or, if it is binary, its bytes."""
    if splitext(file.path)[1].lower() in CODE:
        return not file.path.lower().endswith(_DECLARATIONS)
    return not file.is_text and may_be_native(file.path, file.mode)


def _resources(skill: Skill) -> Iterator[tuple[str, str]]:
    """Yield each path that resources names, with its field."""
    resources = skill.declaration.of(ApexBridgeFields).resources
    if resources and resources.entry:
        yield "resources.entry", resources.entry
    for field in ("helpers", "references", "assets"):
        for path in getattr(resources, field, ()):
            yield f"resources.{field}", path


def _leaves(written: str, path: str) -> bool:
    return (
        path.startswith(("/", "../", "~"))
        or path in ("..", ".")
        or written[1:2] == ":"
        or "://" in written
    )


def missing_sections(text: str, body: str) -> list[str]:
    """Return the required sections without a heading in the body of a SKILL.md's text.

    A section on safety is required where the text names sensitive data. A heading may name several:
    "Input and output". The title at the top names the skill, so it counts only if it is exactly the
    name of a section.
    """
    has_title = body.startswith("# ")
    present = {
        section
        for index, heading in enumerate(markdown.headings(body, markdown.blocks_of(body)))
        for section, words in SECTIONS.items()
        if (words.fullmatch if has_title and index == 0 else words.search)(heading)
    }
    if not _SENSITIVE.search(text):
        present.add("safety")
    return [section for section in SECTIONS if section not in present]
