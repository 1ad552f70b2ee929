import os
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from catalog.model.finding import Finding
from catalog.model.skill import FileEntry, Place, Verdict
from catalog.writing.rows.derived import body_of
from pipeline.authoring.lint import Judgement, judge_paths
from pipeline.cli.output.finding_types import REGISTRY
from pipeline.dialects.registry import profiles
from pipeline.parsing.document import Parsed, parse
from pipeline.roots.snapshot import Snapshot
from tests.support.judging import judge
from tests.support.paths import CORPUS
from tests.support.skills import SkillWriter

BOUNDED = settings(max_examples=125, derandomize=True, deadline=None, database=None)
LONGEST = 1.0  # seconds that any file may take
TRACED = 500_000  # first bytes of a file that are judged with traced memory, 20 times as slowly

# Each of these is told with the text to write in place of the text that is there.
REPAIRS = {
    "unquoted-colon",
    "unquoted-value",
    "closing-fence-missing",
    "fence-not-alone",
}

words = st.sampled_from(
    [
        *"a 8004 1.0 no ~ null 2020-01-01 .inf 0x1F Reads PDF. use it when".split(),
        *"http://x 会议 é 😀".split(),
        *"--- ... - ? : # & * ! % @ ` | > { } [ ] , ' \" \\ << = *x".split(),
        "a: b",
        "a # b",
        "&x y",
        "!!str y",
        "[a] [b]",
        "{a: b}",
        "a --- b",
        "\ufeff",
        "\x85",
        "\u2028",
        "\u202e",
        "\u200b",
        "\0",
        "\x1b",
        "\t",
        " ",
        "\xa0",
    ]
)
phrases = st.lists(words, max_size=6).map(" ".join)
keys = st.sampled_from(
    [
        "name",
        "description",
        "license",
        "compatibility",
        "metadata",
        "allowed-tools",
        "when_to_use",
        "user-invocable",
        "disable-model-invocation",
        "triggers",
        "hooks",
        "tags",
        "version",
        "displayName",
        "x y",
        "",
        "~",
        "<<",
        '"name"',
        "? a",
        "- a",
        "[a]",
        "&k a",
        "!t a",
        "#",
        "会议",
    ]
)


def _indented(text: str, by: str) -> str:
    return "\n".join(f"{by}{line}" for line in text.split("\n"))


def _scalars() -> st.SearchStrategy[str]:
    block = st.tuples(
        st.sampled_from(["|", ">", "|-", ">+", ">2", "|9", "> # c"]),
        st.lists(phrases, max_size=4),
        st.sampled_from(["  ", " ", "\t", ""]),
    ).map(lambda made: f"{made[0]}\n{_indented(chr(10).join(made[1]), made[2])}")
    single = phrases.map(lambda text: "'" + text.replace("'", "''") + "'")
    double = phrases.map(lambda text: f'"{text}"')
    folded = st.lists(phrases, min_size=2, max_size=3).map("\n  ".join)
    return st.one_of(phrases, single, double, block, folded)


def _nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    indents = st.sampled_from(["  ", " ", "    ", "\t"])
    entries = st.lists(st.tuples(keys, inner), min_size=1, max_size=3)
    mapping = st.tuples(entries, indents).map(
        lambda made: (
            "\n" + _indented("\n".join(f"{key}: {value}" for key, value in made[0]), made[1])
        )
    )
    sequence = st.tuples(st.lists(inner, min_size=1, max_size=3), indents).map(
        lambda made: "\n" + _indented("\n".join(f"- {value}" for value in made[0]), made[1])
    )
    flow = st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
    return st.one_of(mapping, sequence, flow)


fields = st.tuples(
    keys,
    st.sampled_from([": "] * 8 + [":", " : ", ":\t", "="]),
    st.recursive(_scalars(), _nested, max_leaves=6),
).map("".join)
frontmatters = st.lists(fields, max_size=6).map("\n".join)
openings = st.sampled_from(
    ["---\n"] * 12
    + [
        "--- \n",
        "---\t\n",
        "----\n",
        "--- # c\n",
        "---name: a\n",
        "---name: @a\n",
        "-----a: b\n",
        "\n---\n",
        " ---\n",
        "+++\n",
        "",
        "\ufeff---\n",
        "---\n---\n",
        "%YAML 1.2\n---\n",
        "```\n---\n",
    ]
)
closings = st.sampled_from(
    ["\n---\n"] * 12
    + [
        "\n--- \n",
        "\n---",
        "\n----\n",
        "\n---body\n",
        "\n...\n",
        "\n",
        "",
        "\n ---\n",
        "\n\n# T\n\n",
    ]
)
bodies = st.lists(
    words | st.sampled_from(["\n", "\n\n", "# T\n", "```\n", "[x](../y.md)"]), max_size=12
).map("".join)


def _real_looking() -> list[bytes]:
    made = (
        b"---\nname: pdf\ndescription: Reads PDF files. Use when asked for text in a PDF.\n"
        b"allowed-tools: Read, Grep\nmetadata:\n  author: us\n  version: 1.0\n---\n\n# PDF\n\n"
        b"See [the guide](references/guide.md).\n\n```sh\nrun --it\n```\n"
    )
    corpus = sorted(CORPUS.glob("packages/**/SKILL.md")) if CORPUS.is_dir() else []
    return [made, *(file.read_bytes()[:4_000] for file in corpus)]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Return a real file with a few cuts, insertions and repetitions."""
    data = draw(st.sampled_from(_REAL))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        if start > 600 and draw(st.booleans()):
            start %= 600  # where the frontmatter is
        end = min(len(data), start + draw(st.sampled_from([0, 0, 1, 3, 20])))
        piece = draw(
            st.one_of(
                words.map(str.encode),
                st.binary(max_size=3),
                fields.map(lambda f: f"\n{f}\n".encode()),
                st.sampled_from(
                    [b"\n", b"\r", b": ", b"---\n", b"\t", b"\xff", b"\xef\xbb\xbf", b""]
                ),
            )
        )
        data = data[:start] + piece + data[end:]
    return data


_REAL = _real_looking()
texts = st.tuples(openings, frontmatters, closings, bodies).map("".join)
encoded = st.tuples(texts, st.sampled_from(["utf-8"] * 8 + ["utf-16", "utf-32", "latin-1"])).map(
    lambda made: made[0].encode(made[1], "replace")
)
line_ends = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b"\r"])
files = st.tuples(st.one_of(encoded, mutated(), st.binary(max_size=200)), line_ends).map(
    lambda made: made[0].replace(b"\n", made[1])
)


def verdict_on(data: bytes) -> tuple[Parsed, Verdict]:
    """Return the parsed SKILL.md, and the verdict with every profile."""
    parsed = parse(data)
    entry = FileEntry("SKILL.md", len(data), "0" * 64, 0o644, "skill_md", True)
    snapshot = Snapshot("pdf", "SKILL.md", data, (entry,), "f", "sha256:0", ())
    return parsed, judge(
        snapshot,
        parsed,
        Place("/skills", "pdf", "project"),
        acceptance="permissive",
        profiles=tuple(profiles()),
    )


@BOUNDED
@given(files)
@example(b"")
@example(b"---")
@example(b"---\n---")
@example(b"\xef\xbb\xbf\xef\xbb\xbf---\nname: a\n---\n")
def test_any_file_is_judged_quickly_and_repeatably(data: bytes) -> None:
    """No exception, at most a second, and equal bytes have the same verdict and findings.

    And the body is the end of the text, which the catalog relies on.
    """
    began = time.process_time()
    parsed, verdict = verdict_on(data)
    assert time.process_time() - began < LONGEST
    assert verdict_on(data) == (parsed, verdict)
    assert body_of(parsed.text, len(parsed.body)).text == parsed.body
    assert all(found.code in REGISTRY for found in verdict.findings)
    assert all(found.line is None or found.line >= 1 for found in verdict.findings)


def check_repairs(data: bytes) -> None:
    """Assert that a file with its repairs written into it is read as before, without them."""
    parsed = parse(data)
    lines = parsed.text.replace("\r\n", "\n").replace("\r", "\n")
    again = parse(_repaired(lines, parsed.findings).encode("utf-8", "replace"))
    assert again.frontmatter == parsed.frontmatter
    if parsed.frontmatter is not None:
        assert not REPAIRS & {found.code for found in again.findings}


@BOUNDED
@given(st.one_of(texts.map(str.encode), mutated()))
def test_a_repaired_file_needs_no_repair(data: bytes) -> None:
    """Each repair has its exact change: made in the file, it is not needed again."""
    check_repairs(data)


@pytest.mark.parametrize(
    "data",
    [
        # The fence is put below the last line as it was before its value was quoted.
        b"---\nname:\n  - &\n",
        b"---\nname:\n  - &",
        b"---\nname: a\nmetadata:\n\tx: @y\n\tz: *a",
        # What is cut off the opening fence begins with dashes itself.
        b"------name: a\nb: c\n---\n",
        b"---- name: a\nb: c\n---\n",
        # What is cut off is changed, too.
        b"---name: @a\nb: c\n---\n",
        b"-----name: [a] [b]\nb: c: d\n",
        # One line opens the frontmatter, holds it and ends it.
        b"---name: a",
        b"---name: a\n\n",
        b"\n ----- name: @a",
    ],
)
def test_repairs_of_fences_can_be_written_out(data: bytes) -> None:
    """Rare combinations included."""
    check_repairs(data)


def _repaired(text: str, findings: tuple[Finding, ...]) -> str:
    repairs = [
        (found.line, found.before.split("\n"), found.after.split("\n"))
        for found in findings
        if found.line and found.before is not None and found.after is not None
    ]
    in_place = [repair for repair in repairs if len(repair[1]) == len(repair[2])]
    # From the bottom up, so that a line that is put in does not move the next change.
    longer = sorted((repair for repair in repairs if repair not in in_place), reverse=True)
    lines = text.split("\n")
    for line, before, after in in_place + longer:
        lines[line - 1 : line - 1 + len(before)] = after
    return "\n".join(lines)


HEAD = "---\nname: pdf\ndescription: Reads PDF.\n"
MERGE_BOMB = "a0: &a0 {k: v}\n" + "".join(
    f"a{n}: &a{n}\n  <<: [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)
ALIAS_BOMB = "a0: &a0 [x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)

HOSTILE = {
    "50 KB of [": f"{HEAD}x: {'[' * 50_000}\n---\n",
    "16 KB of [": f"{HEAD}x: {'[' * 16_000}\n---\n",
    "16 KB of {": f"{HEAD}x: {'{a: ' * 4_000}\n---\n",
    "16 KB of ? ": f"{HEAD}{'? ' * 8_000}\n---\n",
    "16 KB of - ": f"{HEAD}x:\n{'- ' * 8_000}\n---\n",
    "a merge bomb": f"{HEAD}{MERGE_BOMB}---\n",
    "an alias bomb": f"{HEAD}{ALIAS_BOMB}---\n",
    "1,200 anchors": HEAD + "".join(f"k{n}: &a{n}\n" for n in range(1_200)) + "---\n",
    "a number of 300 KB": f"{HEAD}x: {'9' * 300_000}\n---\n",
    "a number of 16 KB": f"{HEAD}priority: {'9' * 16_000}\n---\n",
    "a line of 1 MB": f"{HEAD}---\n{'x' * 1_000_000}",
    "a line of 1 MB in the frontmatter": f"{HEAD}x: {'y' * 1_000_000}\n---\n",
    "1 MB of empty lines": HEAD + "\n" * 1_000_000,
    "1 MB of spaces": "---" + " " * 1_000_000,
    "1 MB of dashes": "-" * 1_000_000,
    "1 MB of fences": "---\n" * 250_000,
    "1 MB of opening brackets": f"{HEAD}---\n{'[' * 1_000_000}",
    "1 MB of links": f"{HEAD}---\n{'[a](b.md)' * 110_000}",
    "1 MB of backticks": f"{HEAD}---\n{'`' * 999_999}",
    "1 MB of <": f"{HEAD}---\n{'<' * 999_999}",
    "1 MB of headings": f"{HEAD}---\n" + "# a\n" * 250_000,
    "1 MB of invisible characters": f"{HEAD}---\n" + "\u200b" * 330_000,
    "1 MB of scattered invisible characters": f"{HEAD}---\n" + "a\u200b" * 250_000,
    "1 MB of joined emoji": f"{HEAD}---\n" + "\u2764\ufe0f" * 166_000,
    "1 MB of tags": f"{HEAD}---\n" + "\U000e0041" * 250_000,
    "1 MB of NUL": HEAD + "\0" * 1_000_000,
    "1 MB of orders": f"{HEAD}---\n" + "ignore all previous " * 50_000,
    "1 MB of conflict markers": f"{HEAD}---\n" + "<<<<<<< a\n" * 100_000,
    "1 MB of colons": f"{HEAD}x: {'a: ' * 330_000}\n---\n",
    "16 KB of colons": f"{HEAD}x: {'a: ' * 5_000}\n---\n",
    "1,000 lines to repair": HEAD + "".join(f"k{n}: a: b\n" for n in range(1_000)) + "---\n",
    "1,000 lines without an end": HEAD + "".join(f"k{n}: a: b\n" for n in range(1_000)),
    "1,000 equal keys": HEAD + "k: v\n" * 1_000 + "---\n",
    "8,000 commas in tools": f"{HEAD}allowed-tools: {'a,(' * 5_000}\n---\n",
}


@pytest.fixture(scope="module")
def patience() -> float:
    """Return the seconds that a file of 1 MB may take: a multiple of an ordinary one's."""
    plain = HEAD + "---\n" + "A plain line of an ordinary body, and nothing about it.\n" * 17_500
    verdict_on(plain.encode())
    took = []
    for _ in range(3):
        began = time.process_time()
        verdict_on(plain.encode())
        took.append(time.process_time() - began)
    return 50 * min(took)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_costs_no_more_than_a_plain_one(text: str, patience: float) -> None:
    """It has findings, and takes time and memory in proportion to its size."""
    data = text.encode()
    began = time.process_time()
    _, verdict = verdict_on(data)
    assert time.process_time() - began < max(patience, 0.1)
    assert 1 <= len(verdict.findings) < 200
    first = data[:TRACED]
    tracemalloc.start()
    try:
        verdict_on(first)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 24 * len(first) + 1_000_000


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "SKILL.md")


def _directory(folder: Path) -> None:
    (folder / "SKILL.md").mkdir()


def _device(folder: Path) -> None:
    (folder / "SKILL.md").symlink_to("/dev/zero")


def _endless(folder: Path) -> None:
    with (folder / "SKILL.md").open("wb") as file:
        file.truncate(10 * 1024**4)  # 10 TB that take no room


def _itself(folder: Path) -> None:
    (folder / "SKILL.md").symlink_to("SKILL.md")


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (_pipe, "skill-md-not-a-file"),
        (_directory, "skill-md-not-a-file"),
        (_device, "skill-md-not-a-file"),
        (_endless, "skill-md-too-large"),
        (_itself, "skill-md-not-a-file"),
    ],
)
def test_a_skill_md_that_is_no_file_is_a_finding(
    tmp_path: Path, skill: SkillWriter, make: Callable[[Path], None], code: str
) -> None:
    """No pipe is waited for, no device read and no loop followed, by any path."""
    skill(tmp_path / "skills/good")
    (tmp_path / "skills/bad").mkdir()
    make(tmp_path / "skills/bad")
    began = time.process_time()
    for named in ("skills/bad", "skills/bad/SKILL.md", "skills"):
        bad: Judgement = next(iter(judge_paths([Path(named)])))
        assert code in [found.code for found in bad.findings]
        assert not bad.loadable
    assert time.process_time() - began < LONGEST
