"""Fixes: each mends its finding, changes nothing else, and does nothing the second time."""

import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from pipeline.authoring.code_fixes import FIXES, RENAMED
from pipeline.authoring.fixer import Fixer
from pipeline.authoring.lint import Judgement, judge_paths
from pipeline.cli.output.finding_types import REGISTRY
from pipeline.config.selection import of_profiles
from tests.support.bad_samples import BAD
from tests.support.made_archives import pack_zip
from tests.support.skills import SkillWriter
from tests.support.without_rights import bound_by_permissions

SELECT = of_profiles(["advice"])
HEAD = (
    b"---\nname: sample\ndescription: Takes a text file and gives its word count. Use it often.\n"
)
WITHOUT_A_SINGLE_MEANING = {  # a folder of another or an invalid name, a field of another system
    "control-characters",
    "forbidden-characters",
    "name-not-folder",
    "name-not-lower-case",
    "name-characters",
    "name-outer-hyphen",
    "name-double-hyphen",
    "field-not-in-specification",
}


def judge(*paths: Path) -> list[Judgement]:
    """Return the judgements of skills."""
    return list(judge_paths(paths, select=SELECT, cores=1))


def fix(*paths: Path) -> Fixer:
    """Fix skills; the result has the counts."""
    fixer = Fixer("lenient", SELECT)
    for _ in fixer.fix(judge(*paths)):
        pass
    return fixer


def codes(*paths: Path) -> Counter[str]:
    """Return how often each code occurs."""
    return Counter(finding.code for one in judge(*paths) for finding in one.findings)


def fixed(folder: Path, content: bytes) -> bytes:
    """Return the content of a skill named `sample` after all fixes."""
    file = folder / "sample/SKILL.md"
    file.parent.mkdir()
    file.write_bytes(content)
    fix(file.parent)
    return file.read_bytes()


@pytest.mark.parametrize("code", sorted({*FIXES, RENAMED} - WITHOUT_A_SINGLE_MEANING))
def test_a_fix_mends_its_sample_and_adds_no_finding(tmp_path: Path, code: str) -> None:
    """The second run changes nothing."""
    assert code in REGISTRY
    samples = Path(shutil.copytree(BAD / code, tmp_path / "samples"))
    before = codes(samples)
    first = fix(samples)
    after = codes(samples)
    assert first.fixed > 0
    assert after[code] < before[code]
    assert not after - before
    contents = {path: path.read_bytes() for path in samples.rglob("*") if path.is_file()}
    assert fix(samples).fixed == 0
    assert contents == {path: path.read_bytes() for path in samples.rglob("*") if path.is_file()}


def test_no_fix_makes_any_sample_worse(tmp_path: Path) -> None:
    """Files without a fix keep their bytes, and nothing is left beside them."""
    samples = Path(shutil.copytree(BAD, tmp_path / "bad", symlinks=True))
    before = sorted(path.relative_to(samples) for path in samples.rglob("*"))
    counts = codes(samples)
    fix(samples)
    assert not codes(samples) - counts
    after = sorted(path.relative_to(samples) for path in samples.rglob("*"))
    assert {str(path).lower() for path in before} == {str(path).lower() for path in after}


def test_comments_and_layout_stay(tmp_path: Path) -> None:
    """A field moves with its own lines; all others keep theirs, and CRLF stays CRLF."""
    more = (
        b"# who made it\nteam:   core # for now\n"
        b"metadata:\n    # inner\n    a: '1'\n\nlicense: MIT\n"
    )
    content = (HEAD + more + b"---\n\n# Count words\n").replace(b"\n", b"\r\n")
    expected = more.replace(b"team:   core # for now\n", b"").replace(
        b"    a: '1'\n", b"    a: '1'\n    team:   core # for now\n"
    )
    assert fixed(tmp_path, content) == (HEAD + expected + b"---\n\n# Count words\n").replace(
        b"\n", b"\r\n"
    )


def test_several_fields_keep_their_order(tmp_path: Path) -> None:
    """They move together; a field of a client stays."""
    content = HEAD + b"team: core\nhooks: {}\nstage: beta\nlicense: MIT\n---\n\n# Count words\n"
    assert fixed(tmp_path, content) == (
        HEAD
        + b"hooks: {}\nlicense: MIT\nmetadata:\n  team: core\n  stage: beta\n---\n\n# Count words\n"
    )


def test_a_field_of_another_system_stays(tmp_path: Path) -> None:
    """Claude Code and OpenClaw would not find it under metadata."""
    content = HEAD + b"disable-model-invocation: true\nhomepage: https://a.example\n---\n\n# A\n"
    assert fixed(tmp_path, content) == content


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("name: Sample # mine", "name: sample # mine"),
        ("name: ' SAMPLE'", "name: sample"),
        ("name: other", "name: other"),
        ("name:", "name: sample"),
    ],
)
def test_a_name_becomes_that_of_the_folder(tmp_path: Path, name: str, expected: str) -> None:
    """Only if they differ in form: the folder could be the wrong one."""
    head = HEAD.replace(b"name: sample", b"%s")
    assert fixed(tmp_path, head % name.encode() + b"---\n\n# A\n") == (
        head % expected.encode() + b"---\n\n# A\n"
    )


def test_commas_between_tools_become_spaces(tmp_path: Path) -> None:
    """Those in parentheses belong to a pattern."""
    content = HEAD + b"allowed-tools: %s\n---\n\n# Count words\n"
    assert fixed(tmp_path, content % b"Read, Bash(a, b),Grep") == (
        content % b"Read Bash(a, b) Grep"
    )


def test_a_lost_line_end_is_left_to_the_author(tmp_path: Path) -> None:
    """Quotes would make the field below part of the text for good."""
    content = HEAD.replace(b"Use it often.", "需要时使用。license: MIT".encode())
    assert fixed(tmp_path, content + b"---\n\n# A\n") == content + b"---\n\n# A\n"


def test_findings_that_would_be_fixed_are_marked(tmp_path: Path, skill: SkillWriter) -> None:
    """A name of another form is one, another name is none, and nothing is written."""
    one = skill(tmp_path / "one", name="One", more="team: x") / "SKILL.md"
    skill(tmp_path / "two", name="other")
    before = one.read_bytes()
    marked = list(Fixer("lenient", SELECT).marked(judge(tmp_path)))
    assert [[finding.code for finding in each.fixable] for each in marked] == [
        ["name-not-lower-case", "field-not-in-specification"],
        [],
    ]
    assert one.read_bytes() == before


def test_several_faults_of_one_file_are_mended_together(tmp_path: Path) -> None:
    """Each fix starts from the result of the one before."""
    content = (
        b"\xef\xbb\xbf---\nname: Sample\ndescription: Counts: all the words. Use it often.\n"
        b"team: core\n-----\n\n# Count words\n"
    )
    assert fixed(tmp_path, content) == (
        b"---\nname: sample\ndescription: 'Counts: all the words. Use it often.'\n"
        b"metadata:\n  team: core\n---\n\n# Count words\n"
    )


def test_links_and_archives_are_not_changed(tmp_path: Path, skill: SkillWriter) -> None:
    """A link could lead to a file that others share."""
    skill(tmp_path / "one", name="One")
    pack_zip(tmp_path / "one", tmp_path / "packed.zip")
    beside = skill(tmp_path / "packed.zip!/one", name="One") / "SKILL.md"
    linked = skill(tmp_path / "two", name="Two") / "SKILL.md"
    linked.rename(tmp_path / "two/other.md")
    linked.symlink_to("other.md")
    data = (tmp_path / "packed.zip").read_bytes()
    assert fix(tmp_path / "packed.zip", tmp_path / "two").fixed == 0
    assert (tmp_path / "packed.zip").read_bytes() == data
    assert "name: One" in beside.read_text()
    assert linked.is_symlink()
    assert "name: Two" in linked.read_text()


def test_a_folder_whose_name_is_not_utf_8_is_not_taken_for_another(
    tmp_path: Path, skill: SkillWriter
) -> None:
    r"""The name `\\xff` in ASCII is that of another folder."""
    other = skill(tmp_path / "\\xff", more='owner: "us"') / "SKILL.md"
    ours = skill(tmp_path / "\udcff", name="x", more='owner: "us"') / "SKILL.md"
    before = other.read_text()
    assert fix(ours.parent).fixed == 1
    assert other.read_text() == before
    assert "metadata" in ours.read_text()


def test_a_file_that_cannot_be_written_is_told_and_the_others_are_fixed(
    tmp_path: Path, skill: SkillWriter
) -> None:
    """Its findings stay, and it does not count as fixed."""
    for name in ("One", "Two"):
        skill(tmp_path / name.lower(), name=name)
    os.chmod(tmp_path / "one", 0o555)
    fixer = Fixer("lenient", SELECT)
    judged = judge(tmp_path)
    with bound_by_permissions():
        after = list(fixer.fix(judged))
    assert [len(judgement.findings) for judgement in after] == [1, 0]
    assert fixer.fixed == 1
    assert fixer.problems == [f"{tmp_path}/one/SKILL.md was not fixed: Permission denied."]


def test_a_file_with_too_many_fixes_stays_as_it_is(tmp_path: Path) -> None:
    """Otherwise a second run would go on."""
    fields = "".join(f'  field{number}: "x" \t# y\n' for number in range(250)).encode()
    content = HEAD + b"metadata:\n" + fields + b"---\n\nText.\n"
    assert fixed(tmp_path, content) == content


def test_a_file_that_has_changed_meanwhile_is_not_overwritten(
    tmp_path: Path, skill: SkillWriter
) -> None:
    """An editor may have saved it; its mode stays otherwise."""
    file = skill(tmp_path / "one", name="One") / "SKILL.md"
    os.chmod(file, 0o640)
    draft = Fixer("lenient", SELECT).draft(judge(tmp_path / "one")[0])
    assert draft
    file.write_text("new")
    draft.write()
    assert file.read_text() == "new"
    skill(tmp_path / "one", name="One")
    assert fix(tmp_path / "one").fixed == 1
    assert file.stat().st_mode & 0o777 == 0o640
