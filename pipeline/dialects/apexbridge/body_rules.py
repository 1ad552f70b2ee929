"""Rules of ApexBridge about the sections of a package's body."""

import re
from collections.abc import Iterator, Mapping

from catalog.model.finding import Finding
from pipeline.dialects.apexbridge.codes import SECTION_MISSING
from pipeline.parsing import markdown
from pipeline.validation.skill import Rule, Skill

SECTIONS: Mapping[str, tuple[str, str]] = {
    "description": (
        r"descriptions?|overview|about|introduction|summary|purpose|what (?:it|this skill) does",
        "描述|说明|說明|简介|簡介|介绍|介紹|概述|概览|概覽|功能|用途",
    ),
    "parameters": (
        r"parameters?|params|inputs?|arguments?|args",
        "参数|參數|输入|輸入|入参",
    ),
    "output": (
        r"outputs?|returns?|results?|return values?|response",
        "输出|輸出|返回|结果|結果|出参",
    ),
    "steps": (
        r"steps?|instructions?|procedure|process|workflow|how it works|execution|how to use|usage",
        "步骤|步驟|流程|执行|執行|操作|用法",
    ),
    "examples": (r"examples?|samples?", "示例|例子|样例|樣例|范例|範例|案例"),
    "safety": (
        r"safety|security|compliance|privacy|warnings?|cautions?|caveats|limitations|notes?",
        "安全|合规|合規|隐私|隱私|注意|警告|限制",
    ),
}
"""English and Chinese words for the heading of each section that ApexBridge requires."""

_CHINESE_NAMES = {
    "description": "描述",
    "parameters": "参数",
    "output": "输出",
    "steps": "执行步骤",
    "examples": "示例",
    "safety": "安全提示",
}
_ENGLISH_WORDS = {
    name: re.compile(rf"\b(?:{english})\b", re.IGNORECASE)
    for name, (english, _) in SECTIONS.items()
}
_CHINESE_WORDS = {name: re.compile(chinese) for name, (_, chinese) in SECTIONS.items()}


def sections_exist(skill: Skill) -> Iterator[Finding]:
    """Find each required section without a heading in the body."""
    if skill.parsed.frontmatter is None:
        return
    present = sections_of(skill.parsed.body)
    for section in SECTIONS:
        if section not in present:
            yield skill.finding_in_body(
                SECTION_MISSING,
                f"The body has no section {section} ({_CHINESE_NAMES[section]}).",
                offset=0,
            )


RULES: tuple[Rule, ...] = (sections_exist,)


def sections_of(body: str) -> set[str]:
    """Return the sections that a body has, by its headings.

    A heading may name several: "Input and output". The title at the top names the skill, so it
    counts only if it is exactly the name of a section.
    """
    headings = markdown.headings(body)
    has_title = body.startswith("# ")
    return {
        section
        for index, heading in enumerate(headings)
        for section in SECTIONS
        if _names(section, heading, exactly=has_title and index == 0)
    }


def _names(section: str, heading: str, *, exactly: bool) -> bool:
    for words in (_ENGLISH_WORDS[section], _CHINESE_WORDS[section]):
        if words.fullmatch(heading) if exactly else words.search(heading):
            return True
    return False
