import json
import os
from pathlib import Path
from typing import Any

import frontmatter
import pytest
import yaml
from frontmatter.default_handlers import YAMLHandler

from pipeline.cli.output.finding_types import REGISTRY
from pipeline.parsing.document import MAX_FRONTMATTER_BYTES, Parsed, parse
from pipeline.parsing.yaml_reader import Position


def codes(parsed: Parsed) -> list[str]:
    """Return the codes of what was found."""
    return [each.code for each in parsed.findings]


@pytest.mark.requirement("agent-skills/body")
def test_a_plain_skill_is_read_whole() -> None:
    """Frontmatter, positions, text and body are returned as written."""
    data = "---\nname: a\nmetadata:\n  v: 1.0\n---\n\n# Titre é\n\nText\n"
    parsed = parse(data.encode())
    assert parsed.frontmatter == {"name": "a", "metadata": {"v": "1.0"}}
    assert parsed.positions["metadata.v"] == Position(4, 3)
    assert parsed.text == data
    assert (parsed.body, parsed.body_line) == ("# Titre é\n\nText", 7)
    assert parsed.findings == ()


SKILL = "---\nname: a\ndescription: d\n---\nbody"


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (SKILL.encode(), []),
        (b"\xef\xbb\xbf" + SKILL.encode(), ["byte-order-mark"]),
        (SKILL.replace("\n", "\r\n").encode(), []),
        (SKILL.replace("\n", "\r").encode(), ["lone-carriage-return"]),
        (("\n \n" + SKILL).encode(), ["frontmatter-not-first"]),
        ((" " + SKILL).encode(), ["frontmatter-not-first"]),
        (SKILL.replace("---\nbody", "---body").encode(), ["fence-not-alone"]),
        (SKILL.replace("---\nbody", "\nbody").encode(), ["closing-fence-missing"]),
        (SKILL.replace("---\nbody", "# T\n\nbody\n\n---\n").encode(), ["closing-fence-missing"]),
        (SKILL.replace("---\nbody", "...\nbody").encode(), ["closing-fence-missing"]),
        (SKILL.encode("utf-16"), ["not-utf-8"]),
        (SKILL.encode() + b"\xff", ["invalid-utf-8"]),
        (SKILL.encode() + b"\0", ["control-characters"]),
    ],
)
def test_the_same_skill_is_read_from_any_wrapping(data: bytes, found: list[str]) -> None:
    """Text around the fields changes the findings, never the fields."""
    parsed = parse(data)
    assert parsed.frontmatter == {"name": "a", "description": "d"}
    assert "body" in parsed.body
    assert codes(parsed) == found


@pytest.mark.requirement("agent-skills/frontmatter-first", "agent-skills/frontmatter-mapping")
@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("", "skill-md-empty", 1),
        (" \n\n", "skill-md-empty", 1),
        ("# Title\n\nname: a\n", "frontmatter-missing", 1),
        ("+++\nname = 'a'\n+++\n", "frontmatter-missing", 1),
        ("----\nname: a\n---\nbody", "frontmatter-missing", 1),
        ("---\nname: a\nThe body follows at once.\n", "frontmatter-unclosed", 1),
        ("---\nother: a\n\nbody\n", "frontmatter-unclosed", 1),
        ("---\n---\nbody", "frontmatter-not-mapping", 2),
        ("---\n- a\n---\nbody", "frontmatter-not-mapping", 2),
        ("---\nplain\n---\nbody", "frontmatter-not-mapping", 2),
        ("---\nname: [a]]\n---\nbody", "yaml-invalid", 2),
        ("---\nname: &a b\n---\nbody", "yaml-alias", 2),
        ("---\nname: a\n" + "x: y\n" * 4_000 + "---\nbody", "frontmatter-too-large", 2),
        ("---\nname: a\nx: " + "[" * 10_000 + "\n---\nbody", "frontmatter-too-large", 3),
    ],
)
def test_a_file_without_readable_frontmatter_says_why(text: str, code: str, line: int) -> None:
    """The result has no fields, and one finding that rejects under every acceptance."""
    parsed = parse(text.encode())
    assert parsed.frontmatter is None
    assert parsed.positions == {}
    assert [(each.code, each.line) for each in parsed.findings] == [(code, line)]
    assert REGISTRY[code].rejects == {"strict", "lenient", "permissive"}


@pytest.mark.parametrize("text", ["{\n", "```yaml\n---\n", "name: a\n", "+++\n"])
def test_a_lookalike_of_frontmatter_gets_its_own_advice(text: str) -> None:
    """The advice fits the content of the file."""
    (found,) = parse(text.encode()).findings
    assert found.fix != REGISTRY["frontmatter-missing"].fix


def test_findings_name_the_file() -> None:
    """Findings name a variant such as skill.md by its own name."""
    (found,) = parse(b"", "skill.md").findings
    assert found.path == "skill.md"


def test_characters_yaml_forbids_are_read_as_replacement_characters() -> None:
    """An escape code in a description does not lose the skill."""
    parsed = parse(b"---\nname: a\ndescription: \x1b[1mbold\n---\nbody")
    assert parsed.frontmatter == {"name": "a", "description": "\ufffd[1mbold"}
    assert [(each.code, each.line) for each in parsed.findings] == [("forbidden-characters", 3)]
    assert "\x1b" in parsed.text


def test_fields_and_body_are_those_that_the_library_returns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only lines and findings come from the handler."""

    def other(text: str, *, handler: YAMLHandler) -> tuple[dict[str, object], str]:
        handler.load(handler.split(text)[0])
        return {"name": "b"}, "another body"

    monkeypatch.setattr(frontmatter, "parse", other)
    parsed = parse(b"---\nname: a\n---\nbody")
    assert (parsed.frontmatter, parsed.body) == ({"name": "b"}, "another body")
    assert parsed.positions["name"].line == 2


def test_the_size_limit_counts_bytes() -> None:
    """A frontmatter of exactly the limit is read; one byte more is refused."""
    name = "é" * ((MAX_FRONTMATTER_BYTES - len("name: \n")) // 2)
    data = f"---\nname: {name}\n---\n".encode()
    assert len(data) - len("---\n---\n") == MAX_FRONTMATTER_BYTES - 1
    assert parse(data.replace(b"name: ", b"name:  ")).frontmatter == {"name": name}
    assert codes(parse(data.replace(b"name: ", b"name:   "))) == ["frontmatter-too-large"]


def test_lines_hold_after_blank_lines_and_a_mended_fence() -> None:
    """Every line number refers to the file, not to the repaired text."""
    parsed = parse(b"\n\n---\nname: a\nname: b\n\n\n# Title\n\ntext")
    assert [(each.code, each.line) for each in parsed.findings] == [
        ("frontmatter-not-first", 3),
        ("duplicate-key", 5),
        ("closing-fence-missing", 8),
    ]
    assert (parsed.body_line, parsed.body) == (8, "# Title\n\ntext")


@pytest.mark.parametrize(
    "fenced",
    [
        b"[" * 50_000,
        b"a: " + b"[" * 16_000,
        b"{a: " * 4_000,
        b"a: " + b"9" * 300_000,
        b"x" * 1_000_000,
        b"a: &a [b,b]\nc: *a",
        b"- " * 8_000,
        b"a: 1\n" * 3_000,
        b"a: @b\n" * 2_700,
        b"a: x" + b" " * 15_000 + b": y",
        b"a: " + b'"b" ' * 4_000,
        b"\n".join(b" " * n + b"a:" for n in range(175)),
    ],
)
def test_hostile_frontmatter_is_a_value(fenced: bytes) -> None:
    """Deep, wide, long and self-referring YAML comes back as a finding, not as a crash."""
    parsed = parse(b"---\n" + fenced + b"\n---\nbody\n")
    assert parsed.findings


@pytest.mark.requirement("agent-skills/body")
@pytest.mark.parametrize("body", [b"[" * 25_000, b"\n" * 500_000, b"<<<<<<< a\n=======\n" * 9_000])
def test_a_hostile_body_is_only_text(body: bytes) -> None:
    """Nothing of the body is parsed."""
    parsed = parse(b"---\nname: a\n---\n" + body)
    assert parsed.frontmatter == {"name": "a"}


def corpus() -> list[Any]:
    """Return each real SKILL.md with the reference verdict, or one skipped case."""
    default = Path(__file__).parents[4] / "shared" / "corpus"
    folder = Path(os.environ.get("SKILLDROP_CORPUS", default))
    manifest = folder / "manifest.json"
    if not manifest.is_file():
        return [pytest.param(None, None, marks=pytest.mark.skip(reason="no corpus here"))]
    return [
        pytest.param(
            folder / entry["sample_path"] / entry["skill_file"],
            entry["skills_ref"],
            id=entry["sample_path"],
        )
        for entry in json.loads(manifest.read_text())["entries"]
    ]


# How the corpus's manifest classes what the reference validator says of the file's syntax.
SYNTAX = ("yaml:", "no_opening_fence", "not_closed", "crash")


@pytest.mark.parametrize(("path", "reference"), corpus())
def test_real_skills_agree_with_the_reference(path: Path, reference: dict[str, Any]) -> None:
    """For syntax alone, the verdict equals that of the reference validator."""
    parsed = parse(path.read_bytes())
    valid = not any(each.profile == "spec" and each.severity == "error" for each in parsed.findings)
    kinds = [kind for kind in reference["kinds"] if kind.startswith(SYNTAX) and "flow" not in kind]
    assert valid is not bool(kinds)


@pytest.mark.parametrize(("path", "reference"), corpus())
def test_real_values_are_those_of_a_yaml_loader(path: Path, reference: dict[str, Any]) -> None:
    """Every string equals what libyaml's own string loader reads from the same lines."""
    parsed = parse(path.read_bytes())
    if any(REGISTRY[each.code].severity == "error" for each in parsed.findings):
        pytest.skip("not valid YAML, so there is nothing to compare with")
    fields = parsed.text.split("\n---", 1)[0].removeprefix("---")
    loaded = yaml.load(f"{fields}\n", Loader=yaml.CBaseLoader)
    assert without_none(parsed.frontmatter) == loaded


def without_none(value: Any) -> Any:
    """Return the value with empty strings for None, as the string loader reads them."""
    if isinstance(value, dict):
        return {key: without_none(each) for key, each in value.items()}
    if isinstance(value, list):
        return [without_none(each) for each in value]
    return "" if value is None else value


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("<!-- ours -->\n---\nname: a\n---\n", "Move the text before the --- of line 2"),
        ("# PDF\n\n---\ndescription: a\n---\n", "Move the text before the --- of line 3"),
        ("\u2014-\nname: a\n\u2014-\n", "three plain hyphens"),
        ('---\nname: "a\n---\n', "Close the quote"),
        ("---\nname: a\ndescription:b\n---\n", "a plain colon and a space"),
        ("---\nname: a\nx: - b\n---\n", "Put the value in quotes"),
        ("---\nname：a\ndescription: b\n---\n", "a plain colon and a space after name"),
        ("---\nname: a\ndescription：b\n---\n", "a plain colon and a space after description"),
        ("---\nname: a\nx: > b\n---\n", "on the lines below"),
        ("---\nname: a\nx:\n  y: b\n\tz: c\n---\n", "spaces instead of the tab"),
        ("---\nname: a\nx: 'b', 'c'\n---\n", "quotes of the other kind"),
        ("---\nname: a\n description: b\n---\n", "indent the field like its neighbours"),
    ],
)
def test_an_unreadable_file_has_specific_advice(text: str, fix: str) -> None:
    """The advice names the actual mistake."""
    (found,) = (each for each in parse(text.encode()).findings if each.severity == "error")
    assert fix in found.fix
