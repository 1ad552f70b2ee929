import json
import os
import shutil
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from catalog.model.errors import NotPossible, RootUnreadable
from pipeline.authoring.convert import ConversionOptions, ConversionResult, migrate_paths
from pipeline.dialects.apexbridge.dialect import APEXBRIDGE
from tests.support import program
from tests.support.skills import SkillWriter, write_skill

OLD = Path(__file__).parents[2] / "samples" / "apexbridge" / "old"


def tree(folder: Path) -> dict[str, bytes]:
    """Return the content of every file."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def migrated(*paths: Path, **how: Any) -> list[ConversionResult]:
    """Migrate, by default into `new`."""
    return list(
        migrate_paths(paths, ConversionOptions(APEXBRIDGE, **{"output": Path("new"), **how}))
    )


def skilldrop(*words: str | Path) -> CompletedProcess[str]:
    """Run the command."""
    return program.run("migrate", *words)


@pytest.mark.requirement("apexbridge/validated")
def test_both_older_layouts_become_loadable_packages(tmp_path: Path) -> None:
    """They have no error."""
    conversions = migrated(OLD, validate=True)
    assert [Path(conversion.path).name for conversion in conversions] == ["dice", "greeting"]
    for conversion in conversions:
        assert conversion.judgement
        assert conversion.judgement.loadable
        assert not [f for f in conversion.judgement.findings if f.severity == "error"]


@pytest.mark.requirement("apexbridge/metadata-kept", "own/new-folder")
def test_the_files_of_older_layouts_are_moved_to_their_new_places(tmp_path: Path) -> None:
    """Code leaves SKILL.md for scripts; the old folders are not changed."""
    before = tree(OLD)
    migrated(OLD)
    assert sorted(os.listdir("new")) == ["dice", "greeting"]
    assert sorted(os.listdir("new/dice")) == [
        "METADATA.yml.legacy",
        "SKILL.md",
        "assets",
        "references",
        "scripts",
    ]
    assert "Math.random" in Path("new/dice/scripts/execute.ts").read_text("utf-8")
    assert "Math.random" not in Path("new/dice/SKILL.md").read_text("utf-8")
    assert sorted(os.listdir("new/greeting")) == [
        "SKILL.md",
        "assets",
        "manifest.json",
        "references",
        "scripts",
    ]
    assert os.listdir("new/greeting/scripts") == ["execute.ts"]
    assert tree(OLD) == before


@pytest.mark.requirement("apexbridge/default-path", "apexbridge/npm")
def test_without_a_path_the_folder_skills_is_converted(tmp_path: Path) -> None:
    """Where there is none, one sentence asks for a folder."""
    asked = skilldrop()
    assert (asked.returncode, "name the folders" in asked.stderr) == (2, True)
    shutil.copytree(OLD, "skills")
    assert skilldrop().returncode == 0
    assert sorted(os.listdir("migrated")) == ["dice", "greeting"]


@pytest.mark.requirement("own/again")
def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    """Neither beside, nor in place, nor in the result."""
    migrated(OLD)
    first = tree(Path("new"))
    assert not any(each.plan.changes_something for each in migrated(OLD))
    assert not any(each.plan.changes_something for each in migrated(Path("new"), output=None))
    assert tree(Path("new")) == first
    assert sorted(os.listdir("new")) == ["dice", "greeting"]


@pytest.mark.requirement("own/in-place")
def test_a_conversion_in_place_keeps_a_backup(tmp_path: Path) -> None:
    """The folder becomes the package, and the backup has the old content."""
    shutil.copytree(OLD, "skills")
    (only,) = migrated(Path("skills/dice"), output=None)
    assert only.backup == str(tmp_path / "skills" / "dice~")
    assert tree(Path("skills/dice~")) == tree(OLD / "dice")
    assert Path("skills/dice/scripts/execute.ts").exists()
    assert len(migrated(Path("skills"), output=None)) == 2  # and no skill named dice~


@pytest.mark.requirement("apexbridge/dry-run")
def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    """It has the same steps, and can judge the result."""
    shutil.copytree(OLD, "skills")
    for output in (None, Path("new")):
        dry = migrated(Path("skills"), output=output, dry_run=True, validate=True)
        assert [each.plan.steps for each in dry] == [
            each.plan.steps for each in migrated(OLD, output=tmp_path / f"other-{output}")
        ]
        assert dry[0].judgement
        assert dry[0].judgement.path == dry[0].output
        assert (tree(Path("skills")), Path("new").exists()) == (tree(OLD), False)


@pytest.mark.requirement("own/unreadable")
@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"---\nname: [\n---\n", "yaml-invalid"),
        (b"\xff\xfe\x00", "not-utf-8"),
        (b"", "skill-md-empty"),
    ],
)
def test_an_unreadable_skill_is_reported_and_left_as_it_is(
    tmp_path: Path, skill: SkillWriter, content: bytes, code: str
) -> None:
    """The others in the tree are converted."""
    skill(tmp_path / "skills" / "bad", files={"SKILL.md": content})
    skill(tmp_path / "skills" / "good")
    bad, good = migrated(tmp_path / "skills")
    assert (bad.plan.refused, good.plan.refused) == (True, False)
    assert code in {found.code for found in bad.plan.findings}
    assert os.listdir("new") == ["good"]


def test_nothing_is_written_through_a_link(tmp_path: Path, skill: SkillWriter) -> None:
    """If scripts/ is a link, its target does not change."""
    (tmp_path / "elsewhere").mkdir()
    folder = skill(tmp_path / "skills" / "sly", body="## Code\n```sh\nrm\n```\n")
    (folder / "scripts").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotPossible, match="behind a link"):
        migrated(folder, output=None)
    assert os.listdir(tmp_path / "elsewhere") == []
    assert os.listdir(tmp_path / "skills") == ["sly"]


def test_a_document_that_is_a_link_is_replaced_not_followed(
    tmp_path: Path, skill: SkillWriter
) -> None:
    """The target of the link keeps its content."""
    folder = skill(tmp_path / "skills" / "linked")
    (folder / "SKILL.md").rename(tmp_path / "skills" / "shared.md")
    (folder / "SKILL.md").symlink_to("../shared.md")
    before = (tmp_path / "skills" / "shared.md").read_bytes()
    migrated(tmp_path / "skills", output=None)
    assert not (folder / "SKILL.md").is_symlink()
    assert (tmp_path / "skills" / "shared.md").read_bytes() == before


def test_a_wrong_path_is_reported_in_one_sentence(tmp_path: Path, skill: SkillWriter) -> None:
    """A path that is no folder, an output inside it, an output that is something else."""
    skill(tmp_path / "skills" / "dice")
    with pytest.raises(RootUnreadable, match="neither a folder"):
        migrated(tmp_path / "nothing")
    with pytest.raises(NotPossible, match="is inside"):
        migrated(tmp_path, output=tmp_path / "new")
    skill(tmp_path / "new" / "dice", description="Something else.")
    with pytest.raises(NotPossible, match="exists already"):
        migrated(tmp_path / "skills")


def test_a_tree_without_skills_is_reported(tmp_path: Path) -> None:
    """To find nothing differs from having nothing to do."""
    (only,) = migrated(tmp_path, output=tmp_path.parent / "new")
    assert (only.plan.refused, only.plan.findings[0].code) == (True, "skill-md-missing")


def test_an_archive_is_reported_and_left_as_it_is(tmp_path: Path, skill: SkillWriter) -> None:
    """It must be unpacked first."""
    skill(tmp_path / "skills" / "good")
    shutil.make_archive(str(tmp_path / "skills" / "packed"), "zip", OLD)
    refused = [each for each in migrated(tmp_path / "skills") if each.plan.refused]
    assert [Path(each.path).name for each in refused] == ["packed.zip"]
    assert os.listdir("new") == ["good"]


def test_the_command_prints_text_or_json(tmp_path: Path) -> None:
    """Exit code 0 if all were converted, 1 if a result has errors, 2 for a usage error."""
    done = skilldrop(OLD, "--output", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert "move scripts/main.ts to scripts/execute.ts" in done.stdout
    judged = skilldrop(OLD, "--output", "out2", "--validate", "--json")
    assert judged.returncode == 0
    first = json.loads(judged.stdout)[0]
    assert first.keys() == {
        "path",
        "output",
        "migrated",
        "steps",
        "findings",
        "backup",
        "validated",
    }
    assert (first["migrated"], first["validated"]["loadable"]) == (True, True)
    wrong = skilldrop(OLD, "--output", "out3", "--in-place")
    assert (wrong.returncode, "Traceback" in wrong.stderr) == (2, False)
    write_skill(tmp_path / "skills" / "bad", more="version: one")
    assert skilldrop("skills", "--output", "out4").returncode == 0
    assert skilldrop("skills", "--output", "out5", "--validate").returncode == 1
    missing = skilldrop("nowhere")
    assert (missing.returncode, "neither a folder" in missing.stderr) == (2, True)
