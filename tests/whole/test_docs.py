"""Documentation: pages generated from the code, and the site built from all pages."""

import io
import re
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from catalog.model.outcome import RunFile
from docs_from_code import settings
from docs_from_code.pages import DOCS, PAGES
from docs_from_code.site import build, faults
from pipeline.authoring.lint import judge_paths
from pipeline.cli.app import cli
from pipeline.cli.commands.rule import OMITTED, Example, examples
from pipeline.cli.output.finding_types import REGISTRY
from pipeline.dialects.registry import DEFAULT_PROFILES
from pipeline.outcomes.parser import judge_outcome
from tests.support.bad_samples import ACCEPTANCES, BAD
from tests.support.made_archives import GOOD
from tests.support.paths import REPOSITORY

# Examples whose paths are all of a folder or an archive, and those of outcome files; the others
# are part of a sample.
EXAMPLES = examples()
LISTED = {code for code, shown in EXAMPLES.items() if shown.paths and not (BAD / code).exists()}
OF_OUTCOMES = {code for code in EXAMPLES if REGISTRY[code].profile == "outcome"}


@pytest.mark.parametrize("page", sorted(PAGES))
def test_a_generated_page_is_up_to_date(page: str) -> None:
    """The page in the repository equals the generated one; `make docs` writes it."""
    assert (DOCS / page).read_text("utf-8") == PAGES[page](), "stale: run `make docs`"


def test_every_command_shows_an_example() -> None:
    """The help of each command has an example to paste."""
    page = (DOCS / "reference/commands.md").read_text("utf-8")
    for name in cli.commands:
        section = page.split(f"## `skilldrop {name}`", 1)[1].split("\n## ", 1)[0]
        assert re.search(rf"^ +skilldrop .*\b{name}\b", section, re.MULTILINE), name


def test_every_column_of_the_schema_page_has_a_description() -> None:
    """No column of a table lacks one."""
    page = (DOCS / "reference/schema.md").read_text("utf-8")
    assert not re.findall(r"^- `[^:]*:? *$", page, re.MULTILINE)


def test_every_setting_has_a_meaning_and_every_meaning_a_setting() -> None:
    """The meanings beside the settings page name the keys of the models, and no others."""
    assert settings.explained() == settings.keys()


@pytest.mark.parametrize("code", sorted(EXAMPLES.keys() - LISTED - OF_OUTCOMES))
def test_the_bad_lines_of_an_example_raise_its_finding_and_the_good_ones_do_not(
    tmp_path: Path, code: str
) -> None:
    """The bad example is part of the code's sample; the good one removes its finding.

    The good one adds no finding, in a folder that has the name of the skill.
    """
    (sample,) = (path for path in (BAD / code).iterdir() if path.is_dir())
    good = tmp_path / "good"
    shutil.copytree(sample, good)
    good = (_move if EXAMPLES[code].paths else _replace)(good, EXAMPLES[code])
    bad_codes = _codes(sample, code)
    assert code in bad_codes
    assert _codes(good, code) <= bad_codes - {code}


def _replace(skill: Path, example: Example) -> Path:
    """Write the good lines in place of the bad ones, and rename the folder to the skill's name."""
    document = skill / "SKILL.md"
    good = _replaced(document.read_bytes(), example)
    document.write_bytes(good)
    name = re.search(rb"^name: (.+)$", good, re.MULTILINE)
    assert name
    return skill.rename(skill.with_name(name[1].decode()))


def _replaced(data: bytes, example: Example) -> bytes:
    """Return a file's bytes with the good lines in place of the bad ones, which occur once."""
    text = data.decode("utf-8", "surrogateescape")
    pattern = ".*".join(map(re.escape, example.bad.split(OMITTED)))
    (match,) = re.finditer(pattern, text, re.DOTALL)
    good = f"{text[: match.start()]}{example.good}{text[match.end() :]}"
    return good.encode("utf-8", "surrogateescape")


def _move(skill: Path, example: Example) -> Path:
    """Move the bad file to each good path; native code becomes text, its source."""
    old = skill / example.bad
    content, mode = old.read_bytes(), old.stat().st_mode
    old.unlink()
    for path in example.good.splitlines():
        new = skill / path
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(b"A text.\n" if b"\0" in content else content)
        new.chmod(mode)
    return skill.rename(skill.with_name("sample"))


def _codes(skill: Path, code: str) -> set[str]:
    common = list(DEFAULT_PROFILES)
    own = REGISTRY[code].profile
    (judgement,) = judge_paths(
        [skill],
        profiles=common if own in ("reading", *common) else [own],
        acceptance=ACCEPTANCES.get(code, "lenient"),
        cores=1,
    )
    return {finding.code for finding in judgement.findings}


@pytest.mark.parametrize("code", sorted(LISTED))
def test_bad_paths_raise_their_finding_and_good_ones_do_not(tmp_path: Path, code: str) -> None:
    """The paths are those of a folder, or of an archive for the codes of archives."""
    bad, good = tmp_path / "bad", tmp_path / "good"
    for folder, lines in ((bad, EXAMPLES[code].bad), (good, EXAMPLES[code].good)):
        folder.mkdir()
        write = _pack if code.startswith("archive-") else _create
        write(folder, [line.split(" -> ") for line in lines.splitlines()])
    assert _codes(bad, code) == {code}
    assert _codes(good, code) == set()


def _create(folder: Path, paths: list[list[str]]) -> None:
    """Create files and symbolic links below a folder."""
    (folder.parent / "outside.md").write_text("A note.\n", "utf-8")
    for path, *target in paths:
        (folder / path).parent.mkdir(exist_ok=True)
        if target:
            (folder / path).symlink_to(target[0])
        else:
            (folder / path).write_text(_content(path), "utf-8")


def _pack(folder: Path, paths: list[list[str]]) -> None:
    """Pack files and symbolic links into an archive in a folder."""
    with tarfile.open(folder / "sample.tgz", "w:gz") as archive:
        for path, *target in paths:
            member, data = tarfile.TarInfo(path), _content(path).encode()
            if target:
                member.type, member.linkname = tarfile.SYMTYPE, target[0]
            else:
                member.size = len(data)
            archive.addfile(member, None if target else io.BytesIO(data))


def _content(path: str) -> str:
    return GOOD if path.lower().endswith("skill.md") else "A note.\n"


@pytest.mark.parametrize("code", sorted(OF_OUTCOMES))
def test_the_good_lines_of_an_outcome_have_no_finding(code: str) -> None:
    """The bad lines are those of the code's sample; with the good ones its finding is gone."""
    file = RunFile("meetings/run-1.json", "0" * 64)
    bad = (REPOSITORY / f"tests/samples/outcomes/bad/{code}.json").read_bytes()
    good = _replaced(bad, EXAMPLES[code])
    assert [finding.code for finding in judge_outcome(file, bad).findings] == [code]
    assert judge_outcome(file, good).findings == ()


def _linked(page: Path) -> Iterator[Path]:
    for address in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        path = unquote(address.partition("#")[0])
        if path and ":" not in path:
            yield page.parent / path


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_the_pages_at_the_top_link_to_files_that_exist(page: str) -> None:
    """A link from a page outside the site leads to a file of the repository."""
    assert [link for link in _linked(REPOSITORY / page) if not link.exists()] == []


PAGE = "<!doctype html><h1 id=top>Page</h1>"


@pytest.mark.parametrize(
    ("element", "fault"),
    [
        ('<a href="missing.html">', "its link to missing.html leads nowhere"),
        ('<a href="other.html#nothing">', "its link to other.html#nothing leads to no anchor"),
        ('<img src="missing.svg">', "its link to missing.svg leads nowhere"),
        (
            '<script src="https://host.example/x.js">',
            "it fetches https://host.example/x.js from another host",
        ),
        (
            '<link rel="stylesheet" href="//host.example/x.css">',
            "it fetches //host.example/x.css from another host",
        ),
    ],
)
def test_a_fault_of_a_built_page_is_reported(tmp_path: Path, element: str, fault: str) -> None:
    """A dead link, a missing anchor and a request to another host are listed with the page."""
    (tmp_path / "other.html").write_text(PAGE, "utf-8")
    (tmp_path / "page.html").write_text(PAGE + element, "utf-8")
    assert faults(tmp_path) == [f"page.html: {fault}"]


def test_working_links_are_no_faults(tmp_path: Path) -> None:
    """Links to pages, their anchors, folders with an index and other sites."""
    (tmp_path / "index.html").write_text(PAGE, "utf-8")
    (tmp_path / "page.html").write_text(
        PAGE
        + '<a href="#top"><a href="index.html#top"><a href="."><a href="https://host.example">',
        "utf-8",
    )
    assert faults(tmp_path) == []


def test_a_link_to_a_missing_page_fails_the_build(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The strict build names the page with the dead link, and writes no site."""
    repository = tmp_path / "repository"
    (repository / "docs").mkdir(parents=True)
    (repository / "docs/index.md").write_text("# Page\n\n[dead](missing.md)\n", "utf-8")
    (repository / "zensical.toml").write_text('[project]\nsite_name = "site"\n', "utf-8")
    copy = tmp_path / "copy"
    copy.mkdir()
    assert build(repository, copy) is None
    assert "index.md" in capfd.readouterr().err
    assert not (repository / "site").exists()
