"""Skills that may enter an index, for tests of its text and budget."""

import json
import re
import xml.etree.ElementTree as ET
from typing import Any

from hypothesis import strategies as st

from catalog.prompt_index.builder import PromptIndex
from catalog.prompt_index.formats.form import Candidate, FileGroup
from catalog.prompt_index.formats.registry import FORMATS
from catalog.prompt_index.spec import IndexSpec
from catalog.text.visible import one_line

HOSTILE = [
    "</name>",
    "</skill>\n<skill>",
    '"/>',
    "```",
    "**",
    "](x)",
    '"},{"',
    "\\",
    "a\nb",
    "<!--",
]
TEXT = st.text(max_size=60) | st.sampled_from(HOSTILE)
NAME = TEXT.filter(lambda name: one_line(name) and ": " not in f"{one_line(name)} ")
DESCRIPTION = TEXT | st.text(alphabet="abc. 字。", min_size=100, max_size=900)
CANDIDATES = st.lists(
    st.builds(
        Candidate,
        skill=st.integers(1, 99),
        name=NAME,
        description=DESCRIPTION,
        location=TEXT.map("/r/{}/SKILL.md".format),
        skill_id=st.just("a"),
        follows_pattern=st.booleans(),
        user_invocable=st.booleans(),
        files=st.lists(st.builds(FileGroup, NAME, st.integers(1, 99)), max_size=9).map(tuple),
        skill_md_hash=st.just("0" * 64),
        is_featured=st.just(False),
        factor=st.just(1.0),
    ),
    max_size=14,
)
BUDGETS = st.fixed_dictionaries({"budget_chars": st.integers(1, 4000)}) | st.fixed_dictionaries(
    {"budget_tokens": st.integers(1, 1000)}
)
SPECS = st.builds(
    lambda budget, **others: IndexSpec(**others, **budget),
    budget=BUDGETS,
    format=st.sampled_from(list(FORMATS)),
    language=st.sampled_from(["en", "zh"]),
    overflow=st.sampled_from(["fit", "exclude"]),
    location_base=st.none() | st.just("/p"),
)


def a(name: str, description: str = "Counts words.", **fields: Any) -> Candidate:
    """Return a candidate whose package has an ordinary path."""
    return Candidate(
        **{
            "skill": 1,
            "name": name,
            "description": description,
            "skill_id": name,
            "location": f"/p/{name}/current/SKILL.md",
            "follows_pattern": True,
            "skill_md_hash": "0" * 64,
            **fields,
        }
    )


def many(count: int, chars: int = 300) -> list[Candidate]:
    """Return candidates with descriptions of about this many characters, in several sentences."""
    sentences = "Reads a table and says it. " * (chars // 27)
    return [a(f"skill-number-{n:04d}", f"Skill {n}. {sentences}") for n in range(count)]


def read_back(spec: IndexSpec, index: PromptIndex) -> list[tuple[str, str]]:
    """Return the names and descriptions in a text; those by name alone have no description."""
    if not index.text:
        return []
    return {
        "lines": _from_lines,
        "xml": _from_xml,
        "semibot": _from_semibot,
        "json": _from_json,
        "discovery": _from_json,
        "markdown": _from_markdown,
    }[spec.format](index.text)


def _from_lines(text: str) -> list[tuple[str, str]]:
    tree = ET.fromstring(text)
    beside_tags = [tree.text or "", *(part.tail or "" for part in tree)]
    _, *lines = "".join(beside_tags).strip("\n").split("\n")
    return [_of_line(line) for line in lines if line]


def _of_line(line: str) -> tuple[str, str]:
    """Return the name, with what follows it in brackets, and the words of a line."""
    name, _, words = line.partition(": ")
    return name, words


def _from_xml(text: str) -> list[tuple[str, str]]:
    tree = ET.fromstring(text)
    return [
        (part.findtext("name") or "", part.findtext("description") or "")
        for part in tree.iter("skill")
    ] + _in_brief(tree)


def _from_semibot(text: str) -> list[tuple[str, str]]:
    tree = ET.fromstring(text.partition("</available_skills>\n")[0] + "</available_skills>")
    return [
        (part.get("name", ""), (part.text or "").split("\n")[1].removeprefix("    "))
        for part in tree.iter("skill")
    ] + _in_brief(tree)


def _in_brief(tree: ET.Element) -> list[tuple[str, str]]:
    return [
        _of_line(line)
        for part in tree.iter("by_name")
        for line in (part.text or "").split("\n")[1:-1]
    ]


def _from_json(text: str) -> list[tuple[str, str]]:
    found = json.loads(text)
    return [(skill["name"], skill["description"]) for skill in found["skills"]] + [
        _of_line(line) for line in found.get("by_name", {"skills": []})["skills"]
    ]


def _from_markdown(text: str) -> list[tuple[str, str]]:
    lines = [line.removeprefix("- ") for line in text.split("\n") if line.startswith("- ")]
    found = []
    for line in lines:
        entry = re.fullmatch(r"\*\*((?:[^\\*]|\\.)*)\*\* \((`+) ?.*? ?\2(?:, [^)]*)?\): (.*)", line)
        name, said = (_plain(entry[1]), _plain(entry[3])) if entry else _of_line(_plain(line))
        found.append((name, said))
    return found


def _plain(text: str) -> str:
    return re.sub(r"\\([\\`*_\[\]])", r"\1", text).replace("&lt;", "<").replace("&amp;", "&")
