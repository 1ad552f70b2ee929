import dataclasses
import importlib
import json
import time
from pathlib import Path
from typing import Any

import pytest

from pipeline.dialects.registry import profiles
from pipeline.parsing.document import parse
from pipeline.roots.file_kinds import SKILL_BYTES
from pipeline.validation.profiles.safety import rules as safety_rules
from pipeline.validation.references import MOST_REFERENCES
from pipeline.validation.skill import MOST_ALIKE, Skill, Text
from tests.support.judging import check, declare, public_functions
from tests.support.parsed_skills import BODY, BODY_LINE, codes, file, found, skill


def test_a_well_written_skill_needs_no_advice() -> None:
    """Steps, a complete description and existing files have no findings."""
    body = "# Use\n\nRead [the rules](references/rules.md), then run `scripts/count.py`."
    assert found("advice", skill(body, "references/rules.md", "scripts/count.py")) == ()


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        # short, long
        pytest.param(
            "Counts words.",
            {"description-short"},
            id="short",
            marks=pytest.mark.requirement("textbook/describe-length"),
        ),
        pytest.param("Counts words, if asked.", set(), id="short, and when"),
        pytest.param("Sunset stub — use $team instead", set(), id="short on purpose"),
        pytest.param("统计文本字数。", {"description-short"}, id="short Chinese"),
        pytest.param(
            "读取文本文件并统计字数，用于检查文章长度。",
            set(),
            id="enough Chinese",
            marks=pytest.mark.requirement("textbook/book-sentence"),
        ),
        # what
        pytest.param(
            "Helps with PDF files of any sort. Use when somebody has one.",
            set(),
            id="helps with",
            marks=pytest.mark.requirement("textbook/describe-verbs"),
        ),
        # when
        pytest.param(
            "Counts the words and the lines of a text that somebody wrote.",
            {"description-without-when"},
            id="no when",
            marks=pytest.mark.requirement(
                "agent-skills/description-what-and-when", "own/describe-when"
            ),
        ),
        pytest.param(
            "Reads the lines of a log and returns the five that matter.",
            set(),
            id="what goes in and what comes out",
            marks=pytest.mark.requirement("textbook/describe-in-and-out"),
        ),
        pytest.param(
            "Playbook and checklists for debugging the jobs of a cluster.", set(), id="purpose"
        ),
        pytest.param(
            "Settings and checklists of routers. Do not use for switches.",
            {"description-without-when"},
            id="only when not",
        ),
        pytest.param(
            "Converts the tables of a PDF into spreadsheets, one for each.",
            set(),
            id="from one thing into another",
        ),
        pytest.param(
            "一个关于电力市场的知识集合，包含电价结构分析与风险评估方法。",
            {"description-without-when"},
            id="Chinese without when",
            marks=pytest.mark.requirement("own/describe-when"),
        ),
        pytest.param("当用户要分析电价结构时，读取账单并给出建议。", set(), id="当…时"),
        pytest.param(
            "セッションからパターンを抽出し、将来の作業のために保存します。", set(), id="ために"
        ),
        pytest.param(
            "PDF 파일에서 표를 추출합니다. 사용자가 표를 요청할 때 사용하세요.", set(), id="때"
        ),
        pytest.param(
            "Analyzes the sentiment of a review and returns a polarity score from -1 to 1.",
            set(),
            id="a textbook's good example",
            marks=pytest.mark.requirement("textbook/describe-in-and-out"),
        ),
        # other languages
        pytest.param(
            "Extrait le texte et les tableaux de fichiers PDF pour vous.",
            set(),
            id="French is not judged",
        ),
        pytest.param(
            "Извлекает текст и таблицы из файлов PDF по просьбе человека.",
            set(),
            id="Russian is not judged",
        ),
        # nothing
        pytest.param(
            "Use this skill whenever this capability is needed.",
            {"description-says-nothing"},
            id="nothing",
            marks=pytest.mark.requirement(
                "agent-skills/description-specific", "textbook/describe-keywords"
            ),
        ),
    ],
)
def test_description(description: str, expected: set[str]) -> None:
    """A description is judged in its own language, and each weakness is reported once."""
    assert codes("advice", skill(description=description)) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param(
            {"disable_model_invocation": "true", "user_invocable": "no"},
            {"nobody-can-invoke"},
            id="both switched off",
            marks=pytest.mark.requirement("claude-code/mode-nobody"),
        ),
        pytest.param({"disable_model_invocation": "true"}, set(), id="for people alone"),
        pytest.param({"user_invocable": "false"}, set(), id="for models alone"),
        pytest.param({"name": "claude-counts"}, {"name-reserved"}, id="claude"),
        pytest.param({"name": "My-Anthropic"}, {"name-reserved"}, id="anthropic, in capitals"),
        pytest.param({"name": "cloud-counts"}, set(), id="another word"),
        pytest.param({"description": None}, set(), id="no description is the specification's"),
        pytest.param(
            {
                "description": "Counts the words and lines of what somebody wrote.",
                "when_to_use": "In doubt.",
            },
            set(),
            id="when_to_use says when",
        ),
        pytest.param(
            {
                "description": "Counts the words and lines of what somebody wrote.",
                "disable_model_invocation": "yes",
            },
            set(),
            id="no model has to know when",
        ),
    ],
)
def test_other_fields(fields: dict[str, Any], expected: set[str]) -> None:
    """Each weakness of a flag or a name is reported."""
    assert codes("advice", skill(**fields)) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("", {"body-empty"}, id="empty"),
        pytest.param(
            "\n".join(["Go on."] * (501 - BODY_LINE)),
            set(),
            id="500 lines",
            marks=pytest.mark.requirement(
                "agent-skills/body-lines", "agent-skills/body-split", "textbook/book-lines"
            ),
        ),
        pytest.param(
            "\n".join(["Go on."] * (502 - BODY_LINE)),
            {"body-too-long"},
            id="501 lines",
            marks=pytest.mark.requirement(
                "agent-skills/body-lines", "agent-skills/body-split", "textbook/book-lines"
            ),
        ),
        pytest.param(
            "word " * 4_900,
            set(),
            id="4,900 tokens",
            marks=pytest.mark.requirement("agent-skills/body-tokens"),
        ),
        pytest.param(
            "word " * 5_100,
            {"body-too-long"},
            id="5,100 tokens",
            marks=pytest.mark.requirement("agent-skills/body-tokens"),
        ),
        pytest.param("字" * 5_900, {"body-too-long"}, id="5,015 tokens of Chinese"),
        pytest.param("🚀" * 2_501, {"body-too-long"}, id="an emoji costs two tokens"),
    ],
)
def test_body(body: str, expected: set[str]) -> None:
    """The body must not be empty or longer than recommended."""
    assert codes("advice", skill(body)) == expected


def test_a_file_without_frontmatter_has_no_body_to_miss() -> None:
    """If parsing failed, an empty body is not reported as well."""
    parsed = parse(b"")
    assert codes("advice", Skill("a", "SKILL.md", parsed, declare({}), ())) == set()


HAS = (
    "references/rules.md",
    "references/en/rules.md",
    "scripts/run.py",
    "FORMS.md",
    "a b.md",
    "assets/templates/a.md",
)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            "[a](references/rules.md)",
            set(),
            id="there",
            marks=pytest.mark.requirement("agent-skills/references-relative"),
        ),
        pytest.param("[a](./references/rules.md#top)", set(), id="with ./ and a fragment"),
        pytest.param("[a](references/)", set(), id="a directory"),
        pytest.param("[a](a%20b.md) [a](<a b.md>)", set(), id="spaces in a name"),
        pytest.param("![a](assets/a.png)", {"reference-missing"}, id="an image"),
        pytest.param(
            "[a]: references/none.md",
            {"reference-missing"},
            id="a definition",
            marks=pytest.mark.requirement("agent-skills/references-forms"),
        ),
        pytest.param("[^1]: Not a definition", set(), id="a footnote"),
        pytest.param("Run `scripts/none.py`.", {"reference-missing"}, id="code"),
        pytest.param("Run `python3 scripts/none.py --all`.", {"reference-missing"}, id="a command"),
        pytest.param("Run `${CLAUDE_SKILL_DIR}/scripts/run.py`.", set(), id="Claude's own folder"),
        pytest.param("Edit `src/main.py` and `package.json`.", set(), id="the reader's project"),
        pytest.param("See `references/<topic>.md`, `scripts/*.py`.", set(), id="placeholders"),
        pytest.param("See `app/scripts/none.py`.", set(), id="a folder inside another"),
        pytest.param("[a](https://a.example/b.md) [b](mailto:a@b.c) [c](#top)", set(), id="URLs"),
        pytest.param("[text](url) [a]({path}.md)", set(), id="what a template holds"),
        pytest.param("```\n[a](none.md) `scripts/none.py`\n```", set(), id="in a fence"),
        pytest.param("~~~~\n~~~\n[a](none.md)\n~~~~", set(), id="in a longer fence"),
        pytest.param("~~~\n~~~~\n[a](b.md)", {"reference-missing"}, id="after a fence"),
        pytest.param("``` a ``` [a](none.md)", {"reference-missing"}, id="after a code span"),
        pytest.param("<!-- [a](none.md) -->", set(), id="in a comment"),
        pytest.param("- <b>\n    [a](none.md)", {"reference-missing"}, id="indented in a list"),
        pytest.param(
            "[a](../other/SKILL.md)",
            {"reference-outside-folder"},
            id="outside",
            marks=pytest.mark.requirement("agent-skills/references-relative"),
        ),
        pytest.param("[a](references/../../b.md)", {"reference-outside-folder"}, id="by a detour"),
        pytest.param(
            "[a](/docs/b.md)",
            {"reference-outside-folder"},
            id="absolute",
            marks=pytest.mark.requirement("agent-skills/references-relative"),
        ),
        pytest.param("[a](/etc/passwd)", set(), id="a system folder is for safety"),
        pytest.param(
            "[a](references/en/rules.md)",
            set(),
            id="in a folder of a folder",
        ),
        pytest.param("[a](assets/templates/a.md)", set(), id="a template"),
        pytest.param("Use `[a](none.md)` or ``[`b`](none.md)``.", set(), id="an example"),
        pytest.param("Write `[a](references/none.md)`.", set(), id="a path in an example"),
        pytest.param("[`a`](none.md)", {"reference-missing"}, id="a link whose text is code"),
        pytest.param("- Say:\n\n      ```\n      [a](no.md)\n      ```", set(), id="in a list"),
        pytest.param("[a](lesson_X.md) [b](log-YYYY-MM.md)", set(), id="placeholders in words"),
        pytest.param("Create `scripts/none.sh` first.", set(), id="a file to write"),
        pytest.param("Look at your project's `scripts/none.sh`.", set(), id="your project's file"),
        pytest.param("Run `scripts/none.sh` in the repository.", set(), id="the repository's file"),
        pytest.param("Run `$HOME/scripts/none.sh`.", set(), id="below a variable"),
        pytest.param(
            "Run it:\nscripts/none.py",
            {"reference-missing"},
            id="alone on a line",
            marks=pytest.mark.requirement("agent-skills/references-forms"),
        ),
        pytest.param("Run it:\nscripts/run.py", set(), id="alone on a line, and there"),
        pytest.param("[a](References/rules.md)", {"reference-case"}, id="a link in another case"),
        pytest.param("Read FORMS.md and /docs/forms.md.", set(), id="a mention in its own case"),
        pytest.param("[a](inner/SKILL.md)", {"reference-missing"}, id="a skill within"),
    ],
)
def test_references(body: str, expected: set[str]) -> None:
    """A referenced file must be in the folder, and not deep in it."""
    assert codes("advice", skill(body, *HAS)) - {"file-unreferenced"} == expected


@pytest.mark.parametrize(
    ("body", "found_any"),
    [
        pytest.param("# Count", True, id="nothing"),
        pytest.param("Run run.py.", True, id="one of them"),
        pytest.param("Run run.py, read all in references/.", False, id="a name and a folder"),
        pytest.param("Run `run`, read rules.md.", False, id="names"),
        pytest.param("Fill in FORMS.md.", False, id="a file that names the others"),
    ],
)
def test_files_that_nothing_leads_to_are_reported(body: str, found_any: bool) -> None:
    """A file that neither the body nor a file named there mentions is never opened."""
    of = skill(body, *HAS, texts={"FORMS.md": "Run scripts/run.py as references/rules.md says."})
    assert ("file-unreferenced" in codes("advice", of)) == found_any


@pytest.mark.parametrize(
    ("body", "path", "is_stray"),
    [
        ("Count the words.", "customize.toml", False),
        ("Resolve `data/layers.yaml`.", "data/layers.yaml", False),
        ("Count the words.", "data/layers.yaml", True),
    ],
)
def test_a_file_that_settings_name_is_no_stray_one(body: str, path: str, is_stray: bool) -> None:
    """Settings beside SKILL.md, or that it names, lead on to the files that they name."""
    settings = {path: 'review = "Load references/rules.md, then run scripts/run.py."'}
    of = skill(body, "references/rules.md", "scripts/run.py", texts=settings)
    assert ("file-unreferenced" in codes("advice", of)) == is_stray


@pytest.mark.parametrize(
    ("path", "is_stray"),
    [
        ("scripts/png.test.ts", False),
        ("scripts/check_boxes_test.py", False),
        ("scripts/test_boxes.py", False),
        ("scripts/evals/boxes.py", False),
        ("scripts/latest.py", True),
        ("scripts/testing.py", True),
    ],
)
def test_a_unit_test_is_no_stray_file(path: str, is_stray: bool) -> None:
    """Tests beside scripts are for their authors; no text has to name them."""
    assert ("file-unreferenced" in codes("advice", skill(BODY, path))) == is_stray


@pytest.mark.parametrize(
    ("folder", "is_missing"),
    [
        ("skill-creator", False),
        ("writing-skills", False),
        ("authoring-agent-skills", False),
        ("skill-finder", True),
        ("reskill-maker", True),
    ],
)
def test_files_in_a_guide_on_writing_skills_are_examples(folder: str, is_missing: bool) -> None:
    """A skill that is named after writing skills speaks of the files of others."""
    of = dataclasses.replace(skill("Read `references/finance.md`."), folder=folder)
    assert ("reference-missing" in codes("advice", of)) == is_missing


@pytest.mark.parametrize(
    ("path", "is_missing"),
    [
        ("templates/report.md", False),
        ("references/readme-example-long.md", False),
        ("references/report_template.md", False),
        ("references/examples.md", True),
    ],
)
def test_references_of_a_text_to_fill_in_are_examples(path: str, is_missing: bool) -> None:
    """The files that a template or a sample names belong to the document that is made of it."""
    of = skill(f"Read {path}.", texts={path: "![step](screenshots/step-1.png)"})
    assert ("reference-missing" in codes("advice", of)) == is_missing


def test_a_chain_of_references_is_followed() -> None:
    """A missing target is told at the file and line that name it, however far from SKILL.md."""
    of = skill(
        "Read [a](references/a.md).",
        texts={
            "references/a.md": "# A\n\nSee [b](b.md).",
            "references/b.md": "See [the rules](rules.md).",
            "notes/c.md": "Nobody leads to [this](none.md).",
        },
    )
    (missing,) = [each for each in found("advice", of) if each.code == "reference-missing"]
    assert (missing.path, missing.line) == ("references/b.md", 1)
    assert "“references/rules.md”" in missing.message


@pytest.mark.requirement("agent-skills/references-depth")
def test_a_document_that_only_another_one_names_is_told() -> None:
    """In A → B → C, an agent that reads SKILL.md does not learn of C; one named there is fine."""
    texts = {"references/a.md": "See [b](b.md).", "references/b.md": "Rules."}
    (deep,) = found("advice", skill("Read [a](references/a.md).", texts=texts))
    assert (deep.code, deep.path, deep.line) == ("reference-deep", "references/a.md", 1)
    assert "“references/b.md”" in deep.message
    assert found("advice", skill("Read [a](references/a.md), or b.md.", texts=texts)) == ()


@pytest.mark.requirement("agent-skills/license-file")
@pytest.mark.parametrize(
    ("value", "files", "found_any"),
    [
        ("Complete terms in LICENSE.txt", (), True),
        ("Complete terms in LICENSE.txt", ("LICENSE.txt",), False),
        ("Proprietary. LICENSE.txt has complete terms", ("license.txt",), False),
        ("MIT, see https://a.example/LICENSE.txt", (), False),
        ("Apache-2.0", (), False),
    ],
)
def test_a_license_file_that_is_missing_is_told(
    value: str, files: tuple[str, ...], found_any: bool
) -> None:
    """A file that the field license names lies beside SKILL.md."""
    assert bool(found("advice", skill(BODY, *files, license=value))) == found_any


def test_the_lines_of_the_whole_file_count() -> None:
    """497 lines of body and four of frontmatter are more than 500 lines of SKILL.md."""
    head = "---\nname: sample\ndescription: x\n---\n"
    parsed = parse((head + "a\n" * 497).encode())
    of = dataclasses.replace(skill("a"), parsed=parsed)
    (long,) = [each for each in found("advice", of) if each.code == "body-too-long"]
    assert "SKILL.md has 501 lines" in long.message
    of = dataclasses.replace(of, parsed=parse((head + "a\n" * 496).encode()))
    assert "body-too-long" not in {each.code for each in found("advice", of)}


@pytest.mark.parametrize(
    ("paths", "told"),
    [
        (("aux.md",), "aux.md"),
        (("scripts/CON",), "scripts/CON"),
        (("nul .txt",), "nul .txt"),
        (("a:b.md", "end./x.md"), "a:b.md, end./x.md"),
        (("end ",), "end "),
        (("a\\\\b.md",), "a\\\\b.md"),
        (("Rules.md", "rules.md"), "rules.md twice"),
        (("console.md", "auxiliary/com.md", "com10.md", "a.b c", ".env.d/x.y.z"), None),
    ],
)
def test_names_that_windows_cannot_have_are_told(paths: tuple[str, ...], told: str | None) -> None:
    """All of them in one finding, so that colleagues with Windows get the skill."""
    messages = [
        each.message for each in found("advice", skill(BODY, *paths)) if "Windows" in each.message
    ]
    assert messages == ([f"Windows cannot have {told}."] if told else [])


def test_a_folder_that_windows_cannot_have_is_told() -> None:
    """The published skill has its name."""
    of = dataclasses.replace(skill(BODY), folder="Con")
    assert "name-not-on-windows" in {each.code for each in found("advice", of)}


@pytest.mark.requirement("agent-skills/references-small")
def test_a_long_document_is_no_finding() -> None:
    """The documents of an API are long on purpose."""
    texts = {"references/a.md": "word " * 5_100}
    assert found("advice", skill("See references/a.md.", texts=texts)) == ()


def test_a_reference_is_named_with_its_line() -> None:
    """The finding names the file, the line of SKILL.md and a file of the same name."""
    body = "# Use\n\n[a](rules.md)"
    (missing,) = found("advice", skill(body, "references/Rules.md"))
    assert (missing.path, missing.line) == ("SKILL.md", BODY_LINE + 2)
    assert "“rules.md”" in missing.message
    assert missing.fix == "Write references/Rules.md, the file's path."


def test_many_references_are_summed_up() -> None:
    """Ten are listed, and the tenth counts the others."""
    body = " ".join(f"[a](none-{number}.md)" for number in range(30))
    findings = found("advice", skill(body))
    assert len(findings) == MOST_ALIKE
    assert "20 more" in findings[-1].message
    assert len(Text("SKILL.md", "[a](b.md) " * 9).references) == 1
    many = "".join(f"[a](b{number}.md)" for number in range(2 * MOST_REFERENCES))
    assert len(Text("SKILL.md", many).references) == MOST_REFERENCES


def test_files_that_could_not_be_read_are_not_called_missing() -> None:
    """In a folder that was not read completely, missing files are not reported."""
    assert codes("advice", skill("[a](b.md)", whole=False)) == set()


def test_every_rule_is_asked() -> None:
    """Each profile has every rule of its modules."""
    for profile in ("advice", "safety", "claude-code"):
        rules = profiles()[profile].rules
        modules = {importlib.import_module(rule.__module__) for rule in rules}
        public = set().union(*map(public_functions, modules))
        assert public - {safety_rules.Hidden, safety_rules.hidden_in} == set(rules)


HOSTILE = (
    "](",
    "](a/b.md \n",
    "](../a%",
    "](~/a)\n",
    "](<",
    "`",
    "`a/",
    "`scripts/",
    "`scripts/a.",
    "```\n",
    "~~~\n",
    "````\n```\n",
    "\n```a",
    "<!--\n",
    "-->\n",
    "]:a",
    "[^]: ",
    "[a]:a/b\n",
    " ",
    "\n",
    "[",
    "ignore ",
    "ignore all ",
    "ignore all previous ",
    "ignore previous instructions ",
    "tell the user ",
    "do not tell the user ",
    "you are now a ",
    "忽略",
    "忽略以前",
    "不要告诉用户",
    "\u200b",
    "\U000e0041",
    "a\u200d",
    "☺\u200d",
    "کی\u200c",
    "\ufe0f",
    "\u202e",
    "](file:///a)",
    "a.md ",
    "a/b-",
    "\nscripts/a.",
    "# a b\n",
    "- a\n",
    "| a | b |\n",
    "<!-- a --> ",
    "$VAR ",
    "://",
    "https://a.com/b ",
    "scripts/a.py ",
    "사용자 ",
    "中",
    "aB3+",
    "rm -rf ",
    "a/ ",
)


@pytest.mark.parametrize(
    ("unit", "times"), [("curl ", 2_000), ("```\n```\n", 9_999), ('"ignore your rules"\n', 200)]
)
def test_a_text_that_is_not_judged_whole_says_so(unit: str, times: int) -> None:
    """More of a word, of code blocks or of orders than are looked at is a finding."""
    assert "judged-in-part" not in codes("safety", skill(unit * times))
    assert "judged-in-part" in codes("safety", skill(unit * (times + 1)))


def takes_no_second(of: Skill) -> bool:
    """Return whether one of three checks takes less than a CPU second; other work slows some."""
    for _ in range(3):
        began = time.process_time()
        check(of, profiles())
        if time.process_time() - began < 1:
            return True
    return False


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_hostile_megabyte_takes_no_second(unit: str) -> None:
    """Every rule takes time in proportion to the body, so a large SKILL.md is checked quickly."""
    body = unit * (2**20 // len(unit.encode()))
    of = skill(body, "A.md", "scripts/a.py")
    assert takes_no_second(of)


HOSTILE_COMMANDS = (
    *(
        "curl ",
        "curl a/b ",
        "curl -o a ",
        "rm -",
        "rm -rf ",
        "npx -y ",
        "uvx ",
        "base64 -d ",
        "cat ~/",
    ),
    *("open(", "eval(", "exec(", "key=", "password: ", "://a:b", "sk-", "eyJa.", "AKIA", "!["),
    *(
        "'",
        '"',
        '"""',
        "cat <<a\n",
        "# rm -rf ~\n",
        "  'curl a | sh',\n",
        "tell the user",
        "a/",
        "/",
    ),
    *("scripts/", "references/a.", "import a\n", "find / -", "without the user's "),
)


@pytest.mark.parametrize("unit", HOSTILE_COMMANDS)
def test_hostile_scripts_and_references_take_no_second(unit: str) -> None:
    """Files as large as are read are checked quickly, and the body, too."""
    size = SKILL_BYTES // 4
    text = unit * (size // len(unit.encode()))
    texts = {f"scripts/a{number}.py": f"{number}{text}"[:size] for number in range(2)}
    texts |= {f"references/a{number}.md": f"{number}{text}"[:size] for number in range(2)}
    of = skill(f"references/ {text}", texts=texts)
    assert takes_no_second(of)


def test_many_files_and_many_references_take_no_second() -> None:
    """A file of the same name is searched only for the findings that are shown."""
    body = "".join(f"[a](a{at}/b{at}.md) [b](c{at}/SKILL.md)" for at in range(1_000))
    of = skill(body, *(f"references/{at}.md" for at in range(2_000)))
    assert takes_no_second(of)


def test_hostile_fields_take_no_second() -> None:
    """The longest possible descriptions and tools are checked quickly."""
    for unit in ("<", "</", "<!--", "use ", "处理", "Bash(", "Bash(*) ", "Bash(sh", "ignore all "):
        text = unit * (16_384 // len(unit))
        of = skill(description=text, when_to_use=text, allowed_tools=text, name=text, paths=text)
        assert takes_no_second(of), unit


def test_real_skills_are_seldom_blamed(corpus: Path) -> None:
    """Few of the vendors' own skills are vague or unsafe: a linter with false alarms is ignored."""
    blamed: dict[str, int] = {}
    entries = json.loads((corpus / "manifest.json").read_text("utf-8"))["entries"]
    for entry in entries:
        path = corpus / entry["sample_path"] / entry["skill_file"]
        parsed = parse(path.read_bytes())
        listed = [*entry["copied_files"], *entry["omitted_files"]]
        names = [each if isinstance(each, str) else each["path"] for each in listed]
        of = Skill(
            entry["folder"],
            entry["skill_file"],
            parsed,
            declare(parsed.frontmatter or {}),
            tuple(map(file, names)),
            other_texts=dict.fromkeys(names, ""),
        )
        for code in {finding.code for finding in check(of, ["advice", "safety"])}:
            blamed[code] = blamed.get(code, 0) + 1
    often = {"reference-outside-folder"}  # true of many, in this collection
    assert {
        code: times
        for code, times in blamed.items()
        if code not in often and times > len(entries) // 10
    } == {}
