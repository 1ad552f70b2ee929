"""Added skills reach a root completely or not at all."""

import json
import os
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from catalog.model.errors import NotPossible
from catalog.model.skill import RootSpec
from pipeline.authoring import add as authoring_add
from pipeline.authoring.add import Addition, root_named
from pipeline.cli.app import cli
from tests.support.skills import SkillWriter


@pytest.fixture
def root(tmp_path: Path) -> RootSpec:
    """Return an empty root."""
    (tmp_path / "root").mkdir()
    return RootSpec(str(tmp_path / "root"))


def added(root: RootSpec, *sources: Path, replace: bool = False) -> list[Addition]:
    """Add sources and return the result of each."""
    return list(authoring_add.add(sources, root, replace=replace))


def contents(root: RootSpec) -> dict[str, str]:
    """Return every file of a root with its text."""
    top = Path(root.path)
    return {
        str(file.relative_to(top)): file.read_text()
        for file in sorted(top.rglob("*"))
        if file.is_file()
    }


def test_a_folder_is_copied_whole_with_modes_and_links(
    root: RootSpec, tmp_path: Path, skill: SkillWriter
) -> None:
    """Nothing else is left in the root."""
    source = skill(tmp_path / "drafts/word-count", files={"scripts/run.sh": "wc -w"})
    (source / "scripts/run.sh").chmod(0o755)
    (source / "latest.sh").symlink_to("scripts/run.sh")
    (one,) = added(root, source)
    assert one.is_added
    assert one.place == Path(root.path, "word-count")
    assert os.access(one.place / "scripts/run.sh", os.X_OK)
    assert os.readlink(one.place / "latest.sh") == "scripts/run.sh"
    assert os.listdir(root.path) == ["word-count"]


def test_an_archive_is_copied_as_it_is(root: RootSpec, tmp_path: Path, skill: SkillWriter) -> None:
    """A scan reads it without unpacking."""
    source = skill(tmp_path / "drafts/word-count")
    with zipfile.ZipFile(tmp_path / "drafts/skills.zip", "w") as archive:
        archive.write(source / "SKILL.md", "word-count/SKILL.md")
    (one,) = added(root, tmp_path / "drafts/skills.zip")
    assert [judged.name for judged in one.judgements] == ["word-count"]
    assert os.listdir(root.path) == ["skills.zip"]
    assert one.place.read_bytes() == (tmp_path / "drafts/skills.zip").read_bytes()


@pytest.mark.requirement("prd/life-form")
@pytest.mark.parametrize("is_archive", [False, True])
def test_name_description_files_and_findings_are_shown_before_and_after(
    tmp_path: Path, skill: SkillWriter, is_archive: bool
) -> None:
    """A trial and the addition print the same of each skill; JSON has its inventory."""
    files = {"REFERENCE.md": "# More\n", "scripts/a.py": "a", "scripts/b.py": "b", "data/x": "x"}
    source = skill(tmp_path / "drafts/word-count", more="foo: x", files=files)
    if is_archive:
        archive = shutil.make_archive(str(source), "zip", source.parent, source.name)
        shutil.rmtree(source)
        source = Path(archive)
    (tmp_path / "root").mkdir()
    places = ["--watched", str(tmp_path / "root"), "--data", str(tmp_path / "data")]
    trial = CliRunner().invoke(cli, [*places, "add", str(source), "--dry-run"])
    shown = trial.stdout.splitlines()
    assert shown[0].startswith("word-count: Takes a text file and gives its word count.")
    assert shown[1].startswith("    Files: SKILL.md, REFERENCE.md, data/x, scripts/ (2) (5 files, ")
    assert "warning field-not-in-specification" in shown[2]
    after = CliRunner().invoke(cli, [*places, "add", str(source), "--replace"])
    assert after.stdout.splitlines()[:-1] == shown[:-1]
    asked = [*places, "add", str(source), "--replace", "--json"]
    (listed,) = json.loads(CliRunner().invoke(cli, asked).stdout)
    assert listed["skills"][0]["files"] == ["REFERENCE.md", "SKILL.md", *sorted(files)[1:]]
    assert listed["skills"][0]["fileInventory"]["scriptFiles"] == ["scripts/a.py", "scripts/b.py"]
    assert listed["skills"][0]["description"].startswith("Takes a text")


def test_a_skill_that_the_root_would_reject_is_not_copied(
    root: RootSpec, tmp_path: Path, skill: SkillWriter
) -> None:
    """Its findings give the reason, and a good skill beside it is added."""
    bad = skill(tmp_path / "drafts/bad", files={"SKILL.md": "nothing\n"})
    good = skill(tmp_path / "drafts/good")
    one, other = added(root, bad, good)
    assert (one.is_added, other.is_added) == (False, True)
    assert [found.severity for found in one.judgements[0].findings] == ["error"]
    assert os.listdir(root.path) == ["good"]


def test_an_existing_skill_is_replaced_only_on_request(
    root: RootSpec, tmp_path: Path, skill: SkillWriter
) -> None:
    """It is replaced in one step, and no old file stays."""
    source = skill(tmp_path / "drafts/word-count", files={"old.md": "old"})
    added(root, source)
    (source / "old.md").unlink()
    (source / "new.md").write_text("new")
    with pytest.raises(NotPossible, match="Use --replace"):
        added(root, source)
    assert "word-count/old.md" in contents(root)
    added(root, source, replace=True)
    assert contents(root).keys() == {"word-count/SKILL.md", "word-count/new.md"}


def test_a_copy_that_fails_leaves_the_root_as_it_was(
    root: RootSpec, tmp_path: Path, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old skill stays complete, and one sentence gives the reason."""
    source = skill(tmp_path / "drafts/word-count", files={"a.md": "a"})
    added(root, source)
    before = contents(root)
    (source / "a.md").write_text("changed")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    for module, function in ((shutil, "copytree"), (os, "rename")):
        with monkeypatch.context() as patch:
            patch.setattr(module, function, full)
            with pytest.raises(NotPossible, match="No space left on device"):
                added(root, source, replace=True)
        assert contents(root) == before


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda top: top / "root" / "inside", "is already inside the root"),
        (lambda top: top, "or contains it"),
        (lambda top: top / "notes.txt", "neither a folder nor an archive"),
        (lambda top: top / "draft.tmp", "a name that scans ignore"),
    ],
)
def test_an_unusable_source_is_named(
    root: RootSpec, tmp_path: Path, make: Any, complaint: str
) -> None:
    """Before anything is copied."""
    source = make(tmp_path)
    if source.suffix == ".txt":
        source.write_text("notes")
    else:
        source.mkdir(exist_ok=True)
    with pytest.raises(NotPossible, match=complaint):
        added(root, source)


def test_two_sources_of_one_name_are_refused(
    root: RootSpec, tmp_path: Path, skill: SkillWriter
) -> None:
    """The second would replace the first."""
    sources = [skill(tmp_path / folder / "word-count") for folder in ("a", "b")]
    with pytest.raises(NotPossible, match="the same name"):
        added(root, *sources)


def test_a_root_is_named_by_path_or_level(tmp_path: Path) -> None:
    """The default is the first root of level project."""
    roots = [RootSpec(str(tmp_path / "company"), "enterprise"), RootSpec(str(tmp_path / "ours"))]
    assert root_named(roots, None) == roots[1]
    assert root_named(roots, "enterprise") == root_named(roots, f"{tmp_path}/company") == roots[0]
    assert root_named(roots[:1], None) == roots[0]
    with pytest.raises(NotPossible, match=r"are .*company \(enterprise\), .*ours \(project\)"):
        root_named(roots, "elsewhere")


@pytest.fixture
def call(tmp_path: Path) -> Iterator[Any]:
    """Call the command line on a separate root."""
    (tmp_path / "watched").mkdir()

    def run(*words: object) -> Any:
        return CliRunner().invoke(
            cli,
            [
                "--watched",
                str(tmp_path / "watched"),
                "--data",
                str(tmp_path / "data"),
                *map(str, words),
            ],
            standalone_mode=False,
        )

    yield run
    shutil.rmtree(tmp_path / "data", ignore_errors=True)


@pytest.mark.requirement("own/life-added")
def test_the_command_reports_the_result_of_each_source(
    call: Any, tmp_path: Path, skill: SkillWriter
) -> None:
    """As text or as JSON; the exit code is 1 if a source was not added."""
    good = skill(tmp_path / "drafts/good")
    bad = skill(tmp_path / "drafts/bad", files={"SKILL.md": "nothing\n"})
    said = call("add", good, bad)
    assert said.return_value == 1
    assert f"Added {tmp_path}/watched/good." in said.output
    assert f"Not added to {tmp_path}/watched/bad" in said.output
    told = json.loads(call("add", "--replace", "--json", good).output)
    assert [(one["added"], one["skills"][0]["name"]) for one in told] == [(True, "good")]


def test_replacing_a_link_keeps_its_target(
    root: RootSpec, tmp_path: Path, skill: SkillWriter
) -> None:
    """No part of the link stays in the root."""
    elsewhere = skill(tmp_path / "elsewhere/word-count", description="Another one.")
    Path(root.path, "word-count").symlink_to(elsewhere)
    (one,) = added(root, skill(tmp_path / "drafts/word-count"), replace=True)
    assert one.is_added
    assert not one.place.is_symlink()
    assert "Another one." in (elsewhere / "SKILL.md").read_text()
    assert os.listdir(root.path) == ["word-count"]


@pytest.mark.requirement("prd/life-trial")
def test_a_trial_leaves_the_root_untouched(
    root: RootSpec, tmp_path: Path, skill: SkillWriter
) -> None:
    """Not even its time of change moves, which a service would notice."""
    folder = skill(tmp_path / "word-count", name="Word Count", files={"a/b.txt": "B"})
    with zipfile.ZipFile(tmp_path / "pack.zip", "w") as archive:
        archive.write(folder / "SKILL.md", "word-count/SKILL.md")
    before = os.stat(root.path).st_mtime_ns
    sources = [folder, tmp_path / "pack.zip"]
    one, two = authoring_add.add(sources, root, dry_run=True)
    assert (one.is_added, two.is_added) == (True, True)
    assert [file.path for file in one.judgements[0].files] == ["SKILL.md", "a/b.txt"]
    assert [file.path for file in two.judgements[0].files] == ["SKILL.md"]
    assert os.listdir(root.path) == []
    assert os.stat(root.path).st_mtime_ns == before
