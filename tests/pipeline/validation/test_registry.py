import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from catalog.listings.refusals import REFUSED
from catalog.model.finding import ALWAYS, IF_STRICT, NEVER, UNLESS_PERMISSIVE, Finding
from catalog.model.skill import Place
from catalog.model.values import SEVERITIES, Acceptance, SecretRule
from pipeline.cli.output.finding_types import REGISTRY
from pipeline.dialects.registry import DEFAULT_PROFILES, profiles
from pipeline.parsing.document import parse
from pipeline.roots.archives.reader import open_archive
from pipeline.roots.local.folder import Archive, Folder, Limits, LooseFinding
from pipeline.roots.snapshot import Snapshot, without_secrets
from pipeline.validation.profiles.advice.codes import BODY_EMPTY
from tests.support import made_archives, roots
from tests.support.bad_samples import ACCEPTANCES, BAD, LIMITS, SECRETS
from tests.support.judging import judge
from tests.support.paths import REPOSITORY

DOCS = REPOSITORY / "docs"

GOOD = (
    "---\nname: sample\ndescription: Takes a text file and gives its word count. Use when asked "
    "how long a text is.\n---\n\n# Count words\n\n1. Read the file.\n2. Say how many it has.\n"
)
EXPECTED = "expected.txt"


def _twice(skill: Path) -> None:
    (skill / "skill.md").write_text(GOOD, "utf-8")


def _unreadable(skill: Path) -> None:
    (skill / "notes.md").write_text("A note.\n", "utf-8")
    (skill / "notes.md").chmod(0)


def _unlistable(skill: Path) -> None:
    (skill / "references").mkdir(mode=0)


def _pipe(skill: Path) -> None:
    os.mkfifo(skill / "pipe")


def _latin_1(skill: Path) -> None:
    Path(os.fsdecode(os.fsencode(skill) + b"/caf\xe9.md")).write_text("A note.\n", "utf-8")


def _leaving(skill: Path) -> None:
    outside = skill.parent.parent / "outside.md"
    outside.write_text("A note.\n", "utf-8")
    (skill / "notes.md").symlink_to(outside)


def _device(skill: Path) -> None:
    (skill / "aux.md").write_text("A note.\n", "utf-8")


def _dangling(skill: Path) -> None:
    (skill / "notes.md").symlink_to("nowhere.md")


def _loop(skill: Path) -> None:
    (skill / "again.md").symlink_to("again.md")


def _behind_link(skill: Path) -> None:
    (skill.parent / ".notes").mkdir()
    (skill.parent / "group").mkdir()
    (skill.parent / "group" / "to-notes").symlink_to(skill.parent / ".notes")
    (skill.parent / "to-group").symlink_to(skill.parent / "group")


def _env(skill: Path) -> None:
    (skill / ".env").write_text("PASSWORD=hunter2\n", "utf-8")


def _stars(skill: Path) -> None:
    (skill / ".skillignore").write_text("*a*a*a*a*a*a*a*b\n", "utf-8")


def _unusable(skill: Path) -> None:
    (skill.parent / ".gitignore").write_text("[z-a]\n", "utf-8")


def _ignored(skill: Path) -> None:
    (skill.parent / "build").mkdir()
    (skill.parent / ".gitignore").write_text("build/\n", "utf-8")


def _misnamed(skill: Path) -> None:
    (skill.parent / "other").mkdir()
    (skill.parent / "other/SKILL.MD.txt").write_text(GOOD, "utf-8")


def _rar(skill: Path) -> None:
    (skill.parent / "other.rar").write_bytes(b"Rar!")


def _lone(skill: Path) -> None:
    (skill.parent / "other.md").write_text(GOOD, "utf-8")


def _empty(skill: Path) -> None:
    (skill.parent / "other").mkdir()


def _long(skill: Path) -> None:
    (skill / "notes.md").write_text("A note.\n" * 150_000, "utf-8")


# Made here because git, or a packager that reads what git carries, cannot hold them: files that
# differ in case alone, names that Windows cannot have, permission bits, a pipe, a name that is not
# UTF-8, and links that lead nowhere, outside, back to themselves or behind one another; and files
# that git or its hosts would leave out; and long ones.
MADE: Mapping[str, Callable[[Path], None]] = {
    "skill-md-twice": _twice,
    "file-unreadable": _unreadable,
    "directory-unreadable": _unlistable,
    "special-file": _pipe,
    "name-not-utf8": _latin_1,
    "name-not-on-windows": _device,
    "link-leaves-root": _leaving,
    "link-dangling": _dangling,
    "link-loop": _loop,
    "link-behind-link": _behind_link,
    "secret-left-out": _env,
    "secret-refused": _env,
    "secret-published": _env,
    "ignore-file-refused": _stars,
    "ignore-pattern-unusable": _unusable,
    "folder-ignored": _ignored,
    "skill-md-misnamed": _misnamed,
    "archive-not-read": _rar,
    "file-outside-skills": _lone,
    "folder-without-skill": _empty,
    "not-judged": _long,
}
NOT_FOR_ROOT = {"file-unreadable", "directory-unreadable"}  # who may read everything

# No folder causes these: they are about archives that must not be read, unknown causes, disk
# errors, internal errors, empty folders, older content that stays published, reviews, and other
# skills.
FALLBACKS = {
    "archive-unreadable",
    "read-failed",
    "folder-unreadable",
    "internal-error",
    "internal-error-in-index",
    "skill-md-missing",
    "last-good-version-stands",
    "skill-reference-broken",
    "dependency-missing",
    "route-missed",
    "route-taken",
    "routing-tests-unreadable",
}


def found_in(
    root: Path,
    *,
    limits: Limits,
    acceptance: Acceptance,
    profiles: Sequence[str] = DEFAULT_PROFILES,
    secrets: SecretRule = "leave-out",
) -> list[Finding]:
    """Return everything that is found below a root with the profiles on."""
    findings: list[Finding] = []
    for each in found_below(root, limits):
        if isinstance(each, LooseFinding):
            findings.append(each.finding)
            continue
        snapshot = roots.read(root, each, limits)
        assert snapshot
        findings += judged(root, without_secrets(snapshot, secrets), acceptance, profiles)
    return findings


def found_below(root: Path, limits: Limits) -> Iterator[Folder | LooseFinding]:
    """Yield the folders and loose findings below a root and in its archives."""
    for each in roots.walk(root, "", limits):
        if isinstance(each, Archive):
            with open_archive(each) as folders:
                yield from folders
        elif isinstance(each, (Folder, LooseFinding)) and each.path != EXPECTED:
            yield each


def judged(
    root: Path,
    snapshot: Snapshot,
    acceptance: Acceptance = "lenient",
    profiles: Sequence[str] = DEFAULT_PROFILES,
) -> list[Finding]:
    """Return the findings of the verdict on a snapshot, with the profiles on."""
    name = snapshot.skill_md_name
    parsed = parse(snapshot.skill_md, name) if name else None
    place = Place(str(root), snapshot.path, "project")
    return list(judge(snapshot, parsed, place, acceptance=acceptance, profiles=profiles).findings)


def expected(sample: Path) -> set[str]:
    """Return the codes that a sample may show: its own, and those that expected.txt explains."""
    file = sample / EXPECTED
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    return {sample.name, *(line for line in lines if not line.startswith("#"))}


@pytest.mark.parametrize("sample", sorted(BAD.iterdir()), ids=lambda sample: sample.name)
def test_a_sample_shows_exactly_its_finding(sample: Path) -> None:
    """With its profiles on, a sample has the finding that it is named after and no other."""
    limits = LIMITS.get(sample.name, Limits())
    acceptance = ACCEPTANCES.get(sample.name, "lenient")
    own = REGISTRY[sample.name].profile
    profiles = DEFAULT_PROFILES if own in ("reading", *DEFAULT_PROFILES) else (own,)
    findings = found_in(sample, limits=limits, acceptance=acceptance, profiles=profiles)
    assert {each.code for each in findings} == expected(sample)


@pytest.mark.parametrize("code", MADE)
def test_a_sample_that_git_cannot_hold_shows_its_finding(tmp_path: Path, code: str) -> None:
    """A sample that git cannot hold is created, and has exactly its finding, too."""
    if code in NOT_FOR_ROOT and os.geteuid() == 0:
        pytest.skip("root may read everything")
    root = tmp_path / "root"
    skill = root / "sample"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(GOOD, "utf-8")
    MADE[code](skill)
    limits, secrets = LIMITS.get(code, Limits()), SECRETS.get(code, "leave-out")
    findings = found_in(root, limits=limits, acceptance="lenient", secrets=secrets)
    assert {each.code for each in findings} == {code}


@pytest.mark.parametrize("code", made_archives.BAD)
def test_an_archive_that_is_refused_shows_why(tmp_path: Path, code: str) -> None:
    """Each archive is a good skill except for one defect, which rejects it."""
    made_archives.BAD[code](tmp_path)
    limits = Limits(archive_members=50, archive_bytes=200_000) if "too" in code else Limits()
    findings = found_in(tmp_path, limits=limits, acceptance="lenient")
    assert [each.code for each in findings] == [code]


def test_a_rejection_has_a_reason_even_where_reading_gave_none() -> None:
    """A folder without a digest and without a problem is reported as unreadable."""
    snapshot = Snapshot("sample", "SKILL.md", GOOD.encode(), (), "f", None, ())
    assert {each.code for each in judged(Path("/root"), snapshot)} == {"folder-unreadable"}


def test_a_good_skill_shows_nothing(tmp_path: Path) -> None:
    """The skill from which samples are created has no finding of any profile."""
    (tmp_path / "sample").mkdir()
    (tmp_path / "sample" / "SKILL.md").write_text(GOOD, "utf-8")
    assert found_in(tmp_path, limits=Limits(), acceptance="lenient") == []


def test_the_skills_that_ship_are_good_examples(examples: Path) -> None:
    """They show nothing but an attack that one of them explains."""
    findings = found_in(examples, limits=Limits(), acceptance="strict")
    assert {(each.code, each.field) for each in findings} == {
        ("danger-named", None),
    }


def test_every_code_has_a_sample_and_every_sample_a_code() -> None:
    """Registry and samples name the same codes, each in one place."""
    in_git = {sample.name for sample in BAD.iterdir()}
    of_skills = {code for code, kind in REGISTRY.items() if kind.profile != "outcome"}
    assert in_git | MADE.keys() | made_archives.BAD.keys() | FALLBACKS == of_skills
    assert not in_git & MADE.keys()


def test_accompanying_codes_are_registered_and_explained() -> None:
    """expected.txt begins with its reason and names codes that exist."""
    for file in BAD.glob(f"*/{EXPECTED}"):
        assert file.read_text("utf-8").startswith("# "), file
        assert expected(file.parent) <= set(REGISTRY), file


def test_samples_have_room_in_git() -> None:
    """No sample has an empty directory, which git would lose, or bytes that git may change."""
    assert [
        folder for folder in BAD.rglob("*") if folder.is_dir() and not any(folder.iterdir())
    ] == []
    assert "tests/samples/** -text" in (REPOSITORY / ".gitattributes").read_text("utf-8")


def test_a_finding_type_is_complete() -> None:
    """It has a slug, an existing profile, a one-sentence summary, advice and a source."""
    for kind in REGISTRY.values():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", kind.code)
        assert kind.severity in SEVERITIES
        assert kind.profile in (*profiles(), "reading", "outcome")
        assert kind.summary.endswith(".")
        assert not re.search(r"[.!?]\s+[A-Z]", kind.summary), "more than one sentence"
        assert kind.fix.endswith((".", "…"))
        assert kind.source, kind.code


def test_which_findings_reject() -> None:
    """Errors of specification and ApexBridge reject under strict, advice and the like never."""
    for kind in REGISTRY.values():
        assert kind.rejects in (ALWAYS, UNLESS_PERMISSIVE, IF_STRICT, NEVER)
        if kind.profile in ("spec", "apexbridge"):
            is_error = kind.severity == "error" or kind.code == "field-not-in-specification"
            assert ("strict" in kind.rejects) == is_error, kind.code  # with the profile spec alone
        if kind.profile in ("advice", "safety", "claude-code"):
            assert (kind.rejects, kind.severity == "error") == (NEVER, False), kind.code


def test_a_finding_has_the_defaults_of_its_type() -> None:
    """Message and fix default to the registry's; severity and profile are always its."""
    plain = BODY_EMPTY.at()
    assert (plain.message, plain.fix) == (
        REGISTRY["body-empty"].summary,
        REGISTRY["body-empty"].fix,
    )
    own = BODY_EMPTY.at("Nothing.", fix="Write.")
    assert (own.message, own.fix, own.severity, own.profile) == (
        "Nothing.",
        "Write.",
        "warning",
        "advice",
    )


def test_the_page_has_a_paragraph_for_every_finding() -> None:
    """docs/reference/findings.md has one section per code, in the order of the profiles."""
    page = (DOCS / "reference/findings.md").read_text("utf-8")
    assert re.findall(r"^### `(.*)`$", page, re.MULTILINE) == [
        kind.code
        for profile in ("reading", *profiles(), "outcome")
        for kind in REGISTRY.values()
        if kind.profile == profile
    ]


def test_clients_refuse_findings_that_exist() -> None:
    """A finding that got another name would be refused by nobody."""
    assert set(REFUSED) <= set(REGISTRY)
